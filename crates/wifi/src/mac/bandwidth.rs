//! What a transmitter does where a part of its channel is busy: it waits, or leaves that part out
//! (802.11-2020 clause 10.23.2.5, 802.11be-2024 clause 35.15).

use super::MacConfig;
use crate::phy::{Mode, ModeClass, Primary, Punctured, Puncturing, TxVector, Width};
use settings::Choice;
use std::iter::successors;

/// What a transmitter among radios does where a 20 MHz subchannel of its channel, other than the
/// primary one, was not idle for a PIFS before its TXOP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum BandwidthOperation {
    /// It backs off anew.
    #[default]
    Static,
    /// It sends in the widest channel that was idle.
    Dynamic,
    /// It sends in the widest channel that was idle, or leaves out (punctures) what was not, to a
    /// station of 802.11be and, by OFDMA, to several of 802.11ax, if the standard has that pattern
    /// and it is faster.
    Punctured,
}

impl BandwidthOperation {
    /// Whether a transmitter sends in a part of its channel, and does not back off anew.
    pub fn is_dynamic(self) -> bool {
        self != Self::Static
    }
}

/// What a transmitter has won for a TXOP: its channel without the 20 MHz subchannels that were
/// busy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Won {
    primary: Primary,
    busy: Puncturing,
}

impl Won {
    /// A transmitter with this primary channel, of whose widest channel this was busy; `None` if
    /// nothing was. The primary channel was idle.
    pub(crate) fn of(primary: Primary, busy: Puncturing) -> Option<Self> {
        let own = busy.place_of(primary).map_or(0, |place| 1 << place);
        let punctured = Punctured::of_bits(busy.punctured.bits() & !own);
        (!punctured.is_none()).then_some(Self { primary, busy: Puncturing { punctured, ..busy } })
    }

    /// The fastest mode with the MCS of this one, or the next lower one that exists, in what has
    /// been won of its channel.
    pub(crate) fn fit(self, mode: &Mode, config: &MacConfig) -> Mode {
        let Some(common) = config.common_vector else { return *mode };
        if self.busy.within(self.primary, mode.width).is_none() {
            return *mode;
        }
        let parts = self.parts(mode.width, config, mode.class == ModeClass::Eht);
        let modes = parts.filter_map(|part| like(mode, &common, part));
        let faster = |a: Mode, b: Mode| if b.rate > a.rate { b } else { a };
        modes.reduce(faster).unwrap_or(*mode)
    }

    /// The part for a PPDU to several users of what has been won of a channel of this width. HE MU
    /// PPDUs, too, may be punctured (802.11ax-2021 table 27-20).
    pub(crate) fn part_for_several(self, width: Width, config: &MacConfig) -> Puncturing {
        let parts = self.parts(width, config, true);
        parts.max_by_key(|part| part.occupied_mhz()).unwrap_or(width.into())
    }

    /// The widest channel of at most this width that was idle.
    pub(crate) fn idle(self, width: Width) -> Width {
        let mut narrower = successors(Some(width), |width| width.narrower());
        let idle = narrower.find(|&width| self.busy.within(self.primary, width).is_none());
        idle.unwrap_or_default()
    }

    /// Parts of a channel of this width without what was busy: its patterns and those of narrower
    /// channels, if the PPDU may be punctured, and the widest channel that was idle.
    fn parts(
        self,
        width: Width,
        config: &MacConfig,
        may_be_punctured: bool,
    ) -> impl Iterator<Item = Puncturing> {
        let punctures =
            may_be_punctured && config.bandwidth_operation == BandwidthOperation::Punctured;
        let idle = self.idle(width);
        let narrower = successors(Some(width), |width| width.narrower());
        let partly_busy = narrower.take_while(move |&width| punctures && width > idle);
        let punctured = partly_busy.flat_map(move |width| {
            self.patterns(width).map(move |it| Puncturing { width, punctured: it })
        });
        punctured.chain(std::iter::once(idle.into()))
    }

    /// The patterns that leave out what was busy of a channel of this width, and not its primary
    /// channel.
    fn patterns(self, width: Width) -> impl Iterator<Item = Punctured> {
        let busy = self.busy.within(self.primary, width);
        let own = Puncturing { width, punctured: busy }.place_of(self.primary);
        Punctured::patterns(width).into_iter().filter(move |pattern| {
            let has_primary = own.is_some_and(|place| pattern.has(place));
            !has_primary && busy.bits() & !pattern.bits() == 0
        })
    }
}

