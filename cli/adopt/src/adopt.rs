//! The steps of `cargo ringspin adopt`, in order.

use crate::cargo::Cargo;
use crate::checkout::{Checkout, is_replaced};
use crate::files::{Changes, Snapshot, read};
use crate::interfaces::{self, Interface};
use crate::manifest::{self, Existing, Patch, is_same_source};
use crate::messages::{self, MessagePackage};
use crate::metadata::{Metadata, Package};
use crate::templates::{self, Layout, Origin, TEST};
use crate::{Error, detect};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Arguments of the command.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The clone of ringspin; by default the one that this command was built from
    #[arg(long, value_name = "PATH")]
    ringspin: Option<PathBuf>,
    /// Shows the changes, and writes nothing
    #[arg(long)]
    dry_run: bool,
    /// Writes the test, and does not run it
    #[arg(long)]
    no_run: bool,
    /// Leaves out the workflow
    #[arg(long)]
    no_ci: bool,
    /// Lets cargo work without the network
    #[arg(long)]
    offline: bool,
}

/// An application, as it was found.
struct Application {
    cargo: Cargo,
    checkout: Checkout,
    /// The folder in which the command was started.
    folder: PathBuf,
    /// The folder of the workspace, without symbolic links.
    root: PathBuf,
    manifest: PathBuf,
    text: String,
    existing: Vec<Existing>,
    /// The workspace without its dependencies.
    members: Metadata,
}

/// The application with its dependencies on ringspin, in the lock file only.
struct Moved {
    metadata: Metadata,
    patches: Vec<Patch>,
    interfaces: Vec<Interface>,
    packages: Vec<MessagePackage>,
}

/// Moves the application in the current folder.
pub fn adopt(options: &Options) -> Result<(), Error> {
    let application = open(options)?;
    let lock = application.root.join("Cargo.lock");
    let mut snapshot = Snapshot::default();
    snapshot.add(&lock)?;
    let moved = move_dependencies(&application)?;
    let mut changes = Changes::default();
    let mut notes = plan(&application, &moved, &mut changes)?;
    let tested = application.tested(&moved.metadata);
    notes.extend(plan_tests(&application, &tested, options, &mut changes)?);
    notes.extend(detect::leftovers(&moved.metadata, &application.checkout));
    let is_locked = snapshot.has_changed(&lock)?;
    let described = changes.describe(&application.root, options.dry_run);
    let locked = if is_locked { "  change Cargo.lock\n" } else { "" };
    if options.dry_run {
        drop(snapshot);
        println!("would:\n{described}{locked}{}", lines(&notes));
        return Ok(());
    }
    changes.apply(&mut snapshot)?;
    // Once more without the options that had the patches: another configuration may win.
    let metadata = application.cargo.metadata(&[])?;
    detect::verify(&metadata, &application.checkout)?;
    let folder = application.root.join(messages::INTERFACES);
    interfaces::verify(&metadata, &moved.interfaces, &folder)?;
    snapshot.keep();
    match changes.is_empty() && !is_locked {
        true => println!("nothing to change: the application has been adopted"),
        false => print!("done:\n{described}{locked}"),
    }
    print!("{}", lines(&notes));
    run(&application, &tested, options)
}

fn lines(notes: &[String]) -> String {
    notes.iter().map(|note| format!("note: {note}\n")).collect()
}

/// Reads the workspace, and looks for patches that contradict.
fn open(options: &Options) -> Result<Application, Error> {
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let checkout = Checkout::open(options.ringspin.as_deref().unwrap_or(&built_in))?;
    let here = |error| Error::file("read the current folder", Path::new("."), error);
    let folder = std::env::current_dir().and_then(fs::canonicalize).map_err(here)?;
    let cargo = Cargo::new(&folder, options.offline);
    let members = cargo.members()?;
    let root = members.workspace_root.clone();
    let root = fs::canonicalize(&root).map_err(|error| Error::file("read", &root, error))?;
    if root == checkout.folder {
        let remedy = "run this in the folder of an application";
        return Err(Error::new("adopt", "this workspace is ringspin itself", remedy));
    }
    let manifest = root.join("Cargo.toml");
    let text = read(&manifest)?.unwrap_or_default();
    let existing = manifest::patches(&text, &root)?;
    for patch in existing.iter().filter(|patch| is_replaced(&patch.package)) {
        if !patch.folder.as_ref().is_some_and(|folder| checkout.contains(folder)) {
            let at = format!("{}:{}", manifest.display(), patch.line);
            let cause = format!("{at} has another patch of it, `{}`", patch.key);
            let remedy = "remove that line, or name the clone of ringspin by `--ringspin PATH`";
            return Err(Error::new(format!("move {}", patch.package), cause, remedy));
        }
    }
    Ok(Application { cargo, checkout, folder, root, manifest, text, existing, members })
}

