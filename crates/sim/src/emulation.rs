//! A run in which real programs take part: their packets enter while it goes on, and it tells what
//! becomes of them. It knows no clock; the caller binds it to one.

use crate::exits::Left;
use crate::plan::Plan;
use crate::readings::Readings;
use crate::scenario::Issue;
use crate::simulation::Simulation;
use crate::traffic;
use kernel::{Instant, Seed};
use wire::{FlowId, RealPacket};

/// A run in which real programs take part.
#[derive(Debug)]
pub struct Emulation(Simulation);

impl Emulation {
    /// Prepares a run, whose plan has flows of `traffic.port` without a tape.
    ///
    /// # Errors
    /// What such a run must not have, as a congestion control in Python.
    pub fn new(plan: &Plan, seed: Seed) -> Result<Self, Vec<Issue>> {
        let mut simulation = Simulation::new(plan, seed, &[], false)?;
        simulation.world_mut().observers.tell_what_leaves();
        Ok(Self(simulation))
    }

    /// When the next event is due.
    pub fn next_at(&self) -> Option<Instant> {
        self.0.world().event_queue.peek()
    }

    /// Handles all events up to an instant, this one included; `false` at the end of the run.
    pub fn run_until(&mut self, at: Instant) -> bool {
        while self.next_at().is_some_and(|next| next <= at) {
            if !self.0.advance(1) {
                return false;
            }
        }
        true
    }

    /// A packet of a real program enters the network at the sender of a flow. Each packet needs an
    /// instant of its own, after that of the packet before and after all events so far, so that a
    /// tape has one order.
    pub fn offer(&mut self, flow: FlowId, at: Instant, packet: RealPacket) {
        self.0.world_mut().notify_source(flow, traffic::Event::Offered { at, packet });
    }

    /// The packets that have left since the last call.
    pub fn left(&mut self) -> impl Iterator<Item = Left> {
        self.0.world_mut().observers.left().drain(..)
    }

    /// Reads values of the network over the time since they were last read.
    pub fn read(&self, readings: &mut Readings, into: &mut [f64]) {
        self.0.read(readings, into);
    }

    /// The fingerprint of what has happened so far: at an instant, that of a run that ends there.
    pub fn digest(&self) -> u64 {
        self.0.world().observers.digest.value()
    }
}
