//! What an EDCAF does with PPDUs to several users. It has one set of contention parameters and one
//! back-off for all of them; the MSDUs of each are in an originator of its own.

use super::{Edcaf, Failure, PeerRate, Rules, Txop};
use crate::mac::block_ack::Bitmap;
use crate::mac::mu::{MuUser, Shape};
use crate::mac::originator::{Originator, Psdu, Settled};
use crate::mac::{ElicitedResponse, Opening, PsduLimits};
use crate::medium::NodeCounters;
use crate::phy::Mode;
use crate::rate::{Answer, TxReport};
use kernel::{Bytes, Db, Duration, Instant};
use wire::Packet;

impl Txop {
    /// A TXOP without a limit whose holder has asked for reports: it asks for data a SIFS later,
    /// and does nothing else.
    pub(crate) fn for_answers(holder: u32, next: Instant) -> Self {
        Self { holder, until: Instant(u64::MAX), next: Some(next) }
    }

    /// Whether it is one of these.
    pub(crate) fn is_for_answers(&self) -> bool {
        self.until == Instant(u64::MAX)
    }

    /// How long it still lasts.
    pub(crate) fn left(&self, now: Instant) -> Duration {
        self.until - now
    }
}

impl Edcaf {
    /// How long a TXOP may last.
    pub(crate) fn longest(&self) -> Duration {
        let unlimited = self.txop_limit == Duration::ZERO;
        if unlimited { Duration(u64::MAX) } else { self.txop_limit }
    }

    /// Assembles the A-MPDU of a user, with MSDUs from a source; `None` if it has none that fits
    /// into the room.
    pub(crate) fn assemble_user(
        originator: &mut Originator,
        now: Instant,
        rules: &Rules,
        room: PsduLimits,
        mode: &Mode,
        source: impl FnMut(Bytes) -> Option<Packet>,
    ) -> Option<Psdu> {
        let psdu = originator.assemble(&rules.framing, mode.class, room, now, source);
        let fits = psdu.mpdus > 0 && psdu.bytes <= room.bytes;
        // A single MPDU, too, is acknowledged by a BlockAck.
        fits.then_some(Psdu { answer: ElicitedResponse::BlockAck, ..psdu })
    }

    /// The next PPDU is for several users.
    pub(crate) fn prepare_group(&mut self, rules: &Rules, shape: &Shape, bytes: Bytes) {
        self.set_mode(rules.timing(), shape.slowest);
        self.opening = Opening::None;
        self.psdu = Psdu { bytes, answer: ElicitedResponse::BlockAck, ..Psdu::NONE };
    }

    /// From now on it contends by another set of contention parameters in [`Rules`].
    pub(crate) fn contend_by(&mut self, set: u8) {
        self.contention_parameters = set;
    }

    /// The next PPDU is a Trigger frame in this mode.
    pub(crate) fn prepare_trigger(&mut self, rules: &Rules, mode: Mode, bytes: Bytes) {
        self.set_mode(rules.timing(), mode);
        self.opening = Opening::None;
        self.psdu = Psdu { bytes, ..Psdu::NONE };
    }

    /// The attempt to several users has ended: it has failed if none of them has answered. Returns
    /// whether the retry limit is reached.
    pub(crate) fn end_group(&mut self, rules: &Rules, is_answered: bool) -> bool {
        let parameters = rules.contention_parameters(self.contention_parameters);
        if is_answered {
            self.access.succeed(parameters);
            return false;
        }
        self.access.fail(parameters, false) == Failure::Drop
    }

    /// Counts an attempt to several users, whose outcome is known.
    pub(crate) fn count_group(counters: &mut NodeCounters) {
        counters.exchanges.begin();
        counters.exchanges.decide();
    }
}

impl MuUser {
    /// The attempt to this user has ended; `acked` is the bitmap of its BlockAck.
    pub(crate) fn end(
        &self,
        now: Instant,
        rules: &Rules,
        originator: &mut Originator,
        acked: Option<&Bitmap>,
        settled: &mut Vec<Settled>,
    ) -> Answer {
        if let Some(acked) = acked {
            Answer::Acked(originator.on_block_ack(&rules.framing, now, acked, settled))
        } else if !self.is_sent {
            originator.on_delay(&rules.framing, now, settled);
            Answer::NoCts
        } else {
            originator.on_no_answer(&rules.framing, now, settled);
            Answer::None
        }
    }

    /// Reports the result of the attempt to rate control, and the signal to noise ratio at which
    /// the user receives, if that is known.
    #[cold]
    #[inline(never)]
    pub(crate) fn report(
        &self,
        now: Instant,
        answer: Answer,
        snr: Option<Db>,
        rate: &mut PeerRate,
    ) {
        if let Some(control) = &mut rate.control {
            // The mode that was chosen; that of the PPDU may be in a part of its channel.
            let (mode, sent) = (rate.mode, u32::from(self.mpdus()));
            debug_assert_eq!(mode.mcs, self.mode.mcs);
            let rts = !self.is_sent;
            let snr = snr.filter(|_| matches!(answer, Answer::Acked(_)));
            control.on_report(now, &TxReport { mode, rts, sent, answer, snr });
        }
    }
}
