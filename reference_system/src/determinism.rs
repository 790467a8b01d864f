//! The synthetic determinism benchmark of RSLCPP: tests that the order of callbacks depends on
//! nothing but the graph.
//!
//! The graph and its constants come from the RSLCPP paper and its package `rslcpp_test`: four nodes
//! with three timers, five topics and a service. The state of each node is a hash of all its
//! callbacks and messages in order. Each callback first sleeps for a random time. One callback out
//! of order anywhere in 100 simulated seconds changes the final hash.
//!
//! | module | content |
//! |---|---|
//! | [`nodes`] | the graph, as ringspin nodes |
//! | [`model`] | the same without an executor, under several orders of timers |
//! | [`ties`] | the order of timers of one instant: ringspin's own, or upstream's |
//! | [`runs`] | concurrent runs, and the comparison of their results |
//!
//! # Ties
//! Executors differ in the order of timers that are due at the same instant. Here the order is
//! explicit, by deadline, then creation: [`TOTAL_ORDER`]. Upstream's published value, [`UPSTREAM`],
//! results from `rclcpp`'s timer heap, see [`model::RclcppHeap`]; [`ties::UpstreamTies`]
//! reproduces it.

pub mod model;
pub mod nodes;
pub mod runs;
pub mod ties;

use ringspin_executor::Time;
use serde::{Serialize, Serializer};

/// Simulated time at the start.
pub const START: Time = Time::from_secs(10);
/// The last instant, inclusive.
pub const END: Time = Time::from_secs(110);

/// The nodes, in order of creation, with their initial states.
pub const NODES: [(&str, u64); 4] =
    [("A", 55_272_744), ("B", 34_983_402), ("C", 87_997_653), ("D", 11_380_831)];

/// A callback of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callback {
    /// The node's index in [`NODES`].
    pub node: usize,
    /// The value that each call mixes into the node's state.
    pub id: u64,
    /// The trigger.
    pub input: Input,
    /// The use of the node's new state.
    pub output: Output,
    /// The number of calls from [`START`] to [`END`].
    pub calls: u64,
}

/// The trigger of a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A timer with this period in milliseconds.
    Timer(u64),
    /// A message on a topic.
    Topic(&'static str),
    /// A request to [`SERVICE`].
    Request,
    /// The response to a call of [`SERVICE`].
    Response,
}

/// The use of a node's new state after a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Publishes it.
    Topic(&'static str),
    /// Calls [`SERVICE`], without waiting for the response.
    Call,
    /// Answers the request with it.
    Answer,
    /// Nothing.
    None,
}

/// The service.
pub const SERVICE: &str = "/s1";

/// The callbacks, in order of creation.
pub const CALLBACKS: [Callback; 10] = {
    use {Input as In, Output as Out};
    const fn row(node: usize, id: u64, input: In, output: Out, calls: u64) -> Callback {
        Callback { node, id, input, output, calls }
    }
    [
        row(0, 11_162_456_753, In::Timer(100), Out::Topic("/t1"), 1001),
        row(0, 11_151_784_617, In::Timer(50), Out::Topic("/t2"), 2001),
        row(0, 22_255_799_981, In::Topic("/t5"), Out::None, 2001 + 2501),
        row(1, 22_229_447_589, In::Topic("/t2"), Out::Topic("/t3"), 2001),
        row(1, 11_111_071_799, In::Timer(40), Out::Topic("/t5"), 2501),
        row(2, 22_295_316_797, In::Topic("/t1"), Out::Call, 1001),
        row(2, 44_442_759_714, In::Response, Out::None, 1001),
        row(2, 22_227_118_361, In::Topic("/t3"), Out::Topic("/t4"), 2001),
        row(3, 2_227_672_095, In::Topic("/t4"), Out::Topic("/t5"), 2001),
        row(3, 33_396_054_244, In::Request, Out::Answer, 1001),
    ]
};

impl Callback {
    /// The node's name.
    #[must_use]
    pub fn node_name(&self) -> &'static str {
        NODES[self.node].0
    }

    /// Its name in the executor's statistics.
    #[must_use]
    pub fn name(&self) -> String {
        match self.input {
            Input::Timer(period_ms) => format!("timer {period_ms}ms"),
            Input::Topic(topic) => format!("subscription {topic}"),
            Input::Request => format!("service {SERVICE}"),
            Input::Response => format!("client {SERVICE}"),
        }
    }

    /// The state that follows `state` after a call at simulated time `now` with this message or
    /// response.
    #[must_use]
    pub fn next_state(&self, state: u64, now: Time, payload: Option<u64>) -> u64 {
        let state = combine(combine(state, self.id), now.as_nanos());
        payload.map_or(state, |payload| combine(state, payload))
    }
}

/// The states of the four nodes at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States(pub [u64; 4]);

/// The result with timers of one instant ordered by deadline, then creation.
pub const TOTAL_ORDER: States = States([
    13_404_255_130_693_361_018,
    6_314_714_395_288_068_323,
    271_694_970_909_356_762,
    18_227_695_353_861_151_360,
]);

/// The result that upstream publishes.
pub const UPSTREAM: States = States([
    3_924_739_178_523_851_918,
    416_215_330_994_369_847,
    18_314_823_502_387_776_320,
    1_601_759_294_353_606_794,
]);

impl States {
    /// The final hash.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.0.into_iter().fold(505_510_631, combine)
    }
}

/// The states by node and the final hash, as decimal strings, because many JSON readers keep only
/// 53 bits of a number.
impl Serialize for States {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nodes = NODES.iter().zip(self.0).map(|((name, _), state)| (*name, state));
        let all = nodes.chain([("hash", self.hash())]);
        serializer.collect_map(all.map(|(name, state)| (name, state.to_string())))
    }
}

/// Mixes `next` into the hash `state`.
fn combine(state: u64, next: u64) -> u64 {
    const FACTOR: u64 = 0x9ddf_ea08_eb38_2d69;
    let mut a = (state ^ next).wrapping_mul(FACTOR);
    a ^= a >> 47;
    let mut b = (next ^ a).wrapping_mul(FACTOR);
    b ^= b >> 47;
    split_mix(b.wrapping_mul(FACTOR))
}

/// One step of the generator SplitMix64 from state `x`.
fn split_mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_its_published_numbers() {
        // The first outputs for the seed 1234567.
        let gamma = 0x9e37_79b9_7f4a_7c15u64;
        let outputs = [0, 1, 2].map(|n| split_mix(1_234_567 + gamma.wrapping_mul(n)));
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(outputs, published);
    }

    #[test]
    fn the_final_hashes_match_the_states() {
        assert_eq!(TOTAL_ORDER.hash(), 14_807_076_229_895_937_644);
        assert_eq!(UPSTREAM.hash(), 7_448_837_717_382_456_148);
    }

    #[test]
    fn the_number_of_calls_matches_the_publication() {
        let calls: u64 = CALLBACKS.iter().map(|callback| callback.calls).sum();
        assert_eq!(calls, 1001 * 4 + 2001 * 5 + 2501 * 2);
        assert_eq!(calls, 19_011);
    }
}
