//! Rust source text of definitions.

use crate::definition::{Array, Constant, Element, Field, Message, Value};
use crate::form::{Form, RUNTIME, number};
use crate::name::{InterfaceKind, TypeName, rust_name};
use crate::types::Definitions;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Writes the modules of some packages.
pub(crate) struct Writer<'a> {
    /// All definitions, also those of packages that are not written.
    pub(crate) definitions: &'a Definitions,
    /// The packages to write.
    pub(crate) packages: BTreeSet<&'a str>,
    /// The form of the structs. With the idiomatic one, the RMW form is written as well.
    pub(crate) form: Form,
    /// The path of the crate `ringspin_messages`.
    pub(crate) root: &'a str,
    /// The path of the crate that has the other packages.
    pub(crate) packages_root: &'a str,
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
            let of_rosidl = if self.is_rosidl() { "non_camel_case_types, " } else { "" };
            let allow = "non_snake_case, non_upper_case_globals, missing_docs, clippy::all";
            let allow = format!("{of_rosidl}{allow}");
            let _ = writeln!(text, "/// Types of `{package}`.\n#[allow({allow})]");
            let _ = writeln!(text, "#[rustfmt::skip]\npub mod {} {{", rust_name(package));
            write_modules(&modules, &mut text);
            text += "}\n";
        }
        let visitor = if self.is_rosidl() { RUNTIME } else { self.root };
        let _ = write!(
            text,
            "/// Calls `visitor` with each message, service and action type, in order of their \
             names.\npub fn visit_types(visitor: &mut impl {visitor}::TypeVisitor) {{\n{visits}}}\n"
        );
        text
    }

    fn is_rosidl(&self) -> bool {
        self.form != Form::Ringspin
    }

    /// Writes a message in each form; of a service or action, the marker type.
    fn write_type(&self, message: &Message, modules: &mut Modules, visits: &mut String) {
        let name = &message.name;
        let kind = match self.definitions.is_service(name) {
            true => "service",
            false if self.definitions.is_action(name) => "action",
            false => "message",
        };
        self.write_form(message, kind, self.form, modules);
        if self.is_rosidl() {
            // Rosidl has no structs for events in Rust: one form serves `RosService`.
            if self.is_event(name) {
                return;
            }
            if kind != "action" {
                self.write_form(message, kind, Form::Rmw, modules);
            }
        }
        let (package, (path, rust)) = (rust_name(&name.package), self.form.place(name));
        let path = path.join("::");
        let _ = writeln!(visits, "    visitor.{kind}::<{package}::{path}::{rust}>();");
    }

    fn write_form(&self, message: &Message, kind: &str, form: Form, modules: &mut Modules) {
        let name = &message.name;
        let (path, rust) = form.place(name);
        let depth = path.len();
        let module = modules.entry(path).or_default();
        match kind {
            _ if form == Form::Rmw && self.is_same_in_rmw(name) => {
                let _ = writeln!(module, "#[doc(inline)]\npub use super::{rust};");
            }
            "service" => self.write_service(name, form, module),
            "action" => self.write_action(name, form, module),
            _ => self.write_message(message, form, depth, module),
        }
    }

    /// Whether a message records the calls of a service.
    fn is_event(&self, name: &TypeName) -> bool {
        let service =
            name.name.strip_suffix("_Event").map(|it| TypeName::new(&name.package, name.kind, it));
        service.is_some_and(|service| self.definitions.is_service(&service))
    }

    /// Whether the idiomatic form of a message has neither strings nor sequences, or that of a
    /// service has only such messages: it is the form for the middleware, too.
    fn is_same_in_rmw(&self, name: &TypeName) -> bool {
        if self.definitions.is_service(name) {
            let parts = ["Request", "Response"].map(|part| name.with_suffix(part));
            return parts.iter().all(|part| self.is_same_in_rmw(part));
        }
        let is_same = |field: &Field| {
            matches!(field.ty.array, Array::Single | Array::Fixed(_))
                && match &field.ty.element {
                    Element::Message(inner) => self.is_same_in_rmw(inner),
                    Element::String(_) | Element::WString(_) => false,
                    _ => true,
                }
        };
        self.definitions.get(name).is_some_and(|message| message.fields.iter().all(is_same))
    }

    fn hash(&self, name: &TypeName) -> String {
        self.definitions.type_hash(name).unwrap_or_default()
    }

    fn write_service(&self, name: &TypeName, form: Form, text: &mut String) {
        let (root, hash, (_, rust)) = (self.root, self.hash(name), form.place(name));
        let [request, response, event] =
            ["Request", "Response", "Event"].map(|part| form.place(&name.with_suffix(part)).1);
        let event = if form == Form::Rmw { format!("super::{event}") } else { event };
        let _ = write!(
            text,
            "/// The service `{name}`.\n#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\n\
             pub struct {rust};\nimpl {root}::RosService for {rust} {{\n\
             const TYPE_NAME: &'static str = \"{name}\";\n\
             const TYPE_HASH: &'static str = \"{hash}\";\n\
             type Request = {request};\ntype Response = {response};\ntype Event = {event};\n}}\n"
        );
        if form != Form::Ringspin {
            let _ = write!(
                text,
                "impl {RUNTIME}::Service for {rust} {{\n\
                 type Request = {request};\ntype Response = {response};\ntype Ros = Self;\n}}\n"
            );
        }
    }

    fn write_action(&self, name: &TypeName, form: Form, text: &mut String) {
        let (root, hash, (path, rust)) = (self.root, self.hash(name), form.place(name));
        let _ = write!(
            text,
            "/// The action `{name}`.\n#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\n\
             pub struct {rust};\n"
        );
        let mut functions = ACTION_FUNCTIONS.to_string();
        if form != Form::Ringspin {
            let cancel = TypeName::new("action_msgs", InterfaceKind::Service, "CancelGoal");
            let cancel = self.path(&cancel, path.len(), Form::Rmw);
            functions = functions.replace("id.to_vec()", "id");
            *text += &ROSIDL_ACTION.replace("$Action", &rust).replace("$CancelGoal", &cancel);
        }
        let _ = write!(
            text,
            "impl {root}::support::ringspin_executor::Action for Action {{\n\
             type Goal = Goal;\ntype Result = Result;\ntype Feedback = Feedback;\n}}\n\
             impl {root}::RosAction for Action {{\n\
             const TYPE_NAME: &'static str = \"{name}\";\n\
             const TYPE_HASH: &'static str = \"{hash}\";\n\
             type FeedbackMessage = FeedbackMessage;\ntype SendGoal = SendGoal::Service;\n\
             type GetResult = GetResult::Service;\n{functions}}}\n"
        );
        *text += if form == Form::Ringspin { "" } else { "};\n" };
    }

    fn write_message(&self, message: &Message, form: Form, depth: usize, text: &mut String) {
        let (root, name, (_, rust)) = (self.root, &message.name, form.place(&message.name));
        let fields = form.fields(message);
        let has_default = fields.iter().any(has_own_default);
        let mut derives = vec!["Clone", "Debug", "PartialEq"];
        derives.extend((form != Form::Ringspin).then_some("PartialOrd"));
        derives.extend((!has_default).then_some("Default"));
        let others = ["serde::Serialize", "serde::Deserialize", "ringspin_executor::Digest"];
        let others = others.map(|it| format!("{root}::support::{it}"));
        derives.extend(others.iter().map(|it| &**it));
        let doc = match form {
            Form::Rmw => format!("The RMW form of [`{rust}`](super::{rust})."),
            _ => format!("`{name}`:\n```text\n{}\n```", message.text.trim_end().replace("```", "")),
        };
        let _ = write!(text, "#[doc = {doc:?}]\n#[derive({})]\n", derives.join(", "));
        let _ = writeln!(text, "#[serde(crate = \"{root}::support::serde\")]");
        let _ = writeln!(text, "#[digest(crate = \"{root}::support::ringspin_executor\")]");
        let _ = writeln!(text, "pub struct {rust} {{");
        let mut is_limited = false;
        for (index, field) in fields.iter().enumerate() {
            let adapter = self.adapter(field, &rust, index);
            is_limited |= adapter.as_ref().is_some_and(|it| it.contains('<'));
            self.write_field(field, adapter, form, depth, text);
        }
        *text += "}\n";
        if is_limited {
            let names: Vec<_> = fields.iter().map(|it| format!("{:?}", it.name)).collect();
            let names = names.join(", ");
            let _ = write!(
                text,
                "impl {root}::support::FieldNames for {rust} {{\n\
                 const FIELD_NAMES: &'static [&'static str] = &[{names}];\n}}\n"
            );
        }
        if has_default {
            write_default(&fields, form, &rust, text);
        }
        write_constants(message, &rust, text);
        self.write_traits(message, form, &rust, text);
        self.write_rosidl_traits(name, &fields, form, text);
    }

    fn write_traits(&self, message: &Message, form: Form, rust: &str, text: &mut String) {
        let (root, name) = (self.root, &message.name);
        let constants = match form {
            Form::Rmw => ["TYPE_NAME", "DEFINITION", "TYPE_HASH"]
                .map(|constant| format!("<super::{rust} as {root}::RosMessage>::{constant}")),
            _ => {
                let schema = self.definitions.schema(name).unwrap_or_default();
                [name.to_string(), schema, self.hash(name)].map(|text| format!("{text:?}"))
            }
        };
        let [type_name, schema, hash] = constants;
        let _ = write!(
            text,
            "impl {root}::RosMessage for {rust} {{\n\
             const TYPE_NAME: &'static str = {type_name};\n\
             const DEFINITION: &'static str = {schema};\n\
             const TYPE_HASH: &'static str = {hash};\n}}\n"
        );
        let header = Element::Message(TypeName::new("std_msgs", InterfaceKind::Message, "Header"));
        let first = message.fields.first().filter(|it| it.name == "header");
        if first.is_some_and(|it| it.ty.element == header && it.ty.array == Array::Single) {
            let time = format!("{root}::support::ringspin_executor::Time");
            let stamp = match form {
                Form::Ringspin => "self.header.stamp".into(),
                _ => format!(
                    "{root}::support::stamp(self.header.stamp.sec, self.header.stamp.nanosec)"
                ),
            };
            let _ = write!(
                text,
                "impl {root}::support::ringspin_executor::Stamped for {rust} {{\n\
                 fn stamp(&self) -> {time} {{ {stamp}.to_time() }}\n}}\n"
            );
        }
    }

    /// Writes the traits of `rosidl_runtime_rs`, of a message other than an event.
    fn write_rosidl_traits(
        &self,
        name: &TypeName,
        fields: &[Field],
        form: Form,
        text: &mut String,
    ) {
        if form == Form::Ringspin || self.is_event(name) {
            return;
        }
        let (_, rust) = form.place(name);
        if form == Form::Rmw || self.is_same_in_rmw(name) {
            let _ = writeln!(text, "{RUNTIME}::rmw_message!({rust});");
            return;
        }
        let fields: Vec<_> = fields.iter().map(|field| rust_name(&field.name)).collect();
        let fields = fields.join(" ");
        let _ = writeln!(text, "{RUNTIME}::idiomatic_message!({rust}, rmw::{rust}, {fields});");
    }

    fn write_field(
        &self,
        field: &Field,
        adapter: Option<String>,
        form: Form,
        depth: usize,
        text: &mut String,
    ) {
        let element_form = form.of_elements(field.ty.array);
        let element = match &field.ty.element {
            Element::Message(name) => self.path(name, depth, element_form),
            other => element_form.value_type(other),
        };
        let ty = form.array_type(element, field.ty.array);
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

    /// The path to a type from a module `depth` levels below its package's.
    fn path(&self, name: &TypeName, depth: usize, form: Form) -> String {
        let base = match self.packages.contains(&*name.package) {
            true => vec!["super"; depth + 1].join("::"),
            false => self.packages_root.into(),
        };
        let (path, rust) = form.place(name);
        format!("{base}::{}::{}::{rust}", rust_name(&name.package), path.join("::"))
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
fn response_stamp(response: &SendGoal::Response) -> (i32, u32) {
    (response.stamp.sec, response.stamp.nanosec)
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

/// The traits of `rosidl_runtime_rs` for an action, and the names by which `ACTION_FUNCTIONS`
/// refers to its parts.
const ROSIDL_ACTION: &str = "\
impl ::rosidl_runtime_rs::Action for $Action {
    type Goal = $Action_Goal;
    type Result = $Action_Result;
    type Feedback = $Action_Feedback;
    type FeedbackMessage = $Action_FeedbackMessage;
    type SendGoalService = $Action_SendGoal;
    type CancelGoalService = $CancelGoal;
    type GetResultService = $Action_GetResult;
    type Ros = Self;
}
const _: () = {
use self::{$Action as Action, $Action_Goal as Goal, $Action_Result as Result};
use self::{$Action_Feedback as Feedback, $Action_FeedbackMessage as FeedbackMessage};
mod SendGoal {
    pub(super) use super::{$Action_SendGoal as Service, $Action_SendGoal_Request as Request};
    pub(super) use super::$Action_SendGoal_Response as Response;
}
mod GetResult {
    pub(super) use super::{$Action_GetResult as Service, $Action_GetResult_Request as Request};
    pub(super) use super::$Action_GetResult_Response as Response;
}
";

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

fn write_default(fields: &[Field], form: Form, rust: &str, text: &mut String) {
    let _ = write!(
        text,
        "impl ::core::default::Default for {rust} {{\nfn default() -> Self {{\nSelf {{\n"
    );
    for field in fields {
        let _ = writeln!(text, "{}: {},", rust_name(&field.name), form.default_of(field));
    }
    *text += "}\n}\n}\n";
}

fn write_constants(message: &Message, rust: &str, text: &mut String) {
    if message.constants.is_empty() {
        return;
    }
    let _ = writeln!(text, "impl {rust} {{");
    for Constant { name, ty, value, .. } in &message.constants {
        let (ty, value) = match value {
            Value::String(value) => ("&'static str", format!("{value:?}")),
            value => (ty.rust_primitive().unwrap_or_default(), number(value, ty)),
        };
        let _ = writeln!(text, "pub const {}: {ty} = {value};", rust_name(name));
    }
    *text += "}\n";
}

/// Whether `Default` of the field's Rust type is not its default value.
fn has_own_default(field: &Field) -> bool {
    field.default.is_some() || matches!(field.ty.array, Array::Fixed(_))
}
