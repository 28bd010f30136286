//! All that is in service is acknowledged: the most frequent end, and the cheapest. In the other
//! functions the same would come of it.

use super::{Mpdu, MsduOutcome, Originator, after};
use kernel::append;
use wire::Packet;

/// A packet whose service has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settled {
    pub(crate) packet: Packet,
    pub(crate) outcome: MsduOutcome,
    /// Whether the receiver has the packet. The originator may not know it.
    pub(crate) received: bool,
}

impl Originator {
    /// Whether the last PSDU had the only MPDU in service.
    #[inline]
    pub(super) fn sent_only(&self) -> bool {
        self.mpdus.len() == 1 && self.psdu[..] == [0]
    }

    /// The only MPDU in service is acknowledged.
    #[allow(clippy::inline_always, reason = "it runs for each exchange")]
    #[inline(always)]
    pub(super) fn finish_only(&mut self, settled: &mut Vec<Settled>) {
        self.psdu.clear();
        let Some(Mpdu { packets, received, .. }) = self.mpdus.pop_front() else { return };
        self.start = after(self.start, 1);
        self.passed += u64::from(packets);
        for _ in 0..packets {
            let Some(packet) = self.packets.front() else { return };
            append(settled, || Settled { packet: *packet, outcome: MsduOutcome::Sent, received });
            self.packets.pop_front();
        }
    }

    /// All MPDUs in service were in the last PSDU, and are acknowledged.
    pub(super) fn finish_all(&mut self, settled: &mut Vec<Settled>) {
        self.psdu.clear();
        self.start = after(self.start, self.mpdus.len() as u16);
        self.passed += self.packets.len() as u64;
        let mut packets = self.packets.iter();
        for &Mpdu { packets: own, received, .. } in &self.mpdus {
            for packet in packets.by_ref().take(own as usize) {
                append(settled, || Settled {
                    packet: *packet,
                    outcome: MsduOutcome::Sent,
                    received,
                });
            }
        }
        self.mpdus.clear();
        self.packets.clear();
    }
}
