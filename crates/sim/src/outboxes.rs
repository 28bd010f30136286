//! The commands of the state machines of a run that are still to be carried out.

use crate::flow::Side;
use crate::topology::{RadioId, WireId};
use crate::traffic;
use kernel::{Outbox, Rounds};
use net::Signal;
use wire::FlowId;

/// Commands that are to be carried out.
#[derive(Debug)]
pub(crate) struct Outboxes {
    pub(crate) medium: Rounds<wifi::Command>,
    pub(crate) tcp: Outbox<(FlowId, Side), tcp::Command>,
    pub(crate) source: Outbox<FlowId, traffic::Command>,
    pub(crate) wire: Outbox<WireId, net::Command>,
    pub(crate) station: Outbox<RadioId, wifi::station::Command>,
    /// Drops and marks of the queues of radios.
    pub(crate) signal: Outbox<RadioId, Signal>,
}

impl Outboxes {
    pub(crate) fn new() -> Self {
        Self {
            medium: Rounds::new(64),
            tcp: Outbox::new(64),
            source: Outbox::new(8),
            wire: Outbox::new(8),
            station: Outbox::new(0),
            signal: Outbox::new(8),
        }
    }
}
