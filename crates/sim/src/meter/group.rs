//! The airtime of an exchange with several users.

mod triggered;

use super::{Meter, useful_part};
use crate::measure::AirtimeKind;
use kernel::Duration;
use wifi::Cell;
use wifi::mac::{Exchange, ExchangeOutcome, MuExchange, MuUser};

/// The time of a user's data by what it is: lost, TCP ACKs, payload, padding.
type Shares = [Duration; 4];

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
    fn on_group(&mut self, exchange: &Exchange, group: &MuExchange, cell: &Cell) {
        let Some(data) = exchange.data() else { return };
        let mut counted_until = data.end();
        if exchange.outcome == ExchangeOutcome::Success {
            let mut all: Shares = [Duration::ZERO; 4];
            for user in &group.users {
                let own = shares(data.airtime.payload, group, user, cell);
                all.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
            let mut at = all.iter().fold(data.end(), |at, &share| at - share);
            self.ledger.add(AirtimeKind::Header, data.start, at);
            let kinds = [
                AirtimeKind::Lost,
                AirtimeKind::TcpAck,
                AirtimeKind::Payload,
                AirtimeKind::Padding,
            ];
            for (kind, share) in kinds.into_iter().zip(all).filter(|all| all.1 > Duration::ZERO) {
                self.ledger.add(kind, at, at + share);
                at += share;
            }
        } else {
            self.ledger.add(AirtimeKind::Lost, data.start, data.end());
        }
        let mut steps = group.steps.iter().peekable();
        while let Some(first) = steps.next() {
            let (start, end) = (first.step.start, first.step.end());
            let mut any = first.is_received;
            while let Some(other) = steps.next_if(|other| other.step.start == start) {
                any |= other.is_received;
            }
            let kind = if any { AirtimeKind::MacAck } else { AirtimeKind::Lost };
            self.ledger.add(AirtimeKind::IfsBackoff, counted_until, start);
            self.ledger.add(kind, start, end);
            counted_until = end;
        }
        // Until the announced end of HE TB PPDUs.
        self.ledger.add(AirtimeKind::IfsBackoff, counted_until, exchange.end);
    }
}

fn shares(payload: Duration, group: &MuExchange, user: &MuUser, cell: &Cell) -> Shares {
    let (mut lost, mut acks, mut useful) = (0, 0, 0);
    for frame in cell.frames_to(user) {
        if frame.wasted {
            lost += frame.bytes.0;
            continue;
        }
        for packet in frame.packets() {
            match useful_part(packet) {
                (AirtimeKind::TcpAck, bytes) => acks += bytes.0,
                (_, bytes) => useful += bytes.0,
            }
        }
    }
    let own = u128::from(payload.0) * u128::from(user.ru.size.tones());
    let all = u128::from(group.tones()) * u128::from(user.room.0.max(1));
    let padding = user.room.0.saturating_sub(user.on_air.0);
    [lost, acks, useful, padding].map(|bytes| Duration((own * u128::from(bytes) / all) as u64))
}
