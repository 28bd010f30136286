//! Checks frames to and from stations of an earlier standard than that of their network.

use super::rule::rule;
use kernel::{Bytes, Instant};
use wifi::MacConfig;
use wifi::mac::Earlier;
use wifi::phy::ModeClass;

/// These stations, by number.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<Earlier>);

impl Known {
    pub(super) fn of(mac: &MacConfig) -> Self {
        Self(mac.earlier.clone())
    }

    fn latest(&self, node: u32) -> Option<ModeClass> {
        self.0.iter().find(|earlier| earlier.node == node).map(|earlier| earlier.latest)
    }

    /// Whether a node knows a format.
    pub(super) fn knows(&self, node: u32, class: ModeClass) -> bool {
        self.latest(node).is_none_or(|latest| class <= latest)
    }

    /// A frame is of a format that its sender and its receiver know.
    pub(super) fn check_format(&self, now: Instant, from: u32, to: Option<u32>, class: ModeClass) {
        let known = [Some(from), to].into_iter().flatten().all(|node| self.knows(node, class));
        rule(now, known, "both ends know the format of a frame", || {
            format!("{class:?} from {from} to {to:?}: {self:?}")
        });
    }

    /// Only stations of 802.11ax are users of a PPDU of several, or are triggered.
    pub(super) fn check_users(&self, now: Instant, mut stations: impl Iterator<Item = u32>) {
        let earlier = stations.find(|&station| !self.knows(station, ModeClass::He));
        rule(now, earlier.is_none(), "users of a PPDU of several are of 802.11ax", || {
            format!("{earlier:?}: {self:?}")
        });
    }

    /// The most frames that one of two nodes may have outstanding at the other, and the most bytes
    /// in an A-MPDU, if they are less than in the network (clauses 9.3.1.8.3, 9.4.2.55.3 and
    /// 9.4.2.157.2).
    pub(super) fn limits(&self, a: u32, b: u32) -> Option<(u64, Bytes)> {
        let latest = [a, b].into_iter().filter_map(|node| self.latest(node)).min()?;
        Some(match latest {
            ModeClass::Ht => (64, Bytes((1 << 16) - 1)),
            ModeClass::Vht => (64, Bytes((1 << 20) - 1)),
            _ => (256, Bytes(6_500_631)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        Known(vec![Earlier { node: 2, latest: ModeClass::Vht }])
    }

    #[test]
    fn formats_that_both_ends_know_pass() {
        let check = |to, class| known().check_format(Instant::ZERO, 0, to, class);
        check(Some(1), ModeClass::He);
        check(Some(2), ModeClass::Vht);
        check(Some(2), ModeClass::Ofdm);
        known().check_users(Instant::ZERO, [1, 3].into_iter());
        assert_eq!(known().limits(0, 1), None);
        assert_eq!(known().limits(0, 2), Some((64, Bytes(1_048_575))));
    }

    #[test]
    #[should_panic(expected = "both ends know the format of a frame")]
    fn he_to_a_station_of_802_11ac_is_found() {
        known().check_format(Instant::ZERO, 0, Some(2), ModeClass::He);
    }

    #[test]
    #[should_panic(expected = "users of a PPDU of several are of 802.11ax")]
    fn a_user_of_802_11ac_is_found() {
        known().check_users(Instant::ZERO, [1, 2].into_iter());
    }
}
