//! Sets of definitions that refer to each other.

use crate::definition::{Array, Element, Field, FieldType, Message};
use crate::error::DefinitionError;
use crate::name::{InterfaceKind, TypeName};
use crate::parse::parse_part;
use std::collections::{BTreeMap, BTreeSet};

/// Messages within messages, at most; deeper definitions are an error.
pub const DEPTH_MAX: usize = 64;

/// Definitions by type name: messages, and the messages that services and actions consist of.
///
/// Services and actions themselves are messages here, too, with the fields of their type
/// description: `request_message`, `response_message` and `event_message` for a service.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    types: BTreeMap<TypeName, Message>,
    services: BTreeSet<TypeName>,
    actions: BTreeSet<TypeName>,
}

impl Definitions {
    /// Parses a file: the kind of `name` says how. `origin` names the text in errors.
    ///
    /// # Errors
    /// [`DefinitionError`] for a text that is not valid, and for a type that is there already with
    /// other fields. Types that it refers to are looked up by [`check`](Self::check).
    pub fn add(
        &mut self,
        name: &TypeName,
        text: &str,
        origin: &str,
    ) -> Result<(), DefinitionError> {
        match name.kind {
            InterfaceKind::Message => self.insert(parse_part(name, text, origin, 0)?),
            InterfaceKind::Service => self.add_service(name, text, origin),
            InterfaceKind::Action => self.add_action(name, text, origin),
        }
    }

    /// Adds a parsed message.
    ///
    /// # Errors
    /// [`DefinitionError`] for a type that is there already with other fields.
    pub fn insert(&mut self, message: Message) -> Result<(), DefinitionError> {
        if let Some(known) = self.types.get(&message.name) {
            let equal = known.fields.iter().map(essence).eq(message.fields.iter().map(essence));
            let duplicate =
                format!("type `{}` is defined twice; remove one definition", message.name);
            let error = DefinitionError::new(&message.origin, 1, duplicate);
            return if equal { Ok(()) } else { Err(error) };
        }
        self.types.insert(message.name.clone(), message);
        Ok(())
    }

    /// The definition of a message.
    pub fn get(&self, name: &TypeName) -> Option<&Message> {
        self.types.get(name)
    }

    /// All messages, in order of their names. Services and actions are among them.
    pub fn iter(&self) -> impl Iterator<Item = &Message> {
        self.types.values()
    }

    /// Whether `name` is a service, not a message.
    pub fn is_service(&self, name: &TypeName) -> bool {
        self.services.contains(name)
    }

    /// Whether `name` is an action, not a message.
    pub fn is_action(&self, name: &TypeName) -> bool {
        self.actions.contains(name)
    }

    /// Checks that all types referred to are here, that none contains itself, and that none is
    /// nested deeper than [`DEPTH_MAX`].
    ///
    /// # Errors
    /// [`DefinitionError`], with the line of the field.
    pub fn check(&self) -> Result<(), DefinitionError> {
        let mut depths = BTreeMap::new();
        let mut under_way = Vec::new();
        self.types.values().try_for_each(|it| self.depth(it, &mut depths, &mut under_way).map(drop))
    }

