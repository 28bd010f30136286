//! Cells with OFDMA in which nobody contends but the access point.

use crate::record::CLASSES;
use crate::workload::{Arrival, Workload};
use kernel::{Bytes, Duration, Instant, Seed};
use proptest::prelude::*;
use wifi::mac::{
    Acknowledgement, Aggregation, Categories, Eifs, MissedBlockAck, Mu, MuEdca, MuEdcaCategory,
    MuProtection, ReportSettings, SlotGrid, Uplink,
};
use wifi::phy::he::NominalPadding;
use wifi::phy::{Coding, DOT11AX, Edition, TxVector, Width};
use wifi::{Link, MacConfig};
use wire::TrafficClass;

/// What all have in common, with so many MPDUs in an A-MPDU and TXOPs of so many µs.
fn config(frames: u16, txop_us: u64, link: &Link) -> MacConfig {
    let mut edca = Categories::of(&DOT11AX, Edition::Ieee2016);
    for edca in edca.access_point.iter_mut().chain(&mut edca.stations) {
        edca.txop_limit = Duration::from_micros(txop_us);
    }
    let mut config = MacConfig { edca: Some(edca), ..MacConfig::of(&DOT11AX) };
    config.timing.eifs = Eifs::Standard;
    config.timing.slot_grid = SlotGrid::Standard;
    config.short_retry_limit = 100;
    config.rts_threshold = Bytes(10_000_000);
    let missed = MissedBlockAck::Retransmit;
    let lifetime = Duration::from_millis(100_000);
    let limits = Aggregation::of(link.mode.class).expect("HE has A-MPDUs");
    config.aggregation = Some(Aggregation { frames, missed, lifetime, ..limits });
    config
}

/// How all send: widths, MCSs, and the code in resource units that may have BCC.
fn modes() -> impl Strategy<Value = (TxVector, Option<Coding>)> {
    use Width::{Mhz20, Mhz40, Mhz80, Mhz160};
    let widths = prop::sample::select(vec![Mhz20, Mhz40, Mhz80, Mhz160]);
    let codes = prop::sample::select(vec![None, Some(Coding::Ldpc)]);
    let of_he = DOT11AX.tx_vector().expect("HE has MCS");
    (4_u8..12, widths, codes)
        .prop_map(move |(mcs, width, coding)| (TxVector { mcs, width, ..of_he }, coding))
}

/// Cells in which only the access point has packets, all from the begin on.
pub(crate) fn workloads() -> impl Strategy<Value = Workload> {
    use Acknowledgement::{AggregatedMuBar, BarChain, MuBar};
    let how = prop::sample::select(vec![BarChain, MuBar, AggregatedMuBar]);
    let noise = prop_oneof![Just((0.0, 0.0)), (0.01..0.5, 0.01..0.4)];
    let stations = prop_oneof![4 => 2_u32..24, 1 => 24_u32..100];
    let packets = stations.prop_flat_map(|stations| {
        let packet = (1..=stations, 60_u64..1400);
        (Just(stations), prop::collection::vec(packet, 2..300))
    });
    let protection = prop::sample::select(vec![MuProtection::None, MuProtection::MuRts]);
    // In units of 32 µs.
    let limits = prop_oneof![Just(0_u64), 40_u64..200];
    let txops = (protection, limits);
    (how, noise, packets, modes(), (1_u16..3, txops), any::<u64>()).prop_map(
        |(
            acknowledgement,
            (data_loss, ack_loss),
            (stations, packets),
            (vector, coding),
            (frames, (protection, limit)),
            root,
        )| {
            let mode = vector.mode().expect("a mode");
            let link = Link { mode, data_loss, ack_loss };
            let mut config = config(frames, 32 * limit, &link);
            config.mu = Some(Mu { acknowledgement, protection, coding, ..Mu::default() });
            let (at, node, class) = (Instant(1), 0, TrafficClass::BestEffort);
            let arrival = |(to, size): (u32, u64)| Arrival {
                at,
                node,
                to: Some(to),
                class,
                size: Bytes(size),
            };
            let links = vec![link; stations as usize];
            let seed = Seed { root, replication: 0 };
            Workload { config, links, seed, packets: packets.into_iter().map(arrival).collect() }
        },
    )
}

