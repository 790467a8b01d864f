//! The edit of a manifest, the reading of metadata, and the texts that are written.

use cargo_ringspin::detect::{detect, patches};
use cargo_ringspin::files::relative;
use cargo_ringspin::manifest::{self, CRATES_IO, Patch, is_same_source, with_patches};
use cargo_ringspin::metadata::Metadata;
use cargo_ringspin::templates::{self, Layout, Origin};
use cargo_ringspin::{checkout::Checkout, messages};
use std::fs;
use std::path::{Path, PathBuf};

fn patch(folder: &str) -> Patch {
    Patch {
        source: CRATES_IO.into(),
        package: "r2r".into(),
        alias: "r2r_0_7".into(),
        folder: folder.into(),
    }
}

/// The manifest of an application with a patch.
fn patched(text: &str) -> String {
    with_patches(text, Path::new("/none/app"), &[patch("/none/ringspin/r2r")]).unwrap()
}

#[test]
fn manifest_keeps_its_comments_and_other_patches() {
    let text = "# the robot\n[patch.crates-io] # forks\nserde = { path = \"../serde\" } # mine\n\n\
        [profile.dev]\nopt-level  =  1\n";
    let line = "serde = { path = \"../serde\" } # mine\n";
    let expected = text.replace(line, &format!("{line}r2r = {{ path = \"../ringspin/r2r\" }}\n"));
    assert_eq!(patched(text), expected);
}

#[test]
fn new_table_is_the_last_one() {
    let text =
        "[package]\nname = \"app\" # of the robot\n\n[dependencies]\n\n[package.metadata.ros]\n";
    let table = "\n[patch.crates-io]\nr2r = { path = \"../ringspin/r2r\" }\n";
    assert_eq!(patched(text), format!("{text}{table}"));
}

#[test]
fn key_that_is_taken_is_left_alone() {
    let text = "[patch.crates-io]\nr2r = { path = \"../ringspin/r2r\" }\n";
    let root = Path::new("/none/app");
    let both = with_patches(text, root, &[patch("/none/ringspin/r2r/.0.7")]).unwrap();
    let added = "r2r_0_7 = { package = \"r2r\", path = \"../ringspin/r2r/.0.7\" }\n";
    assert_eq!(both, format!("{text}{added}"));
}

#[test]
fn table_that_is_written_inline_gets_the_patch() {
    let text = "patch.crates-io.serde.path = \"../serde\"\n";
    let found = manifest::patches(&patched(text), Path::new("/none/app")).unwrap();
    let names: Vec<_> = found.iter().map(|it| &*it.package).collect();
    assert_eq!(names, ["serde", "r2r"], "{}", patched(text));
}

#[test]
fn manifest_that_is_no_manifest_is_an_error() {
    for text in ["[patch", "patch = 1\n", "[patch]\ncrates-io = 1\n"] {
        let root = Path::new("/none/app");
        let error = with_patches(text, root, &[patch("/none/ringspin/r2r")]).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("failed to read /none/app/Cargo.toml: "), "{error}");
    }
}

#[test]
fn patches_have_their_lines_and_packages() {
    let text = "\n[patch.\"https://github.com/sequenceplanner/r2r.git\"]\n# forked\n\
        old = { package = \"r2r\", git = \"https://example.org/r2r\" }\n\n\
        [patch.crates-io.rclrs]\npath = \"../rclrs\"\n";
    let found = manifest::patches(text, Path::new("/app")).unwrap();
    let of = |at: usize| (&*found[at].key, &*found[at].package, found[at].line);
    assert_eq!((of(0), &found[0].folder), (("old", "r2r", 4), &None));
    assert_eq!(of(1), ("rclrs", "rclrs", 6));
    assert_eq!(found[1].folder, Some(PathBuf::from("/app/../rclrs")));
    assert!(is_same_source(&found[0].source, "https://github.com/sequenceplanner/r2r"));
}

#[test]
fn relative_paths_lead_there() {
    let way = |from, to| relative(Path::new(from), Path::new(to));
    assert_eq!(way("/a/b", "/a/c/d"), Path::new("../c/d"));
    assert_eq!(way("/a", "/a/b"), Path::new("b"));
    assert_eq!(way("/a", "/a"), Path::new("."));
}

