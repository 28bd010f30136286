//! OFDMA of access points that leave out what of their channel was busy before their TXOP.

use crate::common::{number, run, run_with};
use sim::Run;

/// Three stations of 802.11ax with saturated downloads at MCS 5 in a channel of this width from
/// channel 36 on, and a station of 20 MHz in another channel that sends all the time, 12 m away.
fn text(width: u32, channel: u32, keys: &str) -> String {
    format!(
        "standard = '11ax'\nduration_s = 0.4\nradio = {{}}\nap.channel = 36\n\
         [wlan]\nwidth_mhz = {width}\nmcs = 5\nbandwidth_operation = 'punctured'\n{keys}\n\
         [[cells]]\nposition_m = [12.0, 0.0]\nchannel = {channel}\n\
         [[stations]]\ncount = 3\nring_m = 3.0\n\
         [[stations]]\ncell = 1\nwidth_mhz = 20\nposition_m = [15.0, 0.0]\n\
         [[flows]]\nfrom = 'ap'\nto = 'sta0-2'\ntraffic = 'saturated'\n\
         [[flows]]\nfrom = 'sta3'\nto = 'server'\ntraffic = 'saturated'\n"
    )
}

const MU: &str = "mu = {}";

/// PPDUs of the wide network: all, punctured, narrower.
fn ppdus(run: &Run) -> [f64; 3] {
    ["ppdus", "punctured_ppdus", "narrower_ppdus"].map(|name| number(run, &format!("ap.{name}")))
}

/// What flows to the three stations have, and that of the neighbour.
fn goodputs(run: &Run) -> [f64; 2] {
    let of = |flow: u32| number(run, &format!("flows[{flow}].goodput_mbps"));
    [of(0) + of(1) + of(2), of(3)]
}

/// Resource units of 242 tones each, where of 80 MHz 60 remain: the secondary 20 MHz (HE-SIG-A
/// tells it as 4), or one of the secondary 40 (5). In the whole channel, where the neighbour was
/// silent, two stations have 484 tones each.
#[test]
fn each_station_has_a_resource_unit_beside_what_is_busy() {
    for channel in [40, 44, 48] {
        let found = run(&text(80, channel, MU));
        let [all, punctured, narrower] = ppdus(&found);
        assert!(punctured > 0.8 * all && narrower == 0.0, "{channel}: {all} {punctured}");
        let users = number(&found, "ap.mu.users_per_ppdu");
        let whole = (all - punctured) / all;
        assert!((users - (3.0 - whole)).abs() < 1e-9, "{channel}: {users} {whole}");
        let shares = [3.0 * (1.0 - whole), 2.0 * whole].map(|share| share / users);
        let tones = number(&found, "ap.mu.tones");
        let expected = 242.0 * shares[0] + 484.0 * shares[1];
        assert!((tones - expected).abs() < 1e-9, "{channel}: {tones} {expected}");
    }
}

/// It has more than by waiting and than in a narrower channel, and the neighbour as much as with
/// that.
#[test]
fn both_networks_gain() {
    let of = |operation: &str| goodputs(&run(&text(80, 48, MU).replace("punctured", operation)));
    let [[punctured, beside], [dynamic, other], [waits, kept]] =
        ["punctured", "dynamic", "static"].map(of);
    assert!(punctured > 1.3 * dynamic && punctured > 1.2 * waits, "{punctured} {dynamic} {waits}");
    assert!(beside > 1.5 * kept && (beside / other - 1.0).abs() < 0.1, "{beside} {other} {kept}");
}

/// With 160 MHz a neighbour of 40 MHz in 52 and 56 leaves 996+484 tones: two stations have one of
/// these each, or three have 484.
#[test]
fn of_160_mhz_40_can_be_left_out() {
    let found = run(&text(160, 52, MU).replace("width_mhz = 20", "width_mhz = 40"));
    let [all, punctured, _] = ppdus(&found);
    assert!(punctured > 0.8 * all, "{all} {punctured}");
    let tones = number(&found, "ap.mu.tones");
    assert!((484.0..600.0).contains(&tones), "{tones}");
}

/// A PPDU to one station is not punctured, but in the widest channel that was idle.
#[test]
fn a_station_served_alone_has_a_narrower_channel() {
    let alone = text(80, 40, MU).replace("count = 3", "count = 1").replace("sta0-2", "sta0");
    let alone = alone.replace("sta3", "sta1");
    let [all, punctured, narrower] = ppdus(&run(&alone));
    assert!(narrower > 0.8 * all && punctured == 0.0, "{all} {punctured} {narrower}");
    // As an HE MU PPDU, too: what is left of the channel are two resource units, and a single one
    // would leave the other empty.
    let [_, punctured, narrower] = ppdus(&run(&alone.replace(MU, "mu = { min_users = 1 }")));
    assert!(narrower > 0.0 && punctured == 0.0, "{punctured} {narrower}");
}

/// All acknowledgement sequences, with what precedes them, and triggered uplinks. The checker sees
/// that no frame, and no answer, is in what was busy.
#[test]
fn answers_leave_out_the_same() {
    for how in ["bar_chain", "mu_bar", "aggregated_mu_bar"] {
        for protection in ["none", "mu_rts"] {
            let keys = format!("mu = {{ acknowledgement = '{how}', protection = '{protection}' }}");
            let found = run(&text(80, 48, &keys));
            let [all, punctured, _] = ppdus(&found);
            assert!(punctured > 0.5 * all, "{how} {protection}: {all} {punctured}");
            assert!(goodputs(&found)[0] > 100.0, "{how} {protection}: {:?}", goodputs(&found));
        }
    }
}

/// Stations that are triggered have resource units beside what was busy at the access point. A
/// neighbour that was silent a PIFS before then transmits into their answers.
#[test]
fn triggered_stations_leave_out_what_was_busy() {
    for (scheduler, random) in [("round_robin", ""), ("backlog", "random_access = {}")] {
        let keys = format!("mu = {{ scheduler = '{scheduler}', uplink = {{ {random} }} }}");
        let up =
            text(80, 48, &keys).replace("from = 'ap'\nto = 'sta0-2'", "from = 'sta0-2'\nto = 'ap'");
        let by = |operation: &str| goodputs(&run_with(&up.replace("punctured", operation), 2, &[]));
        let [[punctured, beside], [waits, kept]] = ["punctured", "static"].map(by);
        assert!(punctured > 60.0 && beside > 1.5 * kept, "{punctured} {beside} {waits} {kept}");
    }
}

/// Where all that waits fits, and where single MPDUs are lost, in some cases the MU-BAR.
#[test]
fn a_mu_bar_is_one_of_the_256_mpdus_of_an_a_mpdu() {
    let text = "standard = '11ax'\nduration_s = 0.3\nradio = {}\n\
        wlan = { width_mhz = 160, mcs = 9, mu = { acknowledgement = 'aggregated_mu_bar' } }\n\
        stations = { count = 2, ring_m = 3.0 }\n\
        [[flows]]\nfrom = 'ap'\nto = 'sta*'\n\
        traffic = { saturated = { payload_bytes = 200 } }\n";
    let found = run(text);
    let mpdus = number(&found, "ap.mu.mpdus_per_user");
    assert!((240.0..=255.0).contains(&mpdus), "{mpdus}");
    let lossy = text.replace("ring_m = 3.0", "ring_m = 3.0, data_loss = 0.005");
    for seed in 1..=3 {
        let found = run_with(&lossy, seed, &[]);
        assert!(number(&found, "flows[0].goodput_mbps") > 1.0);
    }
}
