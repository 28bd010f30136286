//! `#[derive(Choice)]`.

use crate::comment;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Result, Variant};

/// The name of a variant in a scenario: `#[setting(name = "...")]`, otherwise its own in snake
/// case.
fn name(variant: &Variant) -> Result<String> {
    let mut name = snake_case(&variant.ident.to_string());
    for attribute in variant.attrs.iter().filter(|a| a.path().is_ident("setting")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("name") {
                return Err(meta.error("a variant has a name alone"));
            }
            name = meta.value()?.parse::<LitStr>()?.value();
            Ok(())
        })?;
    }
    Ok(name)
}

/// The name of a choice in the schema: `#[settings(name = "...")]` above the enum, otherwise that
/// of the enum.
fn title(input: &DeriveInput) -> Result<String> {
    let mut title = crate::title(&input.ident);
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("settings")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("name") {
                return Err(meta.error("a choice has a name alone"));
            }
            title = meta.value()?.parse::<LitStr>()?.value();
            Ok(())
        })?;
    }
    Ok(title)
}

fn snake_case(ident: &str) -> String {
    let mut name = String::new();
    for letter in ident.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

/// What is derived from the variants, an item or an arm of a `match` for each.
#[derive(Default)]
struct Arms {
    names: Vec<String>,
    declared: Vec<TokenStream>,
    named: Vec<TokenStream>,
    tables: Vec<TokenStream>,
    picks: Vec<TokenStream>,
}

impl Arms {
    fn add(&mut self, variant: &Variant) -> Result<()> {
        let (name, arm, meaning) = (name(variant)?, &variant.ident, comment(&variant.attrs));
        let table = match &variant.fields {
            Fields::Unit => {
                self.named.push(quote!(Self::#arm => #name,));
                self.tables.push(quote!(Self::#arm => ::core::option::Option::None,));
                self.picks.push(quote!(#name => named.alone().map(|()| Self::#arm),));
                quote!(::core::option::Option::None)
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let ty = &fields.unnamed[0].ty;
                self.named.push(quote!(Self::#arm(_) => #name,));
                self.tables.push(quote!(Self::#arm(inner) => ::core::option::Option::Some(inner),));
                self.picks.push(quote!(#name => named.read().map(Self::#arm),));
                quote! {
                    ::core::option::Option::Some(::settings::VariantTable {
                        schema: <#ty as ::settings::Setting>::schema,
                        check: <#ty as ::settings::Setting>::check,
                        is_empty: <#ty as ::settings::Setting>::is_empty_table,
                    })
                }
            }
            _ => {
                let message = "a variant is a name alone, or a name with one table";
                return Err(Error::new_spanned(variant, message));
            }
        };
        self.declared.push(quote! {
            ::settings::Variant { name: #name, meaning: #meaning, table: #table }
        });
        self.names.push(name);
        Ok(())
    }
}

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(input, "Choice is for enums; take Settings for structs"));
    };
    let mut arms = Arms::default();
    data.variants.iter().try_for_each(|variant| arms.add(variant))?;
    let Arms { names, declared, named, tables, picks } = arms;
    let (ident, meaning) = (&input.ident, comment(&input.attrs));
    let title = title(input)?;
    Ok(quote! {
        impl ::settings::Choice for #ident {
            const TITLE: &'static str = #title;
            const MEANING: &'static str = #meaning;
            const VARIANTS: &'static [::settings::Variant] = &[#(#declared),*];
            const NAMES: &'static [&'static str] = &[#(#names),*];

            fn name(&self) -> &'static str {
                match self { #(#named)* }
            }

            fn inner(&self) -> ::core::option::Option<&dyn ::settings::AnySetting> {
                match self { #(#tables)* }
            }

            fn pick(
                named: &::settings::Named<'_>,
            ) -> ::core::result::Result<Self, ::settings::Fault> {
                match named.name {
                    #(#picks)*
                    other => unreachable!("{other} is none of the names"),
                }
            }
        }
        ::settings::setting_by_choice!(#ident);
    })
}
