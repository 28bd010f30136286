//! The TBTTs of a run: what the world does at each.

use super::beacons::Beacons;
use super::{Event, World};
use crate::notice::{Notice, Observer};
use crate::plan::Plan;
use crate::topology::RadioId;
use kernel::Seed;
use wifi::MsduOutcome;
use wire::{FrameKind, Management, Packet, TrafficClass};

impl<O: Observer> World<O> {
    /// Schedules the first beacon of each access point.
    pub(super) fn start_beacons(&mut self, plan: &Plan, seed: &Seed) {
        let Some((beacons, first)) = Beacons::new(plan, seed) else { return };
        self.beacons = Some(beacons);
        for (at, access_point) in first.into_iter().zip(0..) {
            self.event_queue.at(at, Event::Tbtt { access_point });
        }
    }

    /// A TBTT of an access point: it schedules a beacon as the next frame.
    pub(super) fn on_tbtt(&mut self, access_point: u32) {
        let Some(beacons) = &mut self.beacons else { return };
        let radio = beacons.radio(access_point);
        if self.power_save.is_some() {
            let (before, period) = beacons.begun(access_point);
            self.sleep_until_tbtt(radio, before, period);
        }
        if self.roaming.is_some() {
            self.tell_clients_of_tbtt(radio);
        }
        let tim = self.tim(radio);
        let Some(beacons) = &mut self.beacons else { return };
        let next = beacons.on_tbtt(self.now, access_point, tim);
        self.event_queue.at(next, Event::Tbtt { access_point });
        if self.cell.is_free_for(radio.0, Management::CLASS) {
            self.send_beacon(radio, Management::CLASS);
        }
    }

    /// Passes the beacon that waits at a radio, if one does, to its MAC. Returns whether it did.
    pub(super) fn send_beacon(&mut self, by: RadioId, class: TrafficClass) -> bool {
        let has_categories = self.cell.has_categories();
        let Some(beacons) = &mut self.beacons else { return false };
        let Some(packet) = beacons.take(by, class, has_categories) else { return false };
        self.observers.on(self.now, &Notice::Beacon { by, packet: &packet });
        self.cell.on_packet(self.now, by.0, packet, None, &mut self.cell_out);
        self.note_contention();
        self.settle_cell();
        true
    }

    /// A radio has sent a frame of the MAC, and takes the next packet.
    pub(super) fn on_management_served(
        &mut self,
        by: RadioId,
        packet: &Packet,
        frame: Management,
        outcome: MsduOutcome,
    ) {
        if let Some(beacons) = self.beacons.as_mut().filter(|_| frame.kind() == FrameKind::Beacon) {
            beacons.on_sent(by);
        }
        self.note_contention();
        if self.power_save.is_some() {
            self.on_frame_served(by, frame, packet.born, outcome);
        }
        if self.roaming.is_some() {
            self.on_association_served(by, frame, outcome);
        }
        if self.cell.is_free_for(by.0, packet.class) {
            self.serve(by, packet.class);
        }
    }
}
