//! What a PSDU consists of, and how long it may be.

use kernel::{Bytes, Duration};
use settings::{Faults, Said};
use wifi::mac::{DELIMITER, ampdu_of, mpdus_within};
use wifi::phy::{self, LONGEST_PPDU, ModeClass, Standard};

/// What a PSDU consists of, and where it is written.
#[derive(Clone)]
pub(super) struct Frames {
    /// Bytes of the PSDU or of each MPDU, without this header.
    pub(super) bytes: Bytes,
    pub(super) header: Bytes,
    /// MPDUs in an A-MPDU.
    pub(super) mpdus: Option<u64>,
    pub(super) bytes_at: String,
    pub(super) mpdus_at: String,
}

impl Frames {
    /// Bytes that are written, in all MPDUs.
    pub(super) fn payload(&self) -> Bytes {
        Bytes(self.bytes.0 * self.mpdus.unwrap_or(1))
    }

    /// The PSDU: a single MPDU, or MPDUs with delimiters and padding (clause 9.7.1).
    pub(super) fn psdu(
        &self,
        standard: &Standard,
        class: ModeClass,
        faults: &mut Faults,
    ) -> Option<Bytes> {
        let longest = phy::longest_psdu(class);
        let of_ampdu = class.high().filter(|_| self.mpdus.is_some());
        let most = of_ampdu.map_or(longest, |high| high.longest_mpdu) - self.header;
        if self.bytes > most {
            let message = format!("must be from 1 to {}, is {}", most.0, self.bytes.0);
            faults.fault(&self.bytes_at, message);
            return None;
        }
        let mpdu = self.bytes + self.header;
        let Some(mpdus) = self.mpdus else { return Some(mpdu) };
        let window = class.high().map_or(1, |high| u64::from(high.block_ack_window));
        if !(1..=window).contains(&mpdus) {
            let message = format!(
                "must be from 1 to {window}, as many as a block ack can name, is {mpdus} \
                 [802.11-2020 9.3.1.8]"
            );
            faults.fault(&self.mpdus_at, message);
            return None;
        }
        let psdu = ampdu_of(mpdus, mpdu);
        if psdu > longest {
            let message = Said::new(
                format!(
                    "{mpdus} make a PSDU of {} bytes, more than the {} of 802.{}",
                    psdu.0,
                    longest.0,
                    standard.name()
                ),
                format!("at most {}", mpdus_within(longest, mpdu)),
            );
            faults.fault(&self.mpdus_at, message);
            return None;
        }
        Some(psdu)
    }

    /// The fault that a PPDU lasts too long, which has room for a PSDU of so many bytes.
    pub(super) fn refuse_length(&self, lasts: Duration, room: Bytes, faults: &mut Faults) {
        let bytes = |room: Bytes| (room - self.header).0;
        let (path, most) = match (self.mpdus, mpdus_within(room, self.bytes + self.header)) {
            (Some(mpdus), fit) if mpdus > 1 && fit > 0 => (&self.mpdus_at, fit),
            (Some(_), _) => (&self.bytes_at, bytes(room - DELIMITER)),
            (None, _) => (&self.bytes_at, bytes(room)),
        };
        faults.fault(path, Said::new(too_long(lasts), format!("at most {most}")));
    }
}

pub(super) fn too_long(lasts: Duration) -> String {
    let [lasts, most] = [lasts, LONGEST_PPDU].map(us);
    format!("the PPDU would last {lasts} us, more than aPPDUMaxTime, {most} us")
}

/// Microseconds, the nearest number to those of the standard: 387.2 and not 387.200000000001.
pub(super) fn us(duration: Duration) -> f64 {
    duration.0 as f64 / 1e3
}
