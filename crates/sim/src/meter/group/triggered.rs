//! The airtime of a triggered exchange.

use super::super::Meter;
use super::{LOST, PADDING, Tones, Uses, WITHOUT_DATA, uses};
use crate::measure::AirtimeKind;
use wifi::Cell;
use wifi::mac::{Exchange, TriggeredExchange, TriggeredResponse, TriggeredUser};

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
        self.on_opening(exchange, trigger.start);
        let Some(start) = triggered.answers else {
            return self.ledger.add(AirtimeKind::Lost, trigger.start, trigger.end());
        };
        self.ledger.add(AirtimeKind::Trigger, trigger.start, trigger.end());
        self.ledger.add(AirtimeKind::IfsBackoff, trigger.end(), start);
        let airtime = triggered.airtime();
        let end = start + airtime.total();
        let users = triggered.users.iter().map(|user| tones(user, cell));
        self.share_out(start, &airtime, triggered.tones(), users);
        let Some((ack, _)) = &triggered.ack else {
            return self.ledger.add(AirtimeKind::IfsBackoff, end, exchange.end);
        };
        let is_heard = triggered.users.iter().any(TriggeredUser::hears_ack);
        let kind = if is_heard { AirtimeKind::MacAck } else { AirtimeKind::Lost };
        self.ledger.add(AirtimeKind::IfsBackoff, end, ack.start);
        self.ledger.add(kind, ack.start, ack.end());
    }
}

fn tones(user: &TriggeredUser, cell: &Cell) -> Tones {
    let mut uses = match user.response {
        TriggeredResponse::Data if user.arrives() => uses(cell.frames_of(user)),
        _ => Uses::default(),
    };
    match user.response {
        TriggeredResponse::Nothing => {}
        _ if !user.arrives() => uses[LOST] = user.on_air.0,
        TriggeredResponse::Null | TriggeredResponse::Request => uses[WITHOUT_DATA] = user.on_air.0,
        TriggeredResponse::Data => {}
    }
    uses[PADDING] = user.room.0.saturating_sub(user.on_air.0);
    Tones { own: user.ru.size.tones(), room: user.room.0, uses }
}
