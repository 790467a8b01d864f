//! The whole command, on applications with stand-ins of r2r, rclrs and ringspin.

mod applications;
mod end_to_end;

use applications::{World, manifest, said};
use std::process::Command;

#[test]
fn application_of_r2r_is_patched_tested_and_run_ten_times() {
    let world = World::new();
    let text = "r2r = \"0.9\" # the client library\n\n[profile.dev]\nopt-level = 1\n";
    world.application(text);
    let output = world.adopt("app", &["--offline"]);
    let found = "found: r2r 0.9.7, required by `app` (`^0.9`) of crates-io\n\
        not found: r2r 0.8, r2r 0.7, rclrs 0.8, ros-env 0.3, rosidl_runtime_rs 0.7\n";
    assert!(output.starts_with(found), "{output}");
    assert!(output.contains("app: digest 1f0c in 10 runs\n"), "{output}");
    assert!(output.contains("`app`: ten runs, one digest\n"), "{output}");
    let patch = "\n[patch.crates-io]\nr2r = { path = \"../ringspin/r2r\" }\n";
    assert_eq!(world.read("app/Cargo.toml"), manifest("app", "0.1.0", text) + patch);
    assert!(!world.read("app/Cargo.lock").contains("registry+"));
    let workflow = world.read("app/.github/workflows/deterministic.yml");
    assert!(workflow.contains("cargo test -p app --test deterministic"), "{workflow}");
    assert!(workflow.contains("path: \"ringspin\""), "{workflow}");
}

#[test]
fn second_run_changes_nothing() {
    let world = World::new();
    world.application("r2r = \"0.9\"\n");
    world.adopt("app", &["--offline", "--no-run"]);
    let before = world.files();
    let output = world.adopt("app", &["--offline", "--no-run"]);
    assert!(output.contains("nothing to change: the application has been adopted"), "{output}");
    assert_eq!(world.files(), before);
}

#[test]
fn dry_run_shows_the_changes_and_writes_nothing() {
    let world = World::new();
    world.application("r2r = \"0.9\"\n");
    let before = world.files();
    let output = world.adopt("app", &["--offline", "--dry-run"]);
    assert!(output.contains("    + r2r = { path = \"../ringspin/r2r\" }\n"), "{output}");
    assert!(output.contains("create tests/deterministic.rs"), "{output}");
    assert_eq!(world.files(), before);
}

#[test]
fn lock_file_that_missed_the_patch_is_updated() {
    let world = World::new();
    world.application("r2r = \"0.9\"\n");
    world.adopt("app", &["--offline", "--no-run", "--dry-run"]);
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut lock = Command::new(cargo);
    lock.args(["generate-lockfile", "--offline"]).current_dir(world.path("app"));
    assert!(lock.env("CARGO_HOME", world.path("home")).output().unwrap().status.success());
    let patch = "[patch.crates-io]\nr2r = { path = \"../ringspin/r2r\" }\n";
    world.application(&format!("r2r = \"0.9\"\n{patch}"));
    let before = world.read("app/Cargo.toml");
    let output = world.adopt("app", &["--offline", "--no-run"]);
    assert!(output.contains("change Cargo.lock"), "{output}");
    assert_eq!(world.read("app/Cargo.toml"), before);
    assert!(!world.read("app/Cargo.lock").contains("registry+"));
}

#[test]
fn another_patch_is_an_error_with_its_line() {
    let world = World::new();
    world.application("r2r = \"0.9\"\n\n[patch.crates-io]\nr2r = { path = \"../mine\" }\n");
    let output = world.refuse("app", &["--offline"]);
    assert!(output.contains("app/Cargo.toml:10 has another patch of it, `r2r`"), "{output}");
    assert!(output.contains("remove that line"), "{output}");
}

