//! Seeded randomness. A node creates named streams of random numbers, and its callbacks draw from
//! them without a lock, because each callback owns its stream. The numbers depend on the seed, the
//! node and the name only, so they are the same in every mode; the graph remembers the names, so
//! that a second stream of one name, with the same numbers, is refused.

use crate::base::digest::{Digest, DigestHasher};
use crate::base::error::{Error, ErrorKind, Result};
use crate::running::graph::Graph;
use crate::running::node::Node;
use rand_core::{Rng, SeedableRng, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;

/// The seed of a graph, and the streams that were made from it.
#[derive(Default)]
pub(crate) struct Randomness {
    seed: u64,
    /// The number of streams by node and name; above one only for those that are numbered.
    streams: BTreeMap<(String, String), u32>,
}

/// A stream of random numbers that belongs to a node: see [`Node::create_random`].
///
/// It implements the traits of `rand_core` 0.10 (re-exported as `rand_core`), so everything in
/// `rand` 0.10 works on it. It is no `CryptoRng`: some of its numbers reveal the rest.
///
/// The generator is xoshiro256++, its state the first four numbers of SplitMix64 from
/// `DigestHasher::of(&(seed, node, name))`, and this does not change. The ranges and
/// distributions of `rand` may yield other values in another minor version of it, so pin that
/// version where results have to last.
///
/// A clone yields the same numbers again.
#[derive(Clone, PartialEq, Eq)]
pub struct NodeRandom(Xoshiro256PlusPlus);

impl NodeRandom {
    /// The stream `name` of node `node` in a graph with `seed`.
    fn new(seed: u64, node: &str, name: &str) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(DigestHasher::of(&(seed, node, name))))
    }
}

impl TryRng for NodeRandom {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

impl Digest for NodeRandom {
    /// Adds the next four numbers: no two states of the generator have the same four.
    fn digest(&self, hasher: &mut DigestHasher) {
        let mut ahead = self.0.clone();
        (0..4).for_each(|_| ahead.next_u64().digest(hasher));
    }
}

impl fmt::Debug for NodeRandom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeRandom").finish_non_exhaustive()
    }
}

impl Graph {
    /// Sets the seed of all [random streams](Node::create_random); it is 0 without this. Call it
    /// before the first node is created, like [`set_arguments`](Self::set_arguments).
    ///
    /// With one seed, every run of the graph draws the same numbers, in every mode and on every
    /// machine.
    ///
    /// # Errors
    /// Fails if a stream was created with another seed.
    pub fn set_seed(&self, seed: u64) -> Result<()> {
        let mut builder = self.builder();
        let randomness = builder.feature::<Randomness>();
        match randomness.streams.keys().next() {
            Some((node, stream)) if seed != randomness.seed => {
                let text = format!(
                    "failed to set seed {seed}: node {node} has created the random stream \
                     `{stream}` with seed {}; set the seed before the first node is created",
                    randomness.seed
                );
                Err(Error::new(ErrorKind::InvalidState, text).in_node(node))
            }
            _ => {
                randomness.seed = seed;
                Ok(())
            }
        }
    }

    /// The seed of all random streams.
    pub fn seed(&self) -> u64 {
        self.builder().feature::<Randomness>().seed
    }
}

