//! What presets set: keys without a value in the scenario that follow from another key.
//!
//! `tcp.endpoint = "linux"` fills in the keys of TCP and of its control that the scenario leaves
//! without a value (`Config::with_endpoint`, `ControlSettings::with_endpoint`), while the scenario
//! is resolved. So each rule of the kernel is a key of its own that can be set by hand, `simoom
//! check` lists what the preset has set by comparing both, and machines ask for rules, not for
//! kernels. Without a key are what the endpoint does in every connection: its clock (`hz`), what
//! counts as a round-trip time, and which acknowledgements let a window grow.

use super::document::Document;
use settings::{Json, Setting, Unit};

/// A key that a preset has set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implied {
    /// The key that chooses the preset.
    pub by: String,
    /// The key that it sets.
    pub path: String,
    /// Its value, as JSON.
    pub value: String,
}

/// What `tcp.endpoint` sets in each table of flows, in the order of the keys.
pub(super) fn of(document: &Document) -> Vec<Implied> {
    let mut found = Vec::new();
    for (n, flow) in document.flows.iter().enumerate() {
        let config = flow.tcp.config.with_endpoint();
        let control = flow.control.clone().with_endpoint(&config);
        let by = format!("flows[{n}].tcp.endpoint");
        let mut add = |path: String, before: Json, after: Json| {
            differences(&path, &before, &after, &mut |path, value| {
                found.push(Implied { by: by.clone(), path, value });
            });
        };
        let written = |config: tcp::Config| config.write(Unit::NONE);
        add(format!("flows[{n}].tcp"), written(flow.tcp.config), written(config));
        let written = |control: &tcp::control::ControlSettings| control.write(Unit::NONE);
        add(format!("flows[{n}].control"), written(&flow.control), written(&control));
    }
    found
}

/// Calls `visit` for each value that differs, with its path.
fn differences(path: &str, before: &Json, after: &Json, visit: &mut dyn FnMut(String, String)) {
    match (before, after) {
        (Json::Object(before), Json::Object(after)) => {
            for (key, value) in after {
                let was = before.get(key).unwrap_or(&Json::Null);
                differences(&format!("{path}.{key}"), was, value, visit);
            }
        }
        _ if before != after => visit(path.to_owned(), after.to_string()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn presets(flow: &str) -> Vec<(String, String)> {
        let text = format!(
            "duration_s = 10\n[[links]]\nfrom = \"a\"\nto = \"b\"\nrate_mbps = 10\n[[flows]]\n\
             from = \"a\"\nto = \"b\"\n{flow}"
        );
        let found = Scenario::parse(&text).unwrap().presets();
        found.into_iter().map(|preset| (preset.path, preset.value)).collect()
    }

    #[test]
    fn the_endpoint_of_linux_sets_rules_of_tcp_and_of_its_control() {
        assert!(presets("control = \"cubic\"").is_empty());
        let found = presets("control = \"cubic\"\ntcp.endpoint = \"linux\"");
        let expected = [
            ("flows[0].tcp.rto_min_ms", "200.0"),
            ("flows[0].tcp.rto_rule", "\"linux\""),
            ("flows[0].tcp.ssthresh_from", "\"window\""),
            ("flows[0].tcp.paws", "true"),
            ("flows[0].tcp.endpoint.linux.compressed_sack", "true"),
            ("flows[0].tcp.endpoint.linux.push", "true"),
            ("flows[0].tcp.endpoint.linux.limit_output_bytes", "4194304"),
            ("flows[0].control.cubic.growth", "\"linux\""),
            ("flows[0].control.cubic.hystart_rule", "\"linux\""),
        ];
        for (path, value) in expected {
            assert!(found.contains(&(path.to_owned(), value.to_owned())), "{path}: {found:?}");
        }
        assert_eq!(found.len(), expected.len(), "{found:?}");
    }

    #[test]
    fn a_rule_that_is_set_by_hand_is_no_preset() {
        let found = presets(
            "control.bbr = { policer = false, even_windows = true }\ntcp.endpoint = \"linux\"",
        );
        let paths: Vec<_> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert!(paths.contains(&"flows[0].control.bbr.conservation"), "{paths:?}");
        assert!(!paths.iter().any(|path| path.ends_with("policer")), "{paths:?}");
        assert!(!paths.iter().any(|path| path.ends_with("even_windows")), "{paths:?}");
    }

    #[test]
    fn the_value_of_the_rfc_that_is_set_by_hand_wins() {
        let by_hand = "control = \"new_reno\"\ntcp.rto_min_ms = 1000.0\n\
            tcp.rto_rule = \"rfc6298\"\ntcp.ssthresh_from = \"flight_size\"\ntcp.paws = false\n\
            tcp.endpoint.linux = { version = \"4.9\", push = true }";
        let found = presets(by_hand);
        let paths: Vec<_> =
            found.iter().map(|(path, _)| path.rsplit_once('.').unwrap().1).collect();
        assert_eq!(paths, ["compressed_sack", "limit_output_bytes"]);
    }
}
