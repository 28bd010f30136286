//! The packet that a full-duplex access point sends while it receives from a station.

use super::{FullDuplex, Serve};
use crate::MsduSource;
use crate::mac::{Edcaf, Rules};
use kernel::{BitRate, Bytes, Instant, Rng};

/// Chooses the packet of the next secondary frame.
#[derive(Debug)]
pub(crate) struct SecondaryChoice {
    serve: Serve,
    /// Not all stations may be served beside each other.
    is_selective: bool,
    /// Draws the station that is served, if that is random.
    draws: Rng,
    receivers: Vec<u32>,
}

impl SecondaryChoice {
    pub(crate) fn new(settings: &FullDuplex, draws: Rng) -> Self {
        let (serve, is_selective) = (settings.serve, settings.is_by_sinr());
        Self { serve, is_selective, draws, receivers: Vec::new() }
    }

    /// Whether the packet in service of an access point is to be sent beside a primary frame, after
    /// another packet has come into service if necessary. No packet for `than` is sent. `rate` is
    /// that of secondary frames to a station, and `None` if it cannot receive beside the primary
    /// frame.
    pub(crate) fn bring_into_service(
        &mut self,
        now: Instant,
        edcaf: &mut Edcaf,
        rules: &Rules,
        than: u32,
        rate: impl Fn(u32) -> Option<BitRate>,
        source: &mut dyn MsduSource,
    ) -> bool {
        let fits = |to: Option<u32>| to.is_some_and(|to| to != than && rate(to).is_some());
        let (node, class) = (edcaf.node, edcaf.class);
        let has_aside = edcaf.originator.has_aside();
        match self.serve {
            Serve::HeadOfLine => return fits(edcaf.to()),
            Serve::First if fits(edcaf.to()) => return true,
            Serve::First if has_aside => {
                let is_fit = fits(edcaf.originator.aside_to());
                if is_fit {
                    edcaf.originator.swap_aside();
                }
                return is_fit;
            }
            Serve::First if !self.is_selective => {
                let Some((packet, to)) = source.next_other(node, class, than) else {
                    return false;
                };
                edcaf.originator.swap_aside();
                edcaf.begin_service(now, &packet, Some(to), rules);
                return true;
            }
            Serve::First | Serve::BestRate | Serve::Random => {}
        }
        self.receivers.clear();
        self.receivers.extend(edcaf.to());
        if has_aside {
            self.receivers.extend(edcaf.originator.aside_to());
        } else {
            let receivers = &mut self.receivers;
            source.each(node, class, &mut |to, _| receivers.push(to));
        }
        if self.is_selective {
            // What the places of nodes allow is computed once for each station.
            self.keep_first_of_each();
        }
        self.receivers.retain(|&to| fits(Some(to)));
        let Some(to) = self.choose(rate) else { return false };
        if edcaf.to() == Some(to) {
            return true;
        }
        if has_aside {
            edcaf.originator.swap_aside();
            return true;
        }
        // An active queue management may drop all packets for the station.
        let Some(packet) = source.next(node, class, to, Bytes(u64::MAX)) else { return false };
        edcaf.originator.swap_aside();
        edcaf.begin_service(now, &packet, Some(to), rules);
        true
    }

    /// Keeps the first entry of each receiver.
    fn keep_first_of_each(&mut self) {
        let mut kept = 0;
        for at in 0..self.receivers.len() {
            let receiver = self.receivers[at];
            if !self.receivers[..kept].contains(&receiver) {
                self.receivers[kept] = receiver;
                kept += 1;
            }
        }
        self.receivers.truncate(kept);
    }

    /// Chooses one of the receivers.
    fn choose(&mut self, rate: impl Fn(u32) -> Option<BitRate>) -> Option<u32> {
        match self.serve {
            Serve::First | Serve::HeadOfLine => self.receivers.first().copied(),
            // The first of several with the same rate.
            Serve::BestRate => {
                self.receivers.iter().copied().rev().max_by_key(|&station| rate(station))
            }
            Serve::Random => {
                self.receivers.sort_unstable();
                self.receivers.dedup();
                let last = (self.receivers.len() as u32).checked_sub(1)?;
                let drawn = self.draws.up_to(last) as usize;
                self.receivers.get(drawn).copied()
            }
        }
    }
}
