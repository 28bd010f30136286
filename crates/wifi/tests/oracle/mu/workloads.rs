//! Cells with OFDMA in which nobody contends but the access point.

use crate::workload::{Arrival, Workload};
use kernel::{Bytes, Duration, Instant, Seed};
use proptest::prelude::*;
use wifi::mac::{
    Acknowledgement, Aggregation, Categories, Eifs, MissedBlockAck, Mu, MuProtection,
    ReportSettings, SlotGrid, Uplink,
};
use wifi::phy::he::NominalPadding;
use wifi::phy::{DOT11AX, Edition, TxVector, Width};
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

/// Cells in which only the access point has packets, all from the begin on.
pub(crate) fn workloads() -> impl Strategy<Value = Workload> {
    use Acknowledgement::{AggregatedMuBar, BarChain, MuBar};
    let how = prop::sample::select(vec![BarChain, MuBar, AggregatedMuBar]);
    let noise = prop_oneof![Just((0.0, 0.0)), (0.01..0.5, 0.01..0.4)];
    let widths = prop::sample::select(vec![Width::Mhz20, Width::Mhz40]);
    let packets = (2_u32..24).prop_flat_map(|stations| {
        let packet = (1..=stations, 60_u64..1400);
        (Just(stations), prop::collection::vec(packet, 2..160))
    });
    let protection = prop::sample::select(vec![MuProtection::None, MuProtection::MuRts]);
    // In units of 32 µs.
    let limits = prop_oneof![Just(0_u64), 40_u64..200];
    let txops = (protection, limits);
    (how, noise, packets, (4_u8..10, widths), (1_u16..3, txops), any::<u64>()).prop_map(
        |(
            acknowledgement,
            (data_loss, ack_loss),
            (stations, packets),
            (mcs, width),
            (frames, (protection, limit)),
            root,
        )| {
            let vector = TxVector { mcs, width, ..DOT11AX.tx_vector().expect("HE has MCS") };
            let mode = vector.mode().expect("a mode");
            let link = Link { mode, data_loss, ack_loss };
            let mut config = config(frames, 32 * limit, &link);
            config.mu = Some(Mu { acknowledgement, protection, ..Mu::default() });
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
    (triggers, noise, packets, 4_u8..10, 1_u16..4, any::<u64>()).prop_map(
        |(triggers, (data_loss, ack_loss), (stations, packets), mcs, frames, root)| {
            let (trigger_padding, protection, limit, lasts, interval, unknown) = triggers;
            let vector = TxVector { mcs, ..DOT11AX.tx_vector().expect("HE has MCS") };
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
            config.mu = Some(Mu { protection, uplink: Some(uplink), ..Mu::default() });
            let (at, to, class) = (Instant(1), Some(0), TrafficClass::BestEffort);
            let arrival =
                |(node, size): (u32, u64)| Arrival { at, node, to, class, size: Bytes(size) };
            let (links, seed) = (vec![link; stations as usize], Seed { root, replication: 0 });
            Workload { config, links, seed, packets: packets.into_iter().map(arrival).collect() }
        },
    )
}
