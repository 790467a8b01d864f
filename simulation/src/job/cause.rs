//! Causes of failures: whether two runs of a job failed for the same reason.

use ringspin_executor::{BoxError, Cause as Reason, Error, ErrorKind, Failure};

/// The reason why a run failed, without the values that differ from run to run: times, event
/// numbers, and the numbers in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cause(pub(super) String);

impl Cause {
    pub(super) fn of(error: &BoxError) -> Self {
        let spun = error.downcast_ref::<Error>();
        if let Some(failure) = spun.and_then(Error::cause::<Failure>) {
            let (verb, message) = match &failure.cause {
                Reason::Panic(message) => ("panicked", message),
                Reason::Error(message) => ("failed", message),
            };
            let (node, callback) = (&failure.node, &failure.callback);
            return Self(format!("{node} {callback} {verb}: {}", words(message)));
        }
        match spun.map(Error::kind) {
            // The callbacks depend on where the limit was reached.
            Some(ErrorKind::ZeroDelayCycle) => Self("cycle".into()),
            _ => Self(words(&error.to_string())),
        }
    }
}

/// The words of the first line, without numbers and without text in brackets or double quotes. The
/// lines after it are the values of an assertion.
fn words(text: &str) -> String {
    let mut words = String::new();
    let (mut depth, mut quoted) = (0u32, false);
    for c in text.lines().next().unwrap_or_default().chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            _ if quoted || depth > 0 => {}
            '0'..='9' | '.' | '-' | '+' => {}
            _ => words.push(c),
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_left_out_and_words_are_kept() {
        for (one, other, same) in [
            ("no a for b 1", "no a for b 12", true),
            ("no a for b 1", "no b for a 1", false),
            ("order [1, 2] at 0.1 s", "order [] at 12.25 s", true),
            ("got \"ab\"", "got \"ba\"", true),
            ("assertion failed: late\n left: 1", "assertion failed: late\n left: x", true),
            ("assertion failed: late", "assertion failed: early", false),
        ] {
            assert_eq!(words(one) == words(other), same, "{one} {other}");
        }
    }
}
