//! Rust source text of definitions.

use crate::definition::{Array, Constant, Element, Field, Message, Value};
use crate::name::{InterfaceKind, TypeName};
use crate::types::Definitions;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Writes the modules of some packages.
pub(crate) struct Writer<'a> {
    /// All definitions, also those of packages that are not written.
    pub(crate) definitions: &'a Definitions,
    /// The packages to write.
    pub(crate) packages: BTreeSet<&'a str>,
    /// The path of the crate `ringspin_messages`, which has the other packages.
    pub(crate) root: &'a str,
}

/// The modules of a package: by path below the package, the text within.
type Modules = BTreeMap<Vec<String>, String>;

impl Writer<'_> {
    /// The text of all packages: a module for each, and a function that visits all types.
    pub(crate) fn write(&self) -> String {
        let mut text = String::from("// Generated from definitions; do not edit.\n");
        let mut visits = String::new();
        for package in &self.packages {
            let mut modules = Modules::new();
            for message in self.definitions.iter().filter(|it| it.name.package == *package) {
                self.write_type(message, &mut modules, &mut visits);
            }
            let allow = "non_snake_case, non_upper_case_globals, missing_docs, clippy::all";
            let _ = writeln!(text, "/// Types of `{package}`.\n#[allow({allow})]");
            let _ = writeln!(text, "#[rustfmt::skip]\npub mod {} {{", rust_name(package));
            write_modules(&modules, &mut text);
            text += "}\n";
        }
        let visitor = format!("{}::TypeVisitor", self.root);
        let _ = write!(
            text,
            "/// Calls `visitor` with each message, service and action type, in order of their \
             names.\npub fn visit_types(visitor: &mut impl {visitor}) {{\n{visits}}}\n"
        );
        text
    }

    /// Writes a message; of a service or action, the marker type.
    fn write_type(&self, message: &Message, modules: &mut Modules, visits: &mut String) {
        let name = &message.name;
        let (path, rust) = place(name);
        let is_service = self.definitions.is_service(name);
        let kind = match is_service {
            true => "service",
            false if self.definitions.is_action(name) => "action",
            false => "message",
        };
        let module = modules.entry(path.clone()).or_default();
        match kind {
            "service" => self.write_service(name, module),
            "action" => self.write_action(name, module),
            _ => self.write_message(message, &rust, path.len(), module),
        }
        let path = path.join("::");
        let package = rust_name(&name.package);
        let _ = writeln!(visits, "    visitor.{kind}::<{package}::{path}::{rust}>();");
    }

    fn hash(&self, name: &TypeName) -> String {
        self.definitions.type_hash(name).unwrap_or_default()
    }

    fn write_service(&self, name: &TypeName, text: &mut String) {
        let (root, hash) = (self.root, self.hash(name));
        let _ = write!(
            text,
            "/// The service `{name}`.\n#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\n\
             pub struct Service;\nimpl {root}::RosService for Service {{\n\
             const TYPE_NAME: &'static str = \"{name}\";\n\
             const TYPE_HASH: &'static str = \"{hash}\";\n\
             type Request = Request;\ntype Response = Response;\ntype Event = Event;\n}}\n"
        );
    }

    fn write_action(&self, name: &TypeName, text: &mut String) {
        let (root, hash) = (self.root, self.hash(name));
        let _ = write!(
            text,
            "/// The action `{name}`.\n#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\n\
             pub struct Action;\nimpl {root}::support::ringspin_executor::Action for Action {{\n\
             type Goal = Goal;\ntype Result = Result;\ntype Feedback = Feedback;\n}}\n\
             impl {root}::RosAction for Action {{\n\
             const TYPE_NAME: &'static str = \"{name}\";\n\
             const TYPE_HASH: &'static str = \"{hash}\";\n\
             type FeedbackMessage = FeedbackMessage;\ntype SendGoal = SendGoal::Service;\n\
             type GetResult = GetResult::Service;\n{ACTION_FUNCTIONS}}}\n"
        );
    }

    fn write_message(&self, message: &Message, rust: &str, depth: usize, text: &mut String) {
        let (root, name) = (self.root, &message.name);
        let has_default = message.fields.iter().any(has_own_default);
        let mut derives = vec!["Clone", "Debug", "PartialEq"];
        derives.extend((!has_default).then_some("Default"));
        let others = ["serde::Serialize", "serde::Deserialize", "ringspin_executor::Digest"];
        let others = others.map(|it| format!("{root}::support::{it}"));
        derives.extend(others.iter().map(|it| &**it));
        let doc =
            format!("`{name}`:\n```text\n{}\n```", message.text.trim_end().replace("```", ""));
        let _ = write!(text, "#[doc = {doc:?}]\n#[derive({})]\n", derives.join(", "));
        let _ = writeln!(text, "#[serde(crate = \"{root}::support::serde\")]");
        let _ = writeln!(text, "#[digest(crate = \"{root}::support::ringspin_executor\")]");
        let _ = writeln!(text, "pub struct {rust} {{");
        let mut is_limited = false;
        for (index, field) in message.fields.iter().enumerate() {
            let adapter = self.adapter(field, rust, index);
            is_limited |= adapter.as_ref().is_some_and(|it| it.contains('<'));
            self.write_field(field, adapter, depth, text);
        }
        *text += "}\n";
        if is_limited {
            let names: Vec<_> = message.fields.iter().map(|it| format!("{:?}", it.name)).collect();
            let names = names.join(", ");
            let _ = write!(
                text,
                "impl {root}::support::FieldNames for {rust} {{\n\
                 const FIELD_NAMES: &'static [&'static str] = &[{names}];\n}}\n"
            );
        }
        if has_default {
            self.write_default(message, rust, text);
        }
        write_constants(message, rust, text);
        self.write_traits(message, rust, text);
    }

    fn write_traits(&self, message: &Message, rust: &str, text: &mut String) {
        let (root, name) = (self.root, &message.name);
        let schema = self.definitions.schema(name).unwrap_or_default();
        let hash = self.hash(name);
        let _ = write!(
            text,
            "impl {root}::RosMessage for {rust} {{\n\
             const TYPE_NAME: &'static str = \"{name}\";\n\
             const DEFINITION: &'static str = {schema:?};\n\
             const TYPE_HASH: &'static str = \"{hash}\";\n}}\n"
        );
        let header = Element::Message(TypeName::new("std_msgs", InterfaceKind::Message, "Header"));
        let first = message.fields.first().filter(|it| it.name == "header");
        if first.is_some_and(|it| it.ty.element == header && it.ty.array == Array::Single) {
            let time = format!("{root}::support::ringspin_executor::Time");
            let _ = write!(
                text,
                "impl {root}::support::ringspin_executor::Stamped for {rust} {{\n\
                 fn stamp(&self) -> {time} {{ self.header.stamp.to_time() }}\n}}\n"
            );
        }
    }

    fn write_field(&self, field: &Field, adapter: Option<String>, depth: usize, text: &mut String) {
        let element = match &field.ty.element {
            Element::Message(name) => self.path(name, depth),
            other => rust_type(other).into(),
        };
        let ty = match field.ty.array {
            Array::Single => element,
            _ => format!("::std::vec::Vec<{element}>"),
        };
        let rust = rust_name(&field.name);
        if rust != field.name {
            let _ = writeln!(text, "#[serde(rename = \"{}\")]", field.name);
        }
        if let Some(adapter) = adapter {
            let _ = writeln!(text, "#[serde(with = \"{}::support::{adapter}\")]", self.root);
        }
        let _ = writeln!(text, "pub {rust}: {ty},");
    }

    /// The module or type of `support` by which serde handles a field.
    fn adapter(&self, field: &Field, rust: &str, index: usize) -> Option<String> {
        let root = self.root;
        let element = match field.ty.element {
            Element::String(Some(bound)) => format!("BoundedString<{bound}>"),
            Element::WString(bound) => format!("WideString<{}>", bound.unwrap_or(u32::MAX)),
            _ => "Plain".into(),
        };
        let element = format!("{root}::support::{element}");
        let is_plain = element.ends_with("Plain");
        let array = |min, max| format!("Array::<{rust}, {index}, {min}, {max}, {element}>");
        let bytes = matches!(field.ty.element, Element::UInt8 | Element::Byte | Element::Char);
        match field.ty.array {
            Array::Single if is_plain => None,
            Array::Single => Some(format!("Single::<{rust}, {index}, {element}>")),
            Array::Unbounded if bytes => Some("Bytes".into()),
            Array::Unbounded if field.ty.element == Element::Int8 => Some("SignedBytes".into()),
            Array::Unbounded if is_plain => None,
            Array::Unbounded => Some(array(0, u32::MAX)),
            Array::Bounded(n) => Some(array(0, n)),
            Array::Fixed(n) => Some(array(n, n)),
        }
    }

    /// The path to a message from a module `depth` levels below its package's.
    fn path(&self, name: &TypeName, depth: usize) -> String {
        let base = match self.packages.contains(&*name.package) {
            true => vec!["super"; depth + 1].join("::"),
            false => self.root.into(),
        };
        let (path, rust) = place(name);
        format!("{base}::{}::{}::{rust}", rust_name(&name.package), path.join("::"))
    }

    fn write_default(&self, message: &Message, rust: &str, text: &mut String) {
        let _ = write!(
            text,
            "impl ::core::default::Default for {rust} {{\nfn default() -> Self {{\nSelf {{\n"
        );
        for field in &message.fields {
            let value = match (&field.default, field.ty.array) {
                (Some(value), _) => literal(value, &field.ty.element),
                (None, Array::Fixed(n)) => {
                    format!("::std::vec![::core::default::Default::default(); {n}]")
                }
                (None, _) => "::core::default::Default::default()".into(),
            };
            let _ = writeln!(text, "{}: {value},", rust_name(&field.name));
        }
        *text += "}\n}\n}\n";
    }
}

