//! Channels: from band, number and width to frequencies (802.11-2020 annex E, and clauses
//! 15.4.4.3, 17.3.8.4, 19.3.15 and 21.3.14).

use super::{Band, Width};
use settings::{Said, number, said};
use std::fmt::Write;

/// A primary channel of 20 MHz, or 22 MHz: where a cell sends frames of any width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Primary {
    /// Its band.
    pub band: Band,
    /// Its number.
    pub number: u16,
}

/// The part of the spectrum that frames of one width occupy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its centre in MHz.
    pub centre_mhz: u32,
    /// Its width.
    pub width: Width,
}

/// Channels at equal distances, and what they are the primary channels of.
struct Run {
    band: Band,
    first: u16,
    last: u16,
    step: u16,
    /// The frequency of a channel with the number 0.
    from_mhz: u32,
}

/// All channels of 20 MHz, or 22 MHz (table E-4: operating classes 81 and 82, 115 to 125, 131).
/// Of the overlapping channels of 320 MHz those with the centres 31, 95 and 159 (320-1).
const RUNS: [Run; 6] = [
    Run { band: Band::Ghz2_4, first: 1, last: 13, step: 1, from_mhz: 2407 },
    Run { band: Band::Ghz2_4, first: 14, last: 14, step: 1, from_mhz: 2414 },
    Run { band: Band::Ghz5, first: 36, last: 64, step: 4, from_mhz: 5000 },
    Run { band: Band::Ghz5, first: 100, last: 144, step: 4, from_mhz: 5000 },
    Run { band: Band::Ghz5, first: 149, last: 177, step: 4, from_mhz: 5000 },
    Run { band: Band::Ghz6, first: 1, last: 233, step: 4, from_mhz: 5950 },
];

/// The widths of several channels.
const WIDE: [Width; 4] = [Width::Mhz40, Width::Mhz80, Width::Mhz160, Width::Mhz320];

/// The last primary channel at 2.4 GHz whose secondary channel is above it (operating class 83).
/// Those after it have it below (class 84).
const LAST_BELOW: u16 = 9;

impl Run {
    fn has(&self, number: u16) -> bool {
        (self.first..=self.last).contains(&number)
            && (number - self.first).is_multiple_of(self.step)
    }

    /// The number of the centre of a channel of this width, whose primary channel is this one. From
    /// 5 GHz on, wider channels divide the run into blocks; at 2.4 GHz the secondary channel is the
    /// fourth from the primary one.
    fn centre(&self, number: u16, width: Width) -> Option<u16> {
        let parts = match width {
            Width::Mhz20 | Width::Mhz22 => return Some(number),
            Width::Mhz40 => 2,
            Width::Mhz80 => 4,
            Width::Mhz160 => 8,
            Width::Mhz320 => 16,
        };
        match self.band {
            Band::Ghz2_4 if parts > 2 || self.first == self.last => None,
            Band::Ghz2_4 if number <= LAST_BELOW => Some(number + 2),
            Band::Ghz2_4 => Some(number - 2),
            Band::Ghz5 | Band::Ghz6 => {
                let block = (number - self.first) / self.step / parts;
                let lowest = self.first + block * parts * self.step;
                let highest = lowest + (parts - 1) * self.step;
                (highest <= self.last).then_some(u16::midpoint(lowest, highest))
            }
        }
    }
}

impl Primary {
    /// The channel in which networks of a band are where they name none.
    pub const fn usual(band: Band) -> Self {
        let number = match band {
            Band::Ghz2_4 => 1,
            Band::Ghz5 => 36,
            // The first preferred scanning channel (clause 26.17.2.3.3).
            Band::Ghz6 => 5,
        };
        Self { band, number }
    }

    /// The channel of frames of this width; `None` if there is none.
    pub fn channel(self, width: Width) -> Option<Channel> {
        let centre = |run: &Run| {
            let number = run.centre(self.number, width)?;
            Some(Channel { centre_mhz: run.from_mhz + 5 * u32::from(number), width })
        };
        self.run().and_then(centre)
    }

