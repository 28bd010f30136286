//! What the simulator declares once and others show: kinds of frames and their outcomes, causes of
//! losses, uses of airtime, standards.

use crate::measure::AirtimeKind;
use serde_json::json;
use wifi::phy::Standard;
use wire::{DropCause, DropFacts, FrameKind, FrameOutcome};

/// All of it as JSON: an object with an array for each kind of fact, in the order of declaration.
pub fn listing() -> String {
    let frame = |kind: FrameKind| json!({ "name": kind.name() });
    let outcome = |outcome: FrameOutcome| {
        let is_lost = matches!(outcome, FrameOutcome::Lost(_));
        json!({ "name": outcome.name(), "is_lost": is_lost })
    };
    let cause = |cause: DropCause| {
        let DropFacts { name, label, result, hint, .. } = cause.facts();
        json!({ "name": name, "label": label, "result": result, "hint": hint })
    };
    let airtime = |kind: AirtimeKind| {
        let name = kind.name().trim_end_matches("_fraction");
        json!({ "name": name, "label": kind.facts().label })
    };
    let standard = |it: &Standard| json!({ "name": it.name(), "has_mcs": it.high.is_some() });
    json!({
        "frames": FrameKind::ALL.map(frame).to_vec(),
        "outcomes": FrameOutcome::ALL.map(outcome).to_vec(),
        "causes": DropCause::ALL.map(cause).to_vec(),
        "airtime": AirtimeKind::ALL.map(airtime).to_vec(),
        "standards": Standard::all().map(standard).collect::<Vec<_>>(),
    })
    .to_string()
}
