//! Spatial reuse: what it needs, and what it is not supported with.

use super::check::{Check, beside, when};
use crate::plan::StationPlan;
use crate::scenario::document::Document;
use settings::Said;
use wifi::MacConfig;

const TABLE: &str = "wlan.spatial_reuse";

/// The colors that a BSS has by default, in the order of the access points (802.11ax-2021 clause
/// 9.4.2.249: 1 to 63).
const COLORS: usize = 63;

/// The BSS color of a cell.
pub(super) fn color(given: Option<u64>, cell: usize) -> u8 {
    given.map_or((cell % COLORS) as u8 + 1, |color| color as u8)
}

/// The rules of nodes that ignore PPDUs of other BSSs.
pub(super) fn spatial_reuse(
    document: &Document,
    wlan: &MacConfig,
    stations: &[StationPlan],
    check: &mut Check,
) {
    if !document.has_cell() || document.standard.is_none() {
        return;
    }
    if wlan.spatial_reuse.is_none() {
        return unused_colors(document, check);
    }
    check.refuse(TABLE, unsupported(document, wlan, stations));
    colors_of_groups(document, wlan, check);
}

/// Each color of a spatial reuse group is that of a BSS.
fn colors_of_groups(document: &Document, wlan: &MacConfig, check: &mut Check) {
    let cells = document.access_points().enumerate();
    let colors: Vec<u8> = cells.map(|(cell, (_, own))| color(own.bss_color, cell)).collect();
    let groups = wlan.spatial_reuse.iter().flat_map(|reuse| &reuse.srg);
    for (index, group) in groups.enumerate() {
        let unknown = |color: &&u32| !colors.iter().any(|known| u32::from(*known) == **color);
        let path = format!("{TABLE}.srg[{index}].bss_colors");
        for color in group.bss_colors.iter().filter(unknown) {
            let known = shown(&colors);
            let message = format!("no BSS has the color {color}");
            let remedy = format!(
                "the BSSs have {known}: name two of those, or set bss_color of an access point"
            );
            check.fault(&path, Said::new(message, remedy));
        }
    }
}

/// Colors as a list in words.
fn shown(colors: &[u8]) -> String {
    let colors: Vec<String> = colors.iter().map(u8::to_string).collect();
    colors.join(", ")
}

/// What spatial reuse is not supported with.
fn unsupported(
    document: &Document,
    wlan: &MacConfig,
    stations: &[StationPlan],
) -> [Option<Said>; 6] {
    let standard = wlan.timing.standard;
    let tells_color = standard.high.and_then(|class| class.high()?.color_after).is_some();
    let roams = stations.iter().any(|station| station.roaming.is_some());
    [
        when(
            !tells_color,
            format!(
                "BSS colors are of 802.11ax and 802.11be, and the standard is 802.{}",
                standard.name()
            ),
            "take standard = \"11ax\", or remove the table",
        ),
        when(
            document.radio.is_none(),
            "without a radio all nodes receive all frames, and there is one BSS",
            "add [radio] and a table [[cells]], or remove the table",
        ),
        when(
            document.radio.as_ref().is_some_and(|radio| radio.ad_hoc),
            "an ad-hoc network has no BSS color of an access point",
            "remove the table, or radio.ad_hoc",
        ),
        beside(wlan.full_duplex.is_some(), "[wlan.full_duplex]"),
        beside(!document.interferers.is_empty(), "[[interferers]]"),
        when(
            roams,
            "is not supported with stations that roam",
            "remove their roaming, or the table",
        ),
    ]
}

/// A color has a use only with spatial reuse.
fn unused_colors(document: &Document, check: &mut Check) {
    for (path, _) in document.access_points().filter(|(_, own)| own.bss_color.is_some()) {
        let message = "no node uses BSS colors without spatial reuse";
        let message = Said::new(message, "add [wlan.spatial_reuse], or remove the key");
        check.fault(format!("{path}.bss_color"), message);
    }
}
