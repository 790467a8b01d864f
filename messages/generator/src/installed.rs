//! The definitions of message types in the environment at run time.

use crate::common::common_definitions;
use crate::name::is_identifier;
use crate::{DefinitionError, Definitions, Element, TypeName};
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// The definition of `type_name` as recordings have it, found like
/// [`environment_definitions`]; `None` if a part of it is not there, or cannot be parsed.
pub fn installed_definition(type_name: &str) -> Option<String> {
    let name = TypeName::parse(type_name)?;
    environment_definitions(&name).ok()??.schema(&name)
}

/// The definitions of `name` and of the types that it contains: from the packages in the folders of
/// `RINGSPIN_MESSAGES`, then of the sourced ROS 2, then the common ones. `None` if there is none of
/// `name`.
///
/// # Errors
/// [`DefinitionError`], with file and line, for a file that cannot be read or parsed, and for a
/// type that refers to one without a definition.
pub fn environment_definitions(name: &TypeName) -> Result<Option<Definitions>, DefinitionError> {
    let mut definitions = Definitions::default();
    let mut files = BTreeSet::new();
    let mut wanted = vec![name.clone()];
    while let Some(next) = wanted.pop() {
        // The messages of services and actions are in their files.
        let base = next.name.split('_').next().unwrap_or_default();
        let file = TypeName { name: base.into(), ..next.clone() };
        if !files.insert(file.clone()) {
            continue;
        }
        match read(&file)? {
            Some((path, text)) => definitions.add(&file, &text, &path.display().to_string())?,
            None => {
                let common = common_definitions();
                let known = common.get(&next).into_iter().chain(common.dependencies(&next));
                known.cloned().try_for_each(|message| definitions.insert(message))?;
            }
        }
        let fields = definitions.iter().flat_map(|message| &message.fields);
        let inner = fields.filter_map(|field| match &field.ty.element {
            Element::Message(name) if definitions.get(name).is_none() => Some(name.clone()),
            _ => None,
        });
        wanted = inner.filter(|name| !files.contains(name)).collect();
    }
    if definitions.get(name).is_none() {
        return Ok(None);
    }
    definitions.check()?;
    Ok(Some(definitions))
}

/// Whether the environment has a package of this name.
pub fn environment_has_package(name: &str) -> bool {
    is_identifier(name) && places().any(|place| place.join(name).is_dir())
}

/// The file of a definition, if there is one.
fn read(name: &TypeName) -> Result<Option<(PathBuf, String)>, DefinitionError> {
    let folder = name.kind.folder();
    let file = format!("{}/{folder}/{}.{folder}", name.package, name.name);
    for path in places().map(|place| place.join(&file)) {
        match fs::read_to_string(&path) {
            Ok(text) => return Ok(Some((path, text))),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                let problem = format!("failed to read it: {error}");
                return Err(DefinitionError::new(&path.display().to_string(), 1, problem));
            }
        }
    }
    Ok(None)
}

/// The folders that have packages in them.
fn places() -> impl Iterator<Item = PathBuf> {
    let list = |variable| env::var_os(variable).unwrap_or_default();
    let (own, prefixes) = (list("RINGSPIN_MESSAGES"), list("AMENT_PREFIX_PATH"));
    let own = env::split_paths(&own).filter(|place| !place.as_os_str().is_empty());
    let shares = env::split_paths(&prefixes).map(|prefix| prefix.join("share"));
    own.chain(shares).collect::<Vec<_>>().into_iter()
}
