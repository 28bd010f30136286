//! Enums with the list of their variants.

/// Declares an enum with the list of its variants, so that an array can hold a value for each.
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
}
pub(crate) use listed;
