//! The registration of the thread that sleeps.

use super::join;
use crate::model::Model;
use crate::sleeper::Sleeper;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread::spawn;

/// Two threads register, one after the other or at once, while a third one wakes: it finds a
/// complete entry, or none. (Loom reports an entry that is read while it is written, and memory
/// that is lost.)
#[test]
fn a_waker_finds_a_complete_entry() {
    let model = Model::new(100).preemptions(3).kills("sleeper.register", Relaxed);
    model
        .kills("sleeper.wake", Relaxed)
        .kills("sleeper.newest", Relaxed)
        .kills("sleeper.add", Relaxed)
        .check(|| {
            let sleeper = Arc::new(Sleeper::new());
            let registering = [(); 2].map(|()| {
                let sleeper = sleeper.clone();
                spawn(move || sleeper.register())
            });
            let waker = spawn({
                let sleeper = sleeper.clone();
                move || sleeper.wake()
            });
            join(registering);
            waker.join().unwrap();
        });
}
