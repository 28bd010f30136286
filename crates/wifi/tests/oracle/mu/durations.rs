//! How long frames and PPDUs of OFDMA last, and what fits into them.

use super::fill::{End, Unit};
use crate::timing::Times;
use kernel::Duration;
use wifi::mac::Acknowledgement;
use wifi::phy::Mode;

pub(super) const DELIMITER: u64 = 4;
/// An Ack, a BlockAck with a bitmap of 256 bits (clause 9.3.1.8.3), and a BlockAckReq.
pub(super) const ACK: u64 = 14;
pub(super) const BLOCK_ACK: u64 = 56;
pub(super) const REQUEST: u64 = 24;

pub(super) fn tenths_of_us(tenths: u64) -> Duration {
    Duration::from_nanos(100 * tenths)
}

/// A control frame at 24 Mb/s: 96 bits a symbol (clause 17.3.2).
pub(super) fn control(bytes: u64) -> Duration {
    Duration::from_micros(20 + 4 * (16 + 8 * bytes + 6).div_ceil(96))
}

/// A MU-BAR for so many users (clause 9.3.1.22.4).
pub(super) const fn mu_bar(users: u64) -> u64 {
    16 + 8 + 4 + 9 * users
}

/// The CTSs that answer an MU-RTS, at 6 Mb/s: 24 bits a symbol (clause 26.2.6.3).
pub(super) const CTS: Duration = Duration::from_micros(20 + 4 * (16 + 8 * ACK + 6).div_ceil(24));

/// An MU-RTS to so many users, and the CTSs, up to the begin of what it protects.
pub(super) fn mu_rts_lasts(times: &Times, users: u64) -> Duration {
    control(16 + 8 + 4 + 5 * users) + times.sifs() + CTS + times.sifs()
}

/// The preamble of an HE MU PPDU with a guard interval of 0.8 µs and 2x HE-LTF (clauses 27.3.4,
/// 27.3.11.8), in tenths of µs.
pub(super) fn preamble(units: &Units) -> u64 {
    const SIG_B: [u64; 6] = [26, 52, 78, 104, 156, 208];
    // From 40 MHz on two content channels have half of the users each. A common field with a code
    // of 8 bits for each of its 20 MHz, from 80 MHz on a bit for the resource unit in the middle,
    // CRC and tail; then pairs of users, each with CRC and tail.
    let Units { users, channels, .. } = *units;
    let common = 8 * (channels / 2).max(1) + u64::from(channels >= 4) + 10;
    let users = users.div_ceil(channels.min(2));
    let sig_b = common + 52 * (users / 2) + 31 * (users % 2);
    let sig_b = sig_b.div_ceil(SIG_B[usize::from(units.unit.mcs.min(5))]);
    360 + 40 * sig_b + 72
}

/// An HE MU PPDU whose longest A-MPDU has so many bytes.
pub(super) fn data_lasts(units: &Units, longest: u64) -> Duration {
    tenths_of_us(preamble(units) + 136 * units.unit.end(longest).symbols)
}

/// The most bytes of the A-MPDU of a user in a PPDU that is no longer than this.
pub(super) fn room(units: &Units, longest: Duration) -> u64 {
    let symbols = (longest.0 / 100).saturating_sub(preamble(units)) / 136;
    units.unit.last(symbols).map_or(0, |end| units.unit.room(end))
}

/// What follows the data if all is received.
pub(super) fn after(how: Acknowledgement, times: &Times, units: &Units) -> Duration {
    let (sifs, [_, announced]) = (times.sifs(), answers_last(units));
    let pair = sifs + control(BLOCK_ACK);
    match how {
        Acknowledgement::BarChain => {
            pair * units.users + (sifs + control(REQUEST)) * (units.users - 1)
        }
        Acknowledgement::MuBar => sifs + control(mu_bar(units.users)) + sifs + announced,
        Acknowledgement::AggregatedMuBar => sifs + announced,
    }
}

/// aRxPHYStartDelay of HE TB PPDUs (table 27-54).
pub(super) const RX_START_DELAY: Duration = Duration::from_micros(32);

/// How long the access point waits for the last answer.
pub(super) fn timeout(how: Acknowledgement, times: &Times, mode: &Mode) -> Duration {
    match how {
        Acknowledgement::BarChain => times.response_timeout(mode),
        _ => times.sifs() + times.slot + RX_START_DELAY,
    }
}

/// BlockAcks in HE TB PPDUs with a guard interval of 1.6 µs, up to their own end, and up to that
/// which L-SIG announces.
pub(super) fn answers_last(units: &Units) -> [Duration; 2] {
    let unit = Unit::of(units.unit.tones, units.unit.mcs.min(5), false);
    let end = unit.end(BLOCK_ACK + DELIMITER);
    [triggered_lasts(end), announced(end)]
}

/// HE TB PPDUs with a guard interval of 1.6 µs and 2x HE-LTF.
pub(super) fn triggered_lasts(end: End) -> Duration {
    tenths_of_us(480 + 144 * end.symbols)
}

/// The same up to the end that L-SIG announces.
pub(super) fn announced(end: End) -> Duration {
    tenths_of_us(200 + (480 + 144 * end.symbols - 200).next_multiple_of(40))
}

/// The resource units of a PPDU, all of one size.
#[derive(Clone, Copy)]
pub(super) struct Units {
    pub(super) users: u64,
    pub(super) unit: Unit,
    /// Channels of 20 MHz.
    pub(super) channels: u64,
}
