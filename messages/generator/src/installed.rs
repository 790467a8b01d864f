//! The definitions of message types in the sourced ROS 2.

use crate::{Definitions, Element, TypeName};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The definition of `type_name` as recordings have it, from the packages of `AMENT_PREFIX_PATH`;
/// `None` if a part of it is not installed, or cannot be parsed.
pub fn installed_definition(type_name: &str) -> Option<String> {
    let name = TypeName::parse(type_name)?;
    let mut definitions = Definitions::default();
    let mut files = BTreeSet::new();
    let mut wanted = vec![name.clone()];
    while let Some(next) = wanted.pop() {
        if definitions.get(&next).is_some() {
            continue;
        }
        // The messages of services and actions are in their files.
        let base = next.name.split('_').next().unwrap_or_default();
        let file = TypeName { name: base.into(), ..next.clone() };
        let is_new = files.insert(file.clone());
        let (path, text) = is_new.then(|| read(&file)).flatten()?;
        definitions.add(&file, &text, &path.display().to_string()).ok()?;
        let fields = definitions.iter().flat_map(|message| &message.fields);
        let inner = fields.filter_map(|field| match &field.ty.element {
            Element::Message(name) if definitions.get(name).is_none() => Some(name.clone()),
            _ => None,
        });
        wanted = inner.collect();
    }
    definitions.schema(&name)
}

/// The file of a definition.
fn read(name: &TypeName) -> Option<(PathBuf, String)> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH")?;
    let folder = name.kind.folder();
    let file = format!("share/{}/{folder}/{}.{}", name.package, name.name, folder);
    let paths = std::env::split_paths(&prefixes).map(|prefix| prefix.join(&file));
    paths.into_iter().find_map(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?)))
}
