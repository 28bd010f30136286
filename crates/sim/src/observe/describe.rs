//! The catalogue in machine-readable form.

use super::catalogue::CATALOGUE;
use super::observable::{Kind, Observable, PARTS};
use super::place::Place;
use serde_json::{Value as Json, json};

/// The catalogue as JSON: an array with an object for each observable, in the order of the summary.
///
/// `places` are the beginnings of its paths, and `name` is their end; `[i]` stands for a number.
/// `parts` are the statistics of a distribution of delays: the heading of the mean is that of the
/// delay itself, and the first counts the delays. `only` names the subjects that have it, and
/// `result_only` those that have it as a result.
pub fn observables() -> String {
    let all = CATALOGUE.iter().flat_map(|group| {
        let places: Vec<_> = group.places.iter().copied().map(Place::pattern).collect();
        group.observables.iter().map(move |observable| described(observable, &places))
    });
    Json::Array(all.collect()).to_string()
}

fn described(observable: &Observable, places: &[&str]) -> Json {
    let end = if matches!(observable.kind, Kind::Fractions(_)) { "[i]" } else { "" };
    let last = match observable.kind {
        Kind::Last(_, condition) => Some(condition.says),
        _ => None,
    };
    let mut description = json!({
        "places": places,
        "name": format!("{}{end}", observable.name),
        "unit": observable.unit,
        "heading": observable.heading(),
        "meaning": observable.meaning(),
        "only": observable.only.map(|condition| condition.says),
        "result_only": last,
        "result": observable.is_result(),
        "probe": observable.probe().is_some(),
        "formerly": Some(observable.formerly).filter(|name| !name.is_empty()),
    });
    if let Kind::Delays { title, of, .. } = observable.kind {
        description["title"] = title.into();
        description["of"] = of.into();
        description["parts"] = PARTS.map(|(part, _)| part).to_vec().into();
    }
    description
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::at;
    use settings::Unit;
    use std::collections::BTreeSet;

    #[test]
    fn every_observable_says_what_it_is() {
        for observable in CATALOGUE.iter().flat_map(|group| group.observables) {
            let (name, says) = (observable.name, observable.meaning());
            assert!(!observable.unit.is_empty(), "{name}");
            assert!(says.ends_with('.') && says.len() > 8, "{name}: {says}");
            assert!(observable.is_result() || observable.probe().is_some(), "{name}");
            assert!(observable.only.is_none_or(|condition| !condition.says.is_empty()), "{name}");
        }
    }

    #[test]
    fn a_place_has_a_name_once_and_no_former_name_again() {
        for place in CATALOGUE.iter().flat_map(|group| group.places) {
            let mut seen = BTreeSet::new();
            let former = at(*place).map(|observable| observable.formerly);
            for name in at(*place).map(|observable| observable.name).chain(former) {
                assert!(name.is_empty() || seen.insert(name), "{}.{name}", place.pattern());
            }
        }
    }

    #[test]
    fn a_unit_in_a_name_is_the_unit() {
        for observable in CATALOGUE.iter().flat_map(|group| group.observables) {
            let name = observable.name.strip_suffix(".mean").unwrap_or(observable.name);
            let symbol = Unit::of(name).symbol().trim();
            let unit = if name.ends_with("_per_s") { "" } else { symbol };
            assert!(unit.is_empty() || unit == observable.unit, "{name}: {}", observable.unit);
        }
    }
}
