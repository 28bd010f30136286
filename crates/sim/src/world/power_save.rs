//! Power save in a run: which stations save power, and the machines of them and of their access
//! points.

use crate::plan::Plan;
use crate::topology::{RadioId, Topology};
use kernel::{Duration, IdVec, Instant};
use wifi::power_save::{AccessPoint, Held, PowerSaveSettings, Station};
use wire::{Management, Packet, PowerBits, TrafficClass};

/// All stations that save power, and their access points.
#[derive(Debug)]
pub(crate) struct PowerSave {
    pub(super) stations: IdVec<RadioId, Option<Box<Client>>>,
    /// Those with such stations.
    pub(super) access_points: IdVec<RadioId, Option<Box<AccessPoint>>>,
    pub(super) dropped: Vec<Packet>,
    /// Packets in service in whose headers some bits are set.
    pub(super) headers: Vec<(Packet, PowerBits)>,
    /// A node has received the broadcast in service.
    pub(super) is_heard: bool,
}

/// A station that saves power.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) machine: Station,
    pub(super) access_point: RadioId,
    /// The frame that it sends before its packets.
    pub(super) due: Option<Management>,
    /// The frame that is in service, and not a packet.
    pub(super) in_service: Option<Management>,
}

impl Client {
    /// Whether no packet may join what is in service.
    pub(super) fn holds_back(&self) -> bool {
        self.due.is_some() || self.in_service.is_some() || !self.machine.may_send()
    }
}

impl PowerSave {
    /// The stations of a plan that save power, if there are any.
    pub(super) fn new(plan: &Plan) -> Option<Box<Self>> {
        let topology: &Topology = &plan.topology;
        let between = plan.wlan.beacons?.between();
        let dtim_period = plan.wlan.beacons?.dtim_period;
        let radios = topology.radios().len();
        let mut stations = IdVec::from_fn(radios, |_| None);
        let mut members: IdVec<RadioId, Vec<(u32, u8, wifi::power_save::PowerSave, Duration)>> =
            IdVec::filled(radios, Vec::new());
        for (number, station) in plan.stations.iter().enumerate() {
            let Some(settings) = &station.power_save else { continue };
            let rules = settings.get().rules();
            let radio = topology.station(number);
            let access_point = topology.access_point_of(radio);
            let members = &mut members[access_point];
            let aid = members.len() as u8 + 1;
            let interval = rules.listening.listen_interval.unwrap_or(dtim_period);
            members.push((radio.0, aid, rules, between * u64::from(interval)));
            let machine = Station::new(rules, aid);
            let client = Client { machine, access_point, due: None, in_service: None };
            stations[radio] = Some(Box::new(client));
        }
        if stations.iter().all(Option::is_none) {
            return None;
        }
        let access_point = |members: Vec<_>| {
            (!members.is_empty()).then(|| Box::new(AccessPoint::new(members.into_iter())))
        };
        let access_points = members.into_iter().map(access_point).collect();
        Some(Box::new(Self {
            stations,
            access_points,
            dropped: Vec::new(),
            headers: Vec::new(),
            is_heard: false,
        }))
    }

    /// The access points of a plan whose stations roam, which buffer packets for stations that scan
    /// other channels.
    pub(super) fn of_roaming(plan: &Plan) -> Self {
        let topology: &Topology = &plan.topology;
        let radios = topology.radios().len();
        let interval = plan.wlan.beacons.map_or(Duration::ZERO, |beacons| beacons.between());
        let roams = |number: &usize| plan.stations[*number].roaming.is_some();
        let rules = PowerSaveSettings::default().get().rules();
        let members: Vec<_> = (0..plan.stations.len())
            .filter(roams)
            .zip(1..)
            .map(|(number, aid)| (topology.station(number).0, aid, rules, interval))
            .collect();
        let mut access_points = IdVec::from_fn(radios, |_| None);
        for &radio in topology.access_points() {
            let machine = AccessPoint::new(members.iter().copied());
            access_points[radio] = Some(Box::new(machine));
        }
        let stations = IdVec::from_fn(radios, |_| None);
        let (dropped, headers) = Default::default();
        Self { stations, access_points, dropped, headers, is_heard: false }
    }

    pub(super) fn access_point(&mut self, radio: RadioId) -> Option<&mut AccessPoint> {
        self.access_points[radio].as_deref_mut()
    }

    pub(super) fn station(&mut self, radio: RadioId) -> Option<&mut Client> {
        self.stations[radio].as_deref_mut()
    }

    /// The bits in the header of a packet in service.
    pub(super) fn header(&self, packet: &Packet) -> PowerBits {
        let header = self.headers.iter().find(|(other, _)| other == packet);
        header.map_or(PowerBits::NONE, |&(_, bits)| bits)
    }

    /// What a radio may send next to another, beside what it has in service.
    pub(super) fn join(
        &mut self,
        now: Instant,
        by: RadioId,
        to: RadioId,
        class: Option<TrafficClass>,
        most: kernel::Bytes,
    ) -> Join {
        if let Some(client) = self.station(by) {
            if client.holds_back() {
                return Join::Nothing;
            }
            return Join::Queued(client.machine.power_bits());
        }
        match self.access_point(by) {
            Some(access_point) if access_point.precedes(to.0) => {
                let packet = access_point.next_for(now, to.0, class, most);
                packet.map_or(Join::Nothing, Join::Buffered)
            }
            _ => Join::Queued(PowerBits::NONE),
        }
    }

    /// Packets that the access point of this radio buffers.
    pub(crate) fn buffered(&self, radio: RadioId) -> usize {
        self.access_points[radio].as_ref().map_or(0, |access_point| access_point.len())
    }

    /// All packets that are buffered, with the radios of their access points.
    pub(super) fn each(&self) -> impl Iterator<Item = (RadioId, &Packet)> {
        let all = self.access_points.entries();
        let all = all.filter_map(|(radio, it)| Some((radio, it.as_ref()?)));
        all.flat_map(|(radio, access_point)| access_point.each().map(move |it| (radio, it)))
    }

    /// The station at a radio.
    pub(crate) fn machine(&self, radio: RadioId) -> Option<&Station> {
        self.stations[radio].as_ref().map(|client| &client.machine)
    }

    /// What has been buffered for the station at a radio.
    pub(crate) fn held(&self, radio: RadioId) -> Held {
        let access_point = self.stations[radio].as_ref().map(|it| it.access_point);
        let access_point = access_point.and_then(|it| self.access_points[it].as_ref());
        access_point.map_or_else(Held::default, |it| it.held(radio.0))
    }

    /// Broadcasts that the access point of this radio has buffered.
    pub(crate) fn group_held(&self, radio: RadioId) -> u64 {
        self.access_points[radio].as_ref().map_or(0, |it| it.group_held())
    }
}

/// What joins the packets in service.
pub(super) enum Join {
    /// Nothing.
    Nothing,
    /// This packet of the power-save buffer.
    Buffered(Packet),
    /// A packet of the queue, with these bits.
    Queued(PowerBits),
}
