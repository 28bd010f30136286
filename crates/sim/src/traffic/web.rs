//! Web browsing: file, pause, file, pause, ...

use super::{Command, Draw, Event, Origin, Size, Source, TrafficModel, Transport};
use kernel::{Bytes, Duration, Instant, Rng};
use settings::{Choice, Settings};

/// Files over TCP with pauses between them, each file over a new connection.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct Web {
    /// The distribution of file sizes.
    pub size: Size,
    /// Mean of the pause between files.
    #[setting(key = "think_s", default = 10.0, range = 0.0..=1e6)]
    pub think: Duration,
    /// The distribution of pauses.
    #[setting(default = Pauses::Exponential)]
    pub pauses: Pauses,
    /// The number of files of each flow. Default: unlimited.
    #[setting(range = 1.., too_low = ["0 files are no session", "the minimum is 1"])]
    pub files: Option<u64>,
    /// What a session begins with.
    #[setting(default = First::Think)]
    pub first: First,
    /// The event that ends the delay of a file; the delay begins with the request.
    #[setting(default = DelayEnd::Delivered)]
    pub delay: DelayEnd,
}

/// The distribution of the pauses of a web session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Pauses {
    /// Exponential.
    Exponential,
    /// All pauses are equal. Sessions that begin together then stay nearly in step.
    Constant,
}

impl Pauses {
    /// A pause with this mean.
    pub(super) fn draw(self, mean: Duration, rng: &mut Rng) -> Duration {
        match self {
            Self::Constant => mean,
            Self::Exponential => Duration::from_secs_f64(rng.exponential(mean.as_secs_f64())),
        }
    }
}

/// What a web session begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum First {
    /// A pause, so that sessions do not all begin at the same time.
    Think,
    /// A file.
    File,
}

/// The event that ends the delay of a file; the delay begins with the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum DelayEnd {
    /// The last byte reached the receiver's application.
    Delivered,
    /// The acknowledgement of the last byte reached the sender.
    Acknowledged,
}

impl TrafficModel for Web {
    fn transport(&self) -> Transport {
        Transport::Tcp
    }

    fn source(&self, flow: &Origin<'_>) -> Box<dyn Source> {
        Box::new(User {
            size: self.size.get().draw(),
            think: self.think,
            distribution: self.pauses,
            files_left: self.files,
            first: self.first,
            delay_end: self.delay,
            unit: flow.unit,
            sizes: flow.stream("traffic.size"),
            pauses: flow.stream("traffic.think"),
            asked: Instant::ZERO,
            missing: Bytes::ZERO,
            ended: true,
            closed: true,
            rested: false,
        })
    }

    fn interval(&self) -> Option<Duration> {
        (self.pauses == Pauses::Constant).then_some(self.think)
    }

    fn has_sessions(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct User {
    size: Draw,
    think: Duration,
    distribution: Pauses,
    files_left: Option<u64>,
    first: First,
    delay_end: DelayEnd,
    /// Files are rounded up to a multiple of this.
    unit: Bytes,
    sizes: Rng,
    pauses: Rng,
    /// When the file in transfer was requested.
    asked: Instant,
    /// The bytes of the file that the receiver has not received yet.
    missing: Bytes,
    /// The event that ends the delay has occurred.
    ended: bool,
    /// The connection has closed.
    closed: bool,
    /// The pause is over.
    rested: bool,
}

impl Source for User {
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, .. } => {
                let pause = match self.first {
                    First::Think => self.pause(),
                    First::File => Duration::ZERO,
                };
                out.push(Command::Wake(start + pause));
            }
            Event::Timer => {
                self.rested = true;
                self.ask(now, out);
            }
            Event::Closed => {
                self.closed = true;
                self.ask(now, out);
            }
            Event::Delivered(bytes) => {
                self.missing = Bytes(self.missing.0.saturating_sub(bytes.0));
                if self.missing == Bytes::ZERO && self.delay_end == DelayEnd::Delivered {
                    self.end(now, out);
                }
            }
            Event::Acknowledged => {
                if self.delay_end == DelayEnd::Acknowledged {
                    self.end(now, out);
                }
            }
            Event::Stop | Event::Arrived { .. } | Event::Offered { .. } | Event::Room => {}
        }
    }
}

impl User {
    fn pause(&mut self) -> Duration {
        self.distribution.draw(self.think, &mut self.pauses)
    }

    /// Requests the next file over a new connection, if the pause is over and another file remains.
    fn ask(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !(self.ended && self.closed && self.rested) || self.files_left == Some(0) {
            return;
        }
        self.files_left = self.files_left.map(|left| left - 1);
        let size = self.size.of(&mut self.sizes);
        self.asked = now;
        self.missing = Bytes(size.0.div_ceil(self.unit.0) * self.unit.0);
        (self.ended, self.closed, self.rested) = (false, false, false);
        out.extend([Command::Renew, Command::Open, Command::Write(size), Command::Close]);
    }

