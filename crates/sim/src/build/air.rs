//! Builds the cell: medium, stations, and the rate control.

use crate::medium::Medium;
use crate::plan::{Plan, StationPlan};
use kernel::Seed;
use wifi::Cell;
use wifi::interferer::{InterfererConfig, Interferers};
use wifi::phy::error::ErrorModelSettings;

/// The medium of a plan.
pub(crate) fn medium(plan: &Plan, seed: &Seed) -> Medium {
    let Some(space) = &plan.space else { return Medium::Cell(Box::new(cell(plan, seed))) };
    let mut medium = super::space::space(plan, space, seed);
    if space.is_flat {
        medium.record_airtime();
    }
    if let Some(interferers) = interferers(plan, seed) {
        medium.set_interferers(interferers, configs(plan));
    }
    if let Some(routing) = &plan.routing {
        medium.allow_links();
        if routing.protocol.get().is_promiscuous() {
            medium.overhear();
        }
        return Medium::Space(Box::new(medium));
    }
    for (station, i) in plan.stations.iter().zip(0..) {
        let radio = plan.topology.station(i as usize);
        let (node, access_point) = (radio.0, plan.topology.access_point_of(radio).0);
        let directions: Vec<_> = if space.ad_hoc {
            let peers = medium.peers(node);
            peers.map(|peer| (node, peer, &station.up, "rate.up")).collect()
        } else {
            let down = (access_point, node, &station.down, "rate.down");
            vec![(node, access_point, &station.up, "rate.up"), down]
        };
        for (from, to, rate, purpose) in directions {
            medium.set_mode(from, to, rate.mode());
            let (rule, model) = (rate.control.get(), space.radio.error_model.get());
            if let Some(control) = rule.build(&rate.link, model, seed.stream(purpose, i)) {
                medium.control_rate(from, to, control);
            }
        }
        if is_silent(station) {
            medium.silence(node);
        }
    }
    Medium::Space(Box::new(medium))
}

/// The interferers of a plan, if there are any.
fn interferers(plan: &Plan, seed: &Seed) -> Option<Interferers> {
    let configs = configs(plan);
    let standard = plan.wlan.timing.standard;
    // The widest frames: those in DSSS of 22 MHz, or data frames.
    let lowest = standard.modes[0].width;
    let widths = plan.stations.iter().map(|station| station.up.mode().width);
    let width = widths.max().map_or(lowest, |width| width.max(lowest));
    (!configs.is_empty()).then(|| Interferers::new(&configs, plan.primary_of(0), width, seed))
}

fn configs(plan: &Plan) -> Vec<InterfererConfig> {
    plan.interferers.iter().map(|plan| plan.config.clone()).collect()
}

/// The cell of a plan in which every node hears every other.
fn cell(plan: &Plan, seed: &Seed) -> Cell {
    let mut cell = Cell::new(plan.wlan.clone(), links(plan), seed);
    // If every node hears every other, nothing depends on the signal.
    let model = ErrorModelSettings::default();
    for (station, i) in plan.stations.iter().zip(0..) {
        let radio = plan.topology.station(i as usize);
        let (node, access_point) = (radio.0, plan.topology.access_point_of(radio).0);
        let directions = [
            (node, access_point, &station.up, "rate.up"),
            (access_point, node, &station.down, "rate.down"),
        ];
        for (from, to, rate, purpose) in directions {
            cell.set_mode(from, to, rate.mode());
            let rule = rate.control.get();
            if let Some(control) = rule.build(&rate.link, model.get(), seed.stream(purpose, i)) {
                cell.control_rate(from, to, control);
            }
        }
        if is_silent(station) {
            cell.silence(node);
        }
    }
    cell
}

/// Whether a station sends in answer to Trigger frames only.
fn is_silent(station: &StationPlan) -> bool {
    station.power_save.as_ref().is_some_and(|it| it.get().rules().fetch.is_triggered())
}

/// The links of a cell. Secondary frames have the mode of the access point's other frames.
fn links(plan: &Plan) -> Vec<wifi::Link> {
    plan.stations
        .iter()
        .map(|station| wifi::Link {
            mode: station.down.mode(),
            data_loss: station.data_loss,
            ack_loss: station.ack_loss,
        })
        .collect()
}
