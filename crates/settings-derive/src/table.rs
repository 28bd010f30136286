//! `#[derive(Settings)]`.

use crate::{comment, title};
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Expr, Field, Fields, Ident, LitStr, Result, Token, UnOp};

/// The content of `#[settings(...)]` above a struct.
#[derive(Default)]
struct Table {
    /// Its name in the schema, if it is not that of the struct.
    name: Option<LitStr>,
    /// A function that checks several keys against each other.
    check: Option<Expr>,
    /// A function that gives the table whose values the absent keys have.
    preset: Option<Expr>,
}

/// A field and the content of its `#[setting(...)]`.
struct Key<'a> {
    field: &'a Field,
    ident: &'a Ident,
    name: String,
    default: Option<Expr>,
    range: Option<Expr>,
    too_low: Option<LitStr>,
    required: Option<LitStr>,
    alias: Option<LitStr>,
    kind: Kind,
}

#[derive(PartialEq)]
enum Kind {
    /// A key of its own.
    Own,
    /// A table whose keys are keys of this table.
    Flatten,
    /// No key sets it.
    Skip,
}

impl Table {
    fn read(input: &DeriveInput) -> Result<Self> {
        let mut table = Self::default();
        for attribute in input.attrs.iter().filter(|a| a.path().is_ident("settings")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("name") {
                    table.name = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("check") {
                    table.check = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("preset") {
                    table.preset = Some(meta.value()?.parse()?);
                } else {
                    return Err(meta.error("one of name, check, preset"));
                }
                Ok(())
            })?;
        }
        Ok(table)
    }
}

