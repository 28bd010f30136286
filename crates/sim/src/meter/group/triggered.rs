//! The airtime of a triggered exchange.

use super::super::Meter;
use super::{COLLIDED, Division, LOST, WITHOUT_DATA};
use crate::measure::AirtimeKind;
use wifi::mac::{Exchange, TriggeredExchange, TriggeredResponse, TriggeredUser};
use wifi::{Cell, UsedBytes};

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
        let mut division = Division::new(&airtime, triggered.tones());
        triggered.units().for_each(|unit| division.add_unit(unit, cell));
        self.share_out(start, end, &division);
        let Some((ack, _)) = &triggered.ack else {
            return self.ledger.add(AirtimeKind::IfsBackoff, end, exchange.end);
        };
        let is_heard = triggered.users.iter().any(TriggeredUser::hears_ack);
        let kind = if is_heard { AirtimeKind::MacAck } else { AirtimeKind::Lost };
        self.ledger.add(AirtimeKind::IfsBackoff, end, ack.start);
        self.ledger.add(kind, ack.start, ack.end());
    }
}

impl Division {
    /// What those make of a resource unit who send in it.
    fn add_unit(&mut self, unit: &[TriggeredUser], cell: &Cell) {
        let longest = unit.iter().max_by_key(|user| user.on_air);
        let user = longest.expect("a resource unit is somebody's");
        let part = &self.part(user.ru.size.tones(), user.room, user.on_air);
        match user.response {
            TriggeredResponse::Nothing => {}
            _ if user.collides() => self.add(part, COLLIDED, user.on_air),
            _ if !user.arrives() => self.add(part, LOST, user.on_air),
            TriggeredResponse::Null | TriggeredResponse::Request => {
                self.add(part, WITHOUT_DATA, user.on_air);
            }
            TriggeredResponse::Data => self.add_data(part, &UsedBytes::of(cell.frames_of(user))),
        }
    }
}
