//! The bindings have the sizes, offsets and constants of the headers of the sourced ROS 2.

#![cfg(ros_is_sourced)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

const COMMON: &str = include_str!("../bindings/common.rs");
const OWN: &str = include_str!(env!("RINGSPIN_RCL_BINDINGS"));

/// The first number in `text`.
fn number(text: &str) -> &str {
    let text = &text[text.find(|c: char| c.is_ascii_digit()).unwrap()..];
    &text[..text.find(|c: char| !c.is_ascii_digit()).unwrap()]
}

/// The name in C of a field that bindgen names.
fn field_in_c(name: &str) -> &str {
    name.strip_suffix('_').filter(|name| ["impl", "str", "type"].contains(name)).unwrap_or(name)
}

/// A C++ assertion for each size, offset and constant in `bindings`.
fn assertions(bindings: &str) -> String {
    let mut text = String::new();
    for layout in bindings.split("[\"").skip(1) {
        let (label, rest) = layout.split_once('"').unwrap();
        let value = number(rest.split_once(" - ").unwrap().1);
        let expression = if let Some(field) = label.strip_prefix("Offset of field: ") {
            let (of, field) = field.split_once("::").unwrap();
            format!("offsetof({of}, {})", field_in_c(field))
        } else if let Some(of) = label.strip_prefix("Size of ") {
            format!("sizeof({of})")
        } else {
            format!("alignof({})", label.strip_prefix("Alignment of ").unwrap())
        };
        writeln!(text, "static_assert({expression} == {value});").unwrap();
    }
    for constant in bindings.split("pub const ").skip(1) {
        let (name, rest) = constant.split_once(':').unwrap();
        let value = number(rest.split_once('=').unwrap().1);
        writeln!(text, "static_assert({name} == {value});").unwrap();
    }
    text
}

/// The errors of a C++ compiler about `assertions` below the headers of this file.
fn compile(headers: &str, assertions: &str) -> String {
    let prefixes = env::var_os("AMENT_PREFIX_PATH").unwrap();
    let folders = env::split_paths(&prefixes).map(|prefix| prefix.join("include"));
    let folders = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let mut compiler = Command::new(env::var_os("CXX").unwrap_or_else(|| "c++".into()));
    compiler.args(["-std=c++17", "-w", "-fsyntax-only", "-xc++", "-"]);
    compiler.args(folders.map(|folder| format!("-I{}", folder.path().display())));
    let compiler = compiler.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut compiler = compiler.expect("a C++ compiler is needed, as of the package g++");
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join(headers);
    let source = format!("#include \"{}\"\n#include <cstddef>\n{assertions}", headers.display());
    compiler.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    String::from_utf8(compiler.wait_with_output().unwrap().stderr).unwrap()
}

#[test]
fn layouts_and_constants_are_those_of_the_headers() {
    let all = assertions(COMMON) + &assertions(OWN);
    assert!(all.lines().count() > 400, "the bindings were not found: {all}");
    let errors = compile("bindings/rcl.h", &all);
    assert!(errors.is_empty(), "run scripts/rcl-bindings: {errors}");
    let errors = compile("bindings/rcl.h", "static_assert(sizeof(rcl_context_s) == 1);");
    assert!(errors.contains("static assertion failed"), "{errors}");
}

#[test]
fn the_middleware_has_the_layouts_of_jazzy() {
    if env::var("ROS_DISTRO").is_ok_and(|distribution| distribution == "jazzy") {
        let all = assertions(include_str!("../../rmw/bindings/jazzy.rs"));
        assert!(all.lines().count() > 400, "the bindings were not found: {all}");
        let errors = compile("../rmw/bindings/rmw.h", &all);
        assert!(errors.is_empty(), "run scripts/rcl-bindings: {errors}");
    }
}
