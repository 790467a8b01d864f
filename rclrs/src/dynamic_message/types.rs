//! Message types by name: those that the program was built with, then those of the environment.

use super::message_structure::MessageStructure;
use crate::app::LIBRARY;
use crate::error::DynamicMessageError;
use ringspin::arguments::LogLevel;
use ringspin_adapter::log::{Line, log};
use ringspin_adapter::{Carried, lock};
use ringspin_message_generator::{
    Definitions, TypeName, environment_definitions, environment_has_package, parse_schema,
};
use ringspin_messages::{CdrType, RosType};
use rosidl_runtime_rs::{Message, TypeVisitor};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{LazyLock, Mutex};

/// A message type. It stays as long as the program.
#[derive(Clone, Copy)]
pub(super) struct MessageType {
    pub(super) ros_type: RosType,
    pub(super) structure: &'static MessageStructure,
}

/// The types so far: by name, and those of structs by hash, which never equals a name.
static TYPES: Mutex<BTreeMap<String, MessageType>> = Mutex::new(BTreeMap::new());

/// The types that the program was built with.
static BUILT_IN: LazyLock<BTreeMap<&'static str, RosType>> = LazyLock::new(|| {
    let mut types = BuiltIn::default();
    ros_env::visit_types(&mut types);
    types.0
});

#[derive(Default)]
struct BuiltIn(BTreeMap<&'static str, RosType>);

impl TypeVisitor for BuiltIn {
    fn message<M: Message>(&mut self) {
        self.0.insert(M::TYPE_NAME, RosType::of::<M>());
    }
}

impl MessageType {
    /// The type `package/msg/name`.
    ///
    /// # Errors
    /// For a package or type that no place has, and for a definition that is not valid.
    pub(super) fn named(package: &str, name: &str) -> Result<Self, DynamicMessageError> {
        let full = format!("{package}/msg/{name}");
        Self::cached(&full, || match BUILT_IN.get(&*full) {
            Some(ros_type) => Self::built_in(*ros_type),
            None => Self::of_environment(package, &full),
        })
    }

    /// The type of a struct.
    ///
    /// # Errors
    /// For one with a definition that is not valid, which no generator makes.
    pub(super) fn of<M: Message>() -> Result<Self, DynamicMessageError> {
        Self::cached(M::TYPE_HASH, || Self::built_in(RosType::of::<M>()))
    }

    fn cached(
        key: &str,
        find: impl FnOnce() -> Result<Self, DynamicMessageError>,
    ) -> Result<Self, DynamicMessageError> {
        let mut types = lock(&TYPES);
        if let Some(known) = types.get(key) {
            return Ok(*known);
        }
        let found = find()?;
        types.insert(key.to_owned(), found);
        Ok(found)
    }

    fn built_in(ros_type: RosType) -> Result<Self, DynamicMessageError> {
        let name = TypeName::parse(ros_type.name).ok_or(DynamicMessageError::InvalidMessageType)?;
        let definitions = parse_schema(&name, ros_type.definition, ros_type.name);
        Self::new(&definitions.map_err(DynamicMessageError::invalid)?, &name, |_| ros_type)
    }

    fn of_environment(package: &str, full: &str) -> Result<Self, DynamicMessageError> {
        let name = TypeName::parse(full);
        let found = name.as_ref().map(environment_definitions).transpose();
        if let (Some(definitions), Some(name)) =
            (found.map_err(DynamicMessageError::invalid)?.flatten(), name)
        {
            return Self::new(&definitions, &name, |definitions| RosType {
                name: full.to_owned().leak(),
                definition: definitions.schema(&name).unwrap_or_default().leak(),
                hash: definitions.type_hash(&name).unwrap_or_default().leak(),
            });
        }
        if !has_package(package) {
            return Err(DynamicMessageError::RequiredPrefixNotSourced { package: package.into() });
        }
        let known: Vec<_> = built_in(package).collect();
        let known = if known.is_empty() { "other files".into() } else { known.join(", ") };
        let text = format!("found no message type {full}: the package has {known}");
        let (level, file, line) = (LogLevel::Error, file!(), line!());
        log(&Line { level, logger: LIBRARY, text: &text, file, line });
        Err(DynamicMessageError::InvalidMessageType)
    }

    fn new(
        definitions: &Definitions,
        name: &TypeName,
        ros_type: impl FnOnce(&Definitions) -> RosType,
    ) -> Result<Self, DynamicMessageError> {
        let structure =
            MessageStructure::new(definitions, name).map_err(DynamicMessageError::invalid)?;
        Ok(Self { ros_type: ros_type(definitions), structure: Box::leak(Box::new(structure)) })
    }

    /// The type as a topic carries it.
    pub(super) fn table(self) -> &'static CdrType {
        let Ok(table) =
            Carried::named_table(self.ros_type.name, || Ok::<_, Infallible>(self.ros_type));
        table
    }
}

/// The messages of a package that the program was built with.
fn built_in(package: &str) -> impl Iterator<Item = &'static str> {
    let prefix = format!("{package}/msg/");
    BUILT_IN.keys().copied().filter(move |name| name.starts_with(&prefix))
}

/// Whether any place has a package of this name.
pub(super) fn has_package(name: &str) -> bool {
    built_in(name).next().is_some() || environment_has_package(name)
}
