//! Settings that change during a run.

use super::World;
use crate::adjustable::Adjustable;
use crate::flow::Transport;
use crate::notice::Observer;
use crate::topology::RadioId;
use tcp::Hint;
use wifi::MacConfig;

impl<O: Observer> World<O> {
    /// From now on, the settings that may change have these values.
    pub(crate) fn adopt(&mut self, wlan: &MacConfig, old: &Adjustable, new: &Adjustable) {
        if new.mac() != old.mac() {
            self.cell.adopt(&new.of(wlan));
        }
        for (station, (old, new)) in old.modes.iter().zip(&new.modes).enumerate() {
            let station = self.topology.station(station);
            let ap = self.access_point_of(station);
            let directions = [(station, ap, old.0, new.0), (ap, station, old.1, new.1)];
            for (from, to, _, mode) in directions.into_iter().filter(|(_, _, old, new)| old != new)
            {
                self.set_mode(from, to, mode);
            }
        }
        let controls = old.controls.iter().zip(&new.controls);
        for (flow, (old, new)) in self.flows.iter_mut().zip(controls) {
            let Transport::Tcp(tcp) = &mut flow.transport else { continue };
            let Some(control) = new.as_ref().filter(|_| old != new) else { continue };
            tcp.plan.control.clone_from(control);
            if let Some(window) = control.get().set_window() {
                tcp.sender.on_hint(self.now, Hint::Window(window));
            }
        }
    }

    fn set_mode(&mut self, from: RadioId, to: RadioId, mode: wifi::phy::Mode) {
        self.cell.set_mode(from.0, to.0, mode);
        self.on_mode(from, to, &mode, &mode);
    }
}
