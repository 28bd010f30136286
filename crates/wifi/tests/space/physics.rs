//! What nodes do to each other that do not all hear each other.

use crate::drive::{Driver, MsduReport};
use crate::network::{link, mac};
use kernel::{BitRate, Bytes, Db, Dbm, Duration, Instant, Seed};
use wifi::MacConfig;
use wifi::mac::SlotGrid;
use wifi::phy::error::{ErrorModel, Nist, Threshold};
use wifi::phy::propagation::{LogDistance, Position};
use wifi::phy::{DOT11A, DOT11B, Mode, Standard};
use wifi::space::{Losses, Radio, Site, SpaceConfig};

const SEED: Seed = Seed { root: 1, replication: 0 };
/// Headers of UDP and IP.
const HEADERS: u64 = 28;

fn rate(standard: &Standard, mbps: f64) -> Mode {
    standard.mode(BitRate::from_mbps(mbps)).unwrap()
}

fn sites(nodes: usize) -> Vec<Site> {
    let trajectory = Position::default().into();
    let site = Site { trajectory, channel: 1, tx_power: Dbm(16.0206), is_access_point: false };
    vec![site; nodes]
}

/// 50 dB between the pairs that hear each other, 300 dB between all others.
fn matrix(nodes: usize, pairs: &[(usize, usize)]) -> Losses {
    let mut rows = vec![vec![Db(300.0); nodes]; nodes];
    for &(a, b) in pairs {
        rows[a][b] = Db(50.0);
        rows[b][a] = Db(50.0);
    }
    Losses::Matrix(rows)
}

/// Megabits a second of payload from each node, after a warm-up of a second.
fn goodput(driver: &mut Driver, seconds: u64) -> Vec<f64> {
    let begin = Instant::ZERO + Duration::from_secs(1);
    let end = begin + Duration::from_secs(seconds);
    let mut bits = vec![0; driver.queues.len()];
    driver.run_until(end, &mut |now, report| {
        if let MsduReport::Delivered { from, size, .. } = report
            && now >= begin
        {
            bits[from as usize] += (size.0 - HEADERS) * 8;
        }
    });
    bits.into_iter().map(|bits| bits as f64 / seconds as f64 * 1e-6).collect()
}

/// Two stations that send to the access point all the time.
fn pair(hidden: bool, rts: bool, error: Box<dyn ErrorModel>) -> Vec<f64> {
    let pairs: &[(usize, usize)] =
        if hidden { &[(0, 1), (0, 2)] } else { &[(0, 1), (0, 2), (1, 2)] };
    let radio = Radio::new(matrix(3, pairs), error);
    let mut mac = mac(&DOT11B);
    mac.timing.slot_grid = SlotGrid::Free;
    mac.rts_threshold = if rts { Bytes(100) } else { Bytes(4000) };
    let mode = link(rate(&DOT11B, 11.0));
    let links = vec![(0, 1, mode), (0, 2, mode)];
    let config = SpaceConfig { mac, radio, nav_reset: true, sites: sites(3), links };
    let mut driver = Driver::new(config, &SEED);
    let mut reports = Vec::new();
    for station in 1..=2 {
        driver.saturate(station, 0, Bytes(1000 + HEADERS), &mut reports);
    }
    goodput(&mut driver, 20)
}

#[test]
fn hidden_nodes_have_the_goodput_of_ns3() {
    // Provenance: ns-3.37, five seeds: two stations at 11 Mb/s, 1000 bytes of UDP.
    for (hidden, rts, expected) in
        [(true, false, 3.4923), (true, true, 3.5485), (false, false, 5.3837), (false, true, 3.9848)]
    {
        let total: f64 = pair(hidden, rts, Box::new(Nist {})).iter().sum();
        let differs = (total / expected - 1.0).abs();
        assert!(differs < 0.015, "hidden {hidden}, RTS {rts}: {total:.4} of {expected}");
    }
}

