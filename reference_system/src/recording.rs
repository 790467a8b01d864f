//! Recorders of a run: the caller's, and those required by options and workload.

use crate::chains::{self, Watch};
use crate::description::Workload;
use crate::run::{RecordersFactory, RunOptions};
use crate::trace::TraceWriter;
use ringspin_executor::{BoxError, Completion, Dispatch, Recorder};
use ringspin_modes::Executor;
use ringspin_modes::models::{DurationProfile, Profiler};
use std::any::Any;
use std::io;
use std::sync::Arc;

/// The recorders of one worker.
struct CombinedRecorder {
    /// The caller's recorders.
    callers: Vec<Box<dyn Recorder>>,
    writer: Option<TraceWriter>,
    profiler: Option<Profiler>,
    watch: Option<Watch>,
}

impl CombinedRecorder {
    fn each(&mut self) -> impl Iterator<Item = &mut dyn Recorder> {
        let Self { callers, writer, profiler, watch } = self;
        let callers = callers.iter_mut().map(|recorder| &mut **recorder);
        let writer = writer.iter_mut().map(|recorder| recorder as &mut dyn Recorder);
        let profiler = profiler.iter_mut().map(|recorder| recorder as &mut dyn Recorder);
        let watch = watch.iter_mut().map(|recorder| recorder as &mut dyn Recorder);
        callers.chain(writer).chain(profiler).chain(watch)
    }
}

impl Recorder for CombinedRecorder {
    fn started(&mut self, dispatch: &Dispatch) {
        self.each().for_each(|recorder| recorder.started(dispatch));
    }

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        self.each().for_each(|recorder| recorder.finished(dispatch, completion));
    }
}

/// Attaches the requested recorders to `executor`; none if none is requested, because even an empty
/// recorder costs time.
pub(crate) fn record(
    executor: Executor,
    workload: Workload,
    options: &RunOptions,
    chains: &Arc<chains::Collector>,
    mut factory: Option<RecordersFactory>,
) -> io::Result<Executor> {
    let mut writer = options.trace.as_deref().map(TraceWriter::create).transpose()?;
    let profiled = options.profile.is_some();
    let watched = (workload == Workload::Lame).then(|| chains.clone());
    if factory.is_none() && writer.is_none() && !profiled && watched.is_none() {
        return Ok(executor);
    }
    Ok(executor.with_recorders(move |info, worker| CombinedRecorder {
        callers: factory.as_mut().map(|make| make(info, worker)).unwrap_or_default(),
        // Only a deterministic run is traced, and it has a single worker.
        writer: writer.take().map(|writer| writer.with_names(info)),
        profiler: profiled.then(|| Profiler::new(info)),
        watch: watched.clone().map(|chains| Watch::new(chains, info)),
    }))
}

/// Writes the files that `options` request, and returns the caller's recorders.
pub(crate) fn finish(
    options: &RunOptions,
    recorders: Vec<Box<dyn Recorder>>,
) -> Result<Vec<Box<dyn Recorder>>, BoxError> {
    let (mut profilers, mut callers) = (Vec::new(), Vec::new());
    for recorder in recorders {
        let any: Box<dyn Any> = recorder;
        let Ok(combined) = any.downcast::<CombinedRecorder>() else { continue };
        let CombinedRecorder { callers: of_worker, writer, profiler, watch: _ } = *combined;
        if let Some(writer) = writer {
            writer.finish()?;
        }
        profilers.extend(profiler.map(|profiler| Box::new(profiler) as Box<dyn Recorder>));
        callers.extend(of_worker);
    }
    if let Some(path) = &options.profile {
        DurationProfile::of(profilers).save(path)?;
    }
    Ok(callers)
}