#[test]
fn another_patch_of_the_configuration_is_an_error() {
    let world = World::new();
    world.application("r2r = \"0.9\"\n");
    world.write("mine/Cargo.toml", &manifest("r2r", "0.9.7", ""));
    world.write("mine/src/lib.rs", "");
    world.write("app/.cargo/config.toml", "[patch.crates-io]\nr2r = { path = \"../mine\" }\n");
    let output = world.refuse("app", &["--offline"]);
    assert!(output.contains("mine") && output.contains(".cargo/config.toml"), "{output}");
}

#[test]
fn requirements_that_a_patch_misses_are_refused_together() {
    let world = World::new();
    world.application(
        "r2r = \"=0.9.5\"\nrclrs = \"0.4\"\nold = { package = \"r2r\", version = \"0.6\" }\n",
    );
    let output = world.refuse("app", &["--offline"]);
    let line = "failed to move r2r: `app` requires r2r `=0.9.5`, but ringspin has the API of \
        0.9.7; write `r2r = \"0.9\"` in ";
    assert!(output.contains(line), "{output}");
    assert!(
        output.contains("requires r2r `^0.6`, which is 0.6.5; require r2r 0.9, 0.8 or 0.7"),
        "{output}"
    );
    assert!(
        output.contains("requires rclrs `^0.4`, which is 0.4.1; require rclrs 0.8"),
        "{output}"
    );
}

#[test]
fn application_without_r2r_and_rclrs_is_refused() {
    let world = World::new();
    world.application("");
    let output = world.refuse("app", &["--offline"]);
    assert!(output.contains("depends on neither r2r nor rclrs"), "{output}");
}

#[test]
fn folder_without_a_package_is_refused() {
    let world = World::new();
    let output = world.refuse("registry", &["--offline"]);
    assert!(output.contains("run `cargo ringspin adopt` in the folder of a package"), "{output}");
}

#[test]
fn runs_with_different_digests_are_an_error() {
    let world = World::new();
    world.application("r2r = \"0.9\"\n");
    let mut command = world.command("app", &["--offline", "--no-ci"]);
    let (succeeded, output) = said(command.env("DIGEST", "other").output().unwrap());
    assert!(!succeeded, "{output}");
    assert!(output.contains("runs 1 and 2 of app differ"), "{output}");
    assert!(output.contains("failed to get one digest from ten runs of `app`"), "{output}");
    assert!(world.has("app/tests/deterministic.rs") && !world.has("app/.github"));
}

#[test]
fn two_versions_have_a_patch_each() {
    let world = World::new();
    world.application("arci = \"0.1\"\ntf_r2r = \"0.2\"\n");
    let output = world.adopt("app", &["--offline", "--no-run"]);
    assert!(output.contains("found: r2r 0.7.5, required by `arci` (`^0.7`)"), "{output}");
    assert!(output.contains("found: r2r 0.9.7, required by `tf_r2r` (`^0.9`)"), "{output}");
    let text = world.read("app/Cargo.toml");
    let patches = "[patch.crates-io]\nr2r = { path = \"../ringspin/r2r\" }\n\
        r2r_0_7 = { package = \"r2r\", path = \"../ringspin/r2r/.0.7\" }\n";
    assert!(text.ends_with(patches), "{text}");
    world.adopt("app", &["--offline", "--no-run"]);
    assert_eq!(world.read("app/Cargo.toml"), text);
}

#[test]
fn dependency_on_a_git_repository_is_patched_by_its_address() {
    let world = World::new();
    world.write("upstream/Cargo.toml", &manifest("r2r", "0.9.7", ""));
    world.write("upstream/src/lib.rs", "compile_error!(\"Source your ROS!\");\n");
    for arguments in ["init --quiet", "add .", "-c user.name=a -c user.email=a@b commit -qm a"] {
        let mut git = Command::new("git");
        git.current_dir(world.path("upstream")).args(arguments.split(' '));
        let Ok(status) = git.status() else {
            eprintln!("skipped: git is not installed");
            return;
        };
        assert!(status.success());
    }
    let address = format!("file://{}", world.path("upstream").display());
    world.application(&format!("r2r = {{ git = \"{address}\" }}\n"));
    world.adopt("app", &["--no-run"]);
    let patch = format!("[patch.\"{address}\"]\nr2r = {{ path = \"../ringspin/r2r\" }}\n");
    let text = world.read("app/Cargo.toml");
    assert!(text.ends_with(&patch), "{text}");
    assert!(!world.read("app/Cargo.lock").contains("git+"));
    let output = world.adopt("app", &["--no-run"]);
    assert!(output.contains("nothing to change"), "{output}");
}