    /// The same, or an error message with the numbers that there are.
    pub fn checked(self, width: Width) -> Result<Channel, Said> {
        let Self { band, number: primary } = self;
        self.channel(width).ok_or_else(|| {
            let (ghz, mhz) = (number(band.ghz()), width.mhz());
            let all = list(band, if self.run().is_some() { width } else { Width::Mhz20 });
            match self.run() {
                None => {
                    let hint = self.block().map_or(String::new(), |(mhz, first, last)| {
                        format!("it is the centre of {first} to {last}, which are {mhz} MHz")
                    });
                    said!("{primary} is no channel at {ghz} GHz, where there are {all}", "{hint}")
                }
                _ if all.is_empty() => {
                    format!("there are no channels of {mhz} MHz at {ghz} GHz").into()
                }
                _ => said!("{primary} is in no channel of {mhz} MHz", "take one of {all}"),
            }
        })
    }

    /// If the number is that of the centre of a wide channel: its width in MHz, and the first and
    /// the last of its channels.
    fn block(self) -> Option<(u32, u16, u16)> {
        let runs = RUNS.iter().filter(|run| run.band == self.band && run.step > 1);
        let all = runs.flat_map(|run| WIDE.map(|w| (run, w)));
        all.into_iter().find_map(|(run, width)| {
            let numbers = (run.first..=run.last).step_by(run.step.into());
            let mut parts = numbers.filter(|&part| run.centre(part, width) == Some(self.number));
            let first = parts.next()?;
            Some((width.mhz(), first, parts.next_back().unwrap_or(first)))
        })
    }

    fn run(self) -> Option<&'static Run> {
        RUNS.iter().find(|run| run.band == self.band && run.has(self.number))
    }
}

impl Channel {
    /// Its lower and its upper edge in MHz.
    pub const fn edges_mhz(self) -> (u32, u32) {
        let half = self.width.mhz() / 2;
        (self.centre_mhz - half, self.centre_mhz + half)
    }
}

