//! Counting of occurrences that would flood the log.

/// A number that is logged when it becomes one, and then whenever it has doubled.
#[derive(Default)]
pub(crate) struct Occurrences(u64);

impl Occurrences {
    /// Adds `more`; returns the number if it is to be logged.
    pub(crate) fn add(&mut self, more: u64) -> Option<u64> {
        let before = self.0;
        self.0 = before.saturating_add(more);
        (before.checked_ilog2() != self.0.checked_ilog2()).then_some(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_logged_when_it_has_doubled() {
        let mut number = Occurrences::default();
        let logged: Vec<_> = [0, 1, 0, 1, 1, 1, 90, 30, 3, 1].map(|n| number.add(n)).to_vec();
        let logged: Vec<_> = logged.into_iter().flatten().collect();
        assert_eq!(logged, [1, 2, 4, 94, 128]);
    }
}
