//! The deadlines of a router, which has one timer.

use super::Command;
use kernel::Instant;
use std::collections::BTreeMap;

/// What is due when, in the order of time; what is due at one instant, in the order in which it was
/// added.
#[derive(Clone, Debug)]
pub struct Deadlines<T> {
    pending: BTreeMap<(Instant, u64), T>,
    added: u64,
    timer: Option<Instant>,
}

impl<T> Deadlines<T> {
    /// Adds something that is due at this instant.
    pub fn add(&mut self, at: Instant, due: T) {
        self.pending.insert((at, self.added), due);
        self.added += 1;
    }

    /// Removes and returns what is due first, if it is due now.
    pub fn take(&mut self, now: Instant) -> Option<T> {
        let first = self.pending.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// Removes and returns what is due first of those that fulfil the condition.
    pub fn remove(&mut self, mut is_wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let key = *self.pending.iter().find(|(_, due)| is_wanted(due))?.0;
        self.pending.remove(&key)
    }

    /// The timer has expired.
    pub fn on_timer(&mut self) {
        self.timer = None;
    }

    /// Sets the timer of the router to the first deadline. To be called at the end of each event.
    pub fn set_timer(&mut self, out: &mut Vec<Command>) {
        let first = self.pending.keys().next().map(|key| key.0);
        if first != self.timer {
            self.timer = first;
            out.push(first.map_or(Command::CancelTimer, Command::SetTimer));
        }
    }

    /// All that is pending, in the order of time.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pending.values()
    }
}

impl<T> Default for Deadlines<T> {
    fn default() -> Self {
        Self { pending: BTreeMap::new(), added: 0, timer: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_follows_the_first_deadline() {
        let (mut deadlines, mut out) = (Deadlines::default(), Vec::new());
        deadlines.add(Instant(20), 'b');
        deadlines.add(Instant(10), 'a');
        deadlines.set_timer(&mut out);
        deadlines.set_timer(&mut out);
        assert_eq!(std::mem::take(&mut out), [Command::SetTimer(Instant(10))]);
        assert_eq!(deadlines.take(Instant(9)), None);
        deadlines.on_timer();
        assert_eq!(deadlines.take(Instant(10)), Some('a'));
        deadlines.set_timer(&mut out);
        assert_eq!(deadlines.remove(|&due| due == 'b'), Some('b'));
        deadlines.set_timer(&mut out);
        assert_eq!(out, [Command::SetTimer(Instant(20)), Command::CancelTimer]);
    }

    #[test]
    fn what_is_due_together_comes_in_the_order_in_which_it_was_added() {
        let mut deadlines = Deadlines::default();
        "cab".chars().for_each(|due| deadlines.add(Instant(5), due));
        let order: String = std::iter::from_fn(|| deadlines.take(Instant(5))).collect();
        assert_eq!(order, "cab");
    }
}
