//! `#[derive(Digest)]`: adds the fields of a type to a digest, in order of declaration.
//!
//! Re-exported with the trait `Digest`, which has an example.

#![forbid(unsafe_code)]

mod attributes;
mod expand;

/// Implements `Digest`: a struct adds its fields in order of declaration, an enum the variant's
/// index as a `u32` and then the variant's fields.
///
/// * `#[digest(skip)]` on a field leaves it out: for caches and other derived values, whose types
///   may have no `Digest`.
/// * `#[digest(crate = "path")]` on the type sets the path of `Digest` and `DigestHasher`; the
///   default is `::ringspin`. A crate that depends on `ringspin-executor` alone writes
///   `#[digest(crate = "ringspin_executor")]`.
///
/// Type parameters of digested fields must implement `Digest`; parameters that occur only in
/// `PhantomData` or in skipped fields need not.
#[proc_macro_derive(Digest, attributes(digest))]
pub fn derive_digest(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse(input).and_then(expand::expand);
    expanded.unwrap_or_else(|error| error.into_compile_error()).into()
}
