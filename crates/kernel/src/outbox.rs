//! The commands of machines, which are carried out in the order in which each machine gave them.

use std::collections::VecDeque;

/// Appends what `make` returns to a list. The list grows before, so that a large value which is a
/// copy as a whole is copied once, to where it stays; `push` copies it twice.
#[allow(clippy::inline_always, reason = "a value is made in its place only where it is inlined")]
#[inline(always)]
pub fn append<T>(list: &mut Vec<T>, make: impl FnOnce() -> T) {
    list.extend(std::iter::once_with(make));
}

/// Commands of the machines of one kind.
///
/// To carry a command out may cause an event for any machine, and its commands are carried out
/// before the call returns: a packet that is delivered is forwarded and acknowledged at once. The
/// exception is a machine whose earlier commands still wait. What it commands meanwhile comes
/// behind them: a timer that it sets last is not overwritten by one that it has set before.
#[derive(Debug)]
pub struct Outbox<M, C, T = ()> {
    /// What the machine commands whose event is being handled.
    given: Vec<C>,
    /// The machines whose commands are being carried out.
    served: Vec<M>,
    /// Commands of these machines that came meanwhile.
    late: VecDeque<(M, T, C)>,
    /// Empty lists for further turns.
    spare: Vec<Vec<C>>,
}

/// A machine's turn: its commands are carried out. It owns them, so that they stay in place
/// whatever is commanded meanwhile.
#[derive(Debug)]
pub struct Turn<M, C, T> {
    machine: M,
    /// What is the same for all commands of an event.
    tag: T,
    commands: Vec<C>,
    next: usize,
}

impl<M: Copy + Eq, C: Copy, T: Copy> Outbox<M, C, T> {
    /// An empty outbox with room for so many commands.
    pub fn new(room: usize) -> Self {
        let (served, spare) = (Vec::new(), Vec::new());
        Self { given: Vec::with_capacity(room), served, late: VecDeque::new(), spare }
    }

    /// A machine appends the commands of an event to this list, which is empty before.
    pub fn list(&mut self) -> &mut Vec<C> {
        &mut self.given
    }

    /// Whether the machine needs no turn: the list is empty, or has one command which `simple`
    /// carries out because it causes no others.
    #[inline]
    pub fn settles(&mut self, machine: M, simple: impl FnOnce(&C) -> bool) -> bool {
        let [command] = &self.given[..] else { return self.given.is_empty() };
        let is_done = !self.served.contains(&machine) && simple(command);
        if is_done {
            self.given.clear();
        }
        is_done
    }

    /// Begins the turn of the machine that has filled the list. Returns `None` if it is empty, or
    /// if earlier commands of the machine wait: then these come behind them.
    #[allow(clippy::inline_always, reason = "mostly there are no commands")]
    #[inline(always)]
    pub fn begin(&mut self, machine: M, tag: T) -> Option<Turn<M, C, T>> {
        if self.given.is_empty() { None } else { self.begin_filled(machine, tag) }
    }

    #[inline]
    fn begin_filled(&mut self, machine: M, tag: T) -> Option<Turn<M, C, T>> {
        if self.served.contains(&machine) {
            self.late.extend(self.given.drain(..).map(|command| (machine, tag, command)));
            return None;
        }
        self.served.push(machine);
        let list = self.spare.pop().unwrap_or_default();
        Some(Turn { machine, tag, commands: std::mem::replace(&mut self.given, list), next: 0 })
    }

    /// The next command of a turn. The turn ends with `None`.
    #[inline]
    pub fn next<'a>(&mut self, turn: &'a mut Turn<M, C, T>) -> Option<(T, &'a mut C)> {
        if turn.next == turn.commands.len() && !self.goes_on(turn) {
            return None;
        }
        turn.next += 1;
        Some((turn.tag, &mut turn.commands[turn.next - 1]))
    }

    /// All commands of a turn are carried out: it goes on with the first that came meanwhile, or
    /// ends.
    #[inline]
    fn goes_on(&mut self, turn: &mut Turn<M, C, T>) -> bool {
        turn.commands.clear();
        turn.next = 0;
        if !self.late.is_empty() && self.gives_late(turn) {
            return true;
        }
        self.spare.push(std::mem::take(&mut turn.commands));
        self.served.pop();
        false
    }

    /// Adds the first command of the machine that came meanwhile, if there is one.
    #[cold]
    fn gives_late(&mut self, turn: &mut Turn<M, C, T>) -> bool {
        let at = self.late.iter().position(|(machine, ..)| *machine == turn.machine);
        let late = at.and_then(|at| self.late.remove(at));
        if let Some((_, tag, command)) = late {
            turn.tag = tag;
            turn.commands.push(command);
        }
        late.is_some()
    }
}

/// Commands of one machine that are carried out in rounds: what it commands meanwhile is the next
/// round.
#[derive(Debug)]
pub struct Rounds<C> {
    given: Vec<C>,
    /// An empty list, which takes turns with the other.
    done: Vec<C>,
    /// A round is being carried out.
    is_served: bool,
}

impl<C> Rounds<C> {
    /// No commands, and room for so many.
    pub fn new(room: usize) -> Self {
        let list = || Vec::with_capacity(room);
        Self { given: list(), done: list(), is_served: false }
    }

    /// The machine appends its commands to this list.
    pub fn list(&mut self) -> &mut Vec<C> {
        &mut self.given
    }