/// Cells in which only stations have packets, all from the begin on, which they send in answer to
/// Trigger frames: by themselves they would wait for longer than the access point does.
pub(crate) fn uplink_workloads() -> impl Strategy<Value = Workload> {
    use NominalPadding::{Us0, Us8, Us16};
    let padding = prop::sample::select(vec![Us0, Us8, Us16]);
    let protection = prop::sample::select(vec![MuProtection::None, MuProtection::MuRts]);
    // The longest MPDU fits on 26 tones.
    let limits = prop_oneof![Just(0_u64), 95_u64..200];
    let lasts = prop_oneof![Just(5484), 2400_u64..4000];
    let intervals = prop_oneof![1_u64..500, 500_u64..20_000];
    // What is supposed of a queue is less than the smallest answer.
    let triggers = (padding, protection, limits, lasts, intervals, 1_u64..=34);
    let noise = prop_oneof![Just((0.0, 0.0)), (0.01..0.4, 0.01..0.3)];
    let packets = (1_u32..14).prop_flat_map(|stations| {
        let packet = (1..=stations, 60_u64..1400);
        (Just(stations), prop::collection::vec(packet, 1..80))
    });
    (triggers, noise, packets, modes(), 1_u16..4, any::<u64>()).prop_map(
        |(triggers, (data_loss, ack_loss), (stations, packets), modes, frames, root)| {
            let (vector, coding) = modes;
            let (trigger_padding, protection, limit, lasts, interval, unknown) = triggers;
            let link = Link { mode: vector.mode().expect("a mode"), data_loss, ack_loss };
            let mut config = config(frames, 32 * limit, &link);
            let edca = config.edca.as_mut().expect("EDCA");
            edca.stations.iter_mut().for_each(|own| own.aifsn = 10_000);
            let uplink = Uplink {
                access_interval: Duration::from_micros(interval),
                duration: Duration::from_micros(lasts),
                trigger_padding,
                reports: ReportSettings { unknown: Bytes(unknown), ..Default::default() },
                bsrp: false,
                ..Uplink::default()
            };
            config.mu = Some(Mu { protection, uplink: Some(uplink), coding, ..Mu::default() });
            let (at, to, class) = (Instant(1), Some(0), TrafficClass::BestEffort);
            let arrival =
                |(node, size): (u32, u64)| Arrival { at, node, to, class, size: Bytes(size) };
            let (links, seed) = (vec![link; stations as usize], Seed { root, replication: 0 });
            Workload { config, links, seed, packets: packets.into_iter().map(arrival).collect() }
        },
    )
}

/// Cells in which stations have packets of all categories, all from the begin on, which they send
/// by themselves and in answer to Trigger frames, with MU EDCA or without; the access point may
/// ask for the sizes of queues before.
pub(crate) fn mixed_workloads() -> impl Strategy<Value = Workload> {
    use NominalPadding::{Us0, Us8, Us16};
    let padding = prop::sample::select(vec![Us0, Us8, Us16]);
    let protection = prop::sample::select(vec![MuProtection::None, MuProtection::MuRts]);
    let limits = (limit(), limit());
    let lasts = prop_oneof![Just(5484), 2400_u64..4000];
    let intervals = prop_oneof![1_u64..500, 500_u64..20_000];
    let triggers = (padding, protection, limits, lasts, intervals, 0_u64..=34, any::<bool>());
    let noise = prop_oneof![Just((0.0, 0.0)), (0.01..0.4, 0.01..0.3)];
    let packets = (1_u32..12).prop_flat_map(|stations| {
        let class = prop_oneof![2 => Just(1_usize), 1 => 0_usize..4];
        let packet = (1..=stations, class, 60_u64..1400);
        (Just(stations), prop::collection::vec(packet, 1..300))
    });
    let mu_edca = prop_oneof![1 => Just(None), 3 => mu_edca().prop_map(Some)];
    (triggers, mu_edca, noise, packets, modes(), 1_u16..4, any::<u64>()).prop_map(
        |(triggers, edca, (data_loss, ack_loss), (stations, packets), modes, frames, root)| {
            let (vector, coding) = modes;
            let (trigger_padding, protection, limits, lasts, interval, unknown, bsrp) = triggers;
            let link = Link { mode: vector.mode().expect("a mode"), data_loss, ack_loss };
            let mut config = config(frames, 32 * limits.0, &link);
            let own = config.edca.as_mut().expect("EDCA");
            let of_stations = own.stations.iter_mut();
            of_stations.for_each(|own| own.txop_limit = Duration::from_micros(32 * limits.1));
            let uplink = Uplink {
                access_interval: Duration::from_micros(interval),
                duration: Duration::from_micros(lasts),
                trigger_padding,
                reports: ReportSettings { unknown: Bytes(unknown), ..Default::default() },
                bsrp,
                ..Uplink::default()
            };
            config.mu =
                Some(Mu { protection, uplink: Some(uplink), edca, coding, ..Mu::default() });
            let (at, to) = (Instant(1), Some(0));
            let arrival = |(node, class, size): (u32, usize, u64)| {
                let (class, size) = (CLASSES[class], Bytes(size));
                Arrival { at, node, to, class, size }
            };
            let (links, seed) = (vec![link; stations as usize], Seed { root, replication: 0 });
            Workload { config, links, seed, packets: packets.into_iter().map(arrival).collect() }
        },
    )
}

