//! All that is in service is acknowledged: the most frequent end, and the cheapest. In the other
//! functions the same would come of it.

use super::{Mpdu, MsduOutcome, Originator, Settled, after};

impl Originator {
    /// The only MPDU in service is acknowledged.
    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    pub(super) fn finish_only(&mut self, settled: &mut Vec<Settled>) {
        self.psdu.clear();
        let Some(Mpdu { packets, received, .. }) = self.mpdus.pop_front() else { return };
        self.start = after(self.start, 1);
        self.passed += u64::from(packets);
        for _ in 0..packets {
            let Some(&packet) = self.packets.front() else { return };
            settled.push(Settled { packet, outcome: MsduOutcome::Sent, received });
            self.packets.pop_front();
        }
    }

    /// All MPDUs in service were in the last PSDU, and are acknowledged.
    pub(super) fn finish_all(&mut self, settled: &mut Vec<Settled>) {
        if self.mpdus.len() == 1 {
            return self.finish_only(settled);
        }
        self.psdu.clear();
        self.start = after(self.start, self.mpdus.len() as u16);
        self.passed += self.packets.len() as u64;
        let Self { mpdus, packets, .. } = self;
        for Mpdu { packets: own, received, .. } in mpdus.drain(..) {
            let settle = |packet| Settled { packet, outcome: MsduOutcome::Sent, received };
            settled.extend(packets.drain(..own as usize).map(settle));
        }
    }
}
