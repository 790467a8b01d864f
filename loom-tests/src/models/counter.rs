//! Flags and permits.

use super::join;
use crate::counter::{Flag, Permits};
use crate::model::{Model, Plain};
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread::spawn;
use std::sync::Arc;

/// Who sees a flag up also sees what its raiser did before.
#[test]
fn a_flag_publishes_what_came_before_it() {
    Model::new(7).kills("flag.raise", Relaxed).kills("flag.read", Relaxed).check(|| {
        let shared = Arc::new((Flag::default(), Plain::new(0)));
        let raiser = spawn({
            let shared = shared.clone();
            move || {
                shared.1.set(7);
                shared.0.raise();
            }
        });
        let reader = spawn(move || {
            if shared.0.is_raised() {
                assert_eq!(shared.1.get(), 7);
            }
        });
        raiser.join().unwrap();
        reader.join().unwrap();
    });
}

/// A single permit excludes, and hands on what its last holder did.
#[test]
fn a_permit_passes_on_the_place_behind_it() {
    let model = Model::new(20).kills("permits.acquire", Relaxed);
    model.kills("permits.release", Relaxed).check(|| {
        let shared = Arc::new((Permits::new(1), Plain::new(0)));
        let threads = [1, 2].map(|n| {
            let shared = shared.clone();
            spawn(move || {
                let acquired = shared.0.try_acquire();
                if acquired {
                    shared.1.set(n);
                    shared.0.release();
                }
                acquired
            })
        });
        let acquired = join(threads);
        assert!(acquired.contains(&true));
        assert!(shared.0.try_acquire() && !shared.0.try_acquire());
    });
}
