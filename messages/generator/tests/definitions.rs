//! Definitions: parsing, hashes, errors.

use ringspin_message_generator::{
    Array, Definitions, Element, InterfaceKind, TypeName, Value, common_definitions, parse_message,
    parse_schema,
};
use std::collections::BTreeMap;
use std::path::Path;

/// The common packages, and `test_msgs`.
fn all_definitions() -> Definitions {
    let mut definitions = common_definitions().clone();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test_msgs/test_msgs");
    for kind in [InterfaceKind::Message, InterfaceKind::Service, InterfaceKind::Action] {
        for file in std::fs::read_dir(root.join(kind.folder())).unwrap() {
            let path = file.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let name = TypeName::new("test_msgs", kind, stem);
            definitions.add(&name, &text, path.to_str().unwrap()).unwrap();
        }
    }
    definitions.check().unwrap();
    definitions
}

fn foo() -> TypeName {
    TypeName::parse("my_msgs/msg/Foo").unwrap()
}

#[track_caller]
fn problem(text: &str) -> (usize, String) {
    let error = parse_message(&foo(), text, "Foo.msg").unwrap_err();
    assert_eq!(error.origin, "Foo.msg");
    (error.line, error.problem)
}

#[test]
fn hashes_are_those_of_ros() {
    let definitions = all_definitions();
    let known: BTreeMap<_, _> = include_str!("type_hashes.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap())
        .collect();
    assert!(known.len() > 300);
    for (name, hash) in known {
        let computed = definitions.type_hash(&TypeName::parse(name).unwrap());
        assert_eq!(computed.as_deref(), Some(hash), "{name}");
    }
}

#[test]
fn fields_constants_and_defaults_are_parsed() {
    let text = "\n# comment\nbyte DEBUG = 10 # more\nstring NAME=it's # no quote\n\
        float32[3] xyz [1, 2.5, -3e2]\nstring<=5[<=2] names ['a, b', \"#'c\"]\n  \
        Bar[]\tbars # of Bar\nother/Baz baz\nint8 low -0x80\n\
        wstring<=3 wide \"\\\"\"\nstring dash \"a#b\" # comment";
    let message = parse_message(&foo(), text, "").unwrap();
    let constants: Vec<_> = message.constants.iter().map(|it| (&*it.name, &it.value)).collect();
    let name = Value::String("it's".into());
    assert_eq!(constants, [("DEBUG", &Value::Integer(10)), ("NAME", &name)]);
    let found: Vec<_> =
        message.fields.iter().map(|it| (&*it.name, it.ty.array, it.line, &it.default)).collect();
    let floats = [1.0, 2.5, -300.0].map(Value::Float).to_vec();
    let strings = ["a, b", "#'c"].map(|it| Value::String(it.into())).to_vec();
    let expected = [
        ("xyz", Array::Fixed(3), 5, &Some(Value::Array(floats))),
        ("names", Array::Bounded(2), 6, &Some(Value::Array(strings))),
        ("bars", Array::Unbounded, 7, &None),
        ("baz", Array::Single, 8, &None),
        ("low", Array::Single, 9, &Some(Value::Integer(-128))),
        ("wide", Array::Single, 10, &Some(Value::String("\"".into()))),
        ("dash", Array::Single, 11, &Some(Value::String("a#b".into()))),
    ];
    assert_eq!(found, expected);
    assert_eq!(message.fields[1].ty.element, Element::String(Some(5)));
    let bar = TypeName::parse("my_msgs/Bar").unwrap();
    assert_eq!(message.fields[2].ty.element, Element::Message(bar));
}

#[test]
fn invalid_lines_are_refused_with_their_number() {
    let no_name = "failed to parse `int8`: no name after the type; write `type name`";
    assert_eq!(problem("int8 a\nint8\n"), (2, no_name.into()));
    let is = |text: &str, start: &str| {
        let problem = problem(text).1;
        assert!(problem.starts_with(start), "{text}: {problem}");
    };
    is("int8 1a", "invalid name `1a`: use letters");
    is("int8 a-b", "invalid value `-b` of type Int8");
    is("a/b/c/d x", "invalid type `a/b/c/d`: use a primitive type");
    is("int8] x", "invalid type `int8]`: ");
    for ty in ["int8[0]", "int8[-1]", "int8[<=+1]", "int8[99999999999]", "string<= x", "int8[<=]"] {
        let (line, problem) = problem(&format!("{ty} x"));
        assert!(problem.starts_with("invalid bound in `"), "{ty}: {problem}");
        assert_eq!(line, 1);
    }
    for text in [
        "uint8 a 256",
        "int8[2] a [1]",
        "bool a 2",
        "string<=1 a 'xy'",
        "string a 'x",
        "int8[] a 1",
    ] {
        is(text, "invalid value `");
    }
    assert_eq!(problem("int8 a\nint16 a").0, 2);
    is("int8 a\nint16 a", "duplicate name `a`: rename");
    is("Bar A=1", "constant `A` is no primitive value: ");
}

#[test]
fn services_and_actions_need_their_parts() {
    let mut definitions = Definitions::default();
    let service = TypeName::parse("my_msgs/srv/Foo").unwrap();
    let error = definitions.add(&service, "int8 a\n", "Foo.srv").unwrap_err();
    let parts = "found 1 parts, but a service has 2; separate them by lines `---`";
    assert_eq!(error.problem, parts);
    let error = definitions.add(&service, "int8 a\n---\nint8 b\nint8\n", "Foo.srv").unwrap_err();
    assert_eq!(error.to_string().split(':').nth(1), Some("4"));
}

#[test]
fn unknown_cyclic_and_deep_types_are_refused() {
    let check = |texts: &[(&str, &str)]| {
        let mut definitions = Definitions::default();
        for (name, text) in texts {
            definitions.add(&TypeName::parse(name).unwrap(), text, name).unwrap();
        }
        definitions.check().map_err(|error| error.problem)
    };
    let unknown = "unknown type `my_msgs/msg/Bar`: add the definition of its package";
    assert_eq!(check(&[("my_msgs/Foo", "Bar bar")]), Err(unknown.into()));
    let cycle = [("m/A", "B b"), ("m/B", "C c"), ("m/C", "int8 x\nB[] b")];
    assert_eq!(check(&cycle), Err("type `m/msg/B` contains itself; a message cannot".into()));
    for reversed in [false, true] {
        let name = |n: usize| format!("m/A{:04}", if reversed { 1000 - n } else { n });
        let names: Vec<_> = (0..200).map(|n| (name(n), format!("{} x", name(n + 1)))).collect();
        let mut texts: Vec<_> = names.iter().map(|(name, text)| (&**name, &**text)).collect();
        let last = name(200);
        texts.push((&last, "int8 x"));
        assert!(check(&texts).unwrap_err().contains("nested more than 64 levels deep"));
        assert_eq!(check(&texts[150..]), Ok(()));
    }
}

#[test]
fn recorded_definitions_are_parsed() {
    let odometry = TypeName::parse("nav_msgs/msg/Odometry").unwrap();
    let schema = common_definitions().schema(&odometry).unwrap();
    let delimiter = format!("\n{}\nMSG: std_msgs/Header\n", "=".repeat(80));
    assert!(schema.contains(&delimiter), "{schema}");
    let parsed = parse_schema(&odometry, &schema, "schema").unwrap();
    assert_eq!(parsed.iter().count(), 10);
    assert_eq!(parsed.type_hash(&odometry), common_definitions().type_hash(&odometry));
    let long = schema.replace("MSG: std_msgs/Header", "MSG: std_msgs/msg/Header");
    assert!(parse_schema(&odometry, &long, "schema").is_ok());
    let wrong = schema.replace("MSG: std_msgs/Header", "IDL: std_msgs/Header");
    let error = parse_schema(&odometry, &wrong, "schema").unwrap_err();
    let section = "invalid section `IDL: std_msgs/Header`: expected `MSG: package/Name`";
    assert_eq!(error.problem, section);
    let missing = schema.replace("MSG: std_msgs/Header", "MSG: std_msgs/Other");
    let error = parse_schema(&odometry, &missing, "schema").unwrap_err();
    assert!(error.problem.starts_with("unknown type `"), "{error}");
}

#[test]
fn definitions_of_events_are_parsed() {
    let event = TypeName::parse("std_srvs/srv/SetBool_Event").unwrap();
    let schema = common_definitions().schema(&event).unwrap();
    let parsed = parse_schema(&event, &schema, "schema").unwrap();
    assert_eq!(parsed.type_hash(&event), common_definitions().type_hash(&event));
    let feedback = TypeName::parse("tf2_msgs/LookupTransform_SendGoal_Event").unwrap();
    assert_eq!(feedback.kind, InterfaceKind::Action);
    let schema = common_definitions().schema(&feedback).unwrap();
    assert!(parse_schema(&feedback, &schema, "schema").is_ok());
}
