//! Proportional rate reduction: how the window falls during recovery (RFC 9937, RFC 6937).

use crate::Reduction;

/// The variables of one recovery, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    rule: Reduction,
    /// `RecoverFS`: the data in flight when recovery began.
    base: u64,
    /// `prr_delivered` and `prr_out`.
    delivered: u64,
    sent: u64,
}

/// The information of one acknowledgement during recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// Bytes that it newly delivers, cumulatively or selectively.
    pub(crate) delivered: u64,
    /// Whether the cumulative acknowledgement advanced and no further loss was detected.
    pub(crate) safe: bool,
    /// Bytes in flight.
    pub(crate) pipe: u64,
    /// The window at which recovery is to end.
    pub(crate) target: u64,
}

impl Prr {
    /// Begins a recovery: `outstanding` bytes follow the cumulative acknowledgement, `sacked` of
    /// them have arrived, and the acknowledgement that began the recovery delivered `delivered`
    /// bytes.
    pub(crate) fn new(rule: Reduction, outstanding: u64, sacked: u64, delivered: u64) -> Self {
        let base = match rule {
            // RFC 9937 §6.1: without the data that was SACKed before this acknowledgement.
            Reduction::Proportional => outstanding.saturating_sub(sacked) + delivered,
            Reduction::Proportional6937 | Reduction::AtOnce => outstanding,
        };
        Self { rule, base: base.max(1), delivered: 0, sent: 0 }
    }

    /// Whether the window does not depend on what is delivered.
    pub(crate) fn is_at_once(&self) -> bool {
        self.rule == Reduction::AtOnce
    }

    /// Whether nothing has been sent in this recovery yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.sent == 0
    }

    /// A segment left during recovery.
    pub(crate) fn on_send(&mut self, len: u64) {
        self.sent += len;
    }

    /// The window after an acknowledgement (RFC 9937 §6.2).
    pub(crate) fn on_ack(&mut self, progress: &Progress, mss: u64) -> u64 {
        let Progress { delivered, safe, pipe, target } = *progress;
        if self.rule == Reduction::AtOnce {
            // RFC 6675 §5, (4.3): the first retransmission is sent regardless of the window.
            return if self.sent == 0 { target.max(pipe + mss) } else { target };
        }
        self.delivered += delivered;
        let mut count = if pipe > target {
            // In 128 bits, because the product of two windows may exceed 32 bits.
            let share = u128::from(self.delivered) * u128::from(target);
            let share = share.div_ceil(u128::from(self.base));
            u64::try_from(share).unwrap_or(u64::MAX).saturating_sub(self.sent)
        } else {
            // Packet conservation, and slow start where it is safe.
            let mut limit = self.delivered.saturating_sub(self.sent).max(delivered);
            limit += match self.rule {
                Reduction::Proportional6937 => mss,
                _ if safe => mss,
                _ => 0,
            };
            limit.min(target - pipe)
        };
        if self.sent == 0 {
            // The fast retransmit is always allowed.
            count = count.max(mss);
        }
        pipe.saturating_add(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(prr: &mut Prr, delivered: u64, safe: bool, pipe: u64, target: u64) -> u64 {
        prr.on_ack(&Progress { delivered, safe, pipe, target }, 1000)
    }

    #[test]
    fn one_loss_of_twenty_halves_in_step_with_what_is_delivered() {
        // The first example of RFC 6937 §4: 20 in flight, one lost, a target window of 10.
        let mut prr = Prr::new(Reduction::Proportional, 20_000, 3000, 1000);
        assert_eq!(prr.base, 18_000);
        let mut pipe = 16_000;
        let mut sent = vec![];
        for _ in 0..16 {
            let mut count = window(&mut prr, 1000, false, pipe, 10_000).saturating_sub(pipe) / 1000;
            sent.push(count);
            while count > 0 {
                prr.on_send(1000);
                (pipe, count) = (pipe + 1000, count - 1);
            }
            pipe -= 1000;
        }
        assert_eq!(sent[0], 1, "the retransmission");
        let total: u64 = sent.iter().sum();
        assert_eq!(total, 9, "16 of 18 by 10/18: {sent:?}");
        assert!(sent.iter().all(|&n| n <= 1), "evenly: {sent:?}");
    }

    #[test]
    fn below_the_target_it_conserves_and_is_bold_only_when_safe() {
        let mut prr = Prr::new(Reduction::Proportional, 20_000, 15_000, 1000);
        assert_eq!(window(&mut prr, 1000, false, 4000, 10_000), 5000);
        prr.on_send(1000);
        assert_eq!(window(&mut prr, 1000, false, 4000, 10_000), 5000, "one for one");
        prr.on_send(1000);
        assert_eq!(window(&mut prr, 1000, true, 4000, 10_000), 6000, "and one more");
        assert_eq!(window(&mut prr, 9000, true, 9500, 10_000), 10_000, "never beyond the target");
        let mut old = Prr::new(Reduction::Proportional6937, 20_000, 15_000, 1000);
        assert_eq!(old.base, 20_000, "RFC 6937: FlightSize");
        assert_eq!(window(&mut old, 1000, false, 4000, 10_000), 6000, "its SSRB is unconditional");
    }

    #[test]
    fn large_windows_do_not_overflow() {
        let window_bytes = 1 << 40;
        let mut prr = Prr::new(Reduction::Proportional, window_bytes, 0, 0);
        prr.on_send(1000);
        let next = window(&mut prr, window_bytes / 2, true, window_bytes / 2 + 1000, 1 << 39);
        assert_eq!(next, window_bytes / 2 + 1000 + (1 << 38) - 1000);
        let next = window(&mut prr, 0, false, 1 << 40, 1 << 39);
        assert_eq!(next, (1 << 40) + (1 << 38) - 1000, "nothing wraps");
    }

    #[test]
    fn at_once_is_at_once() {
        let mut prr = Prr::new(Reduction::AtOnce, 20_000, 0, 0);
        assert_eq!(window(&mut prr, 1000, true, 19_000, 10_000), 20_000, "the fast retransmit");
        prr.on_send(1000);
        assert_eq!(window(&mut prr, 1000, true, 19_000, 10_000), 10_000);
    }
}
