//! The MSDUs in service that step aside, so that one for another receiver can be sent before them:
//! a full-duplex access point cannot send a packet to the station from which it receives.

use super::{Mpdu, Originator, Settled};
use std::collections::VecDeque;
use std::mem::swap;
use wire::Packet;

/// What stepped aside: all of an originator that belongs to one receiver.
#[derive(Debug, Default)]
pub(super) struct Aside {
    to: Option<u32>,
    is_own_frame: bool,
    start: u16,
    mpdus: VecDeque<Mpdu>,
    packets: VecDeque<Packet>,
    passed: u64,
    doubted: bool,
    request: bool,
    last: Option<Box<Settled>>,
}

impl Aside {
    fn is_idle(&self) -> bool {
        self.mpdus.is_empty() && !self.request
    }
}

impl Originator {
    /// Exchanges what is in service with what stepped aside; either may be nothing. The PSDU must
    /// then be assembled anew.
    pub(crate) fn swap_aside(&mut self) {
        let aside = self.aside.get_or_insert_default();
        swap(&mut self.to, &mut aside.to);
        swap(&mut self.is_own_frame, &mut aside.is_own_frame);
        swap(&mut self.start, &mut aside.start);
        swap(&mut self.mpdus, &mut aside.mpdus);
        swap(&mut self.packets, &mut aside.packets);
        swap(&mut self.passed, &mut aside.passed);
        swap(&mut self.doubted, &mut aside.doubted);
        swap(&mut self.request, &mut aside.request);
        swap(&mut self.last, &mut aside.last);
        self.psdu.clear();
        if !self.is_idle() {
            self.streams.turn_to(self.to.unwrap_or(0));
        }
    }

    /// Whether anything has stepped aside.
    pub(crate) fn has_aside(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| !aside.is_idle())
    }

    /// The receiver of what stepped aside; `None` is broadcast or nothing.
    pub(crate) fn aside_to(&self) -> Option<u32> {
        self.aside.as_ref().filter(|aside| !aside.is_idle())?.to
    }

    /// The packets that stepped aside, and whether their receiver has them.
    pub(super) fn serving_aside(&self) -> impl Iterator<Item = (&Packet, bool)> {
        self.aside.iter().flat_map(|aside| {
            let open = aside.mpdus.iter().filter(|mpdu| !mpdu.settled);
            let packets = open.flat_map(|mpdu| {
                let first = (mpdu.first - aside.passed) as usize;
                let packets = aside.packets.range(first..first + mpdu.packets as usize);
                packets.map(|packet| (packet, mpdu.received))
            });
            packets.chain(aside.last.iter().map(|last| (&last.packet, last.received)))
        })
    }
}
