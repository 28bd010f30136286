//! What networks of tests have in common.

use kernel::{Bytes, Db, Dbm};
use wifi::mac::{BackoffDraw, Countdown, Durations, Eifs, Protection, SlotGrid, Timing};
use wifi::phy::error::Threshold;
use wifi::phy::propagation::Position;
use wifi::phy::{Mode, Preamble, Standard};
use wifi::space::{Losses, Radio, Site};
use wifi::{Link, MacConfig};

/// The rules of a standard.
pub(crate) fn mac(standard: &'static Standard) -> MacConfig {
    MacConfig {
        timing: Timing {
            standard,
            preamble: Preamble::Long,
            basic_rates: standard.default_basic_rates().collect(),
            slot: standard.slot,
            eifs: Eifs::Standard,
            slot_grid: SlotGrid::Standard,
            durations: Durations::Standard,
            protection: Protection::None,
        },
        short_retry_limit: 7,
        long_retry_limit: 7,
        cw_min: standard.cw_min,
        cw_max: standard.cw_max,
        countdown: Countdown::Standard,
        backoff_draw: BackoffDraw::Standard,
        rts_threshold: Bytes(4000),
        overhead: Bytes(36),
        edca: None,
        aggregation: None,
        non_erp: None,
    }
}

/// A link that loses nothing.
pub(crate) fn link(mode: Mode) -> Link {
    Link { mode, data_loss: 0.0, ack_loss: 0.0 }
}

/// Every node 50 dB from every other: what overlaps is lost, what does not is understood.
pub(crate) fn all_hear_all(nodes: usize) -> (Radio, Vec<Site>) {
    let losses = Losses::Matrix(vec![vec![Db(50.0); nodes]; nodes]);
    let mut radio = Radio::new(losses, Box::new(Threshold::NS2));
    radio.detect_snr = None;
    let (position, tx_power) = (Position::default(), Dbm(16.0));
    let course = || position.into();
    let site = |n| Site { course: course(), channel: 1, tx_power, is_access_point: n == 0 };
    (radio, (0..nodes).map(site).collect())
}
