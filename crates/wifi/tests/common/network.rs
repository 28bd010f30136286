//! What networks of tests have in common.

use kernel::{Bytes, Db, Dbm};
use wifi::phy::error::Threshold;
use wifi::phy::propagation::Position;
use wifi::phy::{Mode, Standard};
use wifi::space::{Losses, Radio, Site};
use wifi::{Link, MacConfig};

/// The rules of a standard.
pub(crate) fn mac(standard: &'static Standard) -> MacConfig {
    MacConfig { long_retry_limit: 7, rts_threshold: Bytes(4000), ..MacConfig::of(standard) }
}

/// A link that loses nothing.
pub(crate) fn link(mode: Mode) -> Link {
    Link { mode, data_loss: 0.0, ack_loss: 0.0 }
}

/// Every node 50 dB from every other: what overlaps is lost, what does not is understood.
pub(crate) fn all_hear_all(nodes: usize) -> (Radio, Vec<Site>) {
    let losses = Losses::Matrix(vec![vec![Db(50.0); nodes]; nodes]);
    let mut radio = Radio::new(losses, Box::new(Threshold::default()));
    radio.receiver.detect_snr = Db(f64::NEG_INFINITY);
    let (position, tx_power) = (Position::default(), Dbm(16.0));
    let trajectory = || position.into();
    let site = |n| Site { trajectory: trajectory(), channel: 1, tx_power, is_access_point: n == 0 };
    (radio, (0..nodes).map(site).collect())
}
