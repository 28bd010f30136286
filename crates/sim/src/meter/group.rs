//! The airtime of an exchange with several users.

mod triggered;

use super::{Meter, useful_part};
use crate::measure::AirtimeKind;
use kernel::{Duration, Instant};
use wifi::mac::{Exchange, ExchangeOutcome, MuExchange, MuStep, MuUser};
use wifi::phy::Airtime;
use wifi::{Cell, FrameOnAir};

/// What is made of the tones of a user: lost in a collision or to noise, frames that trigger or
/// answer without data, TCP ACKs, payload, padding.
const KINDS: [AirtimeKind; 6] = [
    AirtimeKind::Collision,
    AirtimeKind::Lost,
    AirtimeKind::Trigger,
    AirtimeKind::TcpAck,
    AirtimeKind::Payload,
    AirtimeKind::Padding,
];
/// Bytes of a user by these kinds.
type Uses = [u64; KINDS.len()];

/// Where these kinds stand.
const COLLIDED: usize = 0;
const LOST: usize = 1;
const WITHOUT_DATA: usize = 2;
const TCP_ACK: usize = 3;
const PAYLOAD: usize = 4;
const PADDING: usize = 5;

/// The tones of a user, and what it makes of them.
struct Tones {
    own: u32,
    /// The bytes that its tones have room for in the data's time.
    room: u64,
    uses: Uses,
}

impl Meter {
    /// Counts an exchange with several users, if it is one.
    pub(super) fn has_several(&mut self, exchange: &Exchange, cell: &Cell) -> bool {
        if let Some(group) = cell.group() {
            self.on_group(exchange, group, cell);
        } else if let Some(triggered) = cell.triggered() {
            self.on_triggered(exchange, triggered, cell);
        } else {
            return false;
        }
        true
    }

    /// Each user has the part of the data's time that it has of the tones in use. Of that, lost and
    /// useful bytes and padding have their shares, and headers the rest. HE TB PPDUs at the same
    /// time count once.
    #[cold]
    #[inline(never)]
    fn on_group(&mut self, exchange: &Exchange, group: &MuExchange, cell: &Cell) {
        let Some(data) = exchange.data() else { return };
        self.on_opening(exchange, data.start);
        let mut counted_until = data.end();
        if exchange.outcome == ExchangeOutcome::Success {
            let users = group.users.iter().map(|user| tones(user, cell));
            self.share_out(data.start, &data.airtime, group.tones(), users);
        } else {
            self.ledger.add(AirtimeKind::Lost, data.start, data.end());
        }
        for MuStep { step, is_received, .. } in &group.steps {
            let (start, end) = (step.start, step.end());
            let kind = if *is_received { AirtimeKind::MacAck } else { AirtimeKind::Lost };
            self.ledger.add(AirtimeKind::IfsBackoff, counted_until, start);
            self.ledger.add(kind, start, end);
            counted_until = end;
        }
        // Until the announced end of HE TB PPDUs.
        self.ledger.add(AirtimeKind::IfsBackoff, counted_until, exchange.end);
    }

    /// An MU-RTS and the CTSs, which are on the air at the same time, before the first frame that
    /// they protect.
    fn on_opening(&mut self, exchange: &Exchange, first: Instant) {
        let mut steps = exchange.steps().take_while(|step| step.start <= first).peekable();
        while let (Some(step), Some(next)) = (steps.next(), steps.peek()) {
            self.ledger.add(AirtimeKind::RtsCts, step.start, step.end());
            self.ledger.add(AirtimeKind::IfsBackoff, step.end(), next.start);
        }
    }

    /// Divides the time of data for several users. Each has the part that it has of the tones, and
    /// of that its bytes have theirs; headers have the rest.
    fn share_out(
        &mut self,
        start: Instant,
        airtime: &Airtime,
        all_tones: u32,
        users: impl Iterator<Item = Tones>,
    ) {
        let mut shares = [Duration::ZERO; KINDS.len()];
        for Tones { own, room, uses } in users {
            // No more than 6 ms, 2000 tones and 16 MB: the product has fewer than 64 bits.
            let own = airtime.payload.0 * u64::from(own);
            let all = u64::from(all_tones) * room.max(1);
            for (share, used) in shares.iter_mut().zip(uses) {
                if used > 0 {
                    *share += Duration(own * used / all);
                }
            }
        }
        let end = start + airtime.total();
        let mut at = shares.iter().fold(end, |at, &share| at - share);
        self.ledger.add(AirtimeKind::Header, start, at);
        for (kind, share) in KINDS.into_iter().zip(shares).filter(|all| all.1 > Duration::ZERO) {
            self.ledger.add(kind, at, at + share);
            at += share;
        }
    }
}

fn tones(user: &MuUser, cell: &Cell) -> Tones {
    let mut uses = uses(cell.frames_to(user));
    uses[PADDING] = user.room.0.saturating_sub(user.on_air.0);
    Tones { own: user.ru.size.tones(), room: user.room.0, uses }
}

/// The bytes of MPDUs by what they are.
fn uses<'a>(frames: impl Iterator<Item = FrameOnAir<'a>>) -> Uses {
    let mut uses = Uses::default();
    for frame in frames {
        if frame.wasted {
            uses[LOST] += frame.bytes.0;
            continue;
        }
        for packet in frame.packets() {
            let (kind, bytes) = useful_part(packet);
            uses[if kind == AirtimeKind::TcpAck { TCP_ACK } else { PAYLOAD }] += bytes.0;
        }
    }
    uses
}
