//! `#[derive(Settings)]`.

use crate::{comment, title};
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, Expr, ExprArray, ExprLit, ExprRange, Field, Fields, Ident, Lit,
    LitFloat, LitStr, Result, Token, UnOp,
};

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
    too_low: Option<ExprArray>,
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
            Some(Expr::Range(ExprRange { start: Some(low), end, .. })) => {
                let (low, high) = (float(low), end.as_deref().map(float));
                let high = high.unwrap_or_else(|| quote!(f64::INFINITY));
                quote!(::settings::Range::closed(#low, #high))
            }
            Some(range) => quote!(#range),
        };
        match &self.too_low {
            None => range,
            Some(message) => quote!(#range.too_low(#message)),
        }
    }

    /// What is declared of the field, a constant.
    fn declared(&self) -> TokenStream {
        let (name, ty, unit, rule) = (&self.name, &self.field.ty, self.unit(), self.rule());
        if self.kind == Kind::Flatten {
            return quote!(::settings::Field::Flat(<#ty as ::settings::Settings>::FIELDS));
        }
        let (alias, required) = (option(self.alias.as_ref()), option(self.required.as_ref()));
        let meaning = comment(&self.field.attrs);
        quote! {
            ::settings::Field::Key(::settings::Key {
                name: #name,
                alias: #alias,
                meaning: #meaning,
                unit: #unit,
                range: #rule,
                required: #required,
                schema: <#ty as ::settings::Setting>::schema,
                check: <#ty as ::settings::Setting>::check,
            })
        }
    }
}

/// A bound of a range as a float; whole literals may exceed the type that they have by default.
fn float(bound: &Expr) -> TokenStream {
    match bound {
        Expr::Lit(ExprLit { lit: Lit::Int(whole), .. }) => {
            let float = LitFloat::new(&format!("{}.0", whole.base10_digits()), whole.span());
            quote!(#float)
        }
        other => quote!((#other) as f64),
    }
}

fn option(text: Option<&LitStr>) -> TokenStream {
    text.map_or_else(
        || quote!(::core::option::Option::None),
        |text| quote!(::core::option::Option::Some(#text)),
    )
}

fn is_number(value: &Expr) -> bool {
    match value {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_) | Lit::Float(_)),
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
    let name = table.name.as_ref().map_or_else(|| title(ident), LitStr::value);
    let idents = keys.iter().map(|key| key.ident);
    let defaults = keys.iter().map(Key::default);
    let set: Vec<_> = keys.iter().filter(|key| key.kind != Kind::Skip).collect();
    let (declared, names) = (set.iter().map(|key| key.declared()), names(&set));
    let access = access(ident, table.check.as_ref(), &set);
    let preset = table.preset.map(|preset| {
        quote! {
            fn preset(node: &::settings::Node) -> Self {
                (#preset)(node)
            }
        }
    });
    Ok(quote! {
        impl ::core::default::Default for #ident {
            fn default() -> Self {
                Self { #(#idents: #defaults),* }
            }
        }

        impl ::settings::Settings for #ident {
            const NAME: &'static str = #name;
            const MEANING: &'static str = #meaning;
            const FIELDS: &'static [::settings::Field] = &[#(#declared),*];

            fn keys() -> &'static [&'static str] {
                #names
            }

            #preset
        }

        #access
        ::settings::setting_by_table!(#ident);
    })
}

/// Access to the values of the fields that keys set.
fn access(ident: &Ident, check: Option<&Expr>, set: &[&Key<'_>]) -> TokenStream {
    let (idents, numbers) = (set.iter().map(|key| key.ident), 0..set.len());
    let (idents_mut, numbers_mut) = (idents.clone(), numbers.clone());
    let related = check.map(|check| {
        quote! {
            fn relate_fields(&self, at: &::settings::Path, faults: &mut ::settings::Faults) {
                (#check)(self, at, faults);
            }
        }
    });
    quote! {
        impl ::settings::Table for #ident {
            fn fields(&self) -> &'static [::settings::Field] {
                <Self as ::settings::Settings>::FIELDS
            }

            fn value(&self, number: usize) -> &dyn ::settings::AnySetting {
                match number {
                    #(#numbers => &self.#idents,)*
                    _ => unreachable!("there are fewer fields"),
                }
            }

            fn value_mut(&mut self, number: usize) -> &mut dyn ::settings::AnySetting {
                match number {
                    #(#numbers_mut => &mut self.#idents_mut,)*
                    _ => unreachable!("there are fewer fields"),
                }
            }

            #related
        }
    }
}

/// The list of all keys: a constant, unless other tables have some of them.
fn names(set: &[&Key<'_>]) -> TokenStream {
    if set.iter().all(|key| key.kind == Kind::Own) {
        let own = set.iter().map(|key| &key.name);
        return quote!(&[#(#own),*]);
    }
    quote! {
        static KEYS: ::std::sync::OnceLock<::std::vec::Vec<&'static str>> =
            ::std::sync::OnceLock::new();
        KEYS.get_or_init(|| ::settings::names(<Self as ::settings::Settings>::FIELDS))
    }
}
