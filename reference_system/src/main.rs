//! x
use reference_system::{kpi::Collector, run::*, system::Work};
use std::sync::Arc;
fn main() {
    for mode in ["single", "multi", "deterministic"] {
        for n in [64, 1024, 4096] {
            let c = Arc::new(Collector::new());
            let o = RunOptions { mode: mode.parse().unwrap(), work: Work::crunching(n), duration: std::time::Duration::from_secs(4), trace: None, stop_on_ctrl_c: true };
            let r = run(&o, &c).unwrap();
            println!("{mode} {n} {}", serde_json::to_string(&r).unwrap());
        }
    }
}
