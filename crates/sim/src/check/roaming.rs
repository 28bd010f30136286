//! Checks stations that roam: data frames are only between a station and the access point with
//! which it is associated, in the channel of that access point, and no access point sends data to a
//! station that another one has accepted.

use super::rule::rule;
use crate::medium::Medium;
use crate::notice::{Notice, StationNote};
use crate::plan::Plan;
use crate::topology::{RadioId, Topology};
use kernel::{Duration, Instant};
use std::sync::Arc;
use wire::FrameKind;

/// An exchange that has begun may still end: after the longest control frame and a SIFS comes data.
const EXCHANGE: Duration = Duration::from_micros(500);

/// The records of a station that roams.
#[derive(Debug)]
struct Station {
    radio: RadioId,
    /// The access point that has accepted it last.
    access_point: RadioId,
    /// When it did so.
    since: Instant,
    /// It has begun to change to another one.
    has_left: bool,
    channel: u16,
}

/// The records of all stations that roam.
#[derive(Debug)]
pub(super) struct Roaming {
    topology: Arc<Topology>,
    stations: Vec<Station>,
    /// The channel of each access point, by cell.
    channels: Vec<u16>,
}

impl Roaming {
    /// The records of a plan in which stations roam.
    pub(super) fn new(plan: &Plan) -> Option<Self> {
        let (topology, space) = (&plan.topology, plan.space.as_ref()?);
        let channels: Vec<u16> = space.cells.iter().map(|cell| cell.channel).collect();
        let station = |number: usize| {
            let radio = topology.station(number);
            let access_point = topology.access_point_of(radio);
            let channel = channels[topology.radio(access_point).cell as usize];
            Station { radio, access_point, since: Instant::ZERO, has_left: false, channel }
        };
        let roams = |number: &usize| plan.stations[*number].roaming.is_some();
        let stations: Vec<_> = (0..plan.stations.len()).filter(roams).map(station).collect();
        let topology = Arc::clone(topology);
        (!stations.is_empty()).then_some(Self { topology, stations, channels })
    }

    pub(super) fn on(&mut self, now: Instant, notice: &Notice<'_>) {
        match *notice {
            Notice::Station(StationNote::Tuned { radio, channel }) => {
                if let Some(station) = self.station(radio) {
                    station.channel = channel;
                }
            }
            Notice::Station(StationNote::Left { station, .. }) => {
                if let Some(station) = self.station(station) {
                    station.has_left = true;
                }
            }
            Notice::Station(StationNote::Associated { station, with }) => {
                if let Some(station) = self.station(station) {
                    rule(now, station.has_left, "a station leaves before it changes", String::new);
                    if station.access_point != with {
                        station.since = now;
                    }
                    (station.access_point, station.has_left) = (with, false);
                }
            }
            Notice::Dequeued { by, to: Some(to), .. } => self.on_data(now, by, to),
            Notice::Air { medium: Medium::Space(space), .. } => {
                for frame in space.on_air().filter(|frame| frame.start == now) {
                    let is_data = frame.kind == FrameKind::Data
                        && !space.sends_management(frame.from, frame.edcaf);
                    if let Some(to) = frame.to.filter(|_| is_data) {
                        self.on_frame(now, RadioId(frame.from), RadioId(to));
                    }
                }
            }
            _ => {}
        }
    }

    fn station(&mut self, radio: RadioId) -> Option<&mut Station> {
        self.stations.iter_mut().find(|station| station.radio == radio)
    }

    /// A data frame begins, for the first time or again.
    fn on_frame(&self, now: Instant, by: RadioId, to: RadioId) {
        let gone = self.stations.iter().find(|station| {
            station.radio == to && station.access_point != by && now > station.since + EXCHANGE
        });
        rule(now, gone.is_none(), "no data is sent to a station that has left", || {
            format!("{by:?} to {gone:?}")
        });
    }

