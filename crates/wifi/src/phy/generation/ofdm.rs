//! OFDM, 802.11a, and ERP-OFDM, 802.11g (clauses 17 and 18).

use super::{Generation, dsss};
use crate::phy::layout::{Layout, SIGNAL_EXTENSION};
use crate::phy::standard::OFDM_BASIC_100KBPS;
use crate::phy::{
    Amendment, Band, CodeRate, Coding, Guard, Mode, ModeClass, Modulation, Punctured, Slot,
    Standard, Width,
};
use CodeRate::{Half, ThreeQuarters, TwoThirds};
use Modulation::{Bpsk, Qam16, Qam64, Qpsk};
use kernel::{BitRate, Bytes, Duration};
use wire::Format;

pub(super) const OFDM: Generation = Generation {
    format: Format::Ofdm,
    // The LENGTH field has 12 bits (clause 17.3.4.3).
    longest_psdu: Bytes(4095),
    symbol: Duration(3200),
    high: None,
};

/// Data subcarriers (table 17-5).
const TONES: u32 = 48;

/// The modes of a class, by rate (table 17-4). In 2.4 GHz they end in a signal extension (clause
/// 18.3.2.4).
const fn modes(class: ModeClass, extension: Duration) -> [Mode; 8] {
    [
        mode(class, extension, 0, Bpsk, Half, 6),
        mode(class, extension, 1, Bpsk, ThreeQuarters, 9),
        mode(class, extension, 2, Qpsk, Half, 12),
        mode(class, extension, 3, Qpsk, ThreeQuarters, 18),
        mode(class, extension, 4, Qam16, Half, 24),
        mode(class, extension, 5, Qam16, ThreeQuarters, 36),
        mode(class, extension, 6, Qam64, TwoThirds, 48),
        mode(class, extension, 7, Qam64, ThreeQuarters, 54),
    ]
}

/// A mode of 20 MHz: 250 000 symbols per second.
const fn mode(
    class: ModeClass,
    extension: Duration,
    index: u8,
    modulation: Modulation,
    code_rate: CodeRate,
    rate_mbps: u64,
) -> Mode {
    Mode {
        class,
        rate: BitRate(rate_mbps * 1_000_000),
        bits_per_symbol: rate_mbps as u32 * 4,
        punctured: Punctured::NONE,
        coded_bits: TONES * modulation.bits(),
        modulation,
        code_rate,
        mcs: index,
        streams: 1,
        width: Width::Mhz20,
        guard: Guard::Ns800,
        coding: Coding::Bcc,
        layout: Layout::ofdm(extension),
    }
}

const MODES: [Mode; 8] = modes(ModeClass::Ofdm, Duration::ZERO);
const ERP_MODES: [Mode; 12] = {
    let ([d0, d1, d2, d3], [e0, e1, e2, e3, e4, e5, e6, e7]) =
        (dsss::MODES, modes(ModeClass::ErpOfdm, SIGNAL_EXTENSION));
    [d0, d1, d2, d3, e0, e1, e2, e3, e4, e5, e6, e7]
};

/// 802.11a: OFDM at 5 GHz, 20 MHz (table 17-21).
pub const DOT11A: Standard = Standard {
    amendment: Amendment::A,
    band: Band::Ghz5,
    slot: Slot::Short.lasts(),
    sifs: Duration::from_micros(16),
    cw_min: 15,
    cw_max: 1023,
    modes: &MODES,
    high: None,
    mandatory_100kbps: OFDM_BASIC_100KBPS,
    basic_100kbps: OFDM_BASIC_100KBPS,
};

/// 802.11g: ERP at 2.4 GHz, short slot, no 802.11b station present (table 18-5).
pub const DOT11G: Standard = Standard {
    amendment: Amendment::G,
    band: Band::Ghz2_4,
    slot: Slot::Short.lasts(),
    sifs: Duration::from_micros(10),
    cw_min: 15,
    cw_max: 1023,
    modes: &ERP_MODES,
    high: None,
    mandatory_100kbps: &[10, 20, 55, 110, 60, 120, 240],
    basic_100kbps: &[10, 20, 55, 110, 60, 120, 240],
};
