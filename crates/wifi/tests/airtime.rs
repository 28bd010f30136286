//! Properties of PPDU durations that hold for every size, and a count of symbols by hand.

use kernel::{Bytes, Duration};
use proptest::prelude::*;
use wifi::phy::{DOT11A, DOT11B, DOT11G, Mode, Preamble, airtime};

/// Every mode of 802.11a, b and g.
fn modes() -> impl Strategy<Value = Mode> {
    let all = [DOT11A.modes, DOT11B.modes, DOT11G.modes].concat();
    prop::sample::select(all)
}

fn preambles() -> impl Strategy<Value = Preamble> {
    prop::sample::select(vec![Preamble::Long, Preamble::Short])
}

/// PSDU sizes that the standards know (aPSDUMaxLength 4095).
fn sizes() -> std::ops::RangeInclusive<u64> {
    1..=4095
}

fn payload(mode: &Mode, psdu: u64) -> Duration {
    airtime(mode, Preamble::Long, Bytes(psdu)).payload
}

/// The grain of the payload's duration: a symbol, or a microsecond of the LENGTH field.
fn grain(mode: &Mode) -> Duration {
    Duration::from_micros(if mode.class.is_dsss() { 1 } else { 4 })
}

/// Sends bit by bit: a grain at a time, until all bits are out.
fn count(mode: &Mode, psdu: u64) -> Duration {
    let service_and_tail = if mode.class.is_dsss() { 0 } else { 16 + 6 };
    let (mut half_bits, mut time) = (0, Duration::ZERO);
    while half_bits < 2 * (service_and_tail + 8 * psdu) {
        half_bits += half_bits_per_grain(mode);
        time += grain(mode);
    }
    time
}

/// 5.5 Mb/s sends eleven bits in two microseconds.
fn half_bits_per_grain(mode: &Mode) -> u64 {
    2 * mode.rate.0 * grain(mode).0 / 1_000_000_000
}

proptest! {
    #[test]
    fn parts_make_the_whole(mode in modes(), preamble in preambles(), psdu in sizes()) {
        let parts = airtime(&mode, preamble, Bytes(psdu));
        let sum = parts.preamble + parts.header + parts.payload + parts.extension;
        prop_assert_eq!(parts.total(), sum);
        let empty = airtime(&mode, preamble, Bytes(0));
        prop_assert_eq!((parts.preamble, parts.header), (empty.preamble, empty.header));
    }

    #[test]
    fn the_payload_is_as_long_as_its_bits(mode in modes(), psdu in sizes()) {
        prop_assert_eq!(payload(&mode, psdu), count(&mode, psdu));
    }

    #[test]
    fn a_longer_psdu_never_takes_less(mode in modes(), preamble in preambles(), psdu in sizes()) {
        let [shorter, longer] =
            [psdu, psdu + 1].map(|size| airtime(&mode, preamble, Bytes(size)).total());
        prop_assert!(shorter <= longer && longer <= shorter + Duration::from_micros(8));
    }

    #[test]
    fn a_faster_mode_of_the_family_never_takes_more(preamble in preambles(), psdu in sizes()) {
        let (dsss, ofdm) = DOT11G.modes.split_at(DOT11B.modes.len());
        for family in [DOT11A.modes, dsss, ofdm] {
            let total = |mode| airtime(mode, preamble, Bytes(psdu)).total();
            prop_assert!(family.is_sorted_by_key(|mode| mode.rate));
            prop_assert!(family.is_sorted_by(|slower, faster| total(faster) <= total(slower)));
        }
    }

    /// One frame with the bytes of two saves what opens the second, and at most a grain more.
    #[test]
    fn payloads_add_up(mode in modes(), first in sizes(), second in sizes()) {
        let apart = payload(&mode, first) + payload(&mode, second);
        let together = payload(&mode, first + second);
        let opening = if mode.class.is_dsss() { Duration::ZERO } else { payload(&mode, 0) };
        prop_assert!(together <= apart && apart <= together + opening + grain(&mode));
    }

    /// Sixteen grains' worth of bits is a whole number of bytes in every mode.
    #[test]
    fn whole_symbols_add_exactly(mode in modes(), psdu in sizes()) {
        let longer = psdu + half_bits_per_grain(&mode);
        prop_assert_eq!(payload(&mode, longer), payload(&mode, psdu) + grain(&mode) * 16);
    }

    #[test]
    fn a_short_preamble_saves_96_microseconds(mode in modes(), psdu in sizes()) {
        let [long, short] = [Preamble::Long, Preamble::Short]
            .map(|preamble| airtime(&mode, preamble, Bytes(psdu)).total());
        let has_two = mode.class.is_dsss() && mode.rate.0 > 1_000_000;
        let saved = Duration::from_micros(if has_two { 96 } else { 0 });
        prop_assert_eq!(long, short + saved);
    }
}
