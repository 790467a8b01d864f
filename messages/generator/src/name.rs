//! Names of interface types.

use std::fmt;

/// The kind of an interface: the folder of its definition within the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InterfaceKind {
    /// An action, or a message that belongs to one.
    Action,
    /// A message.
    Message,
    /// A service, or a message that belongs to one.
    Service,
}

impl InterfaceKind {
    /// The folder: `msg`, `srv` or `action`.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Message => "msg",
            Self::Service => "srv",
        }
    }

    /// The kind with this folder.
    pub fn from_folder(folder: &str) -> Option<Self> {
        [Self::Action, Self::Message, Self::Service].into_iter().find(|it| it.folder() == folder)
    }
}

/// The name of a type, such as `sensor_msgs/msg/Imu`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeName {
    /// The package.
    pub package: String,
    /// The kind of interface.
    pub kind: InterfaceKind,
    /// The name within package and kind, such as `Imu` or `SetBool_Request`.
    pub name: String,
}

impl TypeName {
    /// The type `name` of this package and kind.
    pub fn new(package: &str, kind: InterfaceKind, name: &str) -> Self {
        Self { package: package.into(), kind, name: name.into() }
    }

    /// Parses `package/msg/Name`, or `package/Name` as definitions have it. Names with a suffix of
    /// services or actions, such as `package/SetBool_Request`, are of that kind.
    ///
    /// `None` for a text that is no name.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let (package, second, third) = (parts.next()?, parts.next()?, parts.next());
        let (kind, name) = match third {
            Some(name) => (InterfaceKind::from_folder(second)?, name),
            None => (kind_of(second), second),
        };
        let valid = parts.next().is_none() && is_identifier(package) && is_identifier(name);
        valid.then(|| Self::new(package, kind, name))
    }

    /// The name as definitions refer to it: `package/Name`.
    pub fn short(&self) -> String {
        format!("{}/{}", self.package, self.name)
    }

    /// The same name with a suffix: `SetBool` and `Request` give `SetBool_Request`.
    pub fn with_suffix(&self, suffix: &str) -> Self {
        Self { name: format!("{}_{suffix}", self.name), ..self.clone() }
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.package, self.kind.folder(), self.name)
    }
}

/// The kind of a type by its name alone: only derived messages have an underscore.
fn kind_of(name: &str) -> InterfaceKind {
    let of_actions = ["Goal", "Result", "Feedback", "FeedbackMessage"];
    let of_services = ["Request", "Response", "Event"];
    let Some((before, suffix)) = name.rsplit_once('_') else {
        return InterfaceKind::Message;
    };
    let is_service = of_services.contains(&suffix);
    let of_goals = before.ends_with("_SendGoal") || before.ends_with("_GetResult");
    match is_service {
        _ if of_actions.contains(&suffix) || is_service && of_goals => InterfaceKind::Action,
        true => InterfaceKind::Service,
        false => InterfaceKind::Message,
    }
}

/// Whether `text` is a letter, then letters, digits and underscores.
pub(crate) fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The name of a package, type, field or constant: a keyword or primitive type of Rust gets an
/// underscore at its end.
pub(crate) fn rust_name(name: &str) -> String {
    const RESERVED: &str = " abstract alignof as async await become box break const continue crate \
        do dyn else enum extern false final fn for if impl in let loop macro match mod move mut \
        offsetof override priv proc pub pure ref return Self self sizeof static struct super trait \
        true try type typeof unsafe unsized use virtual where while yield str bool f32 f64 usize \
        isize u128 i128 u64 i64 u32 i32 u16 i16 u8 i8 gen ";
    let reserved = RESERVED.contains(&format!(" {name} "));
    if reserved { format!("{name}_") } else { name.into() }
}