    /// After an event: whether the caller is to carry out all rounds. It is not if it is doing so
    /// already, nor if all commands are `simple`, so that they cause no others: they are done here.
    #[inline]
    pub fn begin(&mut self, simple: impl Fn(&C) -> bool, do_simple: impl FnMut(&C)) -> bool {
        if self.is_served || self.given.is_empty() {
            return false;
        }
        self.is_served = !self.given.iter().all(simple);
        if !self.is_served {
            self.given.iter().for_each(do_simple);
            self.given.clear();
        }
        self.is_served
    }

    /// The commands of the next round, after those of the round `before`. `None` ends them.
    #[inline]
    pub fn next(&mut self, before: Option<Vec<C>>) -> Option<Vec<C>> {
        if let Some(mut list) = before {
            list.clear();
            self.done = list;
        }
        if self.given.is_empty() {
            self.is_served = false;
            return None;
        }
        Some(std::mem::replace(&mut self.given, std::mem::take(&mut self.done)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machines that answer command n with the commands of a table, each at one of them.
    struct Scene {
        outbox: Outbox<char, u32>,
        /// Carrying out this command causes an event, at which this machine gives these commands.
        causes: Vec<(u32, char, Vec<u32>)>,
        done: Vec<(char, u32)>,
    }

    impl Scene {
        fn event(&mut self, machine: char, commands: &[u32]) {
            self.outbox.list().extend(commands);
            let Some(mut turn) = self.outbox.begin(machine, ()) else { return };
            while let Some(((), &mut command)) = self.outbox.next(&mut turn) {
                self.done.push((machine, command));
                let causes: Vec<_> =
                    self.causes.iter().filter(|it| it.0 == command).cloned().collect();
                for (_, machine, commands) in causes {
                    self.event(machine, &commands);
                }
            }
        }
    }

    fn done(causes: &[(u32, char, &[u32])], first: &[u32]) -> Vec<(char, u32)> {
        let causes = causes.iter().map(|&(n, machine, it)| (n, machine, it.to_vec())).collect();
        let mut scene = Scene { outbox: Outbox::new(4), causes, done: Vec::new() };
        scene.event('a', first);
        assert!(scene.outbox.list().is_empty());
        assert!(scene.outbox.served.is_empty() && scene.outbox.late.is_empty());
        scene.done
    }

    #[test]
    fn other_machines_act_at_once() {
        let order = done(&[(1, 'b', &[3, 4])], &[1, 2]);
        assert_eq!(order, [('a', 1), ('b', 3), ('b', 4), ('a', 2)]);
    }

    #[test]
    fn the_same_machine_keeps_its_order() {
        let order = done(&[(1, 'a', &[3, 4]), (3, 'a', &[5])], &[1, 2]);
        assert_eq!(order, [('a', 1), ('a', 2), ('a', 3), ('a', 4), ('a', 5)]);
    }

    #[test]
    fn so_it_does_when_another_machine_is_between() {
        let order = done(&[(1, 'b', &[3, 4]), (3, 'a', &[5]), (5, 'b', &[6])], &[1, 2]);
        assert_eq!(order, [('a', 1), ('b', 3), ('b', 4), ('a', 2), ('a', 5), ('b', 6)]);
    }

    #[test]
    fn a_single_command_that_causes_no_others_needs_no_turn() {
        let (mut outbox, mut done) = (Outbox::<char, u32>::new(2), Vec::new());
        let mut settles = |outbox: &mut Outbox<char, u32>, machine, commands: &[u32]| {
            outbox.list().extend(commands);
            outbox.settles(machine, |&command| {
                done.extend((command < 3).then_some(command));
                command < 3
            })
        };
        assert!(settles(&mut outbox, 'a', &[]));
        assert!(settles(&mut outbox, 'a', &[1]));
        assert!(!settles(&mut outbox, 'a', &[2, 4]), "there are two");
        let turn = outbox.begin('a', ()).expect("two commands");
        assert!(!settles(&mut outbox, 'a', &[2]), "earlier ones of the machine wait");
        outbox.list().clear();
        assert!(!settles(&mut outbox, 'b', &[5]), "it may cause others");
        assert_eq!((done, turn.commands), (vec![1], vec![2, 4]));
    }

    #[test]
    fn what_is_commanded_in_a_round_is_the_next_round() {
        let (mut rounds, mut done) = (Rounds::new(2), Vec::new());
        rounds.list().extend([1, 2]);
        assert!(rounds.begin(|_| false, |_| {}));
        let mut round = rounds.next(None);
        while let Some(commands) = round {
            for &command in &commands {
                done.push(command);
                rounds.list().extend((command < 3).then_some(command + 2));
                assert!(!rounds.begin(|_| false, |_| {}));
            }
            round = rounds.next(Some(commands));
        }
        assert_eq!(done, [1, 2, 3, 4]);
        assert!(!rounds.begin(|_| false, |_| {}));
    }

    #[test]
    fn commands_of_which_none_causes_others_need_no_round() {
        let (mut rounds, mut done) = (Rounds::new(2), Vec::new());
        let mut begin = |rounds: &mut Rounds<_>, commands: &[u32]| {
            rounds.list().extend(commands);
            rounds.begin(|&command| command < 3, |&command| done.push(command))
        };
        assert!(!begin(&mut rounds, &[1, 2]));
        assert!(begin(&mut rounds, &[2, 3, 1]));
        assert_eq!(rounds.next(None), Some(vec![2, 3, 1]));
        assert!(!begin(&mut rounds, &[1]), "they wait for the next round");
        assert_eq!(done, [1, 2]);
    }
}