/// A network of pairs, each a sender and a receiver: nodes 2i and 2i + 1.
fn pairs(
    mac: MacConfig,
    count: usize,
    near: impl Fn(usize, usize) -> bool,
    size: Bytes,
) -> Vec<f64> {
    let nodes = 2 * count;
    let all = (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b)));
    let hearing: Vec<_> = all.filter(|&(a, b)| a / 2 == b / 2 || near(a, b)).collect();
    let mut radio = Radio::new(matrix(nodes, &hearing), Box::new(Threshold::default()));
    radio.receiver.detect_snr = Db(f64::NEG_INFINITY);
    let mode = link(rate(mac.timing.standard, 11.0));
    let links = (0..count as u32).map(|i| (2 * i, 2 * i + 1, mode)).collect();
    let config = SpaceConfig { mac, radio, nav_reset: true, sites: sites(nodes), links };
    let mut driver = Driver::new(config, &SEED);
    let mut reports = Vec::new();
    for i in 0..count as u32 {
        driver.saturate(2 * i, 2 * i + 1, size, &mut reports);
    }
    let rates = goodput(&mut driver, 60);
    rates.into_iter().step_by(2).collect()
}

#[test]
fn exposed_senders_share_what_apart_they_have_each() {
    let size = Bytes(1000 + HEADERS);
    let alone = pairs(mac(&DOT11B), 1, |_, _| false, size)[0];
    let apart = pairs(mac(&DOT11B), 2, |_, _| false, size);
    assert!(apart.iter().all(|rate| (rate / alone - 1.0).abs() < 0.01), "{alone} {apart:?}");
    // Only the two senders hear each other: no receiver is disturbed, and still they take turns.
    let exposed = pairs(mac(&DOT11B), 2, |a, b| a % 2 == 0 && b % 2 == 0, size);
    let total: f64 = exposed.iter().sum();
    assert!((total / alone - 1.0).abs() < 0.15, "{alone} {exposed:?}");
    assert!((exposed[0] / exposed[1] - 1.0).abs() < 0.05, "{exposed:?}");
}

/// The ideal CSMA chain (R. R. Boorstyn et al., IEEE Transactions on Communications 35:3, 1987):
/// the stationary probability of a set of senders of which none hears another is proportional to
/// ρ to the power of their number, ρ being the mean time on the air over the mean back-off. In a
/// row of three the middle one sends in {2}, an outer one in {1} and {1, 3}: ρ against ρ + ρ².
#[test]
fn of_three_cells_in_a_row_the_middle_one_starves_as_the_ideal_chain_says() {
    let next = |a: usize, b: usize| (a / 2).abs_diff(b / 2) == 1;
    for (cw, size) in [(127, 1500), (255, 1500), (511, 500)] {
        // A window that stays and is wide: the chain knows no collisions.
        let mac = MacConfig { cw_min: cw, cw_max: cw, ..mac(&DOT11B) };
        let timing = &mac.timing;
        let mode = rate(&DOT11B, 11.0);
        let ack = timing.airtime(&timing.response_mode(&mode), Bytes(14)).total();
        let data = timing.airtime(&mode, Bytes(size) + mac.overhead()).total();
        let busy = timing.difs() + data + timing.sifs() + ack;
        let backoff = timing.slot.as_secs_f64() * f64::from(cw) / 2.0;
        let expected = 1.0 / (1.0 + busy.as_secs_f64() / backoff);
        let rates = pairs(mac, 3, next, Bytes(size));
        let ratio = rates[1] / f64::midpoint(rates[0], rates[2]);
        assert!((ratio / expected - 1.0).abs() < 0.1, "CW {cw}: {ratio:.4}, chain {expected:.4}");
    }
    let rates = pairs(mac(&DOT11B), 3, next, Bytes(1500));
    assert!(rates[1] < 0.1 * rates[0], "with the windows of the standard: {rates:?}");
}

