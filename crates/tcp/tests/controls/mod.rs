//! Every congestion control with its default settings.

use tcp::control::{Connection, ControlSettings, NewRenoConfig, NoExternal};
use tcp::{Config, Control};
use wire::FlowId;

/// All of the registry that are built here, `NewReno` in two further variants.
pub(crate) fn all() -> Vec<(ControlSettings, bool)> {
    let mut all = ControlSettings::all();
    all.retain(|control| control.get().external().is_none());
    let hystart = NewRenoConfig { hystart: true, ..NewRenoConfig::default() };
    all.push(ControlSettings::NewReno(hystart));
    let mut all: Vec<_> = all.into_iter().map(|control| (control, true)).collect();
    // Counts acknowledgements.
    all.push((ControlSettings::default(), false));
    all
}

/// One of them.
pub(crate) fn make(which: usize, config: &Config) -> Box<dyn Control> {
    let (control, byte_counting) = all().swap_remove(which);
    let config = Config { byte_counting, ..*config };
    control.get().build(&Connection { config: &config, flow: FlowId(0), external: &NoExternal })
}
