//! Reception by thresholds, as in ns-2.

use super::{Chunk, ErrorModel};
use kernel::{Db, Dbm};

/// All is understood from a ratio on, and nothing below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// The least ratio; in ns-2 that of capture (`CPThresh_`).
    pub capture: Db,
    /// The least power of a frame that can be understood (`RXThresh_`).
    pub receive: Dbm,
    /// The least power that makes the medium busy (`CSThresh_`).
    pub sense: Dbm,
}

/// The power with which nodes of ns-2 send (`Pt_`): 281.84 mW.
pub const NS2_TX_POWER: Dbm = Dbm(24.5);

/// What a frame is to a receiver in an idle medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reception {
    /// Nothing: its power is below that of carrier sense.
    Unheard,
    /// A busy medium, and an error at its end.
    Sensed,
    /// A frame.
    Understood,
}

impl Threshold {
    /// The defaults of ns-2: with its [`TwoRay`](crate::phy::propagation::TwoRay) and
    /// [`NS2_TX_POWER`] frames are understood up to 250 m and sensed up to 550 m.
    pub const NS2: Self = Self { capture: Db(10.0), receive: Dbm(-64.3747), sense: Dbm(-78.0715) };

    /// What a frame of this power is, alone.
    pub fn reception(&self, power: Dbm) -> Reception {
        if power >= self.receive {
            Reception::Understood
        } else if power >= self.sense {
            Reception::Sensed
        } else {
            Reception::Unheard
        }
    }

    /// Whether a frame that is being received survives a later one: ns-2 compares the two alone,
    /// and never lets the later one win.
    pub fn survives(&self, first: Dbm, later: Dbm) -> bool {
        (first - later) >= self.capture
    }
}

impl ErrorModel for Threshold {
    fn success(&self, chunk: &Chunk) -> f64 {
        if chunk.bits == 0 || chunk.sinr >= self.capture { 1.0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::DOT11B;
    use crate::phy::propagation::{Path, Propagation, TwoRay};
    use kernel::Instant;

    fn reception(distance: f64) -> Reception {
        let path = Path { distance, ends: (0, 1), now: Instant::ZERO };
        Threshold::NS2.reception(NS2_TX_POWER - TwoRay::NS2.loss(&path))
    }

    #[test]
    fn ranges_of_ns2() {
        assert_eq!(reception(200.0), Reception::Understood);
        assert_eq!(reception(250.0), Reception::Understood);
        assert_eq!(reception(250.1), Reception::Sensed);
        assert_eq!(reception(550.0), Reception::Sensed);
        assert_eq!(reception(550.1), Reception::Unheard);
    }

    #[test]
    fn capture_needs_1_78_times_the_distance() {
        let power = |distance| {
            let path = Path { distance, ends: (0, 1), now: Instant::ZERO };
            NS2_TX_POWER - TwoRay::NS2.loss(&path)
        };
        assert!(Threshold::NS2.survives(power(200.0), power(200.0 * 1.779)));
        assert!(!Threshold::NS2.survives(power(200.0), power(200.0 * 1.777)));
        assert!(!Threshold::NS2.survives(power(200.0), power(100.0)));
    }

    #[test]
    fn as_an_error_model_it_is_a_step() {
        let mode = DOT11B.fastest();
        let success =
            |sinr| Threshold::NS2.success(&Chunk { mode: &mode, sinr: Db(sinr), bits: 12_000 });
        assert_eq!((success(9.999), success(10.0)), (0.0, 1.0));
    }
}
