//! What Linux estimates of a mode: the duration of data, and the throughput that its rate control
//! expects.

use super::aggregation::DELIMITER;
use super::{FCS, MacConfig};
use crate::phy::{Guard, Mode};
use kernel::{BitRate, Bytes, Duration};

/// How much an A-MPDU in one mode may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmpduRoom {
    /// The most MPDUs.
    pub frames: u16,
    /// The most bytes, delimiters included.
    pub bytes: Bytes,
    /// Bytes of an MPDU beside its packet, delimiter included.
    pub overhead: Bytes,
}

/// Transmissions of which Minstrel takes the success to be certain.
const TRUST_PERCENT: u64 = 90;
/// Microseconds that a PPDU needs beside its data: the preamble and an ACK at 6 Mb/s.
const OVERHEAD_NS: u64 = 96_000;
/// Bytes of the frame by which Minstrel compares modes, and how many share the last symbol.
const REFERENCE: (u64, u64) = (1200, 16);

impl MacConfig {
    /// How much an A-MPDU in this mode may hold, if it may have to be sent in a slower one too; one
    /// MPDU of any size without aggregation.
    pub fn ampdu_room(&self, mode: &Mode, slowest: &Mode) -> AmpduRoom {
        let overhead = DELIMITER + self.overhead();
        let Some(limits) = self.aggregation.filter(|_| mode.class.is_high()) else {
            return AmpduRoom { frames: 1, bytes: Bytes(u64::MAX), overhead };
        };
        let room = limits.room_in_chain(mode, slowest, &self.timing, Duration(u64::MAX));
        AmpduRoom { frames: room.frames.min(limits.window), bytes: room.bytes, overhead }
    }

    /// The throughput that Minstrel-HT expects in a mode in which frames are hardly lost
    /// (`minstrel_ht_get_tp_avg`).
    pub fn expected_throughput(&self, mode: &Mode) -> BitRate {
        let mpdu = Bytes(1500) + self.overhead() + FCS;
        let room = self.ampdu_room(mode, mode);
        let fit = room.bytes.0 / (mpdu + DELIMITER).0.next_multiple_of(4);
        let mpdus = fit.clamp(1, u64::from(room.frames)).min(REFERENCE.1);
        let bits = REFERENCE.0 * 8;
        let data = match symbol(mode) {
            Some((symbol, bits_per_symbol)) => {
                let symbols = (REFERENCE.1 * bits).div_ceil(bits_per_symbol) * symbol.0;
                // The kernel adds a fifth of a long symbol to short ones (`MCS_SYMBOL_TIME`).
                let short = mode.guard == Guard::Ns400;
                (symbols + if short { 800 } else { 0 }) / REFERENCE.1
            }
            None => mode.rate.time_for(Bytes(REFERENCE.0)).0,
        };
        let per_second = TRUST_PERCENT * 10_000_000 / (OVERHEAD_NS / mpdus + data);
        // Minstrel counts in steps of 10 packets per second.
        BitRate(per_second / 10 * 10 * bits * 1000 / 1024)
    }
}

/// Duration of an OFDM symbol and its data bits; `None` for DSSS.
fn symbol(mode: &Mode) -> Option<(Duration, u64)> {
    let bits = u64::from(mode.bits_per_symbol);
    let symbol = mode.class.generation().symbol + Duration(mode.guard.ns());
    (bits > 0).then_some((symbol, bits))
}

/// Duration of 1024 bytes of data, in units of 1/1024 microseconds
/// (`ieee80211_calc_rx_airtime`).
pub fn kib_duration(mode: &Mode) -> u64 {
    const BITS: u64 = 8 * 1024;
    match symbol(mode) {
        Some((symbol, bits)) if mode.class.is_high() => {
            (BITS * 1024).div_ceil(bits) * symbol.0 / 1000
        }
        _ => BITS * 1024 * 1_000_000 / mode.rate.0,
    }
}

