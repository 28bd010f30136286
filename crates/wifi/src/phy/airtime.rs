//! PPDU durations, exact to the nanosecond.

use super::{Mode, ModeClass};
use kernel::{BitRate, Bytes, Duration};
use settings::Choice;

/// Form of the DSSS preamble (clause 16.2.2). Frames at 1 Mb/s always have the long preamble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Preamble {
    /// A preamble of 144 us and a header of 48 us, both at 1 Mb/s.
    #[default]
    Long,
    /// A preamble of 72 us at 1 Mb/s and a header of 24 us at 2 Mb/s. A frame at 1 Mb/s has the
    /// long preamble nevertheless.
    Short,
}

/// Durations of the parts of a PPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtime {
    /// Synchronisation: PLCP preamble, or legacy short and long training.
    pub preamble: Duration,
    /// PHY header: PLCP header, SIGNAL symbol, or all signal and training fields of HT, VHT and HE.
    pub header: Duration,
    /// The PSDU, with service, tail and pad bits.
    pub payload: Duration,
    /// Packet extension of HE (802.11ax-2021 clause 27.3.13), and the signal extension of OFDM and
    /// later PPDUs in 2.4 GHz (clause 18.3.2.4): time without signal that belongs to the PPDU.
    pub extension: Duration,
}

impl Airtime {
    /// That of nothing.
    pub(crate) const NONE: Self = Self {
        preamble: Duration::ZERO,
        header: Duration::ZERO,
        payload: Duration::ZERO,
        extension: Duration::ZERO,
    };

    /// The whole PPDU (TXTIME).
    pub fn total(&self) -> Duration {
        self.preamble + self.header + self.payload + self.extension
    }

    /// The time from the start of a PPDU with `psdu` bytes to the end of the first `bytes` of them.
    pub fn until(&self, bytes: Bytes, psdu: Bytes) -> Duration {
        // The longest A-MPDU has 6.5 MB and lasts 5.5 ms: the product has 45 bits.
        let part = Duration(self.payload.0 * bytes.0 / psdu.0.max(1));
        self.preamble + self.header + part
    }
}

const fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// `aPPDUMaxTime` of HT-mixed, VHT and HE PPDUs (table 19-25, table 21-28, clause 27.4.4).
pub const LONGEST_PPDU: Duration = us(5484);

/// The duration of a PPDU that carries `psdu` bytes, FCS included.
///
/// DSSS and CCK: PLCP + ceil(8·PSDU/R) µs (clauses 15.3.5, 16.3.4, the PLCP LENGTH field counts
/// whole microseconds). OFDM: 20 µs + 4 µs · ceil((16 + 8·PSDU + 6)/`N_DBPS`) (clause 17.4.3).
/// ERP-OFDM: the same and 6 µs of signal extension (clause 18.5.3.2). HT, VHT and HE: their longer
/// preambles and other symbols (clauses 19.4.3, 21.4.3, 27.4.3).
pub fn airtime(mode: &Mode, preamble: Preamble, psdu: Bytes) -> Airtime {
    if !mode.class.is_dsss() {
        return mode.ofdm_airtime(psdu);
    }
    let short = preamble == Preamble::Short && mode.rate > BitRate(1_000_000);
    let (sync, header) = if short { (us(72), us(24)) } else { (us(144), us(48)) };
    let payload = us((psdu.bits() * 1_000_000).div_ceil(mode.rate.0));
    Airtime { preamble: sync, header, payload, extension: Duration::ZERO }
}

/// The longest PSDU of a PHY at any rate.
pub const fn longest_psdu(class: ModeClass) -> Bytes {
    class.generation().longest_psdu
}

/// The longest PSDU of a mode whose PPDU lasts no longer than `within`, and no longer than
/// [`LONGEST_PPDU`] in HT and later. `None` if the preamble and headers alone last longer.
pub fn psdu_within(mode: &Mode, preamble: Preamble, within: Duration) -> Option<Bytes> {
    let within = if mode.class.is_high() { within.min(LONGEST_PPDU) } else { within };
    let fixed = airtime(mode, preamble, Bytes(0)).total();
    if fixed > within {
        return None;
    }
    let most = if mode.class.is_dsss() {
        Bytes(mode.rate.0 * ((within - fixed).0 / 1000) / 8_000_000)
    } else {
        Bytes(mode.ofdm_bits_within(within) / 8)
    };
    let mut psdu = most.min(longest_psdu(mode.class));
    // There may be no time for the extra symbol of LDPC.
    while psdu > Bytes(0) && airtime(mode, preamble, psdu).total() > within {
        psdu -= Bytes(1);
    }
    Some(psdu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{DOT11A, DOT11B, DOT11G};

    fn total_us(standard: &crate::phy::Standard, rate: f64, preamble: Preamble, psdu: u64) -> u64 {
        let mode = standard.mode(BitRate::from_mbps(rate)).unwrap();
        let total = airtime(&mode, preamble, Bytes(psdu)).total();
        assert_eq!(total.0 % 1000, 0);
        total.0 / 1000
    }

    /// Sizes: Ack or CTS, RTS, BlockAckReq, compressed BlockAck, an IP packet of 1500 B.
    const SIZES: [u64; 5] = [14, 20, 24, 32, 1536];

    #[test]
    fn ofdm_durations() {
        let expected = [
            (6.0, [44, 52, 56, 68, 2072]),
            (9.0, [36, 44, 44, 52, 1388]),
            (12.0, [32, 36, 40, 44, 1048]),
            (18.0, [28, 32, 32, 36, 704]),
            (24.0, [28, 28, 32, 32, 536]),
            (36.0, [24, 28, 28, 28, 364]),
            (48.0, [24, 24, 28, 28, 280]),
            (54.0, [24, 24, 24, 28, 248]),
        ];
        for (rate, durations) in expected {
            for (size, duration) in SIZES.into_iter().zip(durations) {
                assert_eq!(total_us(&DOT11A, rate, Preamble::Long, size), duration);
                let erp = total_us(&DOT11G, rate, Preamble::Short, size);
                assert_eq!(erp, duration + 6, "signal extension");
            }
        }
    }

    #[test]
    fn dsss_durations() {
        let expected = [
            (1.0, Preamble::Long, [304, 352, 384, 448, 12_480]),
            (1.0, Preamble::Short, [304, 352, 384, 448, 12_480]),
            (2.0, Preamble::Long, [248, 272, 288, 320, 6336]),
            (2.0, Preamble::Short, [152, 176, 192, 224, 6240]),
            (5.5, Preamble::Long, [213, 222, 227, 239, 2427]),
            (5.5, Preamble::Short, [117, 126, 131, 143, 2331]),
            (11.0, Preamble::Long, [203, 207, 210, 216, 1310]),
            (11.0, Preamble::Short, [107, 111, 114, 120, 1214]),
        ];
        for (rate, preamble, durations) in expected {
            for (size, duration) in SIZES.into_iter().zip(durations) {
                assert_eq!(total_us(&DOT11B, rate, preamble, size), duration, "{rate} {size}");
                assert_eq!(total_us(&DOT11G, rate, preamble, size), duration, "g has b's modes");
            }
        }
    }

    #[test]
    fn parts_add_up() {
        let mode = DOT11G.mode(BitRate::from_mbps(54.0)).unwrap();
        let parts = airtime(&mode, Preamble::Long, Bytes(14));
        assert_eq!(parts.preamble, us(16));
        assert_eq!(parts.header, us(4));
        assert_eq!(parts.payload, us(4));
        assert_eq!(parts.extension, us(6));
        assert_eq!(parts.total(), us(30));
    }
}