/// A workspace in a repository, with a program, a library and a package without r2r.
fn workspace() -> World {
    let world = World::new();
    let text = "[workspace]\nmembers = [\"robot\", \"parts\", \"tool\"]\nresolver = \"2\"\n";
    world.write("repository/ws/Cargo.toml", text);
    world.write("repository/.git/HEAD", "");
    world.write("repository/ws/robot/Cargo.toml", &manifest("robot", "0.1.0", "r2r = \"0.9\"\n"));
    for program in ["arm", "base-drive"] {
        let path = format!("repository/ws/robot/src/bin/{program}.rs");
        world.write(&path, "fn main() {\n    r2r::spin();\n}\n");
    }
    world.write("repository/ws/parts/Cargo.toml", &manifest("parts", "0.1.0", "r2r = \"0.9\"\n"));
    world.write("repository/ws/parts/src/lib.rs", "");
    world.write("repository/ws/tool/Cargo.toml", &manifest("tool", "0.1.0", ""));
    world.write("repository/ws/tool/src/main.rs", "fn main() {}\n");
    world
}

#[test]
fn workspace_has_a_test_for_each_package_with_programs() {
    let world = workspace();
    let output = world.adopt("repository/ws", &["--offline"]);
    assert!(output.contains("note: `parts` has no program to run"), "{output}");
    assert!(output.contains("arm: digest 1f0c") && output.contains("base-drive: d"), "{output}");
    let patch = "\n[patch.crates-io]\nr2r = { path = \"../../ringspin/r2r\" }\n";
    assert!(world.read("repository/ws/Cargo.toml").ends_with(patch));
    let has_test = ["robot", "parts", "tool"]
        .map(|name| world.has(&format!("repository/ws/{name}/tests/deterministic.rs")));
    assert_eq!(has_test, [true, false, false]);
    let workflow = world.read("repository/.github/workflows/deterministic.yml");
    assert!(workflow.contains("path: \"repository\""), "{workflow}");
    assert!(workflow.contains("working-directory: \"repository/ws\""), "{workflow}");
}

#[test]
fn command_in_a_member_patches_the_workspace_and_tests_the_member() {
    let world = workspace();
    world.adopt("repository/ws/parts/src", &["--offline"]);
    assert!(world.read("repository/ws/Cargo.toml").contains("[patch.crates-io]"));
    assert!(!world.has("repository/ws/robot/tests"));
    let output = world.adopt("repository/ws/robot", &["--offline", "--no-run"]);
    assert!(output.contains("to run it ten times: cargo test -p robot"), "{output}");
    assert!(world.has("repository/ws/robot/tests/deterministic.rs"));
}

#[test]
fn application_of_rclrs_has_crates_in_the_places_of_colcons() {
    let world = World::new();
    let dependencies = "rclrs = \"0.8\"\nstd_msgs = { version = \"*\", features = [\"serde\"] }\n";
    world.application(dependencies);
    let source = "fn main() {\n    let _ = std_msgs::Bool;\n    rclrs::spin();\n}\n";
    world.write("app/src/main.rs", source);
    let output = world.adopt("app", &["--offline"]);
    assert!(output.contains("`app`: ten runs, one digest\n"), "{output}");
    let patches = "[patch.crates-io]\nrclrs = { path = \"../ringspin/rclrs\" }\n\
        std_msgs = { path = \"ringspin_interfaces/std_msgs\" }\n";
    assert!(world.read("app/Cargo.toml").ends_with(patches), "{}", world.read("app/Cargo.toml"));
    let text = world.read("app/ringspin_interfaces/std_msgs/Cargo.toml");
    assert!(text.contains("ros-env = { path = \"../../../ringspin/rclrs/ros-env\" }"), "{text}");
    let before = world.files();
    let output = world.adopt("app", &["--offline", "--no-run"]);
    assert!(output.contains("nothing to change"), "{output}");
    assert_eq!(world.files(), before);
}

