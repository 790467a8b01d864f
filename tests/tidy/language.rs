//! Plain language: banned openers and words, and clauses that need a second reading.

use std::fs;
use std::path::Path;

use regex::Regex;

use super::{none, sources};

/// Openers of comments that hide the subject of a sentence; CONTRIBUTING.md, "Style", has the rule.
const BANNED_OPENERS: [&str; 6] = ["What", "Who", "Whose", "That of", "Those of", "As ["];
const BANNED_WORDS: [&str; 3] = ["nobody", "somebody", "whoever"];

/// Clauses that need a second reading: a name, a pattern, and the allowed rate per 10,000 words.
///
/// The rates are twice those of tokio 1.54 counted by these patterns (0.6, 1.3, 0.2, 1.5), and 0.4
/// for the one that tokio never uses. The last pattern is for whole sentences: short ones that open
/// with a preposition or conjunction and end without a comma are fragments without a verb.
const RIDDLES: [(&str, &str, f64); 5] = [
    (
        "what is/comes/has",
        r"(?ix)\bwhat(ever)?\s(is|are|was|were|comes|came|come|has|had|goes|it|they|a|the|he|its
            |this|that|one|follows|runs|happens|remains|stays|belongs|lies|waits|stands)\b",
        1.2,
    ),
    ("who/whose", r"(?i)\bwho(se|ever|m)?\b", 2.6),
    (
        "has come/goes on/is gone",
        r"(?ix)\b(has|have|had|is|are|was|were)\s(been\s)?(come|gone)\b|\bgo(es)?\son\b",
        0.4,
    ),
    ("of its own", r"(?i)\bof (its|their|his|one's) own\b", 0.4),
    (
        "fragment without a verb",
        r"(?x)^(By|If|In|For|With|Without|At|Of|From|Per|As|On|To|Not|Until|Before|After|Since
            |Unless|While|Because)(\s[^\s.,;:]+){1,5}\.$",
        3.0,
    ),
];

/// The text of the comment on this line, without list and heading markers.
fn comment(line: &str) -> Option<&str> {
    let trimmed = line.trim_start();
    let comment = match trimmed.starts_with("//") {
        true => trimmed,
        false => line.split_once(" // ")?.1,
    };
    Some(comment.trim_start_matches(|c: char| c.is_ascii_digit() || "/!#*-. ".contains(c)))
}

/// Whether `text` begins with `words`, not followed by a further letter.
fn opens_with(text: &str, words: &str) -> bool {
    let rest = text.strip_prefix(words);
    rest.is_some_and(|rest| words.ends_with('[') || !rest.starts_with(char::is_alphanumeric))
}

/// The banned opener or word on this line. Names in code count, too.
fn banned(line: &str) -> Option<String> {
    let opener = comment(line)
        .and_then(|comment| BANNED_OPENERS.iter().find(|words| opens_with(comment, words)));
    if let Some(opener) = opener {
        return Some(format!("a comment opens with `{opener}`"));
    }
    let lower = line.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.find(|word| BANNED_WORDS.contains(word)).map(|word| format!("`{word}`"))
}

#[test]
fn language_is_plain() {
    // This file lists the banned words.
    let others = sources().into_iter().filter(|(path, _)| !path.starts_with("tests/tidy"));
    let findings = others.flat_map(|(path, text)| {
        let lines = text.lines().enumerate();
        let at = |(n, problem)| format!("{}:{}: {problem}", path.display(), n + 1);
        lines.flat_map(|(n, line)| banned(line).map(|found| (n, found))).map(at).collect::<Vec<_>>()
    });
    none(findings.collect());
}

