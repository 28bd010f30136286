//! Packets of conferences: deadline and jitter are those of the audio.

use super::Meter;
use kernel::Instant;
use wire::{Media, MediaKind};

impl Meter {
    /// A packet of a conference is sent.
    #[inline(never)]
    pub(super) fn on_media_sent(&mut self, now: Instant, media: &Media) {
        let flow = &mut self.flows[media.flow];
        flow.sent += 1;
        if media.kind == MediaKind::Audio {
            flow.datagrams.on_sent(now);
        }
    }

    /// One has arrived.
    #[inline(never)]
    pub(super) fn on_media(&mut self, now: Instant, born: Instant, media: &Media) {
        if !media.is_forward() {
            return;
        }
        self.on_delay(media.flow, now - born);
        let flow = &mut self.flows[media.flow];
        flow.bytes += u64::from(media.len);
        if media.kind == MediaKind::Audio {
            flow.datagrams.on_arrived(now, born, u64::from(media.unit));
        }
    }
}