    /// The levels of messages within `message`, itself included.
    fn depth<'a>(
        &'a self,
        message: &'a Message,
        depths: &mut BTreeMap<&'a TypeName, usize>,
        under_way: &mut Vec<&'a TypeName>,
    ) -> Result<usize, DefinitionError> {
        if let Some(depth) = depths.get(&message.name) {
            return Ok(*depth);
        }
        under_way.push(&message.name);
        let mut depth = 1;
        for field in &message.fields {
            let Element::Message(name) = &field.ty.element else {
                continue;
            };
            let fail = |problem| DefinitionError::new(&message.origin, field.line, problem);
            let unknown =
                || fail(format!("unknown type `{name}`: add the definition of its package"));
            let inner = self.types.get(name).ok_or_else(unknown)?;
            if under_way.contains(&name) {
                return Err(fail(format!("type `{name}` contains itself; a message cannot")));
            }
            let too_deep =
                || fail(format!("type `{name}` is nested more than {DEPTH_MAX} levels deep"));
            // Known depths count, too: they end the recursion, not the nesting.
            if under_way.len() >= DEPTH_MAX {
                return Err(too_deep());
            }
            depth = depth.max(1 + self.depth(inner, depths, under_way)?);
            if depth > DEPTH_MAX {
                return Err(too_deep());
            }
        }
        under_way.pop();
        depths.insert(&message.name, depth);
        Ok(depth)
    }

    /// The types that `name` contains, directly or not, in the order of a recording's definition:
    /// depth first, those of one message by name. Types without a definition are left out.
    pub fn dependencies(&self, name: &TypeName) -> Vec<&Message> {
        let mut found = Vec::new();
        if let Some(message) = self.types.get(name) {
            self.collect(message, &mut BTreeSet::new(), &mut found);
        }
        found
    }

    fn collect<'a>(
        &'a self,
        message: &'a Message,
        seen: &mut BTreeSet<&'a TypeName>,
        found: &mut Vec<&'a Message>,
    ) {
        let direct: BTreeSet<_> = message.fields.iter().filter_map(message_of).collect();
        for inner in direct.into_iter().filter_map(|name| self.types.get(name)) {
            if seen.insert(&inner.name) {
                found.push(inner);
                self.collect(inner, seen, found);
            }
        }
    }

    /// The definition of `name` as recordings have it: its text, then the text of each type that
    /// it contains after a line of 80 `=` and a line `MSG: package/Name`.
    ///
    /// `None` without a definition of it.
    pub fn schema(&self, name: &TypeName) -> Option<String> {
        let mut schema = self.types.get(name)?.text.clone();
        for inner in self.dependencies(name) {
            let line = "=".repeat(80);
            schema += &format!("\n{line}\nMSG: {}\n{}", inner.name.short(), inner.text);
        }
        Some(schema)
    }

    fn add_service(
        &mut self,
        name: &TypeName,
        text: &str,
        origin: &str,
    ) -> Result<(), DefinitionError> {
        let [request, response] = parts(text, "service", origin)?;
        self.insert(parse_part(&name.with_suffix("Request"), request.0, origin, request.1)?)?;
        self.insert(parse_part(&name.with_suffix("Response"), response.0, origin, response.1)?)?;
        self.derive_service(name, origin)
    }

    /// Adds the event message of a service and its description.
    fn derive_service(&mut self, name: &TypeName, origin: &str) -> Result<(), DefinitionError> {
        let [request, response, event] =
            ["Request", "Response", "Event"].map(|suffix| name.with_suffix(suffix).short());
        let info = "service_msgs/ServiceEventInfo";
        let text = format!("{info} info\n{request}[<=1] request\n{response}[<=1] response\n");
        self.insert(parse_part(&name.with_suffix("Event"), &text, origin, 0)?)?;
        let members = [("request", request), ("response", response), ("event", event)];
        let members = members.map(|(member, ty)| (format!("{member}_message"), ty));
        self.services.insert(name.clone());
        self.insert(describe(name, &members, origin))
    }

    fn add_action(
        &mut self,
        name: &TypeName,
        text: &str,
        origin: &str,
    ) -> Result<(), DefinitionError> {
        let parts: [_; 3] = parts(text, "action", origin)?;
        for (suffix, part) in ["Goal", "Result", "Feedback"].into_iter().zip(parts) {
            self.insert(parse_part(&name.with_suffix(suffix), part.0, origin, part.1)?)?;
        }
        let [goal, result, feedback] =
            ["Goal", "Result", "Feedback"].map(|suffix| name.with_suffix(suffix).short());
        let id = "unique_identifier_msgs/UUID goal_id\n";
        let derived = [
            ("SendGoal_Request", format!("{id}{goal} goal\n")),
            ("SendGoal_Response", "bool accepted\nbuiltin_interfaces/Time stamp\n".into()),
            ("GetResult_Request", id.into()),
            ("GetResult_Response", format!("int8 status\n{result} result\n")),
            ("FeedbackMessage", format!("{id}{feedback} feedback\n")),
        ];
        for (suffix, text) in derived {
            self.insert(parse_part(&name.with_suffix(suffix), &text, origin, 0)?)?;
        }
        let [send_goal, get_result] = ["SendGoal", "GetResult"].map(|it| name.with_suffix(it));
        self.derive_service(&send_goal, origin)?;
        self.derive_service(&get_result, origin)?;
        self.actions.insert(name.clone());
        let members = [
            ("goal", goal),
            ("result", result),
            ("feedback", feedback),
            ("send_goal_service", send_goal.short()),
            ("get_result_service", get_result.short()),
            ("feedback_message", name.with_suffix("FeedbackMessage").short()),
        ];
        self.insert(describe(name, &members.map(|(member, ty)| (member.into(), ty)), origin))
    }
}

/// The part of a field that makes two definitions equal.
fn essence(field: &Field) -> (&str, &FieldType) {
    (&field.name, &field.ty)
}

/// The message type of a field, if it has one.
fn message_of(field: &Field) -> Option<&TypeName> {
    match &field.ty.element {
        Element::Message(name) => Some(name),
        _ => None,
    }
}

/// The description of a service or action: a message with one field for each of its parts.
fn describe(name: &TypeName, members: &[(String, String)], origin: &str) -> Message {
    let field = |(member, ty): &(String, String)| {
        let short = ty.rsplit('/').next().unwrap_or_default();
        let element = Element::Message(TypeName { name: short.into(), ..name.clone() });
        let ty = FieldType { element, array: Array::Single };
        Field { name: member.clone(), ty, default: None, line: 1 }
    };
    let fields = members.iter().map(field).collect();
    let (origin, text) = (origin.into(), String::new());
    Message { name: name.clone(), fields, constants: Vec::new(), text, origin }
}

/// The parts between the lines `---`, each with the number of lines before it.
fn parts<'a, const N: usize>(
    text: &'a str,
    kind: &'static str,
    origin: &str,
) -> Result<[(&'a str, usize); N], DefinitionError> {
    let mut parts = Vec::new();
    let (mut start, mut lines_before, mut at) = (0, 0, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_end() == "---" {
            parts.push((&text[start..at], lines_before));
            (start, lines_before) = (at + line.len(), index + 1);
        }
        at += line.len();
    }
    parts.push((&text[start..], lines_before));
    let wrong =
        |found| format!("found {found} parts, but a {kind} has {N}; separate them by lines `---`");
    let error = |parts: Vec<_>| DefinitionError::new(origin, 1, wrong(parts.len()));
    parts.try_into().map_err(error)
}