/// The numbers of the primary channels of a band, as `36 to 64, 100 to 144 and 149 to 177 in steps
/// of 4`.
fn list(band: Band, width: Width) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    let mut step = 1;
    for run in RUNS.iter().filter(|run| run.band == band) {
        step = run.step;
        let all = (run.first..=run.last).step_by(step.into());
        for number in all.filter(|&number| run.centre(number, width).is_some()) {
            match ranges.last_mut() {
                Some((_, last)) if *last + step == number => *last = number,
                _ => ranges.push((number, number)),
            }
        }
    }
    let mut text = String::new();
    for (place, (first, last)) in ranges.iter().enumerate() {
        let between = match place {
            0 => "",
            _ if place + 1 < ranges.len() => ", ",
            _ => " and ",
        };
        let _ = write!(text, "{between}{first} to {last}");
    }
    if step > 1 && !text.is_empty() {
        let _ = write!(text, " in steps of {step}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use Band::{Ghz2_4, Ghz5};
    use Width::{Mhz20, Mhz22, Mhz40, Mhz80, Mhz160};

    fn centre(band: Band, number: u16, width: Width) -> Option<u32> {
        Primary { band, number }.channel(width).map(|channel| channel.centre_mhz)
    }

    #[test]
    fn channels_at_2_4_ghz_are_5_mhz_apart_up_to_13_and_14_is_12_mhz_above() {
        // Clause 15.4.4.3, table 15-6.
        let all = (1..=14).map(|number| centre(Ghz2_4, number, Mhz22).unwrap());
        let expected = (2412..=2472).step_by(5).chain([2484]);
        assert!(all.eq(expected));
        assert_eq!(
            Primary { band: Ghz2_4, number: 6 }.channel(Mhz22).unwrap().edges_mhz(),
            (2426, 2448)
        );
    }

    #[test]
    fn channels_at_5_ghz_are_those_of_table_e_4() {
        // Operating classes 115, 118, 121, 124 and 125 with 20 MHz; 128 and 129 with 80 and 160.
        let numbers = |width| -> Vec<u16> {
            (0..=300).filter(|&number| centre(Ghz5, number, width).is_some()).collect()
        };
        let centres = |width| {
            let mut all: Vec<u32> = numbers(width)
                .iter()
                .map(|&n| (centre(Ghz5, n, width).unwrap() - 5000) / 5)
                .collect();
            all.dedup();
            all
        };
        assert_eq!(numbers(Mhz20).len(), 28);
        assert_eq!(centres(Mhz20)[..3], [36, 40, 44]);
        let of_40 = [38, 46, 54, 62, 102, 110, 118, 126, 134, 142, 151, 159, 167, 175];
        assert_eq!(centres(Mhz40), of_40);
        assert_eq!(centres(Mhz80), [42, 58, 106, 122, 138, 155, 171]);
        assert_eq!(centres(Mhz160), [50, 114, 163]);
        assert_eq!(
            Primary { band: Ghz5, number: 44 }.channel(Mhz80).unwrap().edges_mhz(),
            (5170, 5250)
        );
    }

    #[test]
    fn at_2_4_ghz_the_secondary_channel_is_the_fourth_above_or_below() {
        // Operating classes 83 and 84.
        let all: Vec<_> = [1, 5, 9, 10, 13].map(|n| centre(Ghz2_4, n, Mhz40).unwrap()).into();
        assert_eq!(all, [2422, 2442, 2462, 2447, 2462]);
        assert_eq!(centre(Ghz2_4, 14, Mhz40), None);
    }

    #[test]
    fn a_number_that_a_band_lacks_is_refused_with_the_list() {
        let fault =
            |band, number, width| Primary { band, number }.checked(width).unwrap_err().to_string();
        let five = "36 to 64, 100 to 144 and 149 to 177 in steps of 4";
        assert_eq!(
            fault(Ghz2_4, 36, Mhz20),
            "36 is no channel at 2.4 GHz, where there are 1 to 14"
        );
        assert_eq!(
            fault(Ghz5, 6, Mhz20),
            format!("6 is no channel at 5 GHz, where there are {five}")
        );
        let hint = "; it is the centre of 36 to 48, which are 80 MHz";
        assert_eq!(
            fault(Ghz5, 42, Mhz80),
            format!("42 is no channel at 5 GHz, where there are {five}{hint}")
        );
        assert_eq!(
            fault(Ghz5, 144, Mhz160),
            "144 is in no channel of 160 MHz; take one of 36 to 64, 100 to 128 and 149 to 177 in \
             steps of 4"
        );
        assert_eq!(fault(Ghz2_4, 14, Mhz40), "14 is in no channel of 40 MHz; take one of 1 to 13");
        assert_eq!(fault(Ghz2_4, 1, Mhz80), "there are no channels of 80 MHz at 2.4 GHz");
    }

    #[test]
    fn the_usual_channels_take_all_widths() {
        for width in [Mhz20, Mhz40, Mhz80, Mhz160] {
            assert!(Primary::usual(Ghz5).channel(width).is_some());
        }
        assert!(Primary::usual(Ghz2_4).channel(Mhz40).is_some());
    }

    #[test]
    fn channels_at_6_ghz_are_those_of_operating_classes_131_to_137() {
        use Band::Ghz6;
        let numbers: Vec<u16> = (0..=300).filter(|&n| centre(Ghz6, n, Mhz20).is_some()).collect();
        assert_eq!((numbers.len(), numbers[0], numbers[58]), (59, 1, 233));
        assert_eq!(centre(Ghz6, 1, Mhz20), Some(5955));
        let centres = |width| {
            let all = numbers.iter().filter_map(|&n| centre(Ghz6, n, width));
            let mut all: Vec<u32> = all.map(|mhz| (mhz - 5950) / 5).collect();
            all.dedup();
            all
        };
        assert_eq!(centres(Mhz160), [15, 47, 79, 111, 143, 175, 207]);
        assert_eq!(centres(Width::Mhz320), [31, 95, 159]);
        assert_eq!(centre(Ghz5, 36, Width::Mhz320), None);
    }
}
