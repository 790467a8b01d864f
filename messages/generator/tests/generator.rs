//! Packages in folders: names, errors with file and line.

use ringspin_message_generator::{GenerateError, Generator};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A package `my_msgs` with these files.
fn package(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("my_msgs");
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (folder, root)
}

fn generate(files: &[(&str, &str)]) -> Result<String, GenerateError> {
    let (_folder, root) = package(files);
    Generator::new().package_folder(root).generate()
}

#[test]
fn packages_refer_to_each_other_and_to_the_common_ones() {
    let files = [
        ("msg/A.msg", "B[2] b\ngeometry_msgs/Point point\nint8 type 3"),
        ("msg/B.msg", "string text"),
        ("srv/C.srv", "A a\n---\n"),
        ("action/D.action", "---\nA a\n---\n"),
        ("README.md", "no definition"),
    ];
    let text = generate(&files).unwrap();
    for expected in [
        "pub b: ::std::vec::Vec<super::super::my_msgs::msg::B>",
        "pub point: ::ringspin_messages::geometry_msgs::msg::Point",
        "pub a: super::super::super::my_msgs::msg::A",
        "pub type_: i8",
        "#[serde(rename = \"type\")]",
        "type_: 3,",
        "visitor.service::<my_msgs::srv::C::Service>();",
        "visitor.action::<my_msgs::action::D::Action>();",
        "visitor.message::<my_msgs::action::D::SendGoal::Request>();",
    ] {
        assert!(text.contains(expected), "no `{expected}` in\n{text}");
    }
    let (_folder, root) = package(&files);
    let facade = Generator::new().package_folder(root).crate_path("::ringspin::messages");
    let text = facade.generate().unwrap();
    assert!(text.contains("impl ::ringspin::messages::RosMessage for A"));
    assert!(!text.contains("ringspin_messages"));
}

#[test]
fn rosidl_structs_have_an_rmw_form_where_it_differs() {
    let files = [
        ("msg/A.msg", "geometry_msgs/Point[40] points\nint8 type 3"),
        ("msg/B.msg", "string<=8 text \"ab\"\nA[<=2] few\nwstring[] many"),
        ("srv/C.srv", "A a\n---\nB b"),
        ("action/D.action", "---\n---\n"),
    ];
    let (_folder, root) = package(&files);
    let text = Generator::new().rosidl().package_folder(root).generate().unwrap();
    for expected in [
        "pub points: [::ros_env::geometry_msgs::msg::Point; 40]",
        "pub use super::A;",
        "::rosidl_runtime_rs::rmw_message!(A);",
        "pub text: ::rosidl_runtime_rs::BoundedString<8>",
        "pub few: ::rosidl_runtime_rs::BoundedSequence<super::super::my_msgs::msg::rmw::A, 2>",
        "pub many: ::std::vec::Vec<::std::string::String>",
        "pub many: ::rosidl_runtime_rs::Sequence<::rosidl_runtime_rs::WString>",
        "::rosidl_runtime_rs::idiomatic_message!(B, rmw::B, text few many);",
        "pub use super::C_Request;",
        "pub b: super::super::super::my_msgs::msg::rmw::B",
        "type Event = super::C_Event;",
        "pub structure_needs_at_least_one_member: u8",
        "type CancelGoalService = ::ros_env::action_msgs::srv::rmw::CancelGoal;",
        "visitor.message::<my_msgs::action::D_SendGoal_Request>();",
    ] {
        assert!(text.contains(expected), "no `{expected}` in\n{text}");
    }
    assert!(!text.contains("visitor.message::<my_msgs::srv::C_Event>"));
    assert!(!text.contains(" ::ringspin_messages"));
}

#[test]
fn errors_name_the_file_and_the_line() {
    let fails = |files: &[(&str, &str)], place: &str| {
        let error = generate(files).unwrap_err();
        assert!(matches!(error, GenerateError::Definition(_)), "{error}");
        // A build script shows `Debug`.
        assert!(format!("{error:?}").contains(place), "{error}");
    };
    let bound = "my_msgs/msg/A.msg:2: invalid bound in `int8[0]`: ";
    fails(&[("msg/A.msg", "int8 a\nint8[0] b")], bound);
    fails(&[("msg/A.msg", "\n\nC c")], "my_msgs/msg/A.msg:3: unknown type `");
    let cycle = [("msg/A.msg", "B b"), ("msg/B.msg", "# B\nA[] a")];
    fails(&cycle, "my_msgs/msg/B.msg:2: type `my_msgs/msg/A` contains itself");
    let twice = [("srv/A.srv", "int8 a\n---\nint8 b\nint8 b")];
    fails(&twice, "A.srv:4: duplicate name `b`: ");
    fails(&[("msg/A.msg", "geometry_msgs/Pont p")], "unknown type `geometry_msgs/msg/Pont`");
}

#[test]
fn folders_that_are_no_packages_are_refused() {
    let error = generate(&[("README.md", "")]).unwrap_err();
    assert!(matches!(error, GenerateError::Empty(_)), "{error}");
    let error = Generator::new().package_folder("no_such_folder").generate().unwrap_err();
    assert!(matches!(error, GenerateError::Empty(_)), "{error}");
    let error = generate(&[("msg/A-B.msg", "")]).unwrap_err();
    assert!(matches!(error, GenerateError::InvalidName(_)), "{error}");
    let error = Generator::new().package_folder("x/std_msgs").generate().unwrap_err();
    assert!(error.to_string().contains("`std_msgs` is part of"), "{error}");
}
