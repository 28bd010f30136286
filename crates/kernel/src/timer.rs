//! A timer that recognises its stale events, so that the event queue needs no `cancel`.

use crate::Instant;

/// An event that must be scheduled in the event queue for a [`Timer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The instant of the event.
    pub at: Instant,
    /// The generation that the event passes to [`Timer::fire`].
    pub generation: u32,
}

/// The meaning of a timer event when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fired {
    /// The timer was cancelled or replaced since: the event has no effect.
    Stale,
    /// The deadline was moved later: schedule this event.
    Later(Ticket),
    /// The deadline is reached.
    Due,
}

/// A deadline with at most one live event in the event queue.
///
/// Moving the deadline later schedules nothing: the pending event asks for another one when it
/// fires. A retransmission timer, which every ACK restarts, therefore does not fill the event queue
/// with stale events. Only a deadline that is moved *earlier* leaves a stale event behind.
#[derive(Clone, Debug, Default)]
pub struct Timer {
    deadline: Option<Instant>,
    pending: Option<Instant>,
    generation: u32,
}

impl Timer {
    /// Sets the deadline to `at`; returns the event to schedule, if one is needed.
    #[must_use]
    pub fn set(&mut self, at: Instant) -> Option<Ticket> {
        self.deadline = Some(at);
        match self.pending {
            Some(pending) if pending <= at => None,
            _ => Some(self.issue(at)),
        }
    }

    /// Removes the deadline. A pending event becomes stale.
    pub fn cancel(&mut self) {
        self.deadline = None;
    }

    /// The deadline, if one is set.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The meaning of the event with this `generation`, which arrives now.
    #[must_use]
    pub fn fire(&mut self, generation: u32) -> Fired {
        if generation != self.generation {
            return Fired::Stale;
        }
        let Some(pending) = self.pending.take() else { return Fired::Stale };
        match self.deadline {
            None => Fired::Stale,
            Some(at) if at > pending => Fired::Later(self.issue(at)),
            Some(_) => {
                self.deadline = None;
                Fired::Due
            }
        }
    }

    fn issue(&mut self, at: Instant) -> Ticket {
        self.generation = self.generation.wrapping_add(1);
        self.pending = Some(at);
        Ticket { at, generation: self.generation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_moved_later_reuses_the_pending_event() {
        let mut timer = Timer::default();
        let first = timer.set(Instant(10)).unwrap();
        assert_eq!(timer.set(Instant(20)), None);
        assert_eq!(timer.set(Instant(30)), None);
        let Fired::Later(second) = timer.fire(first.generation) else { panic!() };
        assert_eq!(second.at, Instant(30));
        assert_eq!(timer.fire(second.generation), Fired::Due);
        assert_eq!(timer.deadline(), None);
    }

    #[test]
    fn a_deadline_moved_earlier_makes_the_old_event_stale() {
        let mut timer = Timer::default();
        let late = timer.set(Instant(50)).unwrap();
        let early = timer.set(Instant(5)).unwrap();
        assert_eq!(timer.fire(early.generation), Fired::Due);
        assert_eq!(timer.fire(late.generation), Fired::Stale);
    }

    #[test]
    fn a_cancelled_timer_does_not_fire_but_can_be_set_again() {
        let mut timer = Timer::default();
        let ticket = timer.set(Instant(10)).unwrap();
        timer.cancel();
        assert_eq!(timer.set(Instant(15)), None, "the event at 10 is still pending");
        let Fired::Later(again) = timer.fire(ticket.generation) else { panic!() };
        timer.cancel();
        assert_eq!(timer.fire(again.generation), Fired::Stale);
        assert!(timer.set(Instant(40)).is_some());
    }
}
