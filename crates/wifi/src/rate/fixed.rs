//! A fixed mode.

use super::{LinkModes, RateControl, Rule};
use crate::phy::Mode;
use crate::phy::error::ErrorModel;
use kernel::Rng;
use settings::Settings;

/// A fixed mode.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Fixed {}

impl Rule for Fixed {
    fn modes(&self, link: &LinkModes) -> Vec<Mode> {
        vec![link.mode]
    }

    fn build(&self, _: &LinkModes, _: &dyn ErrorModel, _: Rng) -> Option<Box<dyn RateControl>> {
        None
    }
}