#[test]
fn crates_of_colcon_in_the_configuration_are_an_error() {
    let world = World::new();
    world.application("rclrs = \"0.8\"\nstd_msgs = \"*\"\n");
    world.write("install/std_msgs/Cargo.toml", &manifest("std_msgs", "5.3.0", ""));
    world.write("install/std_msgs/src/lib.rs", "");
    let config = "[patch.crates-io.std_msgs]\npath = \"../install/std_msgs\"\n";
    world.write("app/.cargo/config.toml", config);
    let output = world.refuse("app", &["--offline"]);
    assert!(output.contains("failed to redirect `std_msgs`: another patch leads to "), "{output}");
}

#[test]
fn test_of_the_application_is_kept() {
    let world = World::new();
    world.application("r2r = \"0.9\"\n");
    let test = "#[test]\nfn passes() {}\n";
    world.write("app/tests/deterministic.rs", test);
    let output = world.adopt("app", &["--offline"]);
    assert!(output.contains("`app`: its test passed"), "{output}");
    assert_eq!(world.read("app/tests/deterministic.rs"), test);
}

#[test]
fn messages_of_another_package_are_missing() {
    let world = World::new();
    world.application("rclrs = \"0.8\"\narm_msgs = \"*\"\n");
    let output = world.refuse("app", &["--offline"]);
    assert!(output.contains("failed to find the messages of `arm_msgs`"), "{output}");
}

#[test]
fn package_of_messages_is_named_by_the_configuration() {
    let world = World::new();
    world.application("r2r = \"0.9\"\n");
    world.write("app/messages/arm_msgs/package.xml", "<package><name>arm_msgs</name></package>");
    world.write("app/messages/arm_msgs/msg/Grip.msg", "bool closed\n");
    world.write("app/.cargo/config.toml", "[build] # one\njobs = 1\n");
    world.adopt("app", &["--offline", "--no-run"]);
    let config = "[build] # one\njobs = 1\n\n[env]\n\
        RINGSPIN_MESSAGES = { value = \"messages\", relative = true }\n";
    assert_eq!(world.read("app/.cargo/config.toml"), config);
    let output = world.adopt("app", &["--offline", "--no-run"]);
    assert!(output.contains("nothing to change"), "{output}");
}

#[cfg(unix)]
#[test]
fn packages_of_messages_in_a_colcon_workspace_are_linked() {
    let world = World::new();
    world.write("ws/src/app/Cargo.toml", &manifest("app", "0.1.0", "r2r = \"0.9\"\n"));
    world.write("ws/src/app/src/lib.rs", "");
    world.write("ws/src/app/package.xml", "<package><name>app</name></package>");
    for folder in ["arm_msgs", "vendor/base_msgs"] {
        let name = folder.rsplit('/').next().unwrap();
        let xml = format!("<package><name>{name}</name></package>");
        world.write(&format!("ws/src/{folder}/package.xml"), &xml);
        world.write(&format!("ws/src/{folder}/srv/Stop.srv"), "---\n");
    }
    let output = world.adopt("ws/src/app", &["--offline", "--no-run"]);
    assert!(output.contains("`arm_msgs` at "), "{output}");
    let config = world.read("ws/src/app/.cargo/config.toml");
    assert!(config.contains("value = \"ringspin_messages\""), "{config}");
    for name in ["arm_msgs", "base_msgs"] {
        assert!(world.has(&format!("ws/src/app/ringspin_messages/{name}/srv/Stop.srv")));
    }
}
