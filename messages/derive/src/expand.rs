//! Expansion of a declaration to its `impl RosMessage`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use ringspin_message_generator::{
    Array, Definitions, Element, Field, TypeName, common_definitions, parse_schema_with,
};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Path, Result, Type};

/// The implementation for `input`.
pub(crate) fn expand(input: DeriveInput) -> Result<TokenStream> {
    let attributes = Attributes::parse(&input)?;
    let ident = &input.ident;
    if !input.generics.params.is_empty() {
        return Err(Error::new(ident.span(), "a ROS 2 message has no generic parameters"));
    }
    let definitions = attributes.definitions()?;
    let text = |it: Option<String>| it.unwrap_or_default();
    let schema = text(definitions.schema(&attributes.type_name));
    let hash = text(definitions.type_hash(&attributes.type_name));
    if let Some(given) = attributes.hash.as_ref().filter(|given| given.value() != hash) {
        let message = format!("the hash of this definition is {hash}; one of them is wrong");
        return Err(Error::new(given.span(), message));
    }
    let defined = definitions.get(&attributes.type_name).map(|it| &*it.fields).unwrap_or_default();
    check_fields(&input, defined)?;
    let (path, name) = (&attributes.path, attributes.type_name.to_string());
    Ok(quote! {
        #[automatically_derived]
        impl #path::RosMessage for #ident {
            const TYPE_NAME: &'static str = #name;
            const DEFINITION: &'static str = #schema;
            const TYPE_HASH: &'static str = #hash;
        }
    })
}

/// The content of `#[ros(...)]`.
struct Attributes {
    type_name: TypeName,
    definition: LitStr,
    hash: Option<LitStr>,
    path: Path,
}

impl Attributes {
    fn parse(input: &DeriveInput) -> Result<Self> {
        let (mut name, mut definition, mut hash, mut path) = (None, None, None, None);
        for attribute in input.attrs.iter().filter(|it| it.path().is_ident("ros")) {
            attribute.parse_nested_meta(|meta| {
                let slots = [
                    ("name", &mut name),
                    ("definition", &mut definition),
                    ("hash", &mut hash),
                    ("crate", &mut path),
                ];
                let slot = slots.into_iter().find(|(key, _)| meta.path.is_ident(key));
                let unknown = "unknown attribute; use `name`, `definition`, `hash` or `crate`";
                let (key, slot) = slot.ok_or_else(|| meta.error(unknown))?;
                match slot.replace(meta.value()?.parse::<LitStr>()?) {
                    Some(_) => Err(meta.error(format!("`{key}` is given twice"))),
                    None => Ok(()),
                }
            })?;
        }
        let missing = |what| {
            let message = format!("missing attribute: add `#[ros({what} = \"...\")]`");
            Error::new(input.ident.span(), message)
        };
        let name = name.ok_or_else(|| missing("name"))?;
        let wrong = || Error::new(name.span(), "invalid type name: write `package/msg/Name`");
        let type_name = TypeName::parse(&name.value()).ok_or_else(wrong)?;
        let definition = definition.ok_or_else(|| missing("definition"))?;
        let path = match path {
            Some(path) => path.parse()?,
            None => syn::parse_quote!(::ringspin_messages),
        };
        Ok(Self { type_name, definition, hash, path })
    }

    /// The definitions of the type and of those that it refers to.
    fn definitions(&self) -> Result<Definitions> {
        let text = self.definition.value();
        let common = common_definitions().clone();
        let parsed = parse_schema_with(common, &self.type_name, &text, "definition");
        parsed.map_err(|error| Error::new(self.definition.span(), error.to_string()))
    }
}

/// Compares the fields of the struct with those of the definition.
fn check_fields(input: &DeriveInput, defined: &[Field]) -> Result<()> {
    let Data::Struct(syn::DataStruct { fields: Fields::Named(fields), .. }) = &input.data else {
        return Err(Error::new(
            input.ident.span(),
            "a ROS 2 message is a struct with named fields",
        ));
    };
    if fields.named.len() != defined.len() {
        let (wanted, found) = (defined.len(), fields.named.len());
        let message = format!("the definition has {wanted} fields, the struct {found}");
        return Err(Error::new(input.ident.span(), message));
    }
    for (field, defined) in fields.named.iter().zip(defined) {
        let (name, has_adapter) = serde_attributes(field)?;
        if name != defined.name {
            let message = format!("the definition has field `{}` here", defined.name);
            return Err(Error::new(field.span(), message));
        }
        let expected = expected_type(&field.ty, defined).filter(|_| !has_adapter);
        if let Some(expected) = expected {
            let message = format!("the type of this field in the definition is `{expected}`");
            return Err(Error::new(field.ty.span(), message));
        }
    }
    Ok(())
}

