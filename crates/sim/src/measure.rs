//! What a run accumulates while it goes: in fixed memory, however long the simulated time.
//!
//! These are accumulators and know nothing of the world. Inference across runs is Python's.

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
            /// All of them, in this order: each stands at `self as usize`.
            $vis const ALL: [Self; [$($Name::$Variant),*].len()] = [$(Self::$Variant),*];
        }
    };
}
pub(crate) use listed;

mod batch;
mod delay;
mod jain;
mod ledger;
mod level;
mod series;

pub use batch::{Estimate, batch_means};
pub use delay::DelayStats;
pub use jain::jain;
pub use ledger::{Air, Ledger};
pub use level::Level;
pub use series::Series;
