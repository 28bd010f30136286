//! The observables of queues that tell L4S flows from others.

use super::observable::Kind::{Counter, MeanTime};
use super::observable::{Condition, Observable, observables};
use crate::observers::World;
use crate::plan::Plan;
use crate::topology::{RadioId, WireId};
use kernel::Id;
use net::{Marks, QueueSettings, Served};

/// Declares the condition on a queue to have these observables, and the observables.
macro_rules! queues {
    (
        $APART:ident, $MARKS:ident, $TWO:ident, $DUAL:ident,
        $queue:ident, $marks:ident, $served:ident
    ) => {
        const $APART: Condition = Condition {
            says: "with a queue that tells L4S flows apart",
            holds: |plan, index| $queue(plan, index).get().traits().tells_l4s_apart,
            lacks: |_, _, name| format!(
                "only a queue that tells L4S flows apart (dualpi2, or ce_threshold_us) has {name}"
            ),
        };

        pub(super) static $MARKS: &[Observable] = observables! {
            /// Packets with ECT(0) that the queue marked.
            "ecn_marks_ect0": "packets" as "ECT(0)\nmarks" if $APART =>
                Counter(|world, i| $marks(world, i).ect0);
            /// Packets with ECT(1) that the queue marked.
            "ecn_marks_ect1": "packets" as "ECT(1)\nmarks" if $APART =>
                Counter(|world, i| $marks(world, i).ect1);
        };

        const $TWO: Condition = Condition {
            says: "with a dual queue",
            holds: |plan, index| $queue(plan, index).get().traits().has_two_queues,
            lacks: |_, _, name| format!("only a dual queue (dualpi2) has {name}"),
        };

        pub(super) static $DUAL: &[Observable] = observables! {
            /// Packets that the low-latency queue sent.
            "l_queue.packets": "packets" as "L" if $TWO =>
                Counter(|world, i| $served(world, i)[0].packets);
            /// Packets that the low-latency queue marked.
            "l_queue.ecn_marks": "packets" as "L\nmarks" if $TWO =>
                Counter(|world, i| $served(world, i)[0].marked);
            /// Packets that the low-latency queue dropped.
            "l_queue.drops": "packets" as "L\ndrops" if $TWO =>
                Counter(|world, i| $served(world, i)[0].dropped);
            /// Mean time of a packet in the low-latency queue.
            "l_queue.queueing_s": "s" as "L queue-\ning" if $TWO => MeanTime(
                |world, i| $served(world, i)[0].waited.0,
                |world, i| $served(world, i)[0].packets,
            );
            /// Packets that the classic queue sent.
            "c_queue.packets": "packets" as "C" if $TWO =>
                Counter(|world, i| $served(world, i)[1].packets);
            /// Packets that the classic queue marked.
            "c_queue.ecn_marks": "packets" as "C\nmarks" if $TWO =>
                Counter(|world, i| $served(world, i)[1].marked);
            /// Packets that the classic queue dropped.
            "c_queue.drops": "packets" as "C\ndrops" if $TWO =>
                Counter(|world, i| $served(world, i)[1].dropped);
            /// Mean time of a packet in the classic queue.
            "c_queue.queueing_s": "s" as "C queue-\ning" if $TWO => MeanTime(
                |world, i| $served(world, i)[1].waited.0,
                |world, i| $served(world, i)[1].packets,
            );
        };
    };
}

queues!(NODE_APART, NODE_MARKS, NODE_TWO, NODE_DUAL, of_radio, radio_marks, radio_served);
queues!(WIRE_APART, WIRE_MARKS, WIRE_TWO, WIRE_DUAL, of_wire, wire_marks, wire_served);

fn of_radio(plan: &Plan, radio: usize) -> &QueueSettings {
    plan.queue_of(RadioId(radio as u32)).0
}

fn radio_marks(world: &World, radio: usize) -> Marks {
    world.observers.meter.nodes[RadioId::at(radio)].ecn_marks
}

fn radio_served(world: &World, radio: usize) -> [Served; 2] {
    world.queues[RadioId::at(radio)].dual().unwrap_or_default()
}

fn of_wire(plan: &Plan, wire: usize) -> &QueueSettings {
    let (link, direction) = plan.link(WireId(wire as u32));
    &link.directions[direction].queue
}

fn wire_marks(world: &World, wire: usize) -> Marks {
    world.wires[WireId::at(wire)].link().counters().marked
}

fn wire_served(world: &World, wire: usize) -> [Served; 2] {
    world.wires[WireId::at(wire)].link().queue().dual().unwrap_or_default()
}
