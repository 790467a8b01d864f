//! The error of every operation that hands no value back.
//!
//! A caller decides by [`Error::kind`]; a person reads the text. The text has the form "failed to
//! X: cause; do Y" and names the input, so it is written once, where the fault is found, and passed
//! on unchanged. `Debug` prints the same text, because `main` and `unwrap` print `Debug`. Code that
//! wants the subject in a form that it can compare asks for the node, topic, file or line.

use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A result with ringspin's [`Error`], unless another error type is given.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The classes of faults that a program may treat differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The name is in use: of a node, callback group, service, parameter, stream or input.
    AlreadyExists,
    /// The name breaks the rules of ROS 2.
    InvalidName,
    /// A value is out of range or contradicts another one.
    InvalidArgument,
    /// Two ends of a topic or service, or a parameter and its value, have different types.
    TypeMismatch,
    /// A publisher offers less than a subscription requests.
    IncompatibleQos,
    /// The operation is not allowed now: before or after the start, or after an end.
    InvalidState,
    /// The named thing does not exist.
    NotFound,
    /// A queue, a worker or another bounded resource is full.
    LimitReached,
    /// The other end refuses the request.
    Rejected,
    /// The other end did not answer in time.
    TimedOut,
    /// A callback panicked or returned an error.
    CallbackFailed,
    /// Application code other than a callback panicked.
    Panicked,
    /// Waiting would never end, because this thread has to do the awaited work.
    Deadlock,
    /// Callbacks feed each other at one instant of simulated time without end.
    ZeroDelayCycle,
    /// A schedule names choices, events or messages that its run does not have.
    ScheduleNotApplied,
    /// Simulated time advances, but no message and no request is handled.
    NoProgress,
    /// Two runs that should be equal are not.
    Diverged,
    /// A text or recording has invalid contents.
    Parse,
    /// A file or another resource of the operating system failed.
    Io,
    /// The operating system denies the permission.
    PermissionDenied,
    /// The build, the mode or the machine does not offer the operation.
    Unsupported,
    /// The middleware refuses the request.
    Middleware,
}

/// An error of ringspin: a kind for programs and a text for people.
///
/// `Display` and `Debug` show the text; `Debug` adds the causes that the text does not contain.
///
/// ```
/// use ringspin_executor::{ErrorKind, Graph};
/// fn main() -> ringspin_executor::Result<()> {
///     let graph = Graph::new();
///     let talker = graph.create_node("talker", ())?;
///     let error = graph.create_node("talker", ()).unwrap_err();
///     assert_eq!((error.kind(), error.node()), (ErrorKind::AlreadyExists, Some("/talker")));
///     println!("{error}");
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    text: String,
    node: Option<String>,
    topic: Option<String>,
    path: Option<PathBuf>,
    line: Option<usize>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error with a text of the form "failed to X: cause; do Y".
    #[cold]
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        let (node, topic, path, line, source) = (None, None, None, None, None);
        Self(Arc::new(Inner { kind, text: text.into(), node, topic, path, line, source }))
    }

    /// The same error about `node`.
    #[must_use]
    pub fn in_node(mut self, node: impl Into<String>) -> Self {
        self.inner().node = Some(node.into());
        self
    }

    /// The same error about `topic`, or about a service or an action of that name.
    #[must_use]
    pub fn on_topic(mut self, topic: impl Into<String>) -> Self {
        self.inner().topic = Some(topic.into());
        self
    }

    /// The same error about the file `path`.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.inner().path = Some(path.into());
        self
    }

    /// The same error about a line of its file, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: usize) -> Self {
        self.inner().line = Some(line);
        self
    }

    /// The same error with a cause.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner().source = Some(Arc::from(cause.into()));
        self
    }

    /// The same error with the text that `reword` makes of its text, for a caller that knows more
    /// about the input.
    #[must_use]
    pub fn reworded(mut self, reword: impl FnOnce(&str) -> String) -> Self {
        self.inner().text = reword(&self.0.text);
        self
    }

    fn inner(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }

    /// The class of the fault.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The fully qualified name of the node that the error is about.
    pub fn node(&self) -> Option<&str> {
        self.0.node.as_deref()
    }

    /// The fully qualified name of the topic, service or action that the error is about.
    pub fn topic(&self) -> Option<&str> {
        self.0.topic.as_deref()
    }

    /// The file that the error is about.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The line of that file, from 1.
    pub fn line(&self) -> Option<usize> {
        self.0.line
    }

    /// The first cause of type `C`, such as the [`Failure`](crate::Failure) of a callback or an
    /// [`io::Error`](std::io::Error).
    pub fn cause<C: StdError + 'static>(&self) -> Option<&C> {
        self.causes().find_map(|cause| cause.downcast_ref())
    }

    fn causes(&self) -> impl Iterator<Item = &(dyn StdError + 'static)> {
        let mut next = self.source();
        std::iter::from_fn(move || {
            let cause = next?;
            next = cause.source();
            Some(cause)
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = self.0.text.clone();
        for cause in self.causes().map(ToString::to_string) {
            if !written.contains(&cause) {
                written = format!("{written}\n  caused by: {cause}");
            }
        }
        f.write_str(&written)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|cause| cause as &(dyn StdError + 'static))
    }
}

/// Two errors are equal if programs and people cannot tell them apart.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && format!("{self:?}") == format!("{other:?}")
    }
}