/// A node sends one packet at a moment; how many of them have arrived at the first attempt.
fn first_attempts(radio: Radio, nodes: usize, sends: &[(u64, u32, u32, u64)]) -> Vec<bool> {
    let mac = MacConfig { short_retry_limit: 1, ..mac(&DOT11A) };
    let mode = link(rate(&DOT11A, 6.0));
    let links = sends.iter().map(|&(_, from, to, _)| (from, to, mode)).collect();
    let config = SpaceConfig { mac, radio, nav_reset: true, sites: sites(nodes), links };
    let mut driver = Driver::new(config, &SEED);
    for (number, &(at_us, from, to, size)) in (0..).zip(sends) {
        let load = crate::drive::Load { number, to: Some(to), size: Bytes(size) };
        driver.announce(Instant(at_us * 1000), from, load);
    }
    let mut arrived = vec![false; sends.len()];
    driver.run_until(Instant(1_000_000_000), &mut |_, report| {
        if let MsduReport::Delivered { number, .. } = report {
            arrived[number as usize] = true;
        }
    });
    arrived
}

/// Losses towards node 0, in dB; all else is out of hearing but each node's own peer.
fn towards_zero(nodes: usize, losses: &[(usize, f64)], peers: &[(usize, usize)]) -> Losses {
    let Losses::Matrix(mut rows) = matrix(nodes, peers) else { unreachable!() };
    for &(node, loss) in losses {
        rows[node][0] = Db(loss);
        rows[0][node] = Db(loss);
    }
    Losses::Matrix(rows)
}

#[test]
fn interference_is_a_sum() {
    // Signal -34 dBm; each interferer 12 dB below it, both together 9 dB: 10 dB are needed.
    let survives = |interferers: &[(u64, u32, u32, u64)]| {
        let losses = towards_zero(6, &[(1, 50.0), (2, 62.0), (3, 62.0)], &[(2, 4), (3, 5)]);
        let radio = Radio::new(losses, Box::new(Threshold::default()));
        let mut sends = vec![(100, 1, 0, 1000)];
        sends.extend_from_slice(interferers);
        first_attempts(radio, 6, &sends)[0]
    };
    assert!(survives(&[]));
    assert!(survives(&[(300, 2, 4, 100)]));
    assert!(survives(&[(300, 3, 5, 100)]));
    assert!(!survives(&[(300, 2, 4, 100), (310, 3, 5, 100)]));
    assert!(survives(&[(300, 2, 4, 100), (700, 3, 5, 100)]), "one after the other");
}

#[test]
fn a_stronger_frame_captures_the_receiver_if_it_may() {
    use wifi::space::Capture;
    let arrive = |capture, later_us: u64| {
        let losses = towards_zero(3, &[(1, 80.0), (2, 60.0)], &[]);
        let mut radio = Radio::new(losses, Box::new(Threshold::default()));
        radio.receiver.capture = capture;
        radio.receiver.detect_snr = Db(f64::NEG_INFINITY);
        first_attempts(radio, 3, &[(100, 1, 0, 500), (100 + later_us, 2, 0, 500)])
    };
    let capture = Some(Capture { margin: Db(5.0), window: Duration::from_micros(16) });
    assert_eq!(arrive(None, 10), [false, false], "the receiver follows the first");
    assert_eq!(arrive(capture, 10), [false, true]);
    assert_eq!(arrive(capture, 20), [false, false], "its preamble is over");
    assert_eq!(arrive(None, 0), [false, true], "of two at once it follows the stronger");
    assert_eq!(arrive(None, 2000), [true, true]);
}

#[test]
fn a_weak_first_frame_does_not_hinder_a_strong_one_below_the_detection_level() {
    // -90 dBm is energy to be summed up, no frame; at -64 dBm a frame stands far above it.
    let losses = towards_zero(3, &[(1, 106.0), (2, 80.0)], &[]);
    let radio = Radio::new(losses, Box::new(Threshold::default()));
    assert_eq!(first_attempts(radio, 3, &[(100, 1, 0, 500), (110, 2, 0, 500)]), [false, true]);
}

