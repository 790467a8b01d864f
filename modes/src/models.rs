//! temp
#![allow(missing_docs)]
pub mod random {
    #[derive(Clone, Copy, Debug)]
    pub struct Stream(u64);
    impl Stream {
        pub fn new(seed: u64, name: &str) -> Self { Self(xxhash_rust::xxh3::xxh3_64_with_seed(name.as_bytes(), seed)) }
        pub fn draw(&self, n: u64, purpose: u32) -> u64 {
            let mut x = self.0 ^ n.wrapping_mul(0x9e3779b97f4a7c15) ^ (u64::from(purpose) << 40);
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
            x ^ (x >> 31)
        }
        pub fn below(&self, n: u64, purpose: u32, limit: u64) -> u64 { (u128::from(self.draw(n, purpose)) * u128::from(limit) >> 64) as u64 }
    }
}
pub mod links {
    use ringspin_executor::*;
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Links;
    pub struct LinkTable;
    #[derive(Debug, thiserror::Error)]
    #[error("x")]
    pub struct LinkError;
    impl Links { pub fn resolve(&self, _: &GraphInfo, _: u64) -> Result<LinkTable, LinkError> { Ok(LinkTable) } }
    impl LinkTable { pub fn is_linked(&self, _: CallbackId) -> bool { false }
     pub fn fate(&mut self, _: CallbackId, _: EventId, d: Time, _: usize) -> Fate { Fate::Once(d) } }
}
pub mod durations {
    use ringspin_executor::*;
    use std::time::Duration;
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Durations(pub Vec<u64>);
    pub struct DurationTable(Vec<u64>);
    pub struct Execution { pub duration: Duration, pub logical: Option<Duration> }
    #[derive(Debug, thiserror::Error)]
    #[error("x")]
    pub struct DurationError;
    impl Durations { pub fn resolve(&self, _: &GraphInfo, _: u64) -> Result<DurationTable, DurationError> { Ok(DurationTable(self.0.clone())) } }
    impl DurationTable { pub fn is_empty(&self) -> bool { self.0.is_empty() }
     pub fn execution(&self, c: CallbackId, _: u64) -> Execution { Execution { duration: Duration::from_nanos(self.0[c.0 as usize]), logical: None } } }
}
