//! `#[derive(Settings)]` for a table of keys and `#[derive(Choice)]` for a choice among variants.
//! `simoom-settings` documents both.

mod choice;
mod table;

use proc_macro::TokenStream;
use syn::{Attribute, DeriveInput, Expr, ExprLit, Ident, Lit, Meta, parse_macro_input};

/// A table of keys: its `Default`, reading, writing, schema and checks, from one declaration of
/// each field.
#[proc_macro_derive(Settings, attributes(setting, settings))]
pub fn settings(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    table::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// A choice among variants, each a plain name or a name with a table: its reading, writing, schema
/// and checks.
#[proc_macro_derive(Choice, attributes(setting, settings))]
pub fn choice(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    choice::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// The text of the comment above an item, in one line.
fn comment(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) => Some(line.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// The name of a type in the schema: its own without the suffix that states its role in the
/// program.
fn title(ident: &Ident) -> String {
    let name = ident.to_string();
    let short = ["Settings", "Config"].into_iter().find_map(|word| name.strip_suffix(word));
    short.filter(|short| !short.is_empty()).unwrap_or(&name).to_owned()
}