impl Eq for Error {}

/// Makes a type with `Display` an error with the same text as `Debug`, which `main` and `unwrap`
/// show.
macro_rules! written_error {
    ($error:ident $(<$value:ident>)?) => {
        impl$(<$value>)? ::std::fmt::Debug for $error$(<$value>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }

        impl$(<$value>)? ::std::error::Error for $error$(<$value>)? {}
    };
}

pub(crate) use written_error;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn unread() -> Error {
        let cause = io::Error::new(io::ErrorKind::NotFound, "no such file");
        Error::new(ErrorKind::Io, "failed to read `a.toml`; check the path")
            .at_path("a.toml")
            .at_line(7)
            .caused_by(cause)
    }

    #[test]
    fn debug_is_the_text_and_the_causes_that_it_lacks() {
        let error = unread();
        assert_eq!(error.to_string(), "failed to read `a.toml`; check the path");
        let expected = "failed to read `a.toml`; check the path\n  caused by: no such file";
        assert_eq!(format!("{error:?}"), expected);
        assert_eq!(format!("{error:#?}"), expected);
        let error = error.reworded(|text| format!("{text} (no such file)"));
        assert_eq!(format!("{error:?}"), error.to_string());
    }

    #[test]
    fn subject_and_causes_are_accessible() {
        let error = Error::new(ErrorKind::InvalidState, "failed to start").caused_by(unread());
        let cause = error.cause::<Error>().unwrap();
        assert_eq!((cause.path(), cause.line()), (Some(Path::new("a.toml")), Some(7)));
        assert_eq!(error.cause::<io::Error>().unwrap().kind(), io::ErrorKind::NotFound);
        assert_eq!((error.path(), error.node(), error.topic()), (None, None, None));
    }

    #[test]
    fn builders_change_a_clone_only() {
        let error = unread();
        let other = error.clone().in_node("/a").on_topic("/b");
        assert_eq!((other.node(), other.topic()), (Some("/a"), Some("/b")));
        assert_eq!(error.node(), None);
        assert_eq!(error, unread());
        assert_ne!(error, error.clone().reworded(|_| "other".into()));
    }

    #[test]
    fn one_pointer_that_question_mark_converts() {
        const fn shareable<E: StdError + Send + Sync + 'static>() {}
        shareable::<Error>();
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
        let boxed = || -> Result<(), Box<dyn StdError + Send + Sync>> { Err(unread())? };
        assert_eq!(boxed().unwrap_err().to_string(), unread().to_string());
    }
}
