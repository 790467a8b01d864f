//! Strings and sequences: the API of upstream, and the forms in which serde has them.

mod sequences;
mod strings;

use ringspin_executor::{Digest, DigestHasher};
use ringspin_messages::cdr;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Checks that `value` has the bytes, the JSON and the digest of `plain`, and is read from them.
#[track_caller]
fn assert_same_form<T, P>(value: &T, plain: &P)
where
    T: Serialize + DeserializeOwned + Digest + PartialEq + Debug,
    P: Serialize + Digest,
{
    let bytes = cdr::to_bytes(plain).unwrap();
    assert_eq!(cdr::to_bytes(value).unwrap(), bytes);
    assert_eq!(&cdr::from_bytes::<T>(&bytes).unwrap(), value);
    let json = serde_json::to_string(plain).unwrap();
    assert_eq!(serde_json::to_string(value).unwrap(), json);
    assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), value);
    assert_eq!(DigestHasher::of(value), DigestHasher::of(plain));
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