/// The functions of `RosAction`.
const ACTION_FUNCTIONS: &str = "\
fn goal_request(id: [u8; 16], goal: Goal) -> SendGoal::Request {
    let mut request = SendGoal::Request { goal, ..::core::default::Default::default() };
    request.goal_id.uuid = id.to_vec();
    request
}
fn into_goal(request: SendGoal::Request) -> ([u8; 16], Goal) {
    (request.goal_id.uuid.try_into().unwrap_or_default(), request.goal)
}
fn goal_response(is_accepted: bool, stamp: (i32, u32)) -> SendGoal::Response {
    let mut response =
        SendGoal::Response { accepted: is_accepted, ..::core::default::Default::default() };
    (response.stamp.sec, response.stamp.nanosec) = stamp;
    response
}
fn is_accepted(response: &SendGoal::Response) -> bool {
    response.accepted
}
fn result_request(id: [u8; 16]) -> GetResult::Request {
    let mut request = <GetResult::Request as ::core::default::Default>::default();
    request.goal_id.uuid = id.to_vec();
    request
}
fn requested_result(request: &GetResult::Request) -> [u8; 16] {
    request.goal_id.uuid.as_slice().try_into().unwrap_or_default()
}
fn result_response(status: i8, result: Result) -> GetResult::Response {
    GetResult::Response { status, result }
}
fn into_result(response: GetResult::Response) -> (i8, Result) {
    (response.status, response.result)
}
fn feedback_message(id: [u8; 16], feedback: Feedback) -> FeedbackMessage {
    let mut message = FeedbackMessage { feedback, ..::core::default::Default::default() };
    message.goal_id.uuid = id.to_vec();
    message
}
fn into_feedback(message: FeedbackMessage) -> ([u8; 16], Feedback) {
    (message.goal_id.uuid.try_into().unwrap_or_default(), message.feedback)
}
";

