//! Files to be written: shown first, written together, and restored when a later step fails.

use crate::Error;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A file to be written.
#[derive(Debug)]
struct Change {
    path: PathBuf,
    before: Option<String>,
    after: Content,
}

#[derive(Debug)]
enum Content {
    Text(String),
    /// A symbolic link, with its target.
    Link(PathBuf),
}

/// The files of one adoption.
#[derive(Debug, Default)]
pub struct Changes(Vec<Change>);

impl Changes {
    /// Replaces the content of `path`, unless it is that already.
    pub fn write(&mut self, path: PathBuf, text: String) -> Result<(), Error> {
        let before = read(&path)?;
        if before.as_ref() != Some(&text) {
            self.0.push(Change { path, before, after: Content::Text(text) });
        }
        Ok(())
    }

    /// Creates `path`, unless it is there.
    pub fn create(&mut self, path: PathBuf, text: String) {
        if fs::symlink_metadata(&path).is_err() {
            self.0.push(Change { path, before: None, after: Content::Text(text) });
        }
    }

    /// Creates a symbolic link, unless `path` is there.
    pub fn link(&mut self, path: PathBuf, target: PathBuf) {
        if fs::symlink_metadata(&path).is_err() {
            self.0.push(Change { path, before: None, after: Content::Link(target) });
        }
    }

    /// Whether nothing is to be written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A line for each file; `with_lines`: the added and removed lines, too. Paths are relative to
    /// `root`.
    pub fn describe(&self, root: &Path, with_lines: bool) -> String {
        let mut text = String::new();
        for change in &self.0 {
            let verb = if change.before.is_some() { "change" } else { "create" };
            let path = relative(root, &change.path);
            text += &format!("  {verb} {}", path.display());
            match &change.after {
                Content::Link(target) => text += &format!(" -> {}\n", target.display()),
                Content::Text(after) => {
                    text.push('\n');
                    let before = change.before.as_deref().unwrap_or_default();
                    text += &if with_lines { difference(before, after) } else { String::new() };
                }
            }
        }
        text
    }

    /// Writes all files. `snapshot` restores them, unless it is kept.
    pub fn apply(&self, snapshot: &mut Snapshot) -> Result<(), Error> {
        for change in &self.0 {
            snapshot.add(&change.path)?;
            let failed = |error| Error::file("write", &change.path, error);
            if let Some(folder) = change.path.parent() {
                fs::create_dir_all(folder).map_err(failed)?;
            }
            match &change.after {
                Content::Text(text) => fs::write(&change.path, text),
                Content::Link(target) => link(target, &change.path),
            }
            .map_err(failed)?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_target: &Path, _path: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// The content of a file, if it is there.
pub fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path, error)),
    }
}

/// The contents of files before a change, which it restores when it is dropped without [`keep`].
///
/// [`keep`]: Snapshot::keep
#[derive(Debug, Default)]
pub struct Snapshot {
    files: Vec<(PathBuf, Option<String>)>,
    /// Those that were missing, inner ones last.
    folders: Vec<PathBuf>,
}

impl Snapshot {
    /// Remembers the file, or that there is none.
    pub fn add(&mut self, path: &Path) -> Result<(), Error> {
        if self.files.iter().all(|(known, _)| known != path) {
            let content = read(path)?;
            let missing = path.ancestors().skip(1).take_while(|folder| !folder.exists());
            let mut missing: Vec<_> = missing.map(Path::to_path_buf).collect();
            missing.reverse();
            self.folders.extend(missing);
            self.files.push((path.to_path_buf(), content));
        }
        Ok(())
    }

    /// Whether a file differs from the remembered content.
    pub fn has_changed(&self, path: &Path) -> Result<bool, Error> {
        let known = self.files.iter().find(|(known, _)| known == path);
        Ok(known.is_some_and(|(_, content)| read(path).ok().as_ref() != Some(content)))
    }

    /// Leaves the files as they are now.
    pub fn keep(mut self) {
        self.files.clear();
        self.folders.clear();
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        for (path, content) in self.files.drain(..).rev() {
            let is_there = fs::symlink_metadata(&path).is_ok();
            let restored = match &content {
                Some(content) if read(&path).ok().flatten().as_ref() == Some(content) => Ok(()),
                Some(content) => fs::write(&path, content),
                None if is_there => fs::remove_file(&path),
                None => Ok(()),
            };
            if let Err(error) = restored {
                eprintln!("failed to restore {}: {error}; restore it from git", path.display());
            }
        }
        for folder in self.folders.drain(..).rev() {
            // Not empty if another program has written there meanwhile: then it stays.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The way from the folder `from` to `to`, both absolute.
pub fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(left, right)| left == right).count();
    let up = from[shared..].iter().map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to[shared..].iter().copied()).collect();
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

/// The lines between the first and the last line that differ, with `-` and `+`.
fn difference(before: &str, after: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(left, right)| left == right).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(|(left, right)| left == right).count();
    let removed = old[start..old.len() - end].iter().map(|line| format!("    - {line}\n"));
    let added = new[start..new.len() - end].iter().map(|line| format!("    + {line}\n"));
    removed.chain(added).collect()
}