/// The mode of a user of a PPDU to several, or of what answers a Trigger frame, in this part of its
/// channel.
#[cold]
pub(crate) fn mode_for_several(mode: &Mode, part: Puncturing, config: &MacConfig) -> Mode {
    let whole = Puncturing { punctured: Punctured::NONE, ..part };
    let own = config.common_vector.filter(|_| whole != mode.channel());
    let narrower = own.and_then(|common| like(mode, &common, whole)).unwrap_or(*mode);
    if part == whole { narrower } else { narrower.without(part.punctured) }
}

/// The mode with the MCS of another, or with the next lower one that exists, in this part of a
/// channel. The PPDUs of all links have some parameters in `common`.
fn like(mode: &Mode, common: &TxVector, part: Puncturing) -> Option<Mode> {
    let &Mode { class, mcs, streams, guard, .. } = mode;
    let Puncturing { width, punctured } = part;
    let vector = TxVector { streams, width, punctured, guard, ..common.of_class(class) };
    (0..=mcs).rev().find_map(|mcs| TxVector { mcs, ..vector }.mode().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Band, DOT11BE};
    use BandwidthOperation::{Dynamic, Punctured as Puncture};
    use Width::{Mhz80, Mhz160};

    /// The rate in Mb/s and the width in MHz of a frame of a class with its highest MCS, in channel
    /// 36 where these subchannels are busy, counted from 1.
    fn fit(
        operation: BandwidthOperation,
        class: ModeClass,
        width: Width,
        busy: &[u32],
    ) -> [f64; 2] {
        let common = DOT11BE.tx_vector().map(|vector| TxVector { class, ..vector });
        let config = MacConfig {
            bandwidth_operation: operation,
            common_vector: common,
            ..MacConfig::default()
        };
        let mode = TxVector { width, ..common.unwrap() }.fastest().unwrap();
        let punctured = Punctured::of_numbers(width, busy).unwrap();
        let primary = Primary { band: Band::Ghz5, number: 36 };
        let won = Won::of(primary, Puncturing { width, punctured });
        let mode = won.map_or(mode, |won| won.fit(&mode, &config));
        // What is left out has all that is busy of the channel.
        let busy = Puncturing { width, punctured }.within(primary, mode.width).bits() & !1;
        assert_eq!(busy & !mode.punctured.bits(), 0, "{mode:?}");
        [(mode.rate.as_mbps() * 10.0).round() / 10.0, f64::from(mode.width.mhz())]
    }

    /// MCS 13, one stream: 980, 702, 468 and 234 data subcarriers of 80 MHz, 1960, 1682 and 1448 of
    /// 160, each with 10 bits in 13.6 us.
    #[test]
    fn what_is_busy_is_left_out_or_a_narrower_channel_is_taken() {
        let eht = |width, busy: &[u32]| fit(Puncture, ModeClass::Eht, width, busy);
        assert_eq!(eht(Mhz80, &[]), [720.6, 80.0]);
        for nth in [2, 3, 4] {
            assert_eq!(eht(Mhz80, &[nth]), [516.2, 80.0]);
        }
        assert_eq!(eht(Mhz80, &[3, 4]), [344.1, 40.0], "no pattern leaves out two");
        assert_eq!(eht(Mhz80, &[2, 4]), [172.1, 20.0], "nor any of 40 MHz");
        assert_eq!(eht(Mhz160, &[5]), [1236.8, 160.0]);
        assert_eq!(eht(Mhz160, &[5, 6]), [1064.7, 160.0]);
        assert_eq!(eht(Mhz160, &[6, 7]), [720.6, 80.0], "no channel of 40 MHz");
        assert_eq!(eht(Mhz160, &[2, 8]), [516.2, 80.0]);
        assert_eq!(eht(Mhz160, &[1, 3]), [1236.8, 160.0], "the primary channel is never busy");
    }

    #[test]
    fn others_take_the_widest_channel_that_was_idle() {
        let eht = |width, busy: &[u32]| fit(Dynamic, ModeClass::Eht, width, busy);
        assert_eq!(eht(Mhz80, &[2]), [172.1, 20.0]);
        assert_eq!(eht(Mhz160, &[5]), [720.6, 80.0]);
        // MCS 11 of HE; MCS 9 of VHT, which 20 MHz with one stream do not have (clause 21.5).
        assert_eq!(fit(Puncture, ModeClass::He, Mhz80, &[4]), [286.8, 40.0]);
        assert_eq!(fit(Puncture, ModeClass::Vht, Mhz80, &[4]), [180.0, 40.0]);
        assert_eq!(fit(Puncture, ModeClass::Vht, Mhz80, &[2]), [78.0, 20.0]);
    }
}
