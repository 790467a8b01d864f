//! Definitions: a recording's, and files of messages, services and actions.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringspin_message_generator::{Definitions, InterfaceKind, TypeName, parse_schema};

fuzz_target!(|text: &str| {
    let name = TypeName::new("my_msgs", InterfaceKind::Message, "Foo");
    if let Ok(definitions) = parse_schema(&name, text, "") {
        let schema = definitions.schema(&name).expect("it was parsed");
        let again = parse_schema(&name, &schema, "").expect("its own text is valid");
        assert_eq!(again.type_hash(&name), definitions.type_hash(&name));
    }
    for kind in [InterfaceKind::Service, InterfaceKind::Action] {
        let mut definitions = Definitions::default();
        if definitions.add(&TypeName::new("my_msgs", kind, "Foo"), text, "").is_ok() {
            let _ = definitions.check();
        }
    }
});