/// The modules below the package, and the name of the struct: `msg` and `Imu`, or `srv::SetBool`
/// and `Request`, or `action::Fibonacci::SendGoal` and `Service`.
fn place(name: &TypeName) -> (Vec<String>, String) {
    let mut path = vec![name.kind.folder().to_string()];
    if name.kind == InterfaceKind::Message {
        return (path, rust_name(&name.name));
    }
    let marker = if name.kind == InterfaceKind::Action { "Action" } else { "Service" };
    let mut parts: Vec<_> = name.name.split('_').map(rust_name).collect();
    match parts.last().map(String::as_str) {
        Some("SendGoal" | "GetResult") if name.kind == InterfaceKind::Action => {
            parts.push("Service".into());
        }
        _ if parts.len() == 1 => parts.push(marker.into()),
        _ => {}
    }
    let rust = parts.pop().unwrap_or_default();
    path.extend(parts);
    (path, rust)
}

/// Writes modules within each other.
fn write_modules(modules: &Modules, text: &mut String) {
    let mut open: Vec<&String> = Vec::new();
    for (path, content) in modules {
        while !path.starts_with(&open.iter().map(|it| (*it).clone()).collect::<Vec<_>>()) {
            open.pop();
            *text += "}\n";
        }
        for name in &path[open.len()..] {
            let _ = writeln!(text, "/// Types of `{name}`.\npub mod {name} {{");
            open.push(name);
        }
        *text += content;
    }
    *text += &"}\n".repeat(open.len());
}

