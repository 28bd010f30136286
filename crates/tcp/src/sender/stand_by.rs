//! Stand-by while the route to the receiver has failed: explicit link failure notification (ELFN),
//! Holland and Vaidya, "Analysis of TCP performance over mobile ad hoc networks", `MobiCom` 1999.

use super::Sender;
use super::timer::Timer;
use crate::{Command, RouteFailure};
use kernel::{Duration, Instant};

/// The time between two probes, as in the paper.
const PROBE_PERIOD: Duration = Duration::from_millis(2000);

/// The sender waits for a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StandBy {
    /// When the next probe leaves.
    pub(super) probe_at: Instant,
    /// Whether a probe has left.
    has_probed: bool,
}

impl Sender {
    /// The routing of this node reports that the route to the receiver has failed, or that there is
    /// one again.
    pub fn on_route(&mut self, now: Instant, exists: bool, out: &mut Vec<Command>) {
        if exists {
            self.resume(now, out);
        } else if self.tcb.stand_by.is_none() && self.connection.is_open() {
            self.wait_for_route(now, false, out);
            self.note_limit(now);
        }
    }

    /// Whether the sender waits for a route.
    pub fn is_standing_by(&self) -> bool {
        self.tcb.stand_by.is_some()
    }

    /// The time of a probe has come: an octet that was acknowledged long ago, which the receiver
    /// answers.
    pub(super) fn on_stand_by(&mut self, now: Instant, out: &mut Vec<Command>) {
        let tcb = &mut self.tcb;
        if tcb.snd.is_idle() && tcb.snd.nxt >= tcb.snd.end {
            return self.resume(now, out);
        }
        tcb.counters.probes += 1;
        let probe = tcb.segment(now, tcb.snd.una - 1, 0, wire::Flags::ACK);
        // First the timer: the routing may find a route for the probe at once, and report it.
        self.wait_for_route(now, true, out);
        out.push(Command::Send(probe));
    }

    /// Ends the stand-by if this acknowledgement shows that there is a route: acknowledgements of
    /// what left before the failure do not. Returns whether it answers a probe only.
    pub(super) fn end_stand_by(&mut self, now: Instant, ack: u64, out: &mut Vec<Command>) -> bool {
        let answers = self.tcb.stand_by.is_some_and(|stand_by| stand_by.has_probed);
        if answers {
            self.resume(now, out);
        }
        answers && ack <= self.tcb.snd.una
    }

    fn wait_for_route(&mut self, now: Instant, has_probed: bool, out: &mut Vec<Command>) {
        if self.tcb.config.route_failure != RouteFailure::StandBy {
            return;
        }
        let probe_at = now + PROBE_PERIOD;
        self.tcb.stand_by = Some(StandBy { probe_at, has_probed });
        self.tcb.timer.set(Timer::StandBy(probe_at), out);
    }

    /// The connection goes on with the window and the timeout that it had.
    fn resume(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.tcb.stand_by.take().is_none() {
            return;
        }
        let was_running = self.tcb.timer.take().is_running();
        self.transmit(now, out);
        if was_running && !self.tcb.timer.is_running() {
            out.push(Command::Cancel(crate::TimerId::Retransmit));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::{Driven, config, ms, show};
    use crate::{Config, Recovery, RouteFailure, Sack};

    fn standing_by() -> Config {
        let route_failure = RouteFailure::StandBy;
        Config { route_failure, ..config() }
    }

    fn route(tcp: &mut Driven, at: u64, exists: bool) -> String {
        tcp.sender.on_route(ms(at), exists, &mut tcp.out);
        show(&mut tcp.out)
    }

    #[test]
    fn without_the_option_a_failed_route_changes_nothing() {
        let (mut tcp, first) = Driven::connected(&config(), 1000);
        assert!(first.ends_with("rto@400"));
        assert_eq!(route(&mut tcp, 150, false), "");
        assert_eq!(tcp.timer(400), "1:101, rto@1000");
    }

    #[test]
    fn a_sender_without_a_route_probes_and_keeps_its_window() {
        let by_count = Sack { rack: false, ..Sack::default() };
        for recovery in [Recovery::NewReno, Recovery::Sack(by_count)] {
            let (mut tcp, _) = Driven::connected(&Config { recovery, ..standing_by() }, 10_000);
            assert_eq!(route(&mut tcp, 150, false), "rto@2150", "no timeout, a probe after 2 s");
            assert_eq!(tcp.timer(2150), "rto@4150, ack 1", "the probe");
            assert_eq!(route(&mut tcp, 2500, false), "", "it waits already");
            let window = tcp.sender.window_segments();
            assert_eq!(route(&mut tcp, 3000, true), "rto@3300");
            assert_eq!((window, tcp.sender.window_segments()), (4.0, 4.0));
            assert_eq!(tcp.sender.counters().timeouts, 0);
            assert!(tcp.timer(3300).starts_with("1:101"), "what was lost is sent again");
        }
    }

    #[test]
    fn the_answer_to_a_probe_ends_the_stand_by_and_is_no_duplicate() {
        let (mut tcp, _) = Driven::connected(&standing_by(), 10_000);
        route(&mut tcp, 150, false);
        assert_eq!(tcp.ack(200, 101), "rtt 100, rto@2150", "it left before the failure");
        assert!(tcp.sender.is_standing_by());
        tcp.timer(2150);
        assert_eq!(tcp.ack(2250, 101), "401:501, 501:601, rto@2500");
        assert!(!tcp.sender.is_standing_by());
        assert_eq!(tcp.sender.counters().duplicate_acks, 0);
    }

    #[test]
    fn a_sender_without_data_does_not_probe() {
        let (mut tcp, _) = Driven::connected(&standing_by(), 100);
        tcp.ack(200, 101);
        assert_eq!(route(&mut tcp, 300, false), "rto@2300");
        assert_eq!(tcp.write(400, 100), "", "it waits for a route");
        assert_eq!(tcp.timer(2300), "rto@4300, ack 1");
        assert_eq!(route(&mut tcp, 2400, true), "101:201, rto@2650");
        tcp.ack(2500, 201);
        route(&mut tcp, 2600, false);
        assert_eq!(tcp.timer(4600), "", "nothing waits");
        assert!(!tcp.sender.is_standing_by());
    }
}
