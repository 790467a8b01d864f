//! Expansion of a declaration to its `impl Digest`.

use crate::attributes::{crate_path, is_skipped, refuse_on_variant};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Data, DeriveInput, Error, Field, Fields, Generics, Ident, Path, Result, Type};

/// The implementation for `input`.
pub(crate) fn expand(input: DeriveInput) -> Result<TokenStream> {
    let path = crate_path(&input.attrs)?;
    let mut counted = Vec::new();
    let name = &input.ident;
    let body = match &input.data {
        Data::Struct(data) => {
            let (pattern, adds) = fields(&path, &data.fields, &mut counted)?;
            quote! { let Self #pattern = self; #adds }
        }
        Data::Enum(data) => {
            let mut arms = Vec::new();
            for (index, variant) in (0u32..).zip(&data.variants) {
                refuse_on_variant(&variant.attrs)?;
                let ident = &variant.ident;
                let (pattern, adds) = fields(&path, &variant.fields, &mut counted)?;
                arms.push(quote! {
                    Self::#ident #pattern => { #path::Digest::digest(&#index, hasher); #adds }
                });
            }
            match arms.is_empty() {
                true => quote! { match *self {} },
                false => quote! { match self { #(#arms)* } },
            }
        }
        Data::Union(_) => {
            let message = "a union has no `Digest` to derive: which field is valid is not known; \
                           implement the trait by hand";
            return Err(Error::new_spanned(name, message));
        }
    };
    let generics = bound(&path, input.generics.clone(), &counted);
    let (parameters, arguments, bounds) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #parameters #path::Digest for #name #arguments #bounds {
            #[allow(unused_variables)]
            fn digest(&self, hasher: &mut #path::DigestHasher) { #body }
        }
    })
}

/// The pattern that binds the fields, and the statements that add them to the digest. Types of
/// fields that need a bound are added to `counted`.
fn fields(
    path: &Path,
    fields: &Fields,
    counted: &mut Vec<Type>,
) -> Result<(TokenStream, TokenStream)> {
    let mut bindings = Vec::new();
    let mut adds = TokenStream::new();
    for (index, field) in fields.iter().enumerate() {
        // A new name, because the field may be called `hasher`.
        let value = format_ident!("field_{index}");
        let skipped = is_skipped(&field.attrs)?;
        let binding = if skipped { quote!(_) } else { quote!(#value) };
        bindings.push(match &field.ident {
            Some(name) => quote!(#name: #binding),
            None => binding,
        });
        if !skipped {
            adds.extend(quote! { #path::Digest::digest(#value, hasher); });
            counted.extend(needs_bound(field).then(|| field.ty.clone()));
        }
    }
    let pattern = match fields {
        Fields::Named(_) => quote! { { #(#bindings),* } },
        Fields::Unnamed(_) => quote! { ( #(#bindings),* ) },
        Fields::Unit => TokenStream::new(),
    };
    Ok((pattern, adds))
}

/// Whether the type parameters of a field need the bound: not within `PhantomData`.
fn needs_bound(field: &Field) -> bool {
    let last = match &field.ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    last.is_none_or(|segment| segment.ident != "PhantomData")
}

/// Adds the bound to each type parameter that occurs in one of the counted types.
///
/// Bounds are on parameters instead of types, as in the standard library's derives: a bound on a
/// type that contains itself could never be proved.
fn bound(path: &Path, mut generics: Generics, counted: &[Type]) -> Generics {
    for parameter in generics.type_params_mut() {
        if counted.iter().any(|ty| names(ty.to_token_stream(), &parameter.ident)) {
            parameter.bounds.push(syn::parse_quote!(#path::Digest));
        }
    }
    generics
}

/// Whether `parameter` occurs among `tokens`.
fn names(tokens: TokenStream, parameter: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *parameter,
        TokenTree::Group(group) => names(group.stream(), parameter),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn error(declaration: &str) -> String {
        let expanded = expand(syn::parse_str(declaration).unwrap());
        expanded.expect_err("it was accepted").to_string()
    }

    #[test]
    fn unknown_attributes_are_refused_by_name() {
        assert!(error("union U { a: u8 }").contains("implement the trait by hand"));
        assert!(error("struct S { #[digest(skp)] a: u8 }").contains("a field can have `skip`"));
        assert!(error("#[digest(skip)] struct S;").contains("`skip` is for fields"));
        assert!(error("#[digest(krate = \"x\")] struct S;").contains("`crate = \"path\"`"));
        assert!(error("#[digest(crate = \"x\", crate = \"y\")] struct S;").contains("twice"));
        assert!(error("enum E { #[digest(skip)] A }").contains("a variant has no"));
        assert!(error("struct S(#[digest] u8);").contains("expected attribute arguments"));
        assert!(error("#[digest(crate = x)] struct S;").contains("expected string literal"));
    }

    #[test]
    fn only_digested_parameters_are_bounded() {
        let declaration = "struct S<A, B, C: Copy, D> {
            a: Vec<(u8, A)>, #[digest(skip)] b: B, c: PhantomData<C>, d: [D; 4]
        }";
        let expanded = expand(syn::parse_str(declaration).unwrap()).unwrap().to_string();
        let head = "impl < A : :: ringspin :: Digest , B , C : Copy , D : :: ringspin :: Digest >";
        assert!(expanded.contains(head), "{expanded}");
    }

    #[test]
    fn the_crate_path_can_be_set() {
        let declaration = "#[digest(crate = \"my::engine\")] struct S(u8);";
        let expanded = expand(syn::parse_str(declaration).unwrap()).unwrap().to_string();
        assert!(expanded.contains("impl my :: engine :: Digest for S"), "{expanded}");
        assert!(!expanded.contains("ringspin"), "{expanded}");
    }
}