/// The comment blocks of a source, code examples left out, each in one line, and its messages: the
/// string literals of several words.
fn comment_blocks(text: &str) -> Vec<String> {
    let (mut blocks, mut is_code) = (vec![String::new()], false);
    for line in text.lines() {
        let comment = line.trim_start().strip_prefix("//");
        let comment = comment.map(|rest| rest.trim_start_matches(['/', '!']).trim());
        is_code ^= comment.is_some_and(|comment| comment.starts_with("```"));
        match comment.filter(|comment| !is_code && !comment.is_empty()) {
            Some(comment) => blocks.last_mut().unwrap().extend([comment, " "]),
            None => blocks.push(String::new()),
        }
        let trailing = line.split_once(" // ").filter(|(_, after)| !after.contains('"'));
        blocks.extend(trailing.map(|(_, after)| after.to_owned()));
        let messages = line.split('"').skip(1).step_by(2);
        let messages = messages.filter(|text| text.split(' ').count() > 4 && comment.is_none());
        blocks.extend(messages.map(str::to_owned));
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// The sentences of a block, each with its full stop.
fn sentences(block: &str) -> Vec<&str> {
    let ends = block.match_indices(". ").map(|(at, _)| at + 1);
    let mut starts = vec![0];
    starts.extend(ends);
    starts.push(block.len());
    starts.windows(2).map(|pair| block[pair[0]..pair[1]].trim()).collect()
}

/// The number of words in `blocks`, and for each of [`RIDDLES`] where it is found: a file and a
/// sentence.
fn riddles(blocks: &[(String, String)]) -> (usize, [Vec<String>; RIDDLES.len()]) {
    let patterns = RIDDLES.map(|(_, pattern, _)| Regex::new(pattern).unwrap());
    let (mut words, mut found) = (0, [const { Vec::new() }; RIDDLES.len()]);
    for (file, block) in blocks {
        words += block.split_whitespace().count();
        for sentence in sentences(block) {
            for (pattern, found) in patterns.iter().zip(&mut found) {
                found.extend(pattern.find_iter(sentence).map(|_| format!("{file}: {sentence}")));
            }
        }
    }
    (words, found)
}

/// The problems of `blocks`: a line for each pattern that is too frequent, with its sentences.
fn too_frequent(name: &str, blocks: &[(String, String)]) -> Vec<String> {
    let (words, found) = riddles(blocks);
    let mut problems = Vec::new();
    for ((riddle, _, rate_max), found) in RIDDLES.into_iter().zip(found) {
        let rate = found.len() as f64 * 10_000.0 / words as f64;
        if rate > rate_max {
            problems.push(format!(
                "{name}: `{riddle}` {rate:.1} times per 10,000 words, {rate_max} allowed"
            ));
            problems.extend(found.into_iter().map(|sentence| format!("  {sentence}")));
        }
    }
    problems
}

#[test]
fn comments_rarely_need_a_second_reading() {
    let others = sources().into_iter().filter(|(path, _)| !path.starts_with("tests/tidy"));
    let comments = others.flat_map(|(path, text)| {
        let blocks = comment_blocks(&text).into_iter();
        blocks.map(move |block| (path.display().to_string(), block))
    });
    none(too_frequent("comments", &comments.collect::<Vec<_>>()));
}

#[test]
fn pages_rarely_need_a_second_reading() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let fronts = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let pages = pages.chain(fronts.map(|name| root.join(name)));
    let lines = pages.flat_map(|page| {
        let text = fs::read_to_string(&page).unwrap();
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.into_iter().map(move |line| (page.display().to_string(), line))
    });
    none(too_frequent("pages", &lines.collect::<Vec<_>>()));
}

#[test]
fn riddles_are_found() {
    let text = "/// What is left of a message whose sender has come.\n/// By token.\n\
        fn f() {} // in a list of its own\n";
    let blocks = comment_blocks(text);
    assert_eq!(blocks.len(), 2, "{blocks:?}");
    let blocks: Vec<_> = blocks.into_iter().map(|block| (String::new(), block)).collect();
    let (words, found) = riddles(&blocks);
    assert_eq!((words, found.map(|found| found.len())), (18, [1; RIDDLES.len()]));
}
