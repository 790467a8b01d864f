//! Parsing of `#[digest(...)]` attributes. Unknown items are errors.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, LitStr, Path, Result};

/// Calls `accept` with each item of all `#[digest(...)]` among `attributes`.
fn parse(
    attributes: &[Attribute],
    mut accept: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    let ours = attributes.iter().filter(|attribute| attribute.path().is_ident("digest"));
    ours.into_iter().try_for_each(|attribute| attribute.parse_nested_meta(&mut accept))
}

/// The path of the crate that defines the trait.
pub(crate) fn crate_path(attributes: &[Attribute]) -> Result<Path> {
    let mut path = None;
    parse(attributes, |meta| match meta.path.is_ident("crate") {
        true if path.is_some() => Err(meta.error("`crate` is given twice")),
        true => {
            let text: LitStr = meta.value()?.parse()?;
            path = Some(text.parse()?);
            Ok(())
        }
        false if meta.path.is_ident("skip") => {
            Err(meta.error("`skip` is for fields; a type that never counts needs no `Digest`"))
        }
        false => Err(meta.error("unknown attribute; a type can have `crate = \"path\"`")),
    })?;
    Ok(path.unwrap_or_else(|| syn::parse_quote!(::ringspin)))
}

/// Whether a field is skipped.
pub(crate) fn is_skipped(attributes: &[Attribute]) -> Result<bool> {
    let mut skipped = false;
    parse(attributes, |meta| match meta.path.is_ident("skip") {
        true => {
            skipped = true;
            Ok(())
        }
        false => Err(meta.error("unknown attribute; a field can have `skip`")),
    })?;
    Ok(skipped)
}

/// Refuses attributes on a variant, which has none.
pub(crate) fn refuse_on_variant(attributes: &[Attribute]) -> Result<()> {
    let ours = attributes.iter().find(|attribute| attribute.path().is_ident("digest"));
    let error = |attribute| {
        let message = "a variant has no `digest` attribute; put `skip` on its fields";
        Err(Error::new_spanned(attribute, message))
    };
    ours.map_or(Ok(()), error)
}