/// The clone that this test is a part of.
fn checkout() -> Checkout {
    Checkout::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// The output of `cargo metadata` for an application that requires an r2r of this version.
fn metadata(source: &str, req: &str, version: &str) -> Metadata {
    let id = format!("{source}#r2r@{version}");
    let text = format!(
        r#"{{"packages": [
        {{"id": "app", "name": "app", "version": "0.1.0", "source": null, "targets": [],
          "manifest_path": "/app/Cargo.toml",
          "dependencies": [{{"name": "r2r", "source": "{source}", "req": "{req}"}}]}},
        {{"id": "{id}", "name": "r2r", "version": "{version}", "source": "{source}", "targets": [],
          "manifest_path": "/registry/r2r/Cargo.toml", "dependencies": []}}],
        "workspace_members": ["app"], "workspace_root": "/app", "target_directory": "/app/target",
        "resolve": {{"nodes": [{{"id": "app", "deps": [{{"pkg": "{id}"}}]}},
                               {{"id": "{id}", "deps": []}}]}}}}"#
    );
    Metadata::parse(&text).unwrap()
}

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn each_version_has_its_replacement() {
    let checkout = checkout();
    for (version, folder) in [("0.9.3", "r2r"), ("0.8.0", "r2r/.0.8"), ("0.7.1", "r2r/.0.7")] {
        let found = detect(&metadata(REGISTRY, "*", version), &checkout).unwrap();
        let patches = patches(&found);
        assert_eq!(patches.len(), 1);
        assert_eq!(patches[0].folder, checkout.folder.join(folder));
        assert_eq!(found[0].other_id, Some(format!("{REGISTRY}#r2r@{version}")));
    }
}

#[test]
fn git_repository_is_named_without_branch() {
    let source = "git+https://github.com/sequenceplanner/r2r?branch=main#1f0c";
    let found = detect(&metadata(source, "*", "0.9.7"), &checkout()).unwrap();
    assert_eq!(found[0].source, "https://github.com/sequenceplanner/r2r");
}

#[test]
fn versions_and_sources_out_of_reach_are_refused() {
    let refused = |source, req, version| {
        detect(&metadata(source, req, version), &checkout()).unwrap_err().to_string()
    };
    let exact = refused(REGISTRY, "=0.9.5", "0.9.5");
    assert!(exact.ends_with("write `r2r = \"0.9\"` in /app/Cargo.toml"), "{exact}");
    let new = refused(REGISTRY, "^0.10", "0.10.0");
    assert!(new.ends_with("require r2r 0.9, 0.8 or 0.7, and run this again"), "{new}");
    let other = refused("registry+https://example.org/index", "^0.9", "0.9.7");
    assert!(other.ends_with("patch that source by hand"), "{other}");
}

#[test]
fn packages_of_messages_are_found_and_common_ones_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for name in ["arm_msgs", "std_msgs", "target/old_msgs", "install/built_msgs", "no_xml_msgs"] {
        write(&format!("{name}/msg/Grip.msg"), "bool closed\n");
        let own = name.rsplit('/').next().unwrap();
        write(&format!("{name}/package.xml"), &format!("<name> {own} </name>"));
    }
    write("install/COLCON_IGNORE", "");
    write("empty/package.xml", "<name>empty</name>");
    fs::remove_file(folder.path().join("no_xml_msgs/package.xml")).unwrap();
    let found = messages::find(folder.path(), &[], &checkout());
    let names: Vec<_> = found.iter().map(|package| &*package.name).collect();
    assert_eq!(names, ["arm_msgs"]);
}

#[test]
fn workflow_has_the_places_of_this_machine() {
    let layout = Layout::new(Path::new("/none/robots/app"), Path::new("/none/tools/ringspin"));
    let origin = Origin { repository: Some("owner/ringspin".into()), commit: Some("1f0c".into()) };
    let text = templates::workflow(&layout, &origin, &["app"]);
    let checkout = "with: { repository: \"owner/ringspin\", ref: 1f0c, path: \"tools/ringspin\" }";
    assert!(text.contains(checkout), "{text}");
    assert!(text.contains("working-directory: \"robots/app\""), "{text}");
}

#[test]
fn workflow_of_a_repository_with_ringspin_has_one_checkout() {
    let layout = Layout::new(Path::new("/none/app"), Path::new("/none/app/vendor/ringspin"));
    let text = templates::workflow(&layout, &Origin::default(), &["app"]);
    assert_eq!(text.matches("actions/checkout").count(), 1, "{text}");
    assert!(text.contains("working-directory: \".\""), "{text}");
}
