//! The registration of the thread that sleeps.

use super::join;
use crate::model::Model;
use crate::sleeper::Sleeper;
use loom::sync::Arc;
use loom::thread::spawn;

/// Two threads register, one after the other or at once, while a third one wakes: it finds one of
/// them, or none. (Loom reports memory that is lost.)
#[test]
fn a_waker_finds_a_thread_or_none() {
    Model::new(100).preemptions(3).check(|| {
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
