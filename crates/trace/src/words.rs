//! The words by which records appear in every format.

use wire::TrafficClass;

/// The abbreviation of an access category: `BE`.
pub(crate) fn class_name(class: TrafficClass) -> &'static str {
    match class {
        TrafficClass::Background => "BK",
        TrafficClass::BestEffort => "BE",
        TrafficClass::Video => "VI",
        TrafficClass::Voice => "VO",
    }
}
