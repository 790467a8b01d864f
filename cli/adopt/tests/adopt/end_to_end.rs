//! A fresh application of r2r 0.9.7 from crates.io, with the real replacement: `scripts/test-r2r`.

use crate::applications::{command, manifest, said};
use std::fs;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r#"use futures::StreamExt;
use r2r::{Context, Node, QosProfile, std_msgs::msg::Int32};
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut node = Node::create(Context::create()?, "counter", "")?;
    let numbers = node.subscribe::<Int32>("numbers", QosProfile::default())?;
    let out = node.create_publisher::<Int32>("numbers", QosProfile::default())?;
    let mut timer = node.create_wall_timer(Duration::from_millis(100))?;
    tokio::spawn(numbers.for_each(|number| async move { println!("{}", number.data) }));
    tokio::spawn(async move {
        for data in 0.. {
            timer.tick().await.unwrap();
            out.publish(&Int32 { data }).unwrap();
        }
    });
    let spin = move || loop {
        node.spin_once(Duration::from_millis(100));
    };
    Ok(tokio::task::spawn_blocking(spin).await?)
}
"#;

#[test]
#[ignore = "builds r2r and its dependencies; scripts/test-r2r runs it"]
fn fresh_application_has_one_digest_in_ten_runs() {
    let folder = tempfile::tempdir().unwrap();
    let dependencies = "futures = \"0.3\"\nr2r = \"=0.9.7\"\n\
        tokio = { version = \"1\", features = [\"full\"] }\n";
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/main.rs"), PROGRAM).unwrap();
    let text = manifest("fresh", "0.1.0", dependencies);
    fs::write(folder.path().join("Cargo.toml"), text).unwrap();
    let mut lock = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    let status = lock.arg("generate-lockfile").current_dir(folder.path()).status().unwrap();
    assert!(status.success());
    let read = |name| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("Cargo.lock").contains("r2r_rcl"));

    let ringspin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (succeeded, output) = said(command(folder.path(), &ringspin).output().unwrap());
    println!("{output}");
    assert!(succeeded && output.contains("`fresh`: ten runs, one digest"));
    assert!(!read("Cargo.lock").contains("r2r_rcl"));
    let (succeeded, output) = said(command(folder.path(), &ringspin).output().unwrap());
    assert!(succeeded && output.contains("nothing to change"), "{output}");
}
