//! Which packet a full-duplex access point sends while it receives.

use super::super::{ACCESS_POINT, Cell, link_direction};
use super::Duplex;
use crate::MsduSource;
use crate::mac::Serve;
use kernel::{BitRate, Bytes, Instant};

impl Duplex {
    /// Chooses one of the receivers. The primary transmitter would receive at its own rate.
    fn choose(&mut self, (primary, own): (u32, BitRate)) -> Option<u32> {
        match self.settings.serve {
            Serve::First | Serve::HeadOfLine => self.receivers.first().copied(),
            Serve::BestRate => {
                let rate = |&station: &u32| match station {
                    _ if station == primary => own,
                    _ => self.modes[station as usize - 1].rate,
                };
                // The first of several with the same rate.
                self.receivers.iter().copied().rev().max_by_key(rate)
            }
            Serve::Random => {
                self.receivers.sort_unstable();
                self.receivers.dedup();
                let last = (self.receivers.len() as u32).checked_sub(1)?;
                let drawn = self.choice.up_to(last) as usize;
                self.receivers.get(drawn).copied()
            }
        }
    }
}

impl Cell {
    /// Whether the packet in service may be sent while a station sends and is to be sent, after
    /// another packet has come into service if necessary.
    pub(super) fn serves_other(
        &mut self,
        now: Instant,
        f: u32,
        primary: u32,
        source: &mut dyn MsduSource,
    ) -> bool {
        let class = self.rules.class_of(f % self.rules.per_node);
        let duplex = self.duplex.as_mut().expect("a full-duplex access point");
        // No frame in its queue is for the access point itself: any station may be served.
        let than = if duplex.settings.bidirectional { ACCESS_POINT } else { primary };
        let edcaf = &mut self.edcafs[f as usize];
        let serve = duplex.settings.serve;
        let fits = |to: Option<u32>| to.is_some_and(|to| to != than);
        let has_aside = edcaf.originator.has_aside();
        match serve {
            Serve::HeadOfLine => return fits(edcaf.to()),
            Serve::First => {
                if fits(edcaf.to()) {
                    return true;
                }
                if has_aside {
                    if !fits(edcaf.originator.aside_to()) {
                        return false;
                    }
                    edcaf.originator.swap_aside();
                    return true;
                }
                let Some((packet, to)) = source.next_other(ACCESS_POINT, class, than) else {
                    return false;
                };
                edcaf.originator.swap_aside();
                edcaf.begin_service(now, packet, Some(to), &self.rules);
                return true;
            }
            Serve::BestRate | Serve::Random => {}
        }
        duplex.receivers.clear();
        duplex.receivers.extend(edcaf.to());
        if has_aside {
            duplex.receivers.extend(edcaf.originator.aside_to());
        } else {
            source.receivers(ACCESS_POINT, class, &mut duplex.receivers);
        }
        duplex.receivers.retain(|&to| to != than);
        let own = self.rates[link_direction(ACCESS_POINT, primary)].mode.rate;
        let Some(to) = duplex.choose((primary, own)) else { return false };
        if edcaf.to() == Some(to) {
            return true;
        }
        if has_aside {
            edcaf.originator.swap_aside();
            return true;
        }
        // An active queue management may drop all packets for the station.
        let Some(packet) = source.next(ACCESS_POINT, class, to, Bytes(u64::MAX)) else {
            return false;
        };
        edcaf.originator.swap_aside();
        edcaf.begin_service(now, packet, Some(to), &self.rules);
        true
    }
}
