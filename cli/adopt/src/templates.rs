//! The first deterministic test of an application, and the workflow that runs it in CI.

use crate::files::relative;
use crate::manifest::path_text;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the test.
pub const TEST: &str = "deterministic";

/// A part of the test's header.
pub const MARK: &str = "Written by `cargo ringspin adopt`";

const TEST_HEAD: &str = r#"//! Ten runs of ten simulated seconds have one digest.
//!
//! Written by `cargo ringspin adopt`; to be extended by the assertions of the application.

use std::process::Command;

const RUNS: usize = 10;

/// The digest on the last line of a run, such as
/// `ringspin: 10.000000000 s of simulated time in 0.023 s, ..., digest 1f0c of the order ...`.
fn digest(program: &str) -> String {
    let mut command = Command::new(program);
    command.env("RINGSPIN_MODE", "deterministic").env("RINGSPIN_DURATION", "10");
    let run = command.output().expect("failed to start the program");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{program} ended with {}:\n{said}", run.status);
    let line = said.lines().rev().find(|line| line.starts_with("ringspin: "));
    let (_, digest) = line.and_then(|line| line.split_once(" digest ")).unwrap_or_else(|| {
        let remedy = "if cargo does not use the patch, run `cargo ringspin adopt` again";
        panic!("{program} printed no digest; {remedy}:\n{said}");
    });
    digest.split_whitespace().next().unwrap_or_default().to_owned()
}

fn assert_one_digest(name: &str, program: &str) {
    let first = digest(program);
    for run in 2..=RUNS {
        assert_eq!(digest(program), first, "runs 1 and {run} of {name} differ");
    }
    println!("{name}: digest {first} in {RUNS} runs");
}
"#;

const WORKFLOW_HEAD: &str = "\
# Ten runs in deterministic mode have one digest. Written by `cargo ringspin adopt`.
name: deterministic
on: [push, pull_request]
jobs:
  deterministic:
    runs-on: ubuntu-latest
    steps:
";

const TOOLCHAIN: &str = "\
      # Rust 1.95 or newer, for ringspin.
      - run: rustup update stable && rustup default stable
";

/// The text of the test, for these programs of one package.
pub fn test(programs: &[&str]) -> String {
    let mut text = TEST_HEAD.to_owned();
    for program in programs {
        let word = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let name: String = program.chars().map(word).collect();
        text += &format!(
            "\n#[test]\nfn runs_of_{name}_have_one_digest() {{\n    \
             assert_one_digest(\"{program}\", env!(\"CARGO_BIN_EXE_{program}\"));\n}}\n"
        );
    }
    text
}

/// The places of a workflow: folders on the machine of CI, relative to its working folder.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The folder that has `.github`.
    pub repository: PathBuf,
    application: String,
    workspace: String,
    /// Place of ringspin; none if it is a part of the application's repository.
    ringspin: Option<String>,
}

impl Layout {
    /// The same places as on this machine, below the deepest folder that has all of them.
    pub fn new(workspace: &Path, ringspin: &Path) -> Self {
        let has_git = |folder: &&Path| folder.join(".git").exists();
        let repository = workspace.ancestors().find(has_git).unwrap_or(workspace);
        let top = repository.ancestors().find(|folder| ringspin.starts_with(folder));
        let top = top.unwrap_or(repository);
        let below = |path: &Path| path_text(&relative(top, path));
        Self {
            repository: repository.to_path_buf(),
            application: below(repository),
            workspace: below(workspace),
            ringspin: (top != repository).then(|| below(ringspin)),
        }
    }
}

/// The repository of ringspin on GitHub, and its commit if it was pushed.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// `owner/name`.
    pub repository: Option<String>,
    /// The commit.
    pub commit: Option<String>,
}

impl Origin {
    /// Asks git in the clone at `folder`.
    pub fn of(folder: &Path) -> Self {
        let git = |arguments: &[&str]| {
            let done = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
            let text = String::from_utf8(done.stdout).ok()?.trim().to_owned();
            Some(text).filter(|text| done.status.success() && !text.is_empty())
        };
        let address = git(&["remote", "get-url", "origin"]);
        let repository = address.as_deref().and_then(github_name).map(str::to_owned);
        let is_pushed = git(&["branch", "--remotes", "--contains", "HEAD"]).is_some();
        let commit = git(&["rev-parse", "HEAD"]).filter(|_| is_pushed && repository.is_some());
        Self { repository, commit }
    }
}

/// `owner/name` of an address such as `git@github.com:owner/name.git`.
fn github_name(address: &str) -> Option<&str> {
    let (_, name) = address.split_once("github.com")?;
    let name = name.trim_start_matches([':', '/']).trim_end_matches('/');
    Some(name.trim_end_matches(".git")).filter(|name| name.matches('/').count() == 1)
}

/// The text of the workflow, for the tests of these packages.
pub fn workflow(layout: &Layout, origin: &Origin, packages: &[&str]) -> String {
    let packages: String = packages.iter().map(|name| format!(" -p {name}")).collect();
    let Layout { application, workspace, ringspin, .. } = layout;
    let checkout = "- uses: actions/checkout@v4";
    let steps = match ringspin {
        None => vec![checkout.to_owned(), "  with: { submodules: true }".to_owned()],
        Some(ringspin) => {
            let repository = origin.repository.as_deref().unwrap_or("OWNER/ringspin");
            let commit = origin.commit.as_deref().map(|it| format!(", ref: {it}"));
            let commit = commit.unwrap_or_default();
            vec![
                checkout.to_owned(),
                format!("  with: {{ path: \"{application}\" }}"),
                checkout.to_owned(),
                format!("  with: {{ repository: \"{repository}\"{commit}, path: \"{ringspin}\" }}"),
            ]
        }
    };
    let steps: String = steps.into_iter().map(|line| format!("      {line}\n")).collect();
    format!("{WORKFLOW_HEAD}{steps}{TOOLCHAIN}      - run: cargo test{packages} --test {TEST}\n")
        + &format!("        working-directory: \"{workspace}\"\n")
}
