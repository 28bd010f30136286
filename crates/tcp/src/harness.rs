//! A test harness: drives one sender or receiver event by event and shows its commands as text.
//! Times are milliseconds.

use crate::control::NewReno;
use crate::{Command, Config, Control, DelayedAck, Receiver, Recovery, Sender, TimerId};
use kernel::{Bytes, Duration, Instant, Segments};
use wire::{Flags, FlowId, SackBlocks, Segment, Timestamps};

/// Segments of 100 bytes, no delayed acknowledgements, a minimum timeout of 200 ms.
pub(crate) fn config() -> Config {
    Config {
        mss: Some(Bytes(100)),
        window: Some(Bytes(10_000)),
        initial_window: Some(Segments(4.0)),
        rto_min: Some(Duration::from_millis(200)),
        delayed_ack: DelayedAck::None,
        recovery: Recovery::NewReno,
        timestamps: false,
        ..Config::default()
    }
}

pub(crate) fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Shows and clears the commands: data as `first:end`, all others by name.
pub(crate) fn show(out: &mut Vec<Command>) -> String {
    let name = |timer| match timer {
        TimerId::Retransmit => "rto",
        TimerId::DelayedAck => "delay",
        TimerId::Pacing => "pace",
        TimerId::Control => "control",
    };
    let text = |command| match command {
        Command::Send(s) => {
            let numbers = match s.len {
                0 => String::new(),
                len => format!("{}:{} ", s.seq, s.seq + u64::from(len)),
            };
            let mut flags = String::new();
            for (flag, letter) in [(Flags::SYN, "S"), (Flags::FIN, "F"), (Flags::RST, "R")] {
                flags += if s.flags.has(flag) { letter } else { "" };
            }
            let ack = s.flags.has(Flags::ACK) && (s.len == 0 || !s.forward);
            let ack = if ack { format!("ack {}", s.ack) } else { String::new() };
            format!("{numbers}{flags} {ack}").split_whitespace().collect::<Vec<_>>().join(" ")
        }
        Command::Deliver(amount) => format!("deliver {}", amount.0),
        Command::Set(timer, at) => format!("{}@{}", name(timer), at.0 / 1_000_000),
        Command::Cancel(timer) => format!("{} off", name(timer)),
        Command::Rtt(rtt) => format!("rtt {}", rtt.0 / 1_000_000),
        Command::Connected => "connected".into(),
        Command::Acknowledged => "acknowledged".into(),
        Command::Closed => "closed".into(),
    };
    out.drain(..).map(text).collect::<Vec<_>>().join(", ")
}

pub(crate) const FLOW: FlowId = FlowId(1);

pub(crate) fn segment(forward: bool, seq: u64, len: u32, ack: u64, flags: Flags) -> Segment {
    Segment {
        flow: FLOW,
        connection: 5,
        forward,
        seq,
        len,
        ack,
        window: config().window().0,
        flags,
        timestamps: None,
        sack: if flags.has(Flags::SYN) { SackBlocks::PERMITTED } else { SackBlocks::NONE },
        coded: None,
    }
}

/// A sender under test.
pub(crate) struct Driven {
    pub(crate) sender: Sender,
    pub(crate) out: Vec<Command>,
}

impl Driven {
    pub(crate) fn new(config: &Config) -> Self {
        Self::with(config, Box::new(NewReno::from(config)))
    }

    pub(crate) fn with(config: &Config, control: Box<dyn Control>) -> Self {
        Self { sender: Sender::new(FLOW, 5, config, control), out: Vec::new() }
    }

    /// A connection opened at 0 ms and established at 100 ms, with this many bytes to send.
    pub(crate) fn connected(config: &Config, amount: u64) -> (Self, String) {
        let mut driven = Self::new(config);
        driven.open(0);
        driven.write(0, amount);
        let first = driven.syn_ack(100);
        (driven, first)
    }

    pub(crate) fn open(&mut self, at: u64) -> String {
        self.sender.on_open(ms(at), &mut self.out);
        show(&mut self.out)
    }

    pub(crate) fn write(&mut self, at: u64, amount: u64) -> String {
        self.sender.on_data(ms(at), Bytes(amount), &mut self.out);
        show(&mut self.out)
    }

    pub(crate) fn close(&mut self, at: u64) -> String {
        self.sender.on_close(ms(at), &mut self.out);
        show(&mut self.out)
    }

    pub(crate) fn timer(&mut self, at: u64) -> String {
        self.sender.on_timer(ms(at), TimerId::Retransmit, &mut self.out);
        show(&mut self.out)
    }

    pub(crate) fn segment(&mut self, at: u64, segment: &Segment) -> String {
        self.sender.on_segment(ms(at), segment, &mut self.out);
        show(&mut self.out)
    }

    pub(crate) fn syn_ack(&mut self, at: u64) -> String {
        self.segment(at, &segment(false, 0, 0, 1, Flags::SYN.and(Flags::ACK)))
    }

    pub(crate) fn ack(&mut self, at: u64, ack: u64) -> String {
        self.segment(at, &segment(false, 1, 0, ack, Flags::ACK))
    }

    /// An acknowledgement that echoes a timestamp.
    pub(crate) fn ack_echo(&mut self, at: u64, ack: u64, echo: u64) -> String {
        let timestamps = Some(Timestamps { value: ms(at), echo: ms(echo) });
        self.segment(at, &Segment { timestamps, ..segment(false, 1, 0, ack, Flags::ACK) })
    }

    pub(crate) fn fin_ack(&mut self, at: u64, ack: u64) -> String {
        self.segment(at, &segment(false, 1, 0, ack, Flags::FIN.and(Flags::ACK)))
    }
}

/// A receiver under test.
pub(crate) struct Listening {
    pub(crate) receiver: Receiver,
    pub(crate) out: Vec<Command>,
}

impl Listening {
    pub(crate) fn new(config: &Config) -> Self {
        Self { receiver: Receiver::new(FLOW, 5, config), out: Vec::new() }
    }

    /// A connection established at 0 ms.
    pub(crate) fn connected(config: &Config) -> Self {
        let mut listening = Self::new(config);
        assert_eq!(listening.syn(0), "S ack 1, rto@1000");
        assert_eq!(listening.segment(0, &segment(true, 1, 0, 1, Flags::ACK)), "rto off");
        listening
    }

    pub(crate) fn segment(&mut self, at: u64, segment: &Segment) -> String {
        self.receiver.on_segment(ms(at), segment, &mut self.out);
        show(&mut self.out)
    }

    pub(crate) fn syn(&mut self, at: u64) -> String {
        self.segment(at, &segment(true, 0, 0, 0, Flags::SYN))
    }

    pub(crate) fn data(&mut self, at: u64, seq: u64, len: u32) -> String {
        self.segment(at, &segment(true, seq, len, 1, Flags::ACK))
    }

    pub(crate) fn fin(&mut self, at: u64, seq: u64, len: u32) -> String {
        self.segment(at, &segment(true, seq, len, 1, Flags::ACK.and(Flags::FIN)))
    }

    pub(crate) fn timer(&mut self, at: u64, timer: TimerId) -> String {
        self.receiver.on_timer(ms(at), timer, &mut self.out);
        show(&mut self.out)
    }
}