#[test]
fn nodes_on_other_channels_are_not_there() {
    let mut sites = sites(4);
    sites[2].channel = 13;
    sites[3].channel = 13;
    let radio =
        Radio::new(matrix(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]), Box::new(Nist {}));
    let mode = link(rate(&DOT11B, 11.0));
    let links = vec![(0, 1, mode), (2, 3, mode)];
    let config = SpaceConfig { mac: mac(&DOT11B), radio, nav_reset: true, sites, links };
    let mut driver = Driver::new(config, &SEED);
    assert_eq!(driver.hearing_pairs(), 4);
    let mut reports = Vec::new();
    driver.saturate(0, 1, Bytes(1000 + HEADERS), &mut reports);
    driver.saturate(2, 3, Bytes(1000 + HEADERS), &mut reports);
    let rates = goodput(&mut driver, 5);
    let alone = pairs(mac(&DOT11B), 1, |_, _| false, Bytes(1000 + HEADERS))[0];
    for rate in [rates[0], rates[2]] {
        assert!((rate / alone - 1.0).abs() < 0.02, "{rates:?} {alone}");
    }
}

/// A wave between -1 and 1 that goes up and down with the period 4.
fn triangle(turn: f64) -> f64 {
    ((turn % 4.0) - 2.0).abs() - 1.0
}

/// Cells of an access point and stations around it, in a square grid, on three channels in turn.
fn city(cells: u32, stations: u32, apart_m: f64) -> (SpaceConfig, Vec<(u32, u32)>) {
    let side = f64::from(cells).sqrt().ceil() as u32;
    let (mut sites, mut links, mut uplinks) = (Vec::new(), Vec::new(), Vec::new());
    for cell in 0..cells {
        let (column, row) = (cell % side, cell / side);
        let (x, y) = (f64::from(column) * apart_m, f64::from(row) * apart_m);
        let access_point = sites.len() as u32;
        for i in 0..=stations {
            let turn = f64::from(i) * 2.4;
            let away = if i == 0 { 0.0 } else { 4.0 + f64::from(i % 7) };
            let (east, north) = (away * triangle(turn), away * triangle(turn + 1.0));
            let trajectory = Position { x: x + east, y: y + north, z: 1.5 }.into();
            let channel = ((column + 2 * row) % 3) as u16;
            let (tx_power, is_access_point) = (Dbm(16.0206), i == 0);
            sites.push(Site { trajectory, channel, tx_power, is_access_point });
            if i > 0 {
                links.push((access_point, access_point + i, link(rate(&DOT11A, 54.0))));
                uplinks.push((access_point + i, access_point));
            }
        }
    }
    let losses = Losses::Places(Box::new(LogDistance { exponent: 3.5, ..LogDistance::default() }));
    let radio = Radio::new(losses, Box::new(Nist {}));
    let config = SpaceConfig { mac: mac(&DOT11A), radio, nav_reset: true, sites, links };
    (config, uplinks)
}

#[test]
fn two_thousand_nodes_cost_what_their_neighbours_cost() {
    let (config, uplinks) = city(50, 39, 100.0);
    let nodes = config.sites.len();
    assert_eq!(nodes, 2000);
    let mut driver = Driver::new(config, &SEED);
    let heard = driver.hearing_pairs() as f64 / nodes as f64;
    assert!((39.0..120.0).contains(&heard), "{heard} of {nodes} nodes hear each");
    let mut reports = Vec::new();
    for (station, access_point) in uplinks.into_iter().filter(|(station, _)| station % 4 == 0) {
        driver.saturate(station, access_point, Bytes(1500), &mut reports);
    }
    let end = Instant::ZERO + Duration::from_millis(300);
    let mut delivered = vec![0; nodes];
    driver.run_until(end, &mut |_, report| {
        if let MsduReport::Delivered { node, .. } = report {
            delivered[node as usize] += 1;
        }
    });
    let cells: Vec<u32> = delivered.into_iter().step_by(40).collect();
    // Some 2400 frames a second fit into a cell of its own.
    assert!(cells.iter().all(|&count| count > 200), "{cells:?}");
}
