//! Roaming in a run: the machines of the stations that change their access points, and the frames
//! that radios send for it.

use crate::plan::Plan;
use crate::topology::RadioId;
use kernel::IdVec;
use std::collections::VecDeque;
use wifi::roaming::Client;
use wire::{Management, TrafficClass};

/// All stations that change their access points.
#[derive(Debug)]
pub(crate) struct Roaming {
    clients: IdVec<RadioId, Option<Box<Client>>>,
    /// The frames that each radio sends before its packets, and their receivers.
    due: IdVec<RadioId, VecDeque<(RadioId, Management)>>,
    /// Whether such a frame is in service.
    in_service: IdVec<RadioId, bool>,
}

impl Roaming {
    /// The stations of a plan that change their access points, if there are any.
    pub(super) fn new(plan: &Plan) -> Option<Box<Self>> {
        let space = plan.space.as_ref()?;
        let topology = &plan.topology;
        let channel = |cell: &RadioId| space.cells[topology.radio(*cell).cell as usize].channel;
        let access_points = topology.access_points().iter();
        let access_points: Vec<(u32, u16)> =
            access_points.map(|radio| (radio.0, channel(radio))).collect();
        let radios = topology.radios().len();
        let mut clients = IdVec::from_fn(radios, |_| None);
        for (number, station) in plan.stations.iter().enumerate() {
            let Some(rules) = station.roaming else { continue };
            let radio = topology.station(number);
            let own = topology.access_point_of(radio).0;
            let client = Client::new(rules, own, access_points.clone());
            clients[radio] = Some(Box::new(client));
        }
        let due = IdVec::filled(radios, VecDeque::new());
        let any = clients.iter().any(Option::is_some);
        any.then(|| Box::new(Self { clients, due, in_service: IdVec::filled(radios, false) }))
    }

    /// The station of a radio, if it roams.
    pub(crate) fn client(&self, radio: RadioId) -> Option<&Client> {
        self.clients[radio].as_deref()
    }

    pub(super) fn client_mut(&mut self, radio: RadioId) -> Option<&mut Client> {
        self.clients[radio].as_deref_mut()
    }

    /// The radios of the stations that roam.
    pub(super) fn radios(&self) -> impl Iterator<Item = RadioId> + use<> {
        let clients = self.clients.entries().filter(|(_, client)| client.is_some());
        clients.map(|(radio, _)| radio).collect::<Vec<_>>().into_iter()
    }

    /// A radio sends this frame to another one, before its packets.
    pub(super) fn push(&mut self, by: RadioId, to: RadioId, frame: Management) {
        self.due[by].push_back((to, frame));
    }

    /// Removes and returns the frame that a radio sends before packets of this class.
    pub(super) fn take(
        &mut self,
        by: RadioId,
        class: TrafficClass,
        has_categories: bool,
    ) -> Option<(RadioId, Management)> {
        let next = self.due[by].pop_front_if(|_| class == Management::CLASS || !has_categories)?;
        self.in_service[by] = true;
        Some(next)
    }

    /// The service of such a frame has ended.
    pub(super) fn on_served(&mut self, by: RadioId) {
        self.in_service[by] = false;
    }

    /// Whether a radio sends no packets, or none beside what it has in service.
    pub(super) fn holds_back(
        &self,
        by: RadioId,
        class: TrafficClass,
        has_categories: bool,
    ) -> bool {
        let own = self.in_service[by] || !self.due[by].is_empty();
        own && (class == Management::CLASS || !has_categories) || self.is_silent(by)
    }

    /// Whether a radio is that of a station which sends no packets now.
    pub(super) fn is_silent(&self, by: RadioId) -> bool {
        self.client(by).is_some_and(|client| !client.may_send())
    }

    /// Whether packets from an access point to the station of a radio cannot arrive now, because
    /// the station scans or has turned to another access point.
    pub(super) fn misses(&self, access_point: RadioId, station: RadioId) -> bool {
        let misses =
            |client: &Client| !client.may_send() || client.access_point() != Some(access_point.0);
        self.client(station).is_some_and(misses)
    }
}