/// The name by which serde knows a field, and whether it has an adapter (`#[serde(with)]`).
fn serde_attributes(field: &syn::Field) -> Result<(String, bool)> {
    let mut has_adapter = false;
    let mut name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
    name = name.trim_start_matches("r#").into();
    for attribute in field.attrs.iter().filter(|it| it.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            let value = match meta.input.peek(syn::Token![=]) {
                true => Some(meta.value()?.parse::<syn::Expr>()?),
                false => None,
            };
            has_adapter |= meta.path.is_ident("with") || meta.path.is_ident("serialize_with");
            if let (true, Some(syn::Expr::Lit(value))) = (meta.path.is_ident("rename"), value)
                && let syn::Lit::Str(value) = value.lit
            {
                name = value.value();
            }
            Ok(())
        })?;
    }
    Ok((name, has_adapter))
}

/// The Rust type of a field that is no message, if the struct has another one.
fn expected_type(ty: &Type, defined: &Field) -> Option<String> {
    let element = match &defined.ty.element {
        Element::String(_) => "String",
        // Wide strings and messages need an adapter of the user's.
        element => element.rust_primitive()?,
    };
    let expected = match defined.ty.array {
        Array::Single => element.into(),
        Array::Fixed(n) => format!("[{element};{n}]"),
        Array::Bounded(_) | Array::Unbounded => format!("Vec<{element}>"),
    };
    let found: String = ty.to_token_stream().to_string().split_whitespace().collect();
    // A path before the type does not count.
    let ends = found == expected || found.ends_with(&format!("::{expected}"));
    (!ends).then_some(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn error(attributes: &str, body: &str) -> String {
        let declaration = format!("{attributes} struct Foo {body}");
        let expanded = expand(syn::parse_str(&declaration).unwrap());
        expanded.expect_err("it was accepted").to_string()
    }

    #[track_caller]
    fn error_of(definition: &str, body: &str) -> String {
        error(&format!("#[ros(name = \"a/msg/Foo\", definition = {definition:?})]"), body)
    }

    #[test]
    fn invalid_attributes_are_refused_by_name() {
        assert!(error("", "{}").contains("add `#[ros(name"));
        assert!(error("#[ros(nam = \"x\")]", "{}").contains("unknown attribute"));
        assert!(error("#[ros(name = \"x\", name = \"x\")]", "{}").contains("twice"));
        assert!(error("#[ros(name = \"x\")]", "{}").contains("invalid type name"));
        assert!(error("#[ros(name = \"a/msg/Foo\")]", "{}").contains("definition"));
        let hash = "#[ros(name = \"a/msg/Foo\", definition = \"int8 a\", hash = \"RIHS01_0\")]";
        assert!(error(hash, "{ a: i8 }").contains("hash of this definition is RIHS01_"));
        assert!(error_of("int8 a b", "{}").contains("definition:1: invalid value"));
        assert!(error_of("Bar a", "{}").contains("unknown type `a/msg/Bar`"));
    }

    #[test]
    fn adapted_and_renamed_fields_are_accepted() {
        let declaration = "#[ros(name = \"a/msg/Foo\", definition = \"int8[40] type\\nchar b\")]
            struct Foo {
                #[serde(with = \"adapter\", rename = \"type\")] a: Vec<i8>, r#b: core::primitive::u8
            }";
        let expanded = expand(syn::parse_str(declaration).unwrap()).unwrap().to_string();
        assert!(expanded.contains("impl :: ringspin_messages :: RosMessage for Foo"));
        assert!(expanded.contains("\"a/msg/Foo\""));
        let empty = "#[ros(name = \"a/msg/Foo\", definition = \"\")] struct Foo {}";
        assert!(expand(syn::parse_str(empty).unwrap()).is_ok());
    }

    #[test]
    fn fields_that_differ_from_the_definition_are_refused() {
        assert!(error_of("int8 a", "{ b: i8 }").contains("has field `a` here"));
        assert!(error_of("int8 a", "{ a: i16 }").contains("is `i8`"));
        assert!(error_of("int8[2] a", "{ a: Vec<i8> }").contains("is `[i8;2]`"));
        assert!(error_of("int8[] a", "{ a: [i8; 2] }").contains("is `Vec<i8>`"));
        assert!(error_of("int8 a\nint8 b", "{ a: i8 }").contains("has 2 fields, the struct 1"));
        assert!(error_of("int8[40] a", "{ a: Vec<i8> }").contains("is `[i8;40]`"));
        assert!(error_of("int8 a", "(i8);").contains("named fields"));
    }
}
