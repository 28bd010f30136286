//! What a node has heard from whom: duplicate filters, and reorder buffers of block-ack agreements.

use crate::mac::{Bitmap, Cache, Originator, Recipient};
use wire::Packet;

/// All of a node's, by transmitter and its EDCAF; made when a first frame comes.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    entries: Vec<Entry>,
    up: Vec<Packet>,
}

#[derive(Debug)]
struct Entry {
    from: (u32, u8),
    filter: Filter,
}

#[derive(Debug)]
enum Filter {
    Single(Cache),
    Agreement(Recipient),
}

impl Inbox {
    /// Packets that wait for others before them.
    pub(super) fn held(&self) -> impl Iterator<Item = &Packet> {
        let recipients = self.entries.iter().filter_map(|entry| match &entry.filter {
            Filter::Agreement(recipient) => Some(recipient),
            Filter::Single(_) => None,
        });
        recipients.flat_map(Recipient::held)
    }

    fn filter(&mut self, from: (u32, u8), window: Option<u16>) -> &mut Filter {
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

    /// Takes the frames of a PSDU but those that are `lost`: gives up what may be handed up now,
    /// and tells how many were there already. `window` is that of the agreement.
    pub(super) fn take(
        &mut self,
        from: (u32, u8),
        window: Option<u16>,
        sender: &mut Originator,
        lost: &Bitmap,
        mut up: impl FnMut(Packet),
    ) -> u64 {
        let mut packets = std::mem::take(&mut self.up);
        let mut duplicates = 0;
        let filter = self.filter(from, window);
        let frames = sender.on_air().count();
        if let (Filter::Agreement(recipient), 0) = (&mut *filter, frames) {
            recipient.on_request(sender.start(), &mut packets);
        }
        for index in (0..frames).filter(|&index| !lost.has(index as u16)) {
            let (sequence, mpdu) = sender.frame_on_air(index);
            sender.note_received(index);
            let of_frame = sender.packets_of(&mpdu).copied();
            let is_new = match &mut *filter {
                Filter::Agreement(recipient) => recipient.on_mpdu(sequence, of_frame, &mut packets),
                Filter::Single(cache) => {
                    let is_new = cache.accept(sequence, mpdu.attempts > 0);
                    packets.extend(of_frame.filter(|_| is_new));
                    is_new
                }
            };
            duplicates += u64::from(!is_new);
        }
        packets.drain(..).for_each(&mut up);
        self.up = packets;
        duplicates
    }

    /// The block ack for a transmitter's frames from number `start` on.
    pub(super) fn block_ack(&self, from: (u32, u8), start: u16) -> Bitmap {
        match self.entries.binary_search_by_key(&from, |entry| entry.from) {
            Ok(at) => match &self.entries[at].filter {
                Filter::Agreement(recipient) => recipient.block_ack(start),
                Filter::Single(_) => Bitmap::default(),
            },
            Err(_) => Bitmap::default(),
        }
    }
}