impl NodeRandom {
    pub(crate) fn create<S: Send + 'static>(node: &Node<S>, name: &str) -> Result<Self> {
        match Self::count(node, name)? {
            (seed, 1) => Ok(NodeRandom::new(seed, node.full_name(), name)),
            _ => {
                let node = node.full_name();
                let text = format!(
                    "failed to create random stream `{name}` of node {node}: there is one of this \
                     name; give one of them another name"
                );
                Err(Error::new(ErrorKind::AlreadyExists, text).in_node(node))
            }
        }
    }

    /// Creates a stream that is told from the others of its name by a number, from one on.
    pub(crate) fn create_numbered<S: Send + 'static>(
        node: &Node<S>,
        name: &str,
    ) -> Result<NodeRandom> {
        let (seed, number) = Self::count(node, name)?;
        Ok(NodeRandom::new(seed, node.full_name(), &format!("{name} {number}")))
    }

    /// The seed, and the number of requests so far for streams of this name.
    fn count<S: Send + 'static>(node: &Node<S>, name: &str) -> Result<(u64, u32)> {
        let mut builder = node.builder(&format!("random stream {name}"))?;
        // A node of the same name may be created later, and draws the same numbers.
        builder.at_node_end(|builder, _, name| {
            builder.feature::<Randomness>().streams.retain(|(node, _), _| node != name);
        });
        let randomness = builder.feature::<Randomness>();
        let key = (node.full_name().into(), name.into());
        let number = randomness.streams.entry(key).or_insert(0);
        *number += 1;
        Ok((randomness.seed, *number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::arguments::Arguments;

    fn numbers(mut random: NodeRandom) -> [u64; 3] {
        [(); 3].map(|()| random.next_u64())
    }

    /// The numbers of stream `name` of node `/node`, created after `others`.
    fn stream(seed: u64, others: &[(&str, &str)], name: &str) -> [u64; 3] {
        let graph = Graph::new();
        graph.set_seed(seed).unwrap();
        let node = graph.create_node("node", ()).unwrap();
        for (other, name) in others {
            let other = graph.create_node(other, ()).unwrap();
            numbers(other.create_random(name).unwrap());
        }
        numbers(node.create_random(name).unwrap())
    }

    /// Golden values: another algorithm, or another machine that disagrees, fails here.
    #[test]
    fn the_numbers_are_the_same_on_every_machine() {
        let zero = [0xff0b_10b0_8a41_ceec, 0xa0ea_76a6_7fbf_9c55, 0x6c84_724f_c462_ba3d];
        assert_eq!(stream(0, &[], "noise"), zero);
        let other = [0x4317_c00d_1c3b_f1f6, 0x736a_a7d9_a873_5afa, 0xd1a3_25b0_8d44_340a];
        assert_eq!(stream(42, &[], "noise"), other);
        let mut random = NodeRandom::new(42, "/node", "noise");
        let mut bytes = [0; 11];
        let word = random.next_u32();
        random.fill_bytes(&mut bytes);
        assert_eq!(word, 0x4317_c00d, "the upper half of the first number");
        let bytes_of_two = [0xfa, 0x5a, 0x73, 0xa8, 0xd9, 0xa7, 0x6a, 0x73, 0x0a, 0x34, 0x44];
        assert_eq!(bytes, bytes_of_two, "little-endian, the rest of the third number dropped");
    }

    /// The whole algorithm once more, as the documentation has it.
    #[test]
    fn the_algorithm_is_the_documented_one() {
        let mut seed = DigestHasher::of(&(42u64, "/node", "noise"));
        let mut split_mix = || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        let mut s = [(); 4].map(|()| split_mix());
        let expected = [(); 3].map(|()| {
            let number = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
            let t = s[1] << 17;
            s[2] ^= s[0];
            s[3] ^= s[1];
            s[1] ^= s[2];
            s[0] ^= s[3];
            s[2] ^= t;
            s[3] = s[3].rotate_left(45);
            number
        });
        assert_eq!(stream(42, &[], "noise"), expected);
    }

    #[test]
    fn other_nodes_and_streams_change_nothing_but_seed_and_names_do() {
        let alone = stream(1, &[], "noise");
        assert_eq!(stream(1, &[("other", "noise"), ("third", "x")], "noise"), alone);
        assert_ne!(stream(2, &[], "noise"), alone);
        assert_ne!(stream(1, &[], "nois"), alone);
        assert_ne!(numbers(NodeRandom::new(1, "/nod", "enoise")), alone);
        assert_eq!(numbers(NodeRandom::new(1, "/node", "noise")), alone);
    }

    #[test]
    fn a_name_stands_for_one_stream_of_a_node_in_all_its_groups() {
        let graph = Graph::new();
        let node = graph.create_node("node", ()).unwrap();
        let group = node.create_callback_group("group", ()).unwrap();
        node.create_random("noise").unwrap();
        let error = group.create_random("noise").unwrap_err();
        assert_eq!(
            error.to_string(),
            "failed to create random stream `noise` of node /node: there is one of this name; give \
             one of them another name"
        );
        group.create_random("drift").unwrap();
    }

    #[test]
    fn a_remapped_node_has_the_streams_of_its_new_name() {
        let graph = Graph::new();
        let (arguments, _) = Arguments::parse(["--ros-args", "-r", "old:__node:=node"]).unwrap();
        graph.set_arguments(arguments);
        let node = graph.create_node("old", ()).unwrap();
        assert_eq!(numbers(node.create_random("noise").unwrap()), stream(0, &[], "noise"));
    }

    #[test]
    fn a_seed_comes_before_the_streams_and_a_stream_before_the_start() {
        let graph = Graph::new();
        let node = graph.create_node("node", ()).unwrap();
        graph.set_seed(1).unwrap();
        node.create_random("noise").unwrap();
        graph.set_seed(1).unwrap();
        assert_eq!(
            graph.set_seed(2).unwrap_err().to_string(),
            "failed to set seed 2: node /node has created the random stream `noise` with seed 1; \
             set the seed before the first node is created"
        );
        graph.builder().freeze();
        let error = node.create_random("late").unwrap_err();
        let gone = "failed to add random stream late of node /node: the executor was dropped; \
                    keep it as long as something is added to it";
        assert_eq!(error.to_string(), gone);
    }

    #[test]
    fn digest_of_a_stream_is_its_position() {
        let mut random = NodeRandom::new(1, "/node", "noise");
        let before = DigestHasher::of(&random);
        assert_eq!(DigestHasher::of(&random.clone()), before);
        random.next_u64();
        assert_ne!(DigestHasher::of(&random), before);
        assert_ne!(DigestHasher::of(&NodeRandom::new(2, "/node", "noise")), before);
    }
}
