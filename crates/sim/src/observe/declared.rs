//! The observables of what is declared elsewhere: causes of losses, and uses of airtime.

use super::observable::{
    BEACONS, BUSY_TONE, CELL, Condition, FULL_DUPLEX, Kind, MU, Observable, POWER_SAVE, UPLINK,
};
use super::roaming::ROAMING;
use super::routing::{ARP, ROUTING};
use crate::measure::{AirtimeGroup, AirtimeKind};
use wire::{DropCause, DropGroup};

/// The losses of a flow by their causes.
pub(super) static LOST: [Observable; count_of_lost()] = {
    let mut all = [lost(DropCause::Queue); count_of_lost()];
    let (mut next, mut k) = (0, 0);
    while k < DropCause::ALL.len() {
        if is_counted(DropCause::ALL[k]) {
            all[next] = lost(DropCause::ALL[k]);
            next += 1;
        }
        k += 1;
    }
    all
};

/// The uses of the airtime.
pub(super) static AIRTIME: [Observable; AirtimeKind::ALL.len()] = {
    let mut all = [airtime(AirtimeKind::Idle); AirtimeKind::ALL.len()];
    let mut k = 0;
    while k < all.len() {
        all[k] = airtime(AirtimeKind::ALL[k]);
        k += 1;
    }
    all
};

/// Whether a result counts the packets of flows that were lost by this cause. For those that MACs
/// discard there is one of all discards.
const fn is_counted(cause: DropCause) -> bool {
    !matches!(cause.facts().group, DropGroup::Discards | DropGroup::Messages)
}

const fn count_of_lost() -> usize {
    let (mut count, mut k) = (0, 0);
    while k < DropCause::ALL.len() {
        count += is_counted(DropCause::ALL[k]) as usize;
        k += 1;
    }
    count
}

const fn lost(cause: DropCause) -> Observable {
    let only: Option<&'static Condition> = match cause.facts().group {
        DropGroup::All | DropGroup::Discards | DropGroup::Messages => None,
        DropGroup::Cell => Some(&CELL),
        DropGroup::PowerSave => Some(&POWER_SAVE),
        DropGroup::Routing => Some(&ROUTING),
        DropGroup::Arp => Some(&ARP),
        DropGroup::Roaming => Some(&ROAMING),
    };
    Observable {
        name: cause.facts().result,
        unit: "packets",
        heading: "",
        only,
        formerly: "",
        says: cause.says(),
        kind: Kind::Lost(cause),
    }
}

const fn airtime(kind: AirtimeKind) -> Observable {
    let only: Option<&'static Condition> = match kind.facts().group {
        AirtimeGroup::All => None,
        AirtimeGroup::Beacons => Some(&BEACONS),
        AirtimeGroup::PowerSave => Some(&POWER_SAVE),
        AirtimeGroup::FullDuplex => Some(&FULL_DUPLEX),
        AirtimeGroup::BusyTone => Some(&BUSY_TONE),
        AirtimeGroup::Mu => Some(&MU),
        AirtimeGroup::Uplink => Some(&UPLINK),
    };
    Observable {
        name: kind.name(),
        unit: "1",
        heading: kind.facts().label,
        only,
        formerly: "",
        says: kind.says(),
        kind: Kind::Airtime(kind),
    }
}