fn write_constants(message: &Message, rust: &str, text: &mut String) {
    if message.constants.is_empty() {
        return;
    }
    let _ = writeln!(text, "impl {rust} {{");
    for Constant { name, ty, value, .. } in &message.constants {
        let (ty, value) = match value {
            Value::String(value) => ("&'static str", format!("{value:?}")),
            value => (rust_type(ty), literal(value, ty)),
        };
        let _ = writeln!(text, "pub const {}: {ty} = {value};", rust_name(name));
    }
    *text += "}\n";
}

/// Whether `Default` of the field's Rust type is not its default value.
fn has_own_default(field: &Field) -> bool {
    field.default.is_some() || matches!(field.ty.array, Array::Fixed(_))
}

/// The type of a value that is no message.
fn rust_type(element: &Element) -> &'static str {
    element.rust_primitive().unwrap_or("::std::string::String")
}

/// A value as Rust has it.
fn literal(value: &Value, element: &Element) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) if value.is_finite() => match element {
            Element::Float32 => format!("{:?}", *value as f32),
            _ => format!("{value:?}"),
        },
        Value::Float(value) => {
            let name = match value.is_nan() {
                true => "NAN",
                false if *value > 0.0 => "INFINITY",
                false => "NEG_INFINITY",
            };
            format!("::core::primitive::{}::{name}", rust_type(element))
        }
        Value::String(value) => format!("::std::string::String::from({value:?})"),
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(|value| literal(value, element)).collect();
            format!("::std::vec![{}]", values.join(", "))
        }
    }
}

/// The name of a package, type, field or constant: a keyword or primitive type of Rust gets an
/// underscore at its end.
fn rust_name(name: &str) -> String {
    const RESERVED: &str = " abstract alignof as async await become box break const continue crate \
        do dyn else enum extern false final fn for if impl in let loop macro match mod move mut \
        offsetof override priv proc pub pure ref return Self self sizeof static struct super trait \
        true try type typeof unsafe unsized use virtual where while yield str bool f32 f64 usize \
        isize u128 i128 u64 i64 u32 i32 u16 i16 u8 i8 gen ";
    let reserved = RESERVED.contains(&format!(" {name} "));
    if reserved { format!("{name}_") } else { name.into() }
}
