//! Enums whose variants are listed, and what is told of each: a fact of a kind stands in the line
//! of that kind, and nowhere else.

/// Declares an enum with the list of its variants, so that an array can hold a value for each.
///
/// With a type behind its name, each variant has a value of that type in braces: what reports,
/// traces and results tell of it. The type has a field `name`.
///
/// ```
/// struct Facts {
///     name: &'static str,
/// }
///
/// kernel::listed! {
///     /// A colour.
///     #[derive(Clone, Copy)]
///     pub enum Colour: Facts {
///         /// That of blood.
///         Red => { name: "red" },
///         /// That of grass.
///         Green => { name: "green" },
///     }
/// }
///
/// assert_eq!(Colour::ALL.map(Colour::name), ["red", "green"]);
/// assert_eq!(Colour::Green.order(), 1);
/// assert_eq!(Colour::Red.says().trim(), "That of blood.");
/// ```
#[macro_export]
macro_rules! listed {
    (
        $(#[$about:meta])*
        $vis:vis enum $Name:ident {
            $($(#[$each:meta])* $Variant:ident,)*
        }
    ) => {
        $(#[$about])*
        $vis enum $Name {
            $($(#[$each])* $Variant,)*
        }

        impl $Name {
            /// All variants in this order: each is at the index `self as usize`.
            $vis const ALL: [Self; [$($Name::$Variant),*].len()] = [$(Self::$Variant),*];
        }
    };
    (
        $(#[$about:meta])*
        $vis:vis enum $Name:ident: $Facts:ident {
            $($(#[doc = $says:literal])+ $Variant:ident => { $($fact:tt)+ },)*
        }
    ) => {
        $crate::listed! {
            $(#[$about])*
            $vis enum $Name {
                $($(#[doc = $says])+ $Variant,)*
            }
        }

        impl $Name {
            /// What is told of it.
            $vis const fn facts(self) -> $Facts {
                match self {
                    $(Self::$Variant => $Facts { $($fact)+ },)*
                }
            }

            /// Its name in traces and results.
            $vis const fn name(self) -> &'static str {
                self.facts().name
            }

            /// Its place among all variants.
            $vis const fn order(self) -> usize {
                self as usize
            }

            /// What it is: the text above its declaration.
            $vis const fn says(self) -> &'static str {
                match self {
                    $(Self::$Variant => concat!($($says),+),)*
                }
            }
        }
    };
}
