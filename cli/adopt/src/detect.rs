//! The dependencies on r2r and rclrs, with the packages of ringspin that take their places.
//!
//! A dependency moves if a patch reaches it: it comes from crates.io or from a git repository, and
//! its requirement takes the version that the replacement offers. All other ones are refused
//! together.

use crate::Error;
use crate::checkout::{Checkout, DropIn, is_replaced};
use crate::manifest::{CRATES_IO, Patch};
use crate::metadata::{Metadata, Requirement, is_git_source};
use semver::VersionReq;

/// A dependency that ringspin can answer.
#[derive(Clone, Debug)]
pub struct Found {
    /// The replacement.
    pub drop_in: DropIn,
    /// `crates-io`, or the address of a git repository.
    pub source: String,
    /// The package that declares it, with its requirement.
    pub user: String,
    /// Specification of the package that is in its place now; none if that is the replacement.
    pub other_id: Option<String>,
}

/// All dependencies on packages that ringspin replaces.
pub fn detect(metadata: &Metadata, checkout: &Checkout) -> Result<Vec<Found>, Error> {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for requirement in metadata.requirements(is_replaced) {
        let by = requirement.by;
        // A package of r2r or rclrs: its dependencies are replaced together with it.
        let is_inner = is_replaced(&by.name) && by.source.is_some();
        if is_inner || checkout.contains(&by.manifest_path) {
            continue;
        }
        match classify(&requirement, checkout) {
            Ok(it) => found.extend(it),
            Err(error) => refused.push(error),
        }
    }
    if refused.is_empty() { Ok(found) } else { Err(Error::all(refused)) }
}

/// The text of a declaration: "`robot` requires r2r `^0.9`".
fn declaration(requirement: &Requirement<'_>) -> String {
    let Requirement { by, on, .. } = requirement;
    format!("`{}` requires {} `{}`", by.name, on.name, on.req)
}

/// The replacement of one dependency; none if it names ringspin by a path already.
fn classify(requirement: &Requirement<'_>, checkout: &Checkout) -> Result<Option<Found>, Error> {
    let Requirement { by, on, resolved } = requirement;
    let (name, version) = (&*on.name, &resolved.version);
    let declared = declaration(requirement);
    let refuse = |cause: &str, remedy: &str| Error::new(format!("move {name}"), cause, remedy);
    let is_moved = checkout.contains(&resolved.manifest_path);
    let Some(source) = &on.source else {
        let cause = format!("`{}` depends on it by a path, which a patch does not reach", by.name);
        let remedy = "require a version from crates.io";
        return if is_moved { Ok(None) } else { Err(refuse(&cause, remedy)) };
    };
    let source = match source {
        _ if is_git_source(source) => git_address(source),
        _ if is_crates_io(source) => CRATES_IO,
        _ => return Err(refuse(&format!("{declared} of {source}"), "patch that source by hand")),
    };
    let Some(drop_in) = checkout.drop_in(name, version) else {
        return Err(refuse(&format!("{declared}, which is {version}"), &unknown(name, checkout)));
    };
    if on.req != VersionReq::STAR && !on.req.matches(&drop_in.version) {
        let cause = format!("{declared}, but ringspin has the API of {}", drop_in.version);
        let minor = format!("{}.{}", drop_in.version.major, drop_in.version.minor);
        let remedy = match by.source {
            None => format!("write `{name} = \"{minor}\"` in {}", by.manifest_path.display()),
            Some(_) => format!("use a version of `{}` that requires `^{minor}`", by.name),
        };
        return Err(refuse(&cause, &remedy));
    }
    if resolved.source.is_none() && !is_moved {
        let cause = format!("{declared}, which a patch leads to {}", resolved.folder().display());
        return Err(refuse(&cause, "remove that patch, also from `.cargo/config.toml`"));
    }
    let user = format!("`{}` (`{}`)", by.name, on.req);
    let other_id = (!is_moved).then(|| resolved.id.clone());
    Ok(Some(Found { drop_in: drop_in.clone(), source: source.to_owned(), user, other_id }))
}