    /// The event that ends the delay of a file: the pause begins.
    fn end(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.ended {
            return;
        }
        self.ended = true;
        out.extend([Command::Session(self.asked), Command::Wake(now + self.pause())]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::{asked, source};
    use crate::traffic::{Constant, Origin};
    use kernel::Seed;

    const START: Instant = Instant(5);
    const FILE: [Command; 4] =
        [Command::Renew, Command::Open, Command::Write(Bytes(1000)), Command::Close];

    fn web() -> Web {
        let size = Size::Constant(Constant { size: Bytes(1000) });
        Web { size, first: First::File, think: Duration::ZERO, ..Web::default() }
    }

    fn begin() -> (Instant, Event) {
        (Instant(0), Event::Begin { start: START, stop: None })
    }

    #[test]
    fn a_session_begins_with_a_pause_or_a_file() {
        let mut file = source(&Web { think: Duration::from_secs(1), ..web() });
        assert_eq!(asked(&mut *file, &[begin()]), [Command::Wake(START)]);
        assert_eq!(asked(&mut *file, &[(START, Event::Timer)]), FILE);
        let first = First::Think;
        let mut think = source(&Web { think: Duration::from_secs(1), first, ..web() });
        let asked = asked(&mut *think, &[begin()]);
        assert!(matches!(asked[..], [Command::Wake(at)] if at > START), "{asked:?}");
    }

    #[test]
    fn constant_pauses_are_equal() {
        let think = Duration::from_millis(50);
        let settings = Web { think, pauses: Pauses::Constant, ..web() };
        let mut source = source(&settings);
        asked(&mut *source, &[begin(), (START, Event::Timer)]);
        let mut now = START;
        for _ in 0..3 {
            let delivered = (now, Event::Delivered(Bytes(1000)));
            let pause = Command::Wake(now + think);
            assert_eq!(asked(&mut *source, &[delivered]), [Command::Session(now), pause]);
            now += think;
            assert_eq!(asked(&mut *source, &[(now, Event::Closed), (now, Event::Timer)]), FILE);
        }
    }

    #[test]
    fn a_session_ends_with_the_last_byte() {
        let mut source = source(&web());
        asked(&mut *source, &[begin(), (START, Event::Timer)]);
        let (half, end) = (Instant(8), Instant(9));
        let bytes = Event::Delivered(Bytes(500));
        assert_eq!(asked(&mut *source, &[(half, bytes), (half, Event::Acknowledged)]), []);
        let ended = [Command::Session(START), Command::Wake(end)];
        assert_eq!(asked(&mut *source, &[(end, bytes)]), ended);
        // The next file waits for the end of the pause and of the old connection.
        assert_eq!(asked(&mut *source, &[(end, Event::Timer)]), []);
        assert_eq!(asked(&mut *source, &[(end, Event::Closed)]), FILE);
    }

    #[test]
    fn a_session_may_end_with_the_last_acknowledgement() {
        let mut source = source(&Web { delay: DelayEnd::Acknowledged, ..web() });
        asked(&mut *source, &[begin(), (START, Event::Timer)]);
        let (delivered, end) = (Instant(8), Instant(9));
        assert_eq!(asked(&mut *source, &[(delivered, Event::Delivered(Bytes(1000)))]), []);
        let ended = [Command::Session(START), Command::Wake(end)];
        assert_eq!(asked(&mut *source, &[(end, Event::Acknowledged)]), ended);
        assert_eq!(asked(&mut *source, &[(end, Event::Acknowledged)]), [], "it ends once");
    }

    #[test]
    fn a_file_is_filled_up_to_full_segments() {
        let seed = Seed { root: 1, replication: 0 };
        let mut source = web().source(&Origin { seed: &seed, flow: 0, unit: Bytes(800) });
        asked(&mut *source, &[begin(), (START, Event::Timer)]);
        assert_eq!(asked(&mut *source, &[(START, Event::Delivered(Bytes(1599)))]), []);
        assert_eq!(asked(&mut *source, &[(START, Event::Delivered(Bytes(1)))]).len(), 2);
    }

    #[test]
    fn after_the_last_file_nothing_is_asked_for() {
        let mut source = source(&Web { files: Some(1), ..web() });
        asked(&mut *source, &[begin(), (START, Event::Timer)]);
        let rest = [Event::Delivered(Bytes(1000)), Event::Closed].map(|event| (START, event));
        assert_eq!(asked(&mut *source, &rest).len(), 2, "the session and the pause");
        assert_eq!(asked(&mut *source, &[(START, Event::Timer)]), []);
    }
}
