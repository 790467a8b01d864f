//! temp
#![allow(missing_docs)]
use ringspin_executor::*;
use std::time::Duration;
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durations(pub Vec<u64>);
pub struct DurationTable(Vec<u64>);
pub struct Execution {
    pub duration: Duration,
    pub logical: Option<Duration>,
}
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct DurationError;
impl Durations {
    pub fn resolve(&self, _: &GraphInfo, _: u64) -> Result<DurationTable, DurationError> {
        Ok(DurationTable(self.0.clone()))
    }
}
impl DurationTable {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn execution(&self, c: CallbackId, _: u64) -> Execution {
        Execution { duration: Duration::from_nanos(self.0[c.0 as usize]), logical: None }
    }
}