/// Cells in which the access point and stations have packets, all from the begin on: the access
/// point of best effort, stations of all categories.
pub(crate) fn downlink_beside() -> impl Strategy<Value = Workload> {
    use Acknowledgement::{AggregatedMuBar, BarChain, MuBar};
    let how = prop::sample::select(vec![BarChain, MuBar, AggregatedMuBar]);
    let protection = prop::sample::select(vec![MuProtection::None, MuProtection::MuRts]);
    // In units of 32 µs.
    let limits = (prop_oneof![Just(0_u64), 40_u64..200], limit());
    let noise = prop_oneof![1 => Just((0.0, 0.0)), 3 => (0.01..0.5, 0.01..0.4)];
    let packets = (2_u32..20).prop_flat_map(|stations| {
        let class = prop_oneof![2 => Just(1_usize), 1 => 0_usize..4];
        let packet = (1..=stations, class, any::<bool>(), 60_u64..1400);
        (Just(stations), prop::collection::vec(packet, 2..200))
    });
    (how, noise, packets, modes(), (1_u16..3, protection, limits), any::<u64>()).prop_map(
        |(acknowledgement, losses, (stations, packets), (vector, coding), txops, root)| {
            let (data_loss, ack_loss) = losses;
            let (frames, protection, limits) = txops;
            let link = Link { mode: vector.mode().expect("a mode"), data_loss, ack_loss };
            let mut config = config(frames, 32 * limits.0, &link);
            let own = config.edca.as_mut().expect("EDCA");
            let of_stations = own.stations.iter_mut();
            of_stations.for_each(|own| own.txop_limit = Duration::from_micros(32 * limits.1));
            config.mu = Some(Mu { acknowledgement, protection, coding, ..Mu::default() });
            let arrival = |(station, class, is_down, size): (u32, usize, bool, u64)| {
                let (node, to) = if is_down { (0, station) } else { (station, 0) };
                let class = if is_down { TrafficClass::BestEffort } else { CLASSES[class] };
                Arrival { at: Instant(1), node, to: Some(to), class, size: Bytes(size) }
            };
            let (links, seed) = (vec![link; stations as usize], Seed { root, replication: 0 });
            Workload { config, links, seed, packets: packets.into_iter().map(arrival).collect() }
        },
    )
}

/// In units of 32 µs: none, or one in which the longest MPDU fits on 26 tones.
fn limit() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0_u64), 95_u64..200]
}

/// Parameters of MU EDCA of some categories, which mute them or not.
fn mu_edca() -> impl Strategy<Value = MuEdca> {
    let aifsn = prop_oneof![Just(0), 2_u32..16];
    let own = (aifsn, 2_u32..6, 6_u32..9, 0_u32..4).prop_map(|(aifsn, least, most, timer)| {
        MuEdcaCategory { aifsn, cw_min: (1 << least) - 1, cw_max: (1 << most) - 1, timer }
    });
    let own = || prop_oneof![1 => Just(None), 3 => own.clone().prop_map(Some)];
    (own(), own(), own(), own()).prop_map(|(background, best_effort, video, voice)| MuEdca {
        background,
        best_effort,
        video,
        voice,
    })
}
