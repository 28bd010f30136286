//! The contention window and the retry counters of an EDCAF.

use super::timing::BackoffDraw;
use kernel::Rng;

/// The consequence of a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Retry,
    Drop,
}

/// Contention parameters of an EDCAF.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentionParameters {
    pub(crate) short_limit: u32,
    pub(crate) long_limit: u32,
    pub(crate) cw_min: u32,
    pub(crate) cw_max: u32,
    pub(crate) draw: BackoffDraw,
}

/// The contention window and the retry counters of an EDCAF or of DCF.
#[derive(Debug)]
pub(crate) struct Access {
    cw: u32,
    /// Failed attempts of a frame without RTS, or of an RTS (SRC; clause 10.3.4.4).
    short_retries: u32,
    /// Failed attempts of a data frame after a CTS (LRC).
    long_retries: u32,
    backoff: Backoff,
}

/// The source of back-off draws: the node's random stream, or the list of a test.
#[derive(Debug)]
pub(crate) enum Backoff {
    Random(Rng),
    #[cfg(test)]
    Listed(std::collections::VecDeque<u32>),
}

impl Access {
    pub(crate) fn new(contention_parameters: &ContentionParameters, backoff: Backoff) -> Self {
        Self { cw: contention_parameters.cw_min, short_retries: 0, long_retries: 0, backoff }
    }

    /// Draws a back-off from the current window.
    pub(crate) fn draw(&mut self, contention_parameters: &ContentionParameters) -> u32 {
        let highest = match contention_parameters.draw {
            BackoffDraw::Standard => self.cw,
            BackoffDraw::Ns2 => self.cw.saturating_sub(1),
        };
        match &mut self.backoff {
            Backoff::Random(rng) => rng.up_to(highest),
            #[cfg(test)]
            Backoff::Listed(list) => list.pop_front().unwrap_or(highest),
        }
    }

    /// An attempt received its response, or needed none.
    pub(crate) fn succeed(&mut self, contention_parameters: &ContentionParameters) {
        self.cw = contention_parameters.cw_min;
        (self.short_retries, self.long_retries) = (0, 0);
    }

    /// An attempt received no response. `after_cts` says whether its CTS was received.
    ///
    /// The limits count all attempts: a frame is discarded when its counter reaches the limit, and
    /// the contention window returns to its minimum (clauses 10.3.3, 10.3.4.4, 10.23.2.2).
    pub(crate) fn fail(
        &mut self,
        contention_parameters: &ContentionParameters,
        after_cts: bool,
    ) -> Failure {
        let exhausted = if after_cts {
            self.short_retries = 0;
            self.long_retries += 1;
            self.long_retries >= contention_parameters.long_limit
        } else {
            self.short_retries += 1;
            self.short_retries >= contention_parameters.short_limit
        };
        if exhausted {
            self.succeed(contention_parameters);
            Failure::Drop
        } else {
            self.double(contention_parameters, self.cw);
            Failure::Retry
        }
    }

    /// The contention window becomes twice as large as `before`.
    pub(crate) fn double(&mut self, contention_parameters: &ContentionParameters, before: u32) {
        self.cw = (2 * before + 1).min(contention_parameters.cw_max);
    }

    /// The contention parameters change: a window that was the smallest is the new smallest, and no
    /// window is beyond the new limits.
    pub(crate) fn adopt(&mut self, old: &ContentionParameters, new: &ContentionParameters) {
        let smallest = self.cw == old.cw_min;
        self.cw = if smallest { new.cw_min } else { self.cw.clamp(new.cw_min, new.cw_max) };
    }

    /// Attempts that have failed since the last success.
    pub(crate) fn failures(&self) -> u32 {
        self.short_retries + self.long_retries
    }

    /// The contention window.
    pub(crate) fn window(&self) -> u32 {
        self.cw
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Seed;

    const PARAMETERS: ContentionParameters = ContentionParameters {
        short_limit: 3,
        long_limit: 2,
        cw_min: 31,
        cw_max: 100,
        draw: BackoffDraw::Standard,
    };

    fn access() -> Access {
        let seed = Seed { root: 1, replication: 0 };
        Access::new(&PARAMETERS, Backoff::Random(seed.stream("test", 0)))
    }

    #[test]
    fn the_window_doubles_up_to_its_largest_and_starts_anew_with_the_next_frame() {
        let mut access = access();
        assert_eq!(access.fail(&PARAMETERS, false), Failure::Retry);
        assert_eq!((access.window(), access.failures()), (63, 1));
        assert_eq!(access.fail(&PARAMETERS, false), Failure::Retry);
        assert_eq!(access.window(), 100);
        assert_eq!(access.fail(&PARAMETERS, false), Failure::Drop);
        assert_eq!((access.window(), access.failures()), (31, 0));
        access.fail(&PARAMETERS, false);
        access.succeed(&PARAMETERS);
        assert_eq!((access.window(), access.failures()), (31, 0));
    }

    #[test]
    fn a_window_stays_within_new_limits() {
        let new = ContentionParameters { cw_min: 7, cw_max: 15, ..PARAMETERS };
        let mut smallest = access();
        smallest.adopt(&PARAMETERS, &new);
        assert_eq!(smallest.window(), 7);
        let mut doubled = access();
        doubled.fail(&PARAMETERS, false);
        doubled.adopt(&PARAMETERS, &new);
        assert_eq!(doubled.window(), 15);
    }

    #[test]
    fn the_two_retry_counters_are_independent() {
        let mut access = access();
        assert_eq!(access.fail(&PARAMETERS, false), Failure::Retry);
        assert_eq!(access.fail(&PARAMETERS, false), Failure::Retry);
        assert_eq!(access.fail(&PARAMETERS, true), Failure::Retry, "the CTS resets the short one");
        assert_eq!(access.fail(&PARAMETERS, false), Failure::Retry);
        assert_eq!(access.fail(&PARAMETERS, true), Failure::Drop, "the long one stays");
    }

    #[test]
    fn back_offs_cover_the_window() {
        let mut access = access();
        let mut draws = |draw| {
            let contention_parameters = ContentionParameters { draw, cw_min: 31, ..PARAMETERS };
            let mut seen = [0u32; 33];
            for _ in 0..32_000 {
                seen[access.draw(&contention_parameters) as usize] += 1;
            }
            seen
        };
        let standard = draws(BackoffDraw::Standard);
        // Each of the 32 values 1000 times, within five standard deviations.
        assert!(standard[..32].iter().all(|count| count.abs_diff(1000) < 160), "{standard:?}");
        assert_eq!(standard[32], 0);
        let ns2 = draws(BackoffDraw::Ns2);
        assert!(ns2[..31].iter().all(|count| count.abs_diff(1032) < 160), "{ns2:?}");
        assert_eq!(ns2[31..], [0, 0]);
    }
}
