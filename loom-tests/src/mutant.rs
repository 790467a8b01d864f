//! Mutants: one named ordering that is weaker than written, or one named part that is left out.
//!
//! An environment variable selects the mutant, because a failing model leaves half-run coroutines
//! behind, whose destructors may abort. Each mutant therefore runs in a child process, and so
//! does the unmodified model.

use loom::sync::atomic::Ordering;
use std::sync::LazyLock;

/// The environment variable that selects a mutant, as `site=Ordering` or `part=omitted`, or none.
pub(crate) const VARIABLE: &str = "RINGSPIN_LOOM_MUTANT";

/// Selects the unmodified model.
pub(crate) const NONE: &str = "none";

/// Stands in the place of an ordering for a part that is left out.
pub(crate) const OMITTED: &str = "omitted";

/// The value of `VARIABLE`.
static SELECTION: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(VARIABLE).ok());

/// The name, and the weaker ordering unless the part is left out.
static MUTANT: LazyLock<Option<(String, Option<Ordering>)>> = LazyLock::new(|| {
    let value = SELECTION.as_deref().filter(|value| *value != NONE)?;
    let (name, how) = value.split_once('=').expect("the mutant is written as site=Ordering");
    Some((name.to_owned(), (how != OMITTED).then(|| parse(how))))
});

/// Whether this process explores schedules: of a mutant, or of the unmodified model.
pub(crate) fn is_delegated() -> bool {
    SELECTION.is_some()
}

/// Whether this process runs with a mutant.
pub(crate) fn is_selected() -> bool {
    MUTANT.is_some()
}

/// The expansion of `order!` in the models: `order`, unless `site` is the mutant.
pub(crate) fn ordering(site: &'static str, order: Ordering) -> Ordering {
    match &*MUTANT {
        Some((mutant, Some(weaker))) if mutant == site => *weaker,
        _ => order,
    }
}

/// The expansion of `omitted!` in the models: whether `part` is the mutant.
pub(crate) fn is_omitted(part: &'static str) -> bool {
    matches!(&*MUTANT, Some((mutant, None)) if mutant == part)
}

/// The orderings one step weaker than `order`.
///
/// # Panics
/// Panics on `SeqCst`, which loom treats as `AcqRel`: it could not prove that the difference
/// matters.
pub(crate) fn one_step_weaker(order: Ordering) -> &'static [Ordering] {
    match order {
        Ordering::Relaxed => &[],
        Ordering::Acquire | Ordering::Release => &[Ordering::Relaxed],
        Ordering::AcqRel => &[Ordering::Acquire, Ordering::Release],
        other => panic!("loom can't tell whether {other:?} is needed"),
    }
}

/// Parses the name of an ordering.
pub(crate) fn parse(name: &str) -> Ordering {
    match name {
        "Relaxed" => Ordering::Relaxed,
        "Acquire" => Ordering::Acquire,
        "Release" => Ordering::Release,
        "AcqRel" => Ordering::AcqRel,
        "SeqCst" => Ordering::SeqCst,
        other => panic!("unknown ordering `{other}`"),
    }
}