/// Duration in microseconds that Linux adds to the data of a PPDU, contention and the response not
/// included.
pub fn estimated_overhead_us(mode: &Mode) -> u64 {
    match mode.class {
        class if class.is_high() => 36 + 4 * u64::from(mode.streams),
        class if class.is_dsss() => 192 + 10,
        _ => 36,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::Aggregation;
    use crate::mac::aggregation::DurationIn;
    use crate::phy::{DOT11AC, DOT11N, ModeClass, TxVector, Width};

    fn ht(mcs: u8, streams: u8, guard: Guard) -> Mode {
        TxVector { mcs, streams, guard, ..DOT11N.tx_vector().unwrap() }.mode().unwrap()
    }

    /// 802.11n with the limits of ath9k.
    fn ath9k() -> MacConfig {
        let limits = Aggregation::of(ModeClass::Ht).unwrap();
        let duration = Duration::from_micros(4096);
        let aggregation = Some(Aggregation { frames: 32, duration, ..limits });
        let edca = Some(crate::Categories::of(&DOT11N, crate::phy::Edition::default()));
        MacConfig { edca, aggregation, ..MacConfig::of(&DOT11N) }
    }

    #[test]
    fn an_ampdu_of_ath9k_lasts_four_milliseconds() {
        use Guard::{Ns400, Ns800};
        let room = |mode: &Mode| ath9k().ampdu_room(mode, mode);
        let bytes =
            |mcs, streams| [Ns800, Ns400].map(|guard| room(&ht(mcs, streams, guard)).bytes.0);
        assert_eq!(bytes(0, 1), [3296, 3660]);
        assert_eq!(bytes(3, 1), [13_192, 14_648]);
        assert_eq!(bytes(4, 1), [19_789, 21_973]);
        assert_eq!(bytes(7, 1), [32_984, 36_624]);
        assert_eq!(bytes(3, 2), [26_361, 29_273]);
        assert_eq!(room(&ht(7, 2, Ns400)).frames, 32);
        let legacy = room(&DOT11N.fastest());
        assert_eq!(legacy.frames, 1, "a legacy rate has no A-MPDU");
    }

    #[test]
    fn a_chain_limits_an_ampdu_by_its_slowest_mode() {
        let guard = Guard::Ns400;
        let mut config = ath9k();
        let mut room = |duration_in, slowest: &Mode| {
            let limits = config.aggregation.as_mut().expect("802.11n aggregates");
            limits.duration_in = duration_in;
            let room = config.ampdu_room(&ht(7, 2, guard), slowest);
            (room.frames, room.bytes.0)
        };
        let [alone, slow] = [ht(7, 2, guard), ht(4, 1, guard)];
        // 65,535 bytes last less than 4 ms at 144 Mb/s.
        assert_eq!(room(DurationIn::Mode, &slow), (32, 65_535));
        assert_eq!(room(DurationIn::Chain, &alone), (32, 65_535));
        assert_eq!(room(DurationIn::Chain, &slow), (32, 21_973), "14 MPDUs of 1538 bytes");
        assert_eq!(room(DurationIn::Chain, &ht(7, 1, guard)), (32, 36_624), "23");
        assert_eq!(room(DurationIn::Chain, &DOT11N.fastest()).0, 1, "a legacy rate");
    }

    #[test]
    fn throughput_is_expected_as_by_minstrel() {
        use Guard::{Ns400, Ns800};
        let kbps =
            |mcs, streams, guard| ath9k().expected_throughput(&ht(mcs, streams, guard)).0 / 1000;
        assert_eq!([kbps(0, 1, Ns800), kbps(0, 1, Ns400)], [5531, 6093]);
        assert_eq!([kbps(1, 1, Ns400), kbps(3, 1, Ns400)], [12_187, 24_562]);
        assert_eq!(kbps(7, 2, Ns400), 116_062);
    }

    #[test]
    fn durations_of_data() {
        let of = |mode: &Mode| kib_duration(mode) / 1024;
        assert_eq!([of(&ht(0, 1, Guard::Ns800)), of(&ht(7, 1, Guard::Ns400))], [1260, 113]);
        let vht = TxVector {
            width: Width::Mhz80,
            mcs: 9,
            streams: 2,
            guard: Guard::Ns400,
            ..DOT11AC.tx_vector().unwrap()
        };
        assert_eq!(of(&vht.mode().unwrap()), 9);
        assert_eq!(of(&DOT11N.fastest()), 151);
        let overheads = [&ht(7, 2, Guard::Ns800), &DOT11N.fastest()].map(estimated_overhead_us);
        assert_eq!(overheads, [44, 36]);
    }
}
