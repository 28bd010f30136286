//! The airtime of a triggered exchange.

use super::super::Meter;
use super::{COLLIDED, LOST, PADDING, Tones, Uses, WITHOUT_DATA, uses};
use crate::measure::AirtimeKind;
use wifi::Cell;
use wifi::mac::{Exchange, TriggeredExchange, TriggeredResponse, TriggeredUser};

impl Meter {
    /// HE TB PPDUs at the same time count once. Each station has the part of the data's time that
    /// it has of the tones that were given. An empty resource unit is padding. Where stations
    /// collide in one, it is a collision as far as the longest of them sends.
    pub(super) fn on_triggered(
        &mut self,
        exchange: &Exchange,
        triggered: &TriggeredExchange,
        cell: &Cell,
    ) {
        let trigger = &triggered.trigger;
        self.on_opening(exchange, trigger.start);
        let Some(start) = triggered.answers else {
            let kind =
                if triggered.asks_nobody() { AirtimeKind::Trigger } else { AirtimeKind::Lost };
            return self.ledger.add(kind, trigger.start, trigger.end());
        };
        self.ledger.add(AirtimeKind::Trigger, trigger.start, trigger.end());
        self.ledger.add(AirtimeKind::IfsBackoff, trigger.end(), start);
        let airtime = triggered.airtime();
        let end = start + airtime.total();
        let users = triggered.units().map(|unit| tones(unit, cell));
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

/// What those make of a resource unit who send in it.
fn tones(unit: &[TriggeredUser], cell: &Cell) -> Tones {
    let user = unit.iter().max_by_key(|user| user.on_air).expect("a resource unit is somebody's");
    let mut uses = match user.response {
        TriggeredResponse::Data if user.arrives() => uses(cell.frames_of(user)),
        _ => Uses::default(),
    };
    match user.response {
        TriggeredResponse::Nothing => {}
        _ if user.collides() => uses[COLLIDED] = user.on_air.0,
        _ if !user.arrives() => uses[LOST] = user.on_air.0,
        TriggeredResponse::Null | TriggeredResponse::Request => uses[WITHOUT_DATA] = user.on_air.0,
        TriggeredResponse::Data => {}
    }
    uses[PADDING] = user.room.0.saturating_sub(user.on_air.0);
    Tones { own: user.ru.size.tones(), room: user.room.0, uses }
}
