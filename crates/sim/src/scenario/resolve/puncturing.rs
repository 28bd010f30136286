//! Punctured channels: what of the channels of its cells a network leaves out.

use super::channels;
use super::check::Check;
use crate::scenario::document::{Document, Station, Stations};
use crate::scenario::radio::AccessPoint;
use settings::{Said, said};
use wifi::MacConfig;
use wifi::phy::{McsKeys, ModeClass, Primary, Punctured, Puncturing, TxVector, Width};

/// What each cell has punctured.
pub(super) struct Punctures(Vec<(Primary, Puncturing)>);

impl Punctures {
    pub(super) fn of(document: &Document, mac: &MacConfig, check: &mut Check) -> Self {
        let cell = |((path, own), cell): ((String, &AccessPoint), u64)| {
            let number = channels::number(own.channel, mac);
            let primary = Primary { band: mac.timing.standard.band, number };
            let width = width_of(document, cell);
            let path = format!("{path}.punctured");
            let numbers = own.punctured.as_deref().unwrap_or_default();
            let punctured = by_numbers(&path, numbers, mac, primary, width, check);
            (primary, Puncturing { width, punctured })
        };
        let all = Self(document.access_points().zip(0..).map(cell).collect());
        if is_given(document) {
            refuse_others(document, check);
        }
        all
    }

    /// Whether any cell has punctured channels.
    pub(super) fn has_any(&self) -> bool {
        self.0.iter().any(|(_, cell)| !cell.punctured.is_none())
    }

    /// The widest frames of a group with these keys: EHT PPDUs leave out what is punctured of their
    /// channel. All others are in the widest channel that has nothing punctured.
    pub(super) fn fit(
        &self,
        group: &Station,
        mut keys: McsKeys,
        like: TxVector,
    ) -> (McsKeys, TxVector) {
        let cell = group.cell.unwrap_or_default() as usize;
        let Some(&(primary, puncturing)) = self.0.get(cell) else { return (keys, like) };
        let mut width = keys.width.unwrap_or_default();
        loop {
            let punctured = puncturing.within(primary, width);
            let leaves_out = like.class == ModeClass::Eht && punctured.code(width).is_some();
            match width.narrower() {
                Some(narrower) if !punctured.is_none() && !leaves_out => width = narrower,
                _ => {
                    keys.width = keys.width.map(|_| width);
                    return (keys, TxVector { punctured, ..like });
                }
            }
        }
    }
}

/// Whether any cell has punctured channels, as it is written.
pub(super) fn is_given(document: &Document) -> bool {
    let mut all = document.access_points();
    all.any(|(_, own)| own.punctured.as_ref().is_some_and(|numbers| !numbers.is_empty()))
}

/// The width of a cell: that of its widest stations.
fn width_of(document: &Document, cell: u64) -> Width {
    let common = &document.wlan.modes;
    if let Stations::Count(_) = document.stations {
        return common.width.unwrap_or_default();
    }
    let groups = document.groups();
    let members = groups
        .iter()
        .filter(|(_, group)| group.cell.unwrap_or_default() == cell && group.count > 0);
    let widths = members.filter_map(|(_, group)| group.modes.or(common).width);
    widths.max().unwrap_or_default()
}

/// The subchannels with these numbers, if the standard has them as a pattern of punctured channels.
fn by_numbers(
    path: &str,
    numbers: &[u32],
    mac: &MacConfig,
    primary: Primary,
    width: Width,
    check: &mut Check,
) -> Punctured {
    if numbers.is_empty() {
        return Punctured::NONE;
    }
    let standard = mac.timing.standard;
    let Some(vector) = standard.tx_vector() else {
        check.fault(path, Said::remove("only PPDUs of 802.11be have punctured channels"));
        return Punctured::NONE;
    };
    // Other faults of such PPDUs are those of the keys of modes.
    let fault_of = |vector: TxVector| {
        let fault = vector.mode().err().filter(|fault| fault.parameter == "punctured");
        fault.map(|fault| fault.said)
    };
    if vector.class != ModeClass::Eht {
        let any = TxVector { punctured: Punctured::of_bits(1), ..vector };
        if let Some(said) = fault_of(any) {
            check.fault(path, said);
        }
        return Punctured::NONE;
    }
    let punctured = match Punctured::of_numbers(width, numbers) {
        Ok(punctured) => punctured,
        Err(said) => {
            check.fault(path, said);
            return Punctured::NONE;
        }
    };
    let pattern = TxVector { width, punctured, ..vector };
    if let Some(said) = fault_of(pattern) {
        check.fault(path, said);
        return Punctured::NONE;
    }
    let place = Puncturing { width, punctured }.place_of(primary);
    if let Some(place) = place.filter(|&place| punctured.has(place)) {
        let (nth, number) = (place + 1, primary.number);
        let message = said!(
            "{nth} is the primary channel, number {number}, which cannot be punctured \
             [802.11be-2024 35.15.2]",
            "take another"
        );
        check.fault(path, message);
        return Punctured::NONE;
    }
    punctured
}

/// Networks with punctured channels are not ad hoc, and their stations do not change.
fn refuse_others(document: &Document, check: &mut Check) {
    if document.radio.as_ref().is_some_and(|radio| radio.ad_hoc) {
        let message = said!("an ad-hoc network has no access point that announces it", "remove it");
        check.fault("ap.punctured", message);
    }
    for (path, group) in document.groups() {
        if group.roaming.is_some() {
            let message = said!(
                "roaming between access points with punctured channels is not supported",
                "remove one of the two"
            );
            check.fault(format!("{path}.roaming"), message);
        }
    }
}
