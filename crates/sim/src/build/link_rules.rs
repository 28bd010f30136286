//! What radios tell their queues about the links over which they send.

use crate::plan::{Device, Endpoint, Plan};
use crate::topology::RadioId;
use kernel::{BitRate, IdVec};
use net::{AirtimeEstimate, LinkState, QueueSettings, Room};
use wifi::MacConfig;
use wifi::mac::{estimated_overhead_us, kib_duration};
use wifi::phy::Mode;
use wire::NodeId;

/// The rules by which the mode of a link becomes its state, and the radios whose queues depend on
/// it.
#[derive(Debug)]
pub(crate) struct LinkRules {
    config: MacConfig,
    /// The shares of airtime.
    weights: IdVec<NodeId, u32>,
    /// Whether the queue of a radio depends on the state of links.
    depends: IdVec<RadioId, bool>,
}

impl LinkRules {
    /// The rules of a plan; `None` if no queue depends on the state of links.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let depends = |(queue, device): (&QueueSettings, Device)| {
            device.hardware_aggregates.is_some() || queue.get().traits().follows_links
        };
        let radios = plan.topology.radios().ids();
        let depends: IdVec<RadioId, bool> =
            radios.map(|radio| depends(plan.queue_of(radio))).collect();
        let weight = |end| match end {
            Endpoint::Station(number) => plan.stations[number as usize].airtime_weight,
            _ => LinkState::WEIGHT,
        };
        let weights = plan.topology.nodes().iter().map(|node| weight(node.end)).collect();
        let config = plan.wlan.clone();
        depends.contains(&true).then_some(Self { config, weights, depends })
    }

    /// Whether the queue of a radio depends on the state of links.
    pub(crate) fn applies_to(&self, radio: RadioId) -> bool {
        self.depends[radio]
    }

    /// The state of a link to a node in this mode, if its frames may have to be sent in a slower
    /// one.
    pub(crate) fn state(&self, station: NodeId, mode: &Mode, slowest: &Mode) -> LinkState {
        let room = self.config.ampdu_room(mode, slowest);
        let expected: BitRate = self.config.expected_throughput(mode);
        LinkState {
            station,
            weight: self.weights[station],
            expected,
            room: Room { frames: room.frames.into(), bytes: room.bytes, overhead: room.overhead },
            airtime: AirtimeEstimate {
                per_kib: kib_duration(mode),
                overhead_us: estimated_overhead_us(mode),
                aggregates: room.frames > 1,
            },
        }
    }
}
