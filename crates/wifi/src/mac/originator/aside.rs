//! An MSDU in service that steps aside, so that one for another receiver can be sent before it: a
//! full-duplex access point cannot send a packet to the station from which it receives.

use super::{Mpdu, Originator};
use std::collections::VecDeque;
use wire::Packet;

/// The MSDU that stepped aside, if there is one.
#[derive(Debug, Default)]
pub(super) struct Aside {
    to: Option<u32>,
    start: u16,
    mpdus: VecDeque<Mpdu>,
    packets: VecDeque<Packet>,
    passed: u64,
}

impl Originator {
    /// Without block ack agreements: exchanges the MSDU in service with the one that stepped aside;
    /// either may be none. The PSDU must then be assembled anew.
    pub(crate) fn swap_aside(&mut self) {
        debug_assert!(!self.request && self.last.is_none(), "a BlockAckReq does not step aside");
        let aside = self.aside.get_or_insert_default();
        std::mem::swap(&mut self.to, &mut aside.to);
        std::mem::swap(&mut self.start, &mut aside.start);
        std::mem::swap(&mut self.mpdus, &mut aside.mpdus);
        std::mem::swap(&mut self.packets, &mut aside.packets);
        std::mem::swap(&mut self.passed, &mut aside.passed);
        self.psdu.clear();
    }

    /// Whether an MSDU has stepped aside.
    pub(crate) fn has_aside(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| !aside.mpdus.is_empty())
    }

    /// The receiver of the MSDU that stepped aside; `None` is broadcast or no MSDU.
    pub(crate) fn aside_to(&self) -> Option<u32> {
        self.aside.as_ref().filter(|aside| !aside.mpdus.is_empty())?.to
    }

    /// The packets that stepped aside and that their receiver does not have.
    pub(super) fn unreceived_aside(&self) -> impl Iterator<Item = &Packet> {
        self.aside.iter().flat_map(|aside| {
            let received = aside.mpdus.iter().any(|mpdu| mpdu.received);
            aside.packets.iter().filter(move |_| !received)
        })
    }
}