/// The way out for a version without a replacement.
fn unknown(name: &str, checkout: &Checkout) -> String {
    match checkout.versions(name) {
        Some(versions) => format!("require {name} {versions}, and run this again"),
        None => {
            let folder = checkout.folder.display();
            format!("ringspin at {folder} has no {name}; update it by `git -C {folder} pull`")
        }
    }
}

/// The address of a git source, such as `git+https://github.com/owner/name?branch=main#abc`.
fn git_address(source: &str) -> &str {
    let address = source.trim_start_matches("git+");
    address.split(['?', '#']).next().unwrap_or(address)
}

/// Whether a source is crates.io, which has this name in every lock file.
fn is_crates_io(source: &str) -> bool {
    source == "registry+https://github.com/rust-lang/crates.io-index"
}

/// The patches that lead the dependencies to their replacements, one for each.
pub fn patches(found: &[Found]) -> Vec<Patch> {
    let mut patches: Vec<Patch> = Vec::new();
    for it in found {
        let (name, version) = (it.drop_in.name, &it.drop_in.version);
        let patch = Patch {
            source: it.source.clone(),
            package: name.to_owned(),
            alias: format!("{name}_{}_{}", version.major, version.minor),
            folder: it.drop_in.folder.clone(),
        };
        if !patches.contains(&patch) {
            patches.push(patch);
        }
    }
    // The newest version has the plain name.
    patches.sort_by(|left, right| {
        let of = |patch: &Patch| (patch.source.clone(), patch.package.clone());
        of(left).cmp(&of(right)).then(right.alias.cmp(&left.alias))
    });
    patches
}

/// Checks that each dependency has its replacement now.
pub fn verify(metadata: &Metadata, checkout: &Checkout) -> Result<(), Error> {
    let left = detect(metadata, checkout)?.into_iter().filter_map(|it| {
        let id = it.other_id?;
        let cause = format!("{} misses the patch and stays at {id}", it.user);
        let remedy = "look for another patch, a `paths` or a `[replace]` of it";
        Some(Error::new(format!("move {}", it.drop_in.name), cause, remedy))
    });
    let left: Vec<_> = left.collect();
    if left.is_empty() { Ok(()) } else { Err(Error::all(left)) }
}

/// Lines for a report: the packages that were found, and those that were not.
pub fn describe(found: &[Found], checkout: &Checkout) -> String {
    let (mut text, mut missing) = (String::new(), Vec::new());
    for drop_in in &checkout.drop_ins {
        let users = found.iter().filter(|it| it.drop_in == *drop_in);
        let users: Vec<_> = users.map(|it| format!("{} of {}", it.user, it.source)).collect();
        let label = format!("{} {}", drop_in.name, drop_in.version);
        match users.is_empty() {
            true => missing.push(format!(
                "{} {}.{}",
                drop_in.name, drop_in.version.major, drop_in.version.minor
            )),
            false => text += &format!("found: {label}, required by {}\n", users.join(", ")),
        }
    }
    text + &format!("not found: {}\n", missing.join(", "))
}

/// Notes on packages that still need a ROS installation: parts of r2r that are used directly.
pub fn leftovers(metadata: &Metadata, checkout: &Checkout) -> Vec<String> {
    let is_part =
        |name: &str| ["r2r_actions", "r2r_common", "r2r_msg_gen", "r2r_rcl"].contains(&name);
    let users = metadata.requirements(is_part).into_iter().filter(|requirement| {
        !is_part(&requirement.by.name) && !checkout.contains(&requirement.by.manifest_path)
    });
    let note = |it: Requirement<'_>| {
        let (name, by) = (&it.on.name, &it.by.name);
        format!("`{by}` uses `{name}` directly, which needs a sourced ROS 2 to build")
    };
    users.map(note).collect()
}
