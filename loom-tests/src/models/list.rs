//! Values that threads add while others take them.

use super::join;
use crate::list::List;
use crate::model::{Model, Plain};
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread::spawn;
use std::sync::Arc;

/// Two threads add a value each, and a third one takes: it sees the writes before, each value
/// is taken once, and a thread's values keep their order.
#[test]
fn each_value_is_taken_once_after_what_came_before() {
    let model = Model::new(20).preemptions(3).kills("list.push", Relaxed);
    model.kills("list.take", Relaxed).check(|| {
        let list = Arc::new(List::new());
        let adders = [0, 1].map(|n| {
            let list = list.clone();
            spawn(move || {
                let before = Arc::new(Plain::new(0));
                before.set(n);
                list.push((n, before.clone()));
                list.push((n + 2, before));
            })
        });
        let take = |list: &List<(u64, Arc<Plain<u64>>)>| -> Vec<u64> {
            let taken = list.take().into_iter();
            taken.inspect(|(n, before)| assert_eq!(before.get(), n % 2)).map(|(n, _)| n).collect()
        };
        let mut taken = take(&list);
        join(adders);
        taken.extend(take(&list));
        for n in [0, 1] {
            let of: Vec<_> = taken.iter().filter(|value| *value % 2 == n).collect();
            assert_eq!(of, [&n, &(n + 2)]);
        }
    });
}
