//! Cells in which only the access point has packets.

use crate::workload::{Arrival, Workload};
use kernel::{Bytes, Duration, Instant, Seed};
use proptest::prelude::*;
use wifi::mac::{
    Acknowledgement, Aggregation, Categories, Eifs, MissedBlockAck, Mu, MuProtection, SlotGrid,
};
use wifi::phy::{DOT11AX, Edition, TxVector, Width};
use wifi::{Link, MacConfig};
use wire::TrafficClass;

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
            let mut edca = Categories::of(&DOT11AX, Edition::Ieee2016);
            for edca in edca.access_point.iter_mut().chain(&mut edca.stations) {
                edca.txop_limit = Duration::from_micros(32 * limit);
            }
            let mut config = MacConfig { edca: Some(edca), ..MacConfig::of(&DOT11AX) };
            config.timing.eifs = Eifs::Standard;
            config.timing.slot_grid = SlotGrid::Standard;
            config.short_retry_limit = 100;
            config.rts_threshold = Bytes(10_000_000);
            config.mu = Some(Mu { acknowledgement, protection, ..Mu::default() });
            let missed = MissedBlockAck::Retransmit;
            let lifetime = Duration::from_millis(100_000);
            let limits = Aggregation::of(mode.class).expect("HE has A-MPDUs");
            config.aggregation = Some(Aggregation { frames, missed, lifetime, ..limits });
            let (at, node, class) = (Instant(1), 0, TrafficClass::BestEffort);
            let arrival = |(to, size): (u32, u64)| Arrival {
                at,
                node,
                to: Some(to),
                class,
                size: Bytes(size),
            };
            let links = vec![Link { mode, data_loss, ack_loss }; stations as usize];
            let seed = Seed { root, replication: 0 };
            Workload { config, links, seed, packets: packets.into_iter().map(arrival).collect() }
        },
    )
}