    /// Data between two radios enters service.
    fn on_data(&self, now: Instant, by: RadioId, to: RadioId) {
        let told = || format!("{by:?} to {to:?}: {:?}", self.stations);
        for station in &self.stations {
            let with = match station.radio {
                radio if radio == by => to,
                radio if radio == to => by,
                _ => continue,
            };
            let is_own = station.access_point == with;
            rule(now, is_own, "data is between a station and its access point", told);
            let channel = self.channels[self.topology.radio(with).cell as usize];
            let is_there = !station.has_left && station.channel == channel;
            rule(
                now,
                station.radio != by || is_there,
                "a station that is away sends no data",
                told,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use kernel::Bytes;
    use wire::{Body, Datagram, FlowId, NodeId, Packet};

    const NOW: Instant = Instant(5);
    const FIRST: RadioId = RadioId(0);
    const STATION: RadioId = RadioId(1);
    const SECOND: RadioId = RadioId(2);

    /// A station in the first of two cells.
    fn scene() -> Roaming {
        let text = "standard = '11n'\nwlan.beacons = {}\nradio = {}\nap.channel = 36\n\
                    cells = [{ position_m = [50.0, 0.0], channel = 52 }]\n\
                    flows = [{ from = 'ap', to = 'sta0' }]\n\
                    [stations]\nroaming = {}\n\
                    waypoints = [{ at_s = 0.0, position_m = [1.0, 0.0] }, \
                    { at_s = 9.0, position_m = [20.0, 0.0] }]\n";
        Roaming::new(&Scenario::parse(text).unwrap().resolve().unwrap()).unwrap()
    }

    fn send(roaming: &mut Roaming, by: RadioId, to: RadioId) {
        let body = Body::Datagram(Datagram { flow: FlowId(0), number: 0, len: 100, stream: 0 });
        let packet = &Packet::new(NodeId(0), Some(NodeId(1)), Bytes(128), NOW, body);
        roaming.on(NOW, &Notice::Dequeued { by, to: Some(to), packet });
    }

    fn change(roaming: &mut Roaming) {
        roaming.on(NOW, &Notice::Station(StationNote::Tuned { radio: STATION, channel: 52 }));
        roaming.on(NOW, &Notice::Station(StationNote::Left { station: STATION, towards: SECOND }));
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        let roaming = &mut scene();
        send(roaming, FIRST, STATION);
        send(roaming, STATION, FIRST);
        change(roaming);
        send(roaming, FIRST, STATION);
        roaming
            .on(NOW, &Notice::Station(StationNote::Associated { station: STATION, with: SECOND }));
        send(roaming, SECOND, STATION);
        send(roaming, STATION, SECOND);
    }

    #[test]
    #[should_panic(expected = "data is between a station and its access point")]
    fn data_of_another_access_point_is_found() {
        send(&mut scene(), SECOND, STATION);
    }

    #[test]
    #[should_panic(expected = "data is between a station and its access point")]
    fn data_of_the_access_point_before_is_found() {
        let roaming = &mut scene();
        change(roaming);
        roaming
            .on(NOW, &Notice::Station(StationNote::Associated { station: STATION, with: SECOND }));
        send(roaming, FIRST, STATION);
    }

    #[test]
    fn an_exchange_that_has_begun_ends() {
        let roaming = &mut scene();
        change(roaming);
        roaming.on_frame(Instant(9_000_000_000), FIRST, STATION);
        roaming
            .on(NOW, &Notice::Station(StationNote::Associated { station: STATION, with: SECOND }));
        roaming.on_frame(NOW + EXCHANGE, FIRST, STATION);
        roaming.on_frame(Instant(9_000_000_000), SECOND, STATION);
    }

    #[test]
    #[should_panic(expected = "no data is sent to a station that has left")]
    fn a_frame_to_a_station_that_has_left_is_found() {
        let roaming = &mut scene();
        change(roaming);
        roaming
            .on(NOW, &Notice::Station(StationNote::Associated { station: STATION, with: SECOND }));
        roaming.on_frame(NOW + EXCHANGE + Duration(1), FIRST, STATION);
    }

    #[test]
    #[should_panic(expected = "a station that is away sends no data")]
    fn data_in_another_channel_is_found() {
        let roaming = &mut scene();
        roaming.on(NOW, &Notice::Station(StationNote::Tuned { radio: STATION, channel: 52 }));
        send(roaming, STATION, FIRST);
    }

    #[test]
    #[should_panic(expected = "a station leaves before it changes")]
    fn a_change_without_frames_is_found() {
        scene()
            .on(NOW, &Notice::Station(StationNote::Associated { station: STATION, with: SECOND }));
    }
}
