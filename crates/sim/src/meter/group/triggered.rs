//! The airtime of a triggered exchange.

use super::super::{Meter, useful_part};
use crate::measure::AirtimeKind;
use kernel::Duration;
use wifi::Cell;
use wifi::mac::{Exchange, TriggeredExchange, TriggeredResponse, TriggeredUser};

/// The time of a station's resource unit by what it is: lost, answers without data, TCP ACKs,
/// payload, padding.
type Shares = [Duration; 5];

impl Meter {
    /// HE TB PPDUs at the same time count once. Each station has the part of the data's time that
    /// it has of the tones that were given. An empty resource unit is padding.
    pub(super) fn on_triggered(
        &mut self,
        exchange: &Exchange,
        triggered: &TriggeredExchange,
        cell: &Cell,
    ) {
        let trigger = &triggered.trigger;
        let Some(start) = triggered.answers else {
            return self.ledger.add(AirtimeKind::Lost, trigger.start, trigger.end());
        };
        self.ledger.add(AirtimeKind::Trigger, trigger.start, trigger.end());
        self.ledger.add(AirtimeKind::IfsBackoff, trigger.end(), start);
        let airtime = triggered.airtime();
        let end = start + airtime.total();
        let mut all: Shares = [Duration::ZERO; 5];
        for user in &triggered.users {
            let own = shares(airtime.payload, triggered, user, cell);
            all.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        let mut at = all.iter().fold(end, |at, &share| at - share);
        self.ledger.add(AirtimeKind::Header, start, at);
        let kinds = [
            AirtimeKind::Lost,
            AirtimeKind::Trigger,
            AirtimeKind::TcpAck,
            AirtimeKind::Payload,
            AirtimeKind::Padding,
        ];
        for (kind, share) in kinds.into_iter().zip(all).filter(|all| all.1 > Duration::ZERO) {
            self.ledger.add(kind, at, at + share);
            at += share;
        }
        let Some((ack, _)) = &triggered.ack else {
            return self.ledger.add(AirtimeKind::IfsBackoff, end, exchange.end);
        };
        let is_heard = triggered.users.iter().any(TriggeredUser::hears_ack);
        let kind = if is_heard { AirtimeKind::MacAck } else { AirtimeKind::Lost };
        self.ledger.add(AirtimeKind::IfsBackoff, end, ack.start);
        self.ledger.add(kind, ack.start, ack.end());
    }
}

fn shares(
    payload: Duration,
    triggered: &TriggeredExchange,
    user: &TriggeredUser,
    cell: &Cell,
) -> Shares {
    let (mut lost, mut without, mut acks, mut useful) = (0, 0, 0, 0);
    match user.response {
        TriggeredResponse::Nothing => {}
        _ if !user.arrives() => lost = user.on_air.0,
        TriggeredResponse::Null | TriggeredResponse::Request => without = user.on_air.0,
        TriggeredResponse::Data => {
            for frame in cell.frames_of(user) {
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
        }
    }
    let own = u128::from(payload.0) * u128::from(user.ru.size.tones());
    let all = u128::from(triggered.tones()) * u128::from(user.room.0.max(1));
    let padding = user.room.0.saturating_sub(user.on_air.0);
    [lost, without, acks, useful, padding]
        .map(|bytes| Duration((own * u128::from(bytes) / all) as u64))
}
