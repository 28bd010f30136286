//! The texts of events, each of which is written once and then referred to by its number.

use super::packets::Packets;
use super::schema::interned;
use crate::{DropCause, FrameKind, FrameMode, FrameOutcome, Network, RouteStep, words};
use std::collections::BTreeMap;
use std::io;
use wire::{FlowId, NodeId, PathId, Paths, TrafficClass};

/// The name of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    Frame { kind: FrameKind, to: Option<u32>, outcome: FrameOutcome },
    Backoff,
    Defer,
    Nav,
    BusyTone,
    Drop(DropCause),
    Mark,
    Retransmission,
    Route { destination: NodeId, step: RouteStep },
}

impl Name {
    fn text(self, network: &Network) -> String {
        let (kind, to, outcome) = match self {
            Self::Frame { kind, to, outcome } => (kind, to, outcome),
            Self::Backoff => return "back-off".into(),
            Self::Defer => return "defer".into(),
            Self::Nav => return "NAV".into(),
            Self::BusyTone => return "busy tone".into(),
            Self::Drop(cause) => return cause.name().into(),
            Self::Mark => return "ECN mark".into(),
            Self::Retransmission => return "retransmission".into(),
            Self::Route { destination, step } => {
                return route(&network.nodes[destination].name, step);
            }
        };
        let to = to.map_or("all", |radio| &network.radios[radio as usize].name);
        let kind = kind.name();
        match outcome {
            FrameOutcome::NotAddressed => kind.into(),
            FrameOutcome::Received => format!("{kind} to {to}"),
            FrameOutcome::Lost(_) | FrameOutcome::Unknown => {
                format!("{kind} to {to}: {}", outcome.name())
            }
        }
    }
}

/// A text that is the value of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Text {
    Mode {
        format: &'static str,
        kbps: u64,
        mcs: Option<u8>,
        streams: u8,
        width_mhz: u16,
        tones: Option<u16>,
        /// A bit for each subchannel that is punctured.
        punctured: u16,
    },
    Class(TrafficClass),
    Radio(u32),
    Flow(u32),
    Path(PathId),
}

impl From<&FrameMode> for Text {
    fn from(mode: &FrameMode) -> Self {
        let FrameMode { format, rate, mcs, streams, width_mhz, tones, punctured, .. } = *mode;
        let punctured = punctured.map_or(0, |channels| channels.subchannels);
        let kbps = rate.0 / 1000;
        Self::Mode { format: format.name(), kbps, mcs, streams, width_mhz, tones, punctured }
    }
}

impl Text {
    fn text(self, network: &Network, paths: &Paths) -> String {
        match self {
            Self::Mode { format, kbps, mcs, streams, width_mhz, tones, punctured } => {
                let rate = format!("{} Mb/s", kbps as f64 / 1000.0);
                match mcs {
                    None => format!("{format} {rate}"),
                    Some(mcs) => format!(
                        "{format} MCS {mcs}, {streams} stream{}, {}, {rate}",
                        if streams == 1 { "" } else { "s" },
                        match tones {
                            Some(tones) => format!("{tones} of the tones of {width_mhz} MHz"),
                            None if punctured != 0 => {
                                format!("{width_mhz} MHz without {}", words::subchannels(punctured))
                            }
                            None => format!("{width_mhz} MHz"),
                        }
                    ),
                }
            }
            Self::Class(class) => words::class_name(class).into(),
            Self::Radio(radio) => network.radios[radio as usize].name.clone(),
            Self::Flow(flow) => network.flows[FlowId(flow)].name.clone(),
            Self::Path(path) => {
                let name = |&node: &NodeId| &network.nodes[node].name[..];
                paths.nodes(path).iter().map(name).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// What happens to the route to a node, or to the link to it.
fn route(to: &str, step: RouteStep) -> String {
    match step {
        RouteStep::Changed { hops: None } => format!("no route to {to}"),
        RouteStep::Changed { hops: Some(1) } => format!("route to {to}: 1 hop"),
        RouteStep::Changed { hops: Some(hops) } => format!("route to {to}: {hops} hops"),
        RouteStep::Discovered => format!("route to {to} found"),
        RouteStep::Failed => format!("route to {to} failed"),
        RouteStep::Restored => format!("route to {to} restored"),
        RouteStep::LinkFailed { in_range: false } => format!("link to {to} failed"),
        RouteStep::LinkFailed { in_range: true } => format!("link to {to} failed in range"),
    }
}

/// The texts that have been written, with their numbers.
#[derive(Debug, Default)]
pub(super) struct Names {
    events: BTreeMap<Name, u64>,
    texts: BTreeMap<Text, u64>,
    /// The lists of nodes to which packets refer.
    pub(super) paths: Paths,
}

impl Names {
    /// The number of a name.
    pub(super) fn name<W: io::Write>(
        &mut self,
        name: Name,
        network: &Network,
        packets: &mut Packets<W>,
    ) -> io::Result<u64> {
        number(&mut self.events, name, interned::EVENT_NAMES, || name.text(network), packets)
    }

    /// The number of a value.
    pub(super) fn text<W: io::Write>(
        &mut self,
        text: Text,
        network: &Network,
        packets: &mut Packets<W>,
    ) -> io::Result<u64> {
        let value = || text.text(network, &self.paths);
        number(&mut self.texts, text, interned::ANNOTATION_STRINGS, value, packets)
    }
}

fn number<K: Copy + Ord, W: io::Write>(
    known: &mut BTreeMap<K, u64>,
    key: K,
    list: u64,
    text: impl FnOnce() -> String,
    packets: &mut Packets<W>,
) -> io::Result<u64> {
    if let Some(&iid) = known.get(&key) {
        return Ok(iid);
    }
    let iid = known.len() as u64 + 1;
    known.insert(key, iid);
    packets.intern(list, iid, &text())?;
    Ok(iid)
}
