//! RSLCPP's determinism benchmark, with each of its nodes a process of rclpy.
//!
//! Its known answer is for timers that are anchored at clock zero, of which those of one instant
//! come in the order of their creation. rclpy anchors a timer at its creation, so the example
//! creates the timers at 10 s, each a microsecond after the other, and its nodes hash whole
//! milliseconds. The known answer is for 100 s; the oracle gives it, and that of a shorter span.

use super::ros::{run, under_load};
use super::system;
use std::collections::VecDeque;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/determinism");

/// The benchmark as a list of events, by its description alone.
#[derive(Default)]
struct Oracle {
    states: [u64; 4],
    events: VecDeque<(&'static str, u64)>,
    now: u64,
}

fn combine(one: u64, two: u64) -> u64 {
    const K: u64 = 0x9ddf_ea08_eb38_2d69;
    let mix = |x: u64, y: u64| {
        let product = (x ^ y).wrapping_mul(K);
        product ^ (product >> 47)
    };
    let x = mix(two, mix(one, two)).wrapping_mul(K).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Oracle {
    fn update(&mut self, node: usize, id: u64, payload: Option<u64>) -> u64 {
        let parts = [Some(id), Some(self.now), payload];
        let state = parts.into_iter().flatten().fold(self.states[node], combine);
        self.states[node] = state;
        state
    }

    /// Calls a timer, and then all that follows from it.
    fn call(&mut self, period_ms: u64) {
        let (node, id, topic) = match period_ms {
            100 => (0, 11_162_456_753, "t1"),
            50 => (0, 11_151_784_617, "t2"),
            _ => (1, 11_111_071_799, "t5"),
        };
        let state = self.update(node, id, None);
        self.events.push_back((topic, state));
        while let Some((event, payload)) = self.events.pop_front() {
            let (node, id, next) = match event {
                "t1" => (2, 22_295_316_797, Some("request")),
                "t2" => (1, 22_229_447_589, Some("t3")),
                "t3" => (2, 22_227_118_361, Some("t4")),
                "t4" => (3, 2_227_672_095, Some("t5")),
                "t5" => (0, 22_255_799_981, None),
                "request" => (3, 33_396_054_244, Some("response")),
                _ => (2, 44_442_759_714, None),
            };
            let state = self.update(node, id, (event != "request").then_some(payload));
            self.events.extend(next.map(|next| (next, state)));
        }
    }

    /// The states and their hash, as the example prints them.
    fn lines(seconds: u64) -> Vec<String> {
        let states = [55_272_744, 34_983_402, 87_997_653, 11_380_831];
        let mut oracle = Self { states, ..Self::default() };
        for millis in (10_000..=10_000 + seconds * 1000).step_by(10) {
            oracle.now = millis * 1_000_000;
            let order = if millis == 10_000 { [40, 50, 100] } else { [100, 50, 40] };
            let due = order.into_iter().filter(|period| millis % period == 0);
            due.for_each(|period| oracle.call(period));
        }
        let names = ["a", "b", "c", "d", "final"];
        let hash = oracle.states.into_iter().fold(505_510_631, combine);
        let values = oracle.states.into_iter().chain([hash]);
        names.iter().zip(values).map(|(name, value)| format!("{name} {value}")).collect()
    }
}

#[test]
fn oracle_gives_the_known_answer_of_the_determinism_benchmark() {
    let expected = [
        "a 13404255130693361018",
        "b 6314714395288068323",
        "c 271694970909356762",
        "d 18227695353861151360",
        "final 14807076229895937644",
    ];
    assert_eq!(Oracle::lines(100), expected);
}

/// Each callback computes for another real time, in each run, and all cores are busy.
#[test]
#[ignore = "needs rclpy"]
fn determinism_benchmark_has_its_known_answer_in_rclpy_processes_under_load() {
    let seconds = std::env::var("RINGSPIN_TEST_SECONDS").map_or(3, |text| text.parse().unwrap());
    let text = std::fs::read_to_string(format!("{FOLDER}/system.yaml")).unwrap();
    let text = text
        .replace("node.py", &format!("{FOLDER}/node.py"))
        .replace("seconds: 100", &format!("seconds: {seconds}"));
    let (_folder, path) = system(&text);
    let (code, out, error) = under_load(|| run(&["verify", "--runs", "2", &path]));
    assert_eq!(code, 0, "{out}{error}");
    let states: Vec<_> = out.lines().filter_map(|line| line.split("] ").nth(1)).collect();
    let expected = Oracle::lines(seconds);
    assert_eq!(states, [&expected[..], &expected[..]].concat(), "{error}");
}
