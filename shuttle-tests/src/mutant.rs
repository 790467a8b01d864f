//! The mutant that this process runs with, which a parent process sets.

use std::sync::LazyLock;

/// The environment variable with the mutant: the site of an operation to tear, or a name defined by
/// a model.
pub(crate) const VARIABLE: &str = "RINGSPIN_SHUTTLE_MUTANT";

pub(crate) static MUTANT: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(VARIABLE).ok());

/// Whether this process runs with the mutant `name`.
pub(crate) fn is_mutant(name: &str) -> bool {
    MUTANT.as_deref() == Some(name)
}
