//! The padding of Trigger frames, and the size of the Multi-STA BlockAck that answers what they
//! trigger (802.11ax-2021 clauses 9.3.1.22 and 9.3.1.8.7).

use crate::phy::Mode;
use kernel::{Bytes, Duration};

/// Header, BA Control and FCS of a Multi-STA BlockAck.
const MULTI_STA: Bytes = Bytes(16 + 2 + 4);
/// AID TID Info of a Multi-STA BlockAck.
const AID_TID: Bytes = Bytes(2);
/// Block Ack Starting Sequence Control.
const START: Bytes = Bytes(2);
/// Duration of a symbol of non-HT PPDUs.
const SYMBOL: Duration = Duration::from_micros(4);

/// The padding with which the last User Info of a Trigger frame in this mode ends so long before
/// the frame: `MinTrigProcTime`, 0, 8 or 16 µs as the slowest station needs (clause 26.5.2.2.3).
pub fn trigger_padding(mode: &Mode, at_least: Duration) -> Bytes {
    let symbols = at_least.0.div_ceil(SYMBOL.0);
    Bytes((symbols * u64::from(mode.bits_per_symbol)).div_ceil(8))
}

/// The length of a Multi-STA BlockAck, FCS included, to stations with bitmaps of so many bits; no
/// bits acknowledge a single MPDU, or all.
pub fn multi_sta_block_ack(bitmaps: impl IntoIterator<Item = u16>) -> Bytes {
    let station = |bits: u16| match bits {
        0 => AID_TID,
        bits => AID_TID + START + Bytes(u64::from(bits / 8)),
    };
    bitmaps.into_iter().map(station).fold(MULTI_STA, |all, one| all + one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::{Timing, aggregation::BLOCK_ACK_REQUEST, block_ack};
    use crate::phy::{DOT11AX, Preamble, airtime};
    use kernel::BitRate;
    use wire::TriggerKind;

    fn lasts_us(mbps: f64, bytes: Bytes) -> u64 {
        let mode = DOT11AX.mode(BitRate::from_mbps(mbps)).unwrap();
        airtime(&mode, Preamble::Long, bytes).total().0 / 1000
    }

    fn durations(bytes: Bytes) -> [u64; 3] {
        [6.0, 12.0, 24.0].map(|mbps| lasts_us(mbps, bytes))
    }

    #[test]
    fn sizes_of_triggers() {
        use TriggerKind::{Basic, Bfrp, Bqrp, Bsrp, GcrMuBar, MuBar, MuRts, Nfrp};
        let expected = [
            (Basic, 0, [34, 52]),
            (Bfrp, 1, [34, 52]),
            (MuBar, 2, [37, 64]),
            (MuRts, 3, [33, 48]),
            (Bsrp, 4, [33, 48]),
            (GcrMuBar, 5, [37, 52]),
            (Bqrp, 6, [33, 48]),
            (Nfrp, 7, [33, 33]),
        ];
        for (kind, code, sizes) in expected {
            assert_eq!(kind.code(), code);
            assert_eq!(TriggerKind::ALL[usize::from(code)], kind);
            assert_eq!([1, 4].map(|n| kind.bytes(n).0), sizes, "{kind:?}");
        }
    }

    #[test]
    fn durations_of_triggers() {
        // At 6, 12 and 24 Mb/s.
        let expected = [
            (TriggerKind::Basic, 1, [72, 48, 36]),
            (TriggerKind::Basic, 4, [96, 60, 40]),
            (TriggerKind::Basic, 9, [136, 80, 52]),
            (TriggerKind::Basic, 18, [208, 116, 68]),
            (TriggerKind::Basic, 37, [360, 192, 108]),
            (TriggerKind::Bsrp, 4, [88, 56, 40]),
            (TriggerKind::Bsrp, 9, [124, 72, 48]),
            (TriggerKind::MuRts, 9, [124, 72, 48]),
            (TriggerKind::MuBar, 4, [112, 68, 44]),
            (TriggerKind::MuBar, 9, [172, 96, 60]),
            (TriggerKind::MuBar, 37, [508, 264, 144]),
        ];
        for (kind, stations, times) in expected {
            assert_eq!(durations(kind.bytes(stations)), times, "{kind:?} to {stations}");
        }
    }

    #[test]
    fn sizes_and_durations_of_block_acks() {
        assert_eq!(durations(BLOCK_ACK_REQUEST), [56, 40, 32]);
        assert_eq!(durations(block_ack(64)), [68, 44, 32]);
        assert_eq!(durations(block_ack(256)), [100, 60, 40]);
        let expected = [
            (4, 64, 70, [120, 72, 48]),
            (9, 64, 130, [200, 112, 68]),
            (4, 256, 166, [248, 136, 80]),
            (9, 256, 346, [488, 256, 140]),
            (37, 256, 1354, [1832, 928, 476]),
            (9, 1024, 1210, [1640, 832, 428]),
            (4, 0, 30, [64, 44, 32]),
        ];
        for (stations, bits, bytes, times) in expected {
            let found = multi_sta_block_ack(vec![bits; stations]);
            assert_eq!(found.0, bytes, "{stations} with {bits}");
            assert_eq!(durations(found), times, "{stations} with {bits}");
        }
    }

    #[test]
    fn padding_gives_stations_time_to_prepare() {
        // 3, 6 and 12 bytes a symbol at 6, 12 and 24 Mb/s.
        let expected = [(0, [0, 0, 0]), (8, [6, 12, 24]), (16, [12, 24, 48])];
        for (us, bytes) in expected {
            let found = [6.0, 12.0, 24.0].map(|mbps| {
                let mode = DOT11AX.mode(BitRate::from_mbps(mbps)).unwrap();
                trigger_padding(&mode, Duration::from_micros(us)).0
            });
            assert_eq!(found, bytes, "{us} us");
        }
    }

    /// Four stations on 52 tones at MCS 7, control frames at 24 Mb/s: a round of BSRP and Basic
    /// takes 320 µs besides the data.
    #[test]
    fn a_round_of_uplink() {
        let control = |bytes| lasts_us(24.0, bytes);
        let sifs = Timing::of(&DOT11AX).sifs().0 / 1000;
        let (bsrp, basic) = (TriggerKind::Bsrp.bytes(4), TriggerKind::Basic.bytes(4));
        let (nulls, preamble) = (80, 48);
        let ack = control(multi_sta_block_ack([64; 4]));
        let round =
            control(bsrp) + sifs + nulls + sifs + control(basic) + sifs + preamble + sifs + ack;
        assert_eq!(round, 320);
    }
}
