//! What the stage notes of exchanges with several users.

use super::{Stage, data_of, number_of};
use crate::cell::Cell;
use crate::cell::several::Several;
use crate::cell::timelines::record::Frame;
use crate::cell::timelines::stage::AP;
use crate::mac::{Exchange, MuExchange, MuUser, Step, TriggeredExchange, TriggeredResponse};
use kernel::Instant;
use wire::FrameKind;

/// Whether an EDCAF sends a Trigger frame first, in a collision too.
pub(super) fn triggers(cell: &Cell, f: u32) -> bool {
    let first = cell.several_of(f);
    first.is_some_and(|it| it.opening().is_some() || matches!(it, Several::Triggered(_)))
}

/// The data of a PPDU to several users that has collided.
pub(super) fn collided_data(cell: &Cell, f: u32) -> Option<String> {
    let Some(Several::Group(group)) = cell.several_of(f) else { return None };
    Some(data_of(group.users.iter().map(|user| cell.originator_to(f, user.station))))
}

impl Stage {
    /// The frames of an exchange with several users.
    pub(super) fn note_group(&mut self, exchange: &Exchange, group: &MuExchange) {
        let function = self.cell.sender;
        let to = |user: &MuUser| self.cell.originator_to(function, user.station);
        let sent = data_of(group.users.iter().map(to));
        let frame = |node, label: &str, step: &Step, is_lost: bool| Frame {
            function,
            node,
            label: label.to_owned(),
            start: step.start,
            end: step.end(),
            fill: if is_lost { '~' } else { '=' },
        };
        let data = exchange.data().expect("data");
        let mut frames =
            self.opening(exchange, data.start, group.users.iter().map(|user| user.station));
        frames.push(frame(AP, &sent, data, false));
        for step in group.frames() {
            let (node, label) = match (step.step.kind, step.user) {
                (FrameKind::BlockAck, Some(user)) => (group.users[user].station, "ba"),
                (FrameKind::BlockAckRequest, _) => (AP, "bar"),
                _ => (AP, "trigger"),
            };
            frames.push(frame(node, label, &step.step, !step.is_received));
        }
        let window = self.cell.edcaf(function).window();
        self.record.windows.push((exchange.start.0, AP, window));
        self.record.frames.append(&mut frames);
    }

    /// An MU-RTS before an instant, and the CTSs of these stations.
    fn opening(
        &self,
        exchange: &Exchange,
        until: Instant,
        stations: impl Iterator<Item = u32>,
    ) -> Vec<Frame> {
        let frame = |step: &Step, node, label: &str| Frame {
            function: self.cell.sender,
            node,
            label: label.to_owned(),
            start: step.start,
            end: step.end(),
            fill: '=',
        };
        let mut steps = exchange.steps().filter(|step| step.start < until);
        let (Some(request), Some(cts)) = (steps.next(), steps.next()) else { return Vec::new() };
        let ctss = stations.map(|station| frame(cts, station, "cts"));
        std::iter::once(frame(request, AP, "mu-rts")).chain(ctss).collect()
    }

    /// The frames of a triggered exchange.
    pub(super) fn note_triggered(&mut self, exchange: &Exchange, triggered: &TriggeredExchange) {
        let function = self.cell.sender;
        let frame = |node, label: String, start, end, is_lost: bool| {
            let fill = if is_lost { '~' } else { '=' };
            Frame { function, node, label, start, end, fill }
        };
        let trigger = &triggered.trigger;
        let name = format!("{:?}", triggered.kind).to_lowercase();
        let asked = triggered.users.iter().filter(|user| !user.is_random);
        let mut frames = self.opening(exchange, trigger.start, asked.map(|user| user.station));
        frames.push(frame(AP, name, trigger.start, trigger.end(), false));
        for user in &triggered.users {
            let (Some(start), Some(end)) = (triggered.answers, triggered.answered()) else { break };
            let label = match user.response {
                TriggeredResponse::Nothing => continue,
                TriggeredResponse::Null => "null".to_owned(),
                TriggeredResponse::Request => "bar".to_owned(),
                TriggeredResponse::Data => {
                    let all = self.cell.frames_of(user);
                    let numbers: Vec<String> = all
                        .flat_map(|frame| frame.packets().map(number_of).collect::<Vec<_>>())
                        .map(|number| number.to_string())
                        .collect();
                    format!("data {}", numbers.join(" "))
                }
            };
            frames.push(frame(user.station, label, start, end, !user.arrives()));
        }
        if let Some((ack, _)) = &triggered.ack {
            frames.push(frame(AP, "multi ba".to_owned(), ack.start, ack.end(), false));
        }
        let window = self.cell.edcaf(function).window();
        self.record.windows.push((exchange.start.0, AP, window));
        self.record.frames.append(&mut frames);
    }
}