/// Moves the dependencies in the lock file, by patches that are options of cargo.
fn move_dependencies(it: &Application) -> Result<Moved, Error> {
    let folders: Vec<_> = it.members.members().map(Package::folder).collect();
    let packages = messages::find(&it.root, &folders, &it.checkout);
    let mut known = interfaces::installed();
    known.extend(it.checkout.common_messages.iter().cloned());
    known.extend(packages.iter().map(|package| package.name.clone()));
    let interfaces = interfaces::find(&it.members, &known)?;
    let interfaces = interfaces::without_existing(interfaces, &it.existing, &it.manifest)?;
    // A snapshot that is dropped at the end of this function.
    let mut temporary = Snapshot::default();
    let folder = it.members.target_directory.join("ringspin-adopt");
    let mut crates = Changes::default();
    for interface in &interfaces {
        interfaces::plan(interface, &folder, &it.checkout, &mut crates)?;
    }
    if !it.checkout.folder.join("rclrs").is_dir() && !interfaces.is_empty() {
        let remedy = "update the clone: `git pull`";
        let cause = format!("ringspin at {} has no `rclrs`", it.checkout.folder.display());
        return Err(Error::new("move rclrs", cause, remedy));
    }
    crates.apply(&mut temporary)?;
    let mut patches: Vec<_> =
        interfaces.iter().map(|interface| interfaces::patch(interface, &folder)).collect();
    let found = detect::detect(&it.cargo.metadata(&patches)?, &it.checkout)?;
    if found.is_empty() {
        let cause = format!("{} depends on neither r2r nor rclrs", it.root.display());
        let remedy = "add one of them, or see docs/getting_started.md for nodes of ringspin";
        return Err(Error::new("adopt", cause, remedy));
    }
    print!("{}", detect::describe(&found, &it.checkout));
    let mut added = detect::patches(&found);
    added.retain(|patch| !it.has(patch));
    patches.extend(added.iter().cloned());
    let ids: BTreeSet<_> = found.into_iter().filter_map(|found| found.other_id).collect();
    if !ids.is_empty() {
        it.cargo.update(&Vec::from_iter(ids), &patches)?;
    }
    let metadata = it.cargo.metadata(&patches)?;
    detect::verify(&metadata, &it.checkout)?;
    let folder = it.root.join(messages::INTERFACES);
    added.extend(interfaces.iter().map(|interface| interfaces::patch(interface, &folder)));
    Ok(Moved { metadata, patches: added, interfaces, packages })
}

/// Plans the patches, the crates of messages and the configuration. Returns notes.
fn plan(it: &Application, moved: &Moved, changes: &mut Changes) -> Result<Vec<String>, Error> {
    let text = manifest::with_patches(&it.text, &it.root, &moved.patches)?;
    changes.write(it.manifest.clone(), text)?;
    let folder = it.root.join(messages::INTERFACES);
    for interface in &moved.interfaces {
        interfaces::plan(interface, &folder, &it.checkout, changes)?;
    }
    let note = messages::plan(&moved.packages, &it.root, changes)?;
    let layout = Layout::new(&it.root, &it.checkout.folder);
    let is_outside = |package: &&MessagePackage| !package.folder.starts_with(&layout.repository);
    let outside = moved.packages.iter().filter(is_outside).map(|package| {
        let (name, folder) = (&package.name, package.folder.display());
        format!("`{name}` at {folder} is outside of the repository; CI needs a checkout of it, too")
    });
    Ok(note.into_iter().chain(outside).collect())
}