impl<'a> Key<'a> {
    fn read(field: &'a Field) -> Result<Self> {
        let ident = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "a name"))?;
        let mut key = Self {
            field,
            ident,
            name: ident.to_string(),
            default: None,
            range: None,
            too_low: None,
            required: None,
            alias: None,
            kind: Kind::Own,
        };
        for attribute in field.attrs.iter().filter(|a| a.path().is_ident("setting")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("key") {
                    key.name = meta.value()?.parse::<LitStr>()?.value();
                } else if meta.path.is_ident("default") {
                    key.default = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("range") {
                    key.range = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("too_low") {
                    key.too_low = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("required") {
                    // Without a text, a rule of the document reports what is missing.
                    let has_value = meta.input.peek(Token![=]);
                    let silent = LitStr::new("", meta.path.span());
                    key.required = Some(if has_value { meta.value()?.parse()? } else { silent });
                } else if meta.path.is_ident("alias") {
                    key.alias = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("flatten") {
                    key.kind = Kind::Flatten;
                } else if meta.path.is_ident("skip") {
                    key.kind = Kind::Skip;
                } else {
                    let known =
                        "one of key, default, range, too_low, required, alias, flatten, skip";
                    return Err(meta.error(known));
                }
                Ok(())
            })?;
        }
        Ok(key)
    }

    /// The field's default: a literal number is in the unit that the key names, any other
    /// expression has the field's type.
    fn default(&self) -> TokenStream {
        let (ty, unit) = (&self.field.ty, self.unit());
        match &self.default {
            None => quote!(::core::default::Default::default()),
            Some(number) if is_number(number) => {
                quote!(<#ty as ::settings::Number>::written(#number as f64, #unit))
            }
            Some(value) => quote!(#value),
        }
    }

    fn unit(&self) -> TokenStream {
        let key = &self.name;
        quote!(const { ::settings::Unit::of(#key) })
    }

    fn rule(&self) -> TokenStream {
        let range = match &self.range {
            None => quote!(::settings::Range::ANY),
            Some(range) => quote!(::settings::Range::from(#range)),
        };
        match &self.too_low {
            None => range,
            Some(message) => quote!(#range.too_low(#message)),
        }
    }

    /// Adds its name, or those of its table, to the list of all.
    fn names(&self) -> TokenStream {
        let (key, ty) = (&self.name, &self.field.ty);
        match self.kind {
            Kind::Own => quote!(keys.push(#key);),
            Kind::Flatten => quote!(keys.extend(<#ty as ::settings::Settings>::keys());),
            Kind::Skip => quote!(),
        }
    }

    /// The arm of `take` that reads the key's value.
    fn take(&self) -> TokenStream {
        let (ident, key, unit) = (self.ident, &self.name, self.unit());
        let alias = self.alias.iter().map(|alias| quote!(| #alias));
        quote!(#key #(#alias)* => self.#ident = ::settings::Setting::read(value, #unit)?,)
    }

    fn give(&self) -> TokenStream {
        let (ident, key, unit) = (self.ident, &self.name, self.unit());
        match self.kind {
            Kind::Own => quote! {
                ::settings::put(table, #key, ::settings::Setting::write(&self.#ident, #unit));
            },
            Kind::Flatten => quote!(::settings::Settings::give(&self.#ident, table);),
            Kind::Skip => quote!(),
        }
    }

    fn describe(&self) -> TokenStream {
        let (ident, key, ty, rule) = (self.ident, &self.name, &self.field.ty, self.rule());
        let meaning = comment(&self.field.attrs);
        let required = option(self.required.as_ref());
        match self.kind {
            Kind::Own => quote! {
                table.key::<#ty>(#key, #meaning, &default.#ident, &#rule, #required, definitions);
            },
            Kind::Flatten => quote! {
                ::settings::Settings::describe(&default.#ident, table, definitions);
            },
            Kind::Skip => quote!(),
        }
    }

    fn check(&self) -> TokenStream {
        let (key, ty, unit, rule) = (&self.name, &self.field.ty, self.unit(), self.rule());
        let required = option(self.required.as_ref());
        match self.kind {
            Kind::Own => quote! {
                table.key::<#ty>(#key, #unit, &#rule, #required);
            },
            Kind::Flatten => quote!(<#ty as ::settings::Settings>::check_keys(table);),
            Kind::Skip => quote!(),
        }
    }

    fn relate(&self) -> TokenStream {
        let (ident, key) = (self.ident, &self.name);
        match self.kind {
            Kind::Own => quote! {
                ::settings::relate_key(&self.#ident, #key, at, faults);
            },
            Kind::Flatten => quote!(::settings::Settings::relate_keys(&self.#ident, at, faults);),
            Kind::Skip => quote!(),
        }
    }
}

fn option(text: Option<&LitStr>) -> TokenStream {
    text.map_or_else(|| quote!(None), |text| quote!(Some(#text)))
}

fn is_number(value: &Expr) -> bool {
    match value {
        Expr::Lit(literal) => matches!(literal.lit, syn::Lit::Int(_) | syn::Lit::Float(_)),
        Expr::Unary(unary) => matches!(unary.op, UnOp::Neg(_)) && is_number(&unary.expr),
        _ => false,
    }
}

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let table = Table::read(input)?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(input, "Settings is for structs; take Choice for enums"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(input, "Settings is for structs with named fields"));
    };
    let keys = fields.named.iter().map(Key::read).collect::<Result<Vec<_>>>()?;
    let (ident, meaning) = (&input.ident, comment(&input.attrs));
    let name = table.name.map_or_else(|| title(ident), |name| name.value());
    let (check, preset) = (table.check.as_ref(), table.preset.as_ref());
    let settings = implement_settings(ident, &name, &meaning, check, preset, &keys);
    let idents = keys.iter().map(|key| key.ident);
    let defaults = keys.iter().map(Key::default);
    Ok(quote! {
        impl ::core::default::Default for #ident {
            fn default() -> Self {
                Self { #(#idents: #defaults),* }
            }
        }
        #settings
        ::settings::setting_by_table!(#ident);
    })
}

fn implement_settings(
    ident: &Ident,
    name: &str,
    meaning: &str,
    check: Option<&Expr>,
    preset: Option<&Expr>,
    keys: &[Key<'_>],
) -> TokenStream {
    let reading_and_writing = implement_reading_and_writing(keys);
    let describes = keys.iter().map(Key::describe);
    let checks = keys.iter().map(Key::check);
    let relates = keys.iter().map(Key::relate);
    let related = check.map(|check| quote!((#check)(self, at, faults);));
    let preset = preset.map(|preset| {
        quote! {
            fn preset(node: &::settings::Node) -> Self {
                (#preset)(node)
            }
        }
    });
    quote! {
        impl ::settings::Settings for #ident {
            const NAME: &'static str = #name;
            const MEANING: &'static str = #meaning;

            #reading_and_writing

            #preset

            #[allow(unused_variables)]
            fn describe(
                default: &Self,
                table: &mut ::settings::Description,
                definitions: &mut ::settings::Definitions,
            ) {
                #(#describes)*
            }

            #[allow(unused_variables)]
            fn check_keys(table: &mut ::settings::TableCheck<'_>) {
                #(#checks)*
            }

            #[allow(unused_variables)]
            fn relate_keys(&self, at: &::settings::Path, faults: &mut ::settings::Faults) {
                #(#relates)*
                #related
            }
        }
    }
}

/// The list of all keys: a constant, unless other tables have some of them.
fn names(keys: &[Key<'_>]) -> TokenStream {
    if keys.iter().all(|key| key.kind != Kind::Flatten) {
        let own = keys.iter().filter(|key| key.kind == Kind::Own).map(|key| &key.name);
        return quote!(&[#(#own),*]);
    }
    let names = keys.iter().map(Key::names);
    quote! {
        static KEYS: ::std::sync::OnceLock<::std::vec::Vec<&'static str>> =
            ::std::sync::OnceLock::new();
        KEYS.get_or_init(|| {
            let mut keys: ::std::vec::Vec<&'static str> = ::std::vec::Vec::new();
            #(#names)*
            keys
        })
    }
}

fn implement_reading_and_writing(keys: &[Key<'_>]) -> TokenStream {
    let own = keys.iter().filter(|key| key.kind == Kind::Own);
    let flat = keys.iter().filter(|key| key.kind == Kind::Flatten).map(|key| key.ident);
    let (names, takes) = (names(keys), own.map(Key::take));
    let gives = keys.iter().map(Key::give);
    quote! {
        fn keys() -> &'static [&'static str] {
            #names
        }

        #[allow(unused_variables)]
        fn take(
            &mut self,
            key: &str,
            value: &::settings::Node,
        ) -> ::core::result::Result<bool, ::settings::Fault> {
            match key {
                #(#takes)*
                _ => {
                    #(
                        if ::settings::Settings::take(&mut self.#flat, key, value)? {
                            return Ok(true);
                        }
                    )*
                    return Ok(false);
                }
            }
            #[allow(unreachable_code)]
            Ok(true)
        }

        #[allow(unused_variables)]
        fn give(&self, table: &mut ::settings::Map<String, ::settings::Json>) {
            #(#gives)*
        }
    }
}
