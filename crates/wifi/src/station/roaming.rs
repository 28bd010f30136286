//! Stations that change their access points: their machines, and the frames that radios send for it
//! before their packets.

use super::{Command, Function, Join, Next, Scope, Site, Surroundings};
use crate::mac::MsduOutcome;
use crate::roaming::{self, Client};
use kernel::{Dbm, Instant};
use std::collections::VecDeque;
use wire::{Authentication, DropCause, Management, ReassociationResponse, TrafficClass};

/// All stations that change their access points.
#[derive(Debug)]
pub struct Clients {
    /// By radio.
    all: Vec<Option<Box<Client>>>,
    /// The frames that each radio sends before its packets, and their receivers.
    due: Vec<VecDeque<(u32, Management)>>,
    /// Whether such a frame is in service.
    in_service: Vec<bool>,
    /// What a station commands at one event.
    given: Vec<roaming::Command>,
}

impl Clients {
    /// Those of so many radios; `None` without such a station.
    pub fn new(radios: usize, clients: impl Iterator<Item = (u32, Client)>) -> Option<Self> {
        let mut all: Vec<Option<Box<Client>>> = (0..radios).map(|_| None).collect();
        for (radio, client) in clients {
            all[radio as usize] = Some(Box::new(client));
        }
        all.iter().any(Option::is_some).then(|| Self {
            all,
            due: vec![VecDeque::new(); radios],
            in_service: vec![false; radios],
            given: Vec::new(),
        })
    }

    /// The station of a radio, if it roams.
    pub fn get(&self, radio: u32) -> Option<&Client> {
        self.all[radio as usize].as_deref()
    }

    /// The radios of the stations that roam.
    fn radios(&self) -> impl Iterator<Item = u32> + use<> {
        let clients = self.all.iter().zip(0..).filter(|(client, _)| client.is_some());
        clients.map(|(_, radio)| radio).collect::<Vec<_>>().into_iter()
    }

    /// What a radio sends next, if that is no packet.
    pub(super) fn next(
        &mut self,
        now: Instant,
        by: u32,
        class: TrafficClass,
        site: &Site,
    ) -> Option<Next> {
        if site.precedes(class)
            && let Some((to, frame)) = self.due[by as usize].pop_front()
        {
            self.in_service[by as usize] = true;
            return Some(Next::frame(now, by, to, frame, site));
        }
        self.is_silent(by).then_some(Next::Nothing)
    }

    /// Whether nothing joins the packets that a radio has in service.
    pub(super) fn join(&self, by: u32, class: TrafficClass, site: &Site) -> Option<Join> {
        let own = self.in_service[by as usize] || !self.due[by as usize].is_empty();
        (own && site.precedes(class) || self.is_silent(by)).then_some(Join::Nothing)
    }

    /// Whether a radio is that of a station which sends no packets now.
    fn is_silent(&self, by: u32) -> bool {
        self.get(by).is_some_and(|client| !client.may_send())
    }

    /// Whether packets from an access point to the station of a radio cannot arrive now, because
    /// the station scans or has turned to another access point.
    pub(super) fn misses(&self, access_point: u32, station: u32) -> bool {
        let misses =
            |client: &Client| !client.may_send() || client.access_point() != Some(access_point);
        self.get(station).is_some_and(misses)
    }

    /// Passes an event to the station of a radio, if it roams.
    fn at(
        &mut self,
        station: u32,
        scope: &mut Scope<'_>,
        event: impl FnOnce(&mut Client, Instant, &mut Vec<roaming::Command>),
    ) {
        let Some(client) = self.all[station as usize].as_deref_mut() else { return };
        let (before, forward) = (client.own(), client.rules().forward);
        event(client, scope.now, &mut self.given);
        let cause = DropCause::Roaming;
        for command in self.given.drain(..) {
            scope.out.push(match command {
                roaming::Command::Set(ticket) => {
                    Command::Schedule { radio: station, function: Function::Roaming, ticket }
                }
                roaming::Command::Tune(channel) => Command::Tune { radio: station, channel },
                roaming::Command::Turn { from, to } => Command::Turn { station, from, to, cause },
                roaming::Command::Send(to, frame) => {
                    self.due[station as usize].push_back((to, frame));
                    continue;
                }
                roaming::Command::Associated(to) => {
                    let lost = Some(cause).filter(|_| !forward);
                    Command::Associated { station, from: before, to, lost }
                }
            });
        }
        scope.out.push(Command::Serve(station, None));
    }

    /// The timer of a station has expired.
    pub(super) fn on_timer(
        &mut self,
        radio: u32,
        generation: u32,
        around: &Surroundings,
        scope: &mut Scope<'_>,
    ) {
        self.at(radio, scope, |client, now, out| {
            client.on_timer(now, generation, around.is_at_rest, &around.heard, out);
        });
    }

    /// A TBTT of an access point.
    pub(super) fn on_tbtt(&mut self, access_point: u32, scope: &mut Scope<'_>) {
        for radio in self.radios() {
            self.at(radio, scope, |client, now, out| client.on_tbtt(now, access_point, out));
        }
    }

    /// A radio has received a frame of the MAC, a beacon with this signal.
    pub(super) fn on_frame(
        &mut self,
        by: u32,
        from: u32,
        frame: Management,
        signal: Option<Dbm>,
        scope: &mut Scope<'_>,
    ) {
        let answer = match frame {
            Management::Beacon(_) => {
                let Some(signal) = signal else { return };
                return self.at(by, scope, |it, now, out| it.on_beacon(now, from, signal, out));
            }
            Management::Authentication(Authentication { transaction: 1 }) => {
                Management::Authentication(Authentication { transaction: 2 })
            }
            Management::ReassociationRequest(_) => {
                Management::ReassociationResponse(ReassociationResponse)
            }
            Management::Authentication(_) | Management::ReassociationResponse(_) => {
                return self.at(by, scope, |it, now, out| it.on_frame(now, from, frame, out));
            }
            _ => return,
        };
        self.due[by as usize].push_back((from, answer));
        scope.out.push(Command::Serve(by, None));
    }

    /// The service of a frame of the MAC, which is no beacon, has ended.
    pub(super) fn on_frame_served(
        &mut self,
        by: u32,
        frame: Management,
        outcome: MsduOutcome,
        scope: &mut Scope<'_>,
    ) {
        self.in_service[by as usize] = false;
        let arrived = outcome == MsduOutcome::Sent;
        self.at(by, scope, |it, now, out| it.on_sent(now, frame, arrived, out));
        scope.out.push(Command::Serve(by, None));
    }
}
