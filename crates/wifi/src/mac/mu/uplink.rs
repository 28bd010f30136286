//! Uplink OFDMA: a Trigger frame of the access point, the HE TB PPDUs of the stations that it asks,
//! and a Multi-STA BlockAck (802.11ax-2021 clauses 26.4.4.5 and 26.5.2).
//!
//! A station that is asked does not contend: it answers a SIFS after the Trigger frame, whatever
//! its back-off is, and keeps its contention window and its back-off. Only the access point has to
//! win the medium.

mod answer;
mod asking;
mod exchange;
mod plan;
mod random;
mod shape;
mod triggering;

pub(crate) use exchange::Allowed;
pub use exchange::{Response, TriggeredExchange, TriggeredUser};
pub(crate) use shape::UplinkShape;
pub(crate) use triggering::{Responders, Triggering, Turn};

use super::Mu;
use super::random_access::RandomAccess;
use super::reports::{QueueSizes, ReportSettings};
use crate::mac::TriggerKind;
use crate::mac::aggregation::DELIMITER;
use crate::phy::he::{GroupFormat, GroupUser, GroupVector, NominalPadding, RuSize};
use crate::phy::{Band, Mode};
use kernel::{Bytes, Duration};
use settings::{Choice, Settings};

/// A `QoS` Null in an A-MPDU, without its MAC header: delimiter and FCS.
const AROUND_NULL: Bytes = Bytes(DELIMITER.0 + 4);
/// HT Control, in which a buffer status report is.
const HT_CONTROL: Bytes = Bytes(4);

/// Uplink OFDMA: the access point triggers stations whose queues are not empty, as far as it knows.
/// It triggers after a downlink PPDU, in an access of its own or later in its TXOP, and whenever it
/// wins the medium without a packet to send.
///
/// A station answers with packets of the access category that has won at the access point, or else
/// of the highest that it has.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Uplink {
    /// How long after its last access the access point asks for the medium again in microseconds,
    /// although it has no packet to send: as best effort. 0: it does not, and triggers follow
    /// downlink PPDUs only.
    #[setting(key = "access_interval_us", default = 0.0, range = 0.0..=1e6)]
    pub access_interval: Duration,
    /// The longest HE TB PPDUs that a Basic Trigger frame asks for, in microseconds; the TXOP limit
    /// holds too.
    #[setting(key = "duration_us", default = 5484.0, range = 100.0..=5484.0)]
    pub duration: Duration,
    /// The time that stations need to prepare their answer in microseconds, 0, 8 or 16
    /// (MinTrigProcTime): a Trigger frame is padded so that it ends so long after its last User
    /// Info. ns-3 has 0.
    #[setting(key = "trigger_padding_us", default = NominalPadding::Us16)]
    pub trigger_padding: NominalPadding,
    /// How stations tell the sizes of their queues in each frame, from which the access point knows
    /// whom to trigger and for how long. The bytes count with MAC headers and delimiters, as in
    /// ns-3, so that the resource unit has room for them; by the standard they count without.
    pub queue_size: QueueSizes,
    /// What the access point knows of the queues.
    pub reports: ReportSettings,
    /// Whether the access point asks all stations for the sizes of their queues before a Basic
    /// Trigger frame, by a Buffer Status Report Poll (BSRP). Else it knows what data frames tell.
    #[setting(default = true)]
    pub bsrp: bool,
    /// What may follow a BSRP in its TXOP.
    pub after_bsrp: AfterBsrp,
    /// Resource units for stations that a Trigger frame does not ask. Default: none.
    pub random_access: Option<RandomAccess>,
}

/// What may follow a BSRP Trigger frame in its TXOP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum AfterBsrp {
    /// A Basic Trigger frame, a SIFS after the reports: a TXOP without a limit has both.
    #[default]
    Basic,
    /// What the TXOP limit leaves time for; without a limit nothing. The next access without a
    /// packet to send is for a BSRP again, so that without a limit at the access point, and without
    /// downlink packets, no Basic Trigger frame is ever sent. ns-3 does this.
    Ns3,
}

impl Uplink {
    /// The HT Control of a `QoS` Null: a report of all queues. Legacy reports have none: there, as
    /// in ns-3, a `QoS` Null stands for one of each TID, and is as long as one.
    fn report(&self) -> Bytes {
        if self.queue_size == QueueSizes::He { HT_CONTROL } else { Bytes::ZERO }
    }

    /// The RA-RUs of a Trigger frame of this type.
    pub fn random_units(&self, kind: TriggerKind) -> u32 {
        self.random_access.as_ref().map_or(0, |random| random.units_in(kind))
    }
}

impl Mu {
    /// HE TB PPDUs beside data of users with this mode.
    pub(crate) fn answers(&self, band: Band, mode: &Mode) -> GroupVector {
        // With the guard interval goes one type of HE-LTF.
        let guard = mode.guard.of_trigger_based();
        let data = self.vector(band, mode, 0);
        GroupVector { format: GroupFormat::Tb, guard, ltf: None, ..data }
    }

    /// How long a `QoS` Null with this MAC header lasts in an HE TB PPDU; `None` if there is none.
    pub fn shortest_answer(
        &self,
        band: Band,
        mode: &Mode,
        size: RuSize,
        header: Bytes,
    ) -> Option<Duration> {
        let report = self.uplink.as_ref().map_or(Bytes::ZERO, Uplink::report);
        let (mcs, streams, psdu) = (mode.mcs.min(9), mode.streams, header + AROUND_NULL + report);
        let user = GroupUser { size, mcs, streams, coding: self.coding, psdu };
        let ppdu = self.answers(band, mode).ppdu(&[user]).ok()?;
        Some(ppdu.fields.total())
    }
}
