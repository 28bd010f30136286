//! What a node stores about received MPDUs: duplicate detection, and the reorder buffers of block
//! ack agreements.

use crate::mac::{Bitmap, Cache, Originator, Recipient};
use wire::Packet;

/// The EDCAF of a node that transmits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Transmitter {
    pub(super) node: u32,
    pub(super) edcaf: u8,
}

/// The entries of a node, by transmitter. The first MPDU creates an entry.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    from: Transmitter,
    filter: Filter,
}

#[derive(Debug)]
enum Filter {
    Single(Cache),
    Agreement(Recipient),
}

impl Inbox {
    /// Packets that wait for earlier ones.
    pub(super) fn held(&self) -> impl Iterator<Item = &Packet> {
        let recipients = self.entries.iter().filter_map(|entry| match &entry.filter {
            Filter::Agreement(recipient) => Some(recipient),
            Filter::Single(_) => None,
        });
        recipients.flat_map(Recipient::held)
    }

    /// Removes the packets of a transmitter that wait for earlier ones, and appends them to a list.
    pub(super) fn discard_held(&mut self, from: u32, into: &mut Vec<Packet>) {
        for entry in self.entries.iter_mut().filter(|entry| entry.from.node == from) {
            if let Filter::Agreement(recipient) = &mut entry.filter {
                into.extend(recipient.discard_held());
            }
        }
    }

    fn filter(&mut self, from: Transmitter, window: Option<u16>) -> &mut Filter {
        let at = match self.entries.binary_search_by_key(&from, |entry| entry.from) {
            Ok(at) => at,
            Err(at) => {
                let filter = match window {
                    Some(window) => Filter::Agreement(Recipient::new(window)),
                    None => Filter::Single(Cache::default()),
                };
                self.entries.insert(at, Entry { from, filter });
                at
            }
        };
        &mut self.entries[at].filter
    }

    /// Accepts the MPDUs of a PSDU except those that are `lost`; `None` is a BlockAckReq. Delivers
    /// the packets that are in order and returns the number of duplicates. `window` is that of the
    /// block ack agreement.
    pub(super) fn take(
        &mut self,
        from: Transmitter,
        window: Option<u16>,
        sender: &mut Originator,
        lost: Option<&Bitmap>,
        mut up: impl FnMut(&Packet),
    ) -> u64 {
        let mut duplicates = 0;
        let filter = self.filter(from, window);
        let frames = if lost.is_some() { sender.on_air().count() } else { 0 };
        if let (Filter::Agreement(recipient), 0) = (&mut *filter, frames) {
            recipient.on_request(sender.start(), &mut up);
        }
        let arrives = |&index: &usize| lost.is_some_and(|lost| !lost.has(index as u16));
        for index in (0..frames).filter(arrives) {
            let (sequence, mpdu) = sender.frame_on_air(index);
            sender.note_received(index);
            let of_frame = sender.packets_of(&mpdu);
            let is_new = match &mut *filter {
                Filter::Agreement(recipient) => recipient.on_mpdu(sequence, of_frame, &mut up),
                Filter::Single(cache) => {
                    let is_new = cache.accept(sequence, mpdu.attempts > 0);
                    if is_new {
                        of_frame.for_each(&mut up);
                    }
                    is_new
                }
            };
            duplicates += u64::from(!is_new);
        }
        duplicates
    }

    /// The bitmap of a BlockAck for a transmitter's MPDUs from sequence number `start` on.
    pub(super) fn block_ack(&self, from: Transmitter, start: u16) -> Bitmap {
        match self.entries.binary_search_by_key(&from, |entry| entry.from) {
            Ok(at) => match &self.entries[at].filter {
                Filter::Agreement(recipient) => recipient.block_ack(start),
                Filter::Single(_) => Bitmap::default(),
            },
            Err(_) => Bitmap::default(),
        }
    }
}