/// Plans the test of each package, and the workflow. Returns notes.
fn plan_tests(
    it: &Application,
    tested: &[&Package],
    options: &Options,
    changes: &mut Changes,
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    let mut with_test = Vec::new();
    for package in tested {
        let programs = package.programs();
        let path = package.folder().join("tests").join(TEST).with_extension("rs");
        if programs.is_empty() && !path.exists() {
            let name = &package.name;
            notes.push(format!(
                "`{name}` has no program to run; docs/r2r.md, \"A node tested in CI without ROS\", \
                 has a test for libraries"
            ));
            continue;
        }
        if has_no_automatic_tests(package)? {
            let action = format!("add a test to `{}`", package.name);
            let cause = format!("{} has `autotests = false`", package.manifest_path.display());
            let remedy = "add `[[test]]` with `name = \"deterministic\"` to it";
            return Err(Error::new(action, cause, remedy));
        }
        changes.create(path, templates::test(&programs));
        with_test.push(&*package.name);
    }
    let layout = Layout::new(&it.root, &it.checkout.folder);
    let path = layout.repository.join(".github/workflows/deterministic.yml");
    if !options.no_ci && !with_test.is_empty() && !path.exists() {
        let origin = Origin::of(&it.checkout.folder);
        let text = templates::workflow(&layout, &origin, &with_test);
        if text.contains("OWNER/ringspin") {
            notes.push(format!(
                "replace OWNER/ringspin in {}: the clone of ringspin has no remote on GitHub",
                path.display()
            ));
        }
        changes.create(path, text);
    }
    Ok(notes)
}

/// Whether cargo does not look for tests of this package, and its manifest does not name ours.
fn has_no_automatic_tests(package: &Package) -> Result<bool, Error> {
    let text = read(&package.manifest_path)?.unwrap_or_default();
    let document = text.parse::<toml_edit::DocumentMut>().unwrap_or_default();
    let declared = document.get("package").and_then(|it| it.get("autotests"));
    let is_off = declared.and_then(toml_edit::Item::as_bool) == Some(false);
    Ok(is_off && !package.targets.iter().any(|target| target.name == TEST))
}

/// Runs the tests, and says how they ended.
fn run(it: &Application, tested: &[&Package], options: &Options) -> Result<(), Error> {
    let path = |package: &Package| package.folder().join("tests").join(TEST).with_extension("rs");
    for package in tested.iter().filter(|package| path(package).exists()) {
        let command = format!("cargo test -p {} --test {TEST}", package.name);
        if options.no_run {
            println!("to run it ten times: {command}");
            continue;
        }
        println!("running: {command}");
        if !it.cargo.test(&package.id, TEST)? {
            let remedy = "see the output above, and docs/threads.md of ringspin for the reasons of \
                differences; the files stay, and the command repeats it";
            let action = format!("get one digest from ten runs of `{}`", package.name);
            return Err(Error::new(action, format!("`{command}` failed"), remedy));
        }
        // The application may have a test of this name already.
        let is_ours = read(&path(package))?.is_some_and(|text| text.contains(templates::MARK));
        let result = if is_ours { "ten runs, one digest" } else { "its test passed" };
        println!("`{}`: {result}", package.name);
    }
    Ok(())
}

impl Application {
    /// Whether the manifest has this patch.
    fn has(&self, patch: &Patch) -> bool {
        self.existing.iter().any(|it| {
            let folder = it.folder.as_ref().and_then(|folder| fs::canonicalize(folder).ok());
            it.package == patch.package
                && is_same_source(&it.source, &patch.source)
                && folder.as_ref() == Some(&patch.folder)
        })
    }

    /// The members to be tested, which depend on ringspin: the one around the current folder, or
    /// all of them at the root.
    fn tested<'a>(&self, metadata: &'a Metadata) -> Vec<&'a Package> {
        let folder_of = |package: &Package| fs::canonicalize(package.folder()).unwrap_or_default();
        let around = metadata.members().map(folder_of);
        let around = around.filter(|folder| self.folder.starts_with(folder));
        let nearest = around.max_by_key(|folder| folder.components().count());
        let chosen = nearest.filter(|folder| *folder != self.root);
        let is_ours = |package: &Package| {
            is_replaced(&package.name) && self.checkout.contains(&package.manifest_path)
        };
        let members = metadata.members();
        let members =
            members.filter(|it| chosen.as_ref().is_none_or(|chosen| folder_of(it) == *chosen));
        members.filter(|member| metadata.reaches(member, is_ours)).collect()
    }
}
