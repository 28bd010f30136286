//! The airtime of an exchange with several users.

mod triggered;

use super::Meter;
use crate::measure::AirtimeKind;
use kernel::{Bytes, Duration, Instant};
use wifi::mac::{Exchange, ExchangeOutcome, MuExchange, MuStep};
use wifi::phy::Airtime;
use wifi::{Cell, UsedBytes};

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

/// Where these kinds stand.
const COLLIDED: usize = 0;
const LOST: usize = 1;
const WITHOUT_DATA: usize = 2;
const TCP_ACK: usize = 3;
const PAYLOAD: usize = 4;
const PADDING: usize = 5;

/// Divides the time of data for several users. Each has the part that it has of the tones, and of
/// that its bytes have theirs; headers have the rest.
struct Division {
    payload: Duration,
    all_tones: u32,
    shares: [Duration; KINDS.len()],
}

/// What divides the bytes of one user: its time is these bytes times `time / all`.
struct Part {
    time: u64,
    all: u64,
}

impl Division {
    fn new(airtime: &Airtime, all_tones: u32) -> Self {
        Self { payload: airtime.payload, all_tones, shares: Default::default() }
    }

    /// The part of a user with these tones, which have room for so many bytes. Those that are not
    /// on the air are padding.
    #[inline]
    fn part(&mut self, tones: u32, room: Bytes, on_air: Bytes) -> Part {
        let time = self.payload.0 * u64::from(tones);
        let part = Part { time, all: u64::from(self.all_tones) * room.0.max(1) };
        self.add(&part, PADDING, Bytes(room.0.saturating_sub(on_air.0)));
        part
    }

    /// These bytes of a user are of the kind at this place.
    #[inline]
    fn add(&mut self, part: &Part, kind: usize, bytes: Bytes) {
        // Mostly a user has bytes of one kind.
        if bytes > Bytes::ZERO {
            // No more than 6 ms, 2000 tones and 16 MB: the product has fewer than 64 bits.
            self.shares[kind] += Duration(part.time * bytes.0 / part.all);
        }
    }

    /// A user sends these data, or receives them.
    #[inline]
    fn add_data(&mut self, part: &Part, used: &UsedBytes) {
        self.add(part, LOST, used.wasted);
        self.add(part, TCP_ACK, used.acks);
        self.add(part, PAYLOAD, used.data);
    }
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
            let mut division = Division::new(&data.airtime, group.tones());
            for user in &group.users {
                let part = division.part(user.ru.size.tones(), user.room, user.on_air);
                division.add_data(&part, &UsedBytes::of(cell.frames_to(user)));
            }
            self.share_out(data.start, data.end(), &division);
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

    /// Counts the shares of all users one after the other, up to the end of the data.
    fn share_out(&mut self, start: Instant, end: Instant, division: &Division) {
        let shares = &division.shares;
        let mut at = shares.iter().fold(end, |at, &share| at - share);
        self.ledger.add(AirtimeKind::Header, start, at);
        for (kind, &share) in KINDS.into_iter().zip(shares) {
            if share > Duration::ZERO {
                self.ledger.add(kind, at, at + share);
                at += share;
            }
        }
    }
}
