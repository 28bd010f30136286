//! `pfifo_fast` of Linux (`net/sched/sch_generic.c`): three bands in strict order.

use super::priority::Bands;
use super::{Discipline, Limit, OutputLink, Queue};
use kernel::Rng;
use settings::Settings;
use wire::{Packet, TrafficClass};

/// The default of Linux, which distributions replace by `fq_codel`: three drop-tail queues in
/// strict order (bands), voice before best effort and video, and background last. Where each access
/// category has a queue of its own, all packets of one are in one band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct PfifoFastConfig {
    /// The limits of each band (`txqueuelen`).
    #[setting(flatten, default = Limit::packets(1000))]
    pub limit: Limit,
}

impl Discipline for PfifoFastConfig {
    fn build(&self, _: OutputLink, _: Rng) -> Box<dyn Queue> {
        Box::new(Bands::<3>::new(self.limit, band))
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

/// The band of a packet: `prio2band` of the user priorities 6, 4, 0 and 1, which mac80211 gives the
/// packets of the access categories.
pub(super) fn band(packet: &Packet) -> usize {
    match packet.class {
        TrafficClass::Voice => 0,
        TrafficClass::Video | TrafficClass::BestEffort => 1,
        TrafficClass::Background => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{accepts, number, packet, rng};
    use super::*;
    use kernel::{Duration, Instant};

    #[test]
    fn bands_leave_in_strict_order_and_each_has_its_own_limit() {
        use TrafficClass::{Background, BestEffort, Video, Voice};
        let now = Instant::ZERO;
        let limit = Limit::packets(2);
        let site = OutputLink::Wire(None, Duration::ZERO);
        let mut queue = PfifoFastConfig { limit }.build(site, rng());
        let of = |class, n| Packet { class, ..packet(1, n, 100) };
        for (n, class) in (0..).zip([Background, BestEffort, Video, Background, Voice]) {
            assert!(accepts(&mut *queue, now, of(class, n)));
        }
        assert!(!accepts(&mut *queue, now, of(BestEffort, 5)), "shares with video");
        assert!(accepts(&mut *queue, now, of(Voice, 6)));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(now, &mut Vec::new())).collect();
        assert_eq!(order.iter().map(number).collect::<Vec<_>>(), [4, 6, 1, 2, 0, 3]);
        assert_eq!(PfifoFastConfig::default().limit, Limit::packets(1000));
    }
}
