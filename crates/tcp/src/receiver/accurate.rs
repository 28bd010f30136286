//! Accurate ECN at the end that receives data (RFC 9768 §3.2): counts marks and tells the counts.

use crate::AccurateEcn;
use wire::{AccEcn, Ecn, Flags, SackBlocks, Segment};

/// The most bytes of TCP options (RFC 9293 §3.1), and those that timestamps take with their padding
/// (RFC 7323 appendix A).
const OPTIONS: usize = 40;
const TIMESTAMPS: usize = 12;
/// RFC 9768 §3.2.2.5.1: after this many marked packets an acknowledgement is sent at once.
const MARKS: u32 = 2;

/// The counters of an end that gives accurate feedback.
#[derive(Clone, Debug)]
pub(super) struct Accurate {
    settings: AccurateEcn,
    /// How the SYN arrived.
    pub(super) syn: Ecn,
    /// How often this end's SYN was sent.
    syns: u32,
    /// Marked packets: `r.cep`; and the counter ACE that says so.
    marked: u64,
    ace: Flags,
    /// Bytes of payload with ECT(0), CE and ECT(1): `r.e0b`, `r.ceb`, `r.e1b`.
    bytes: [u64; 3],
    /// Whether one of them has changed since they were last told.
    has_news: bool,
    ect1_first: bool,
    /// How many leading fields of the option have ever changed, and which counters.
    fields: u8,
    changed: [bool; 3],
    /// Whether the last data segment was marked.
    last_marked: bool,
    /// Marked packets since the last acknowledgement.
    since: u32,
    /// Whether the next acknowledgement leaves at once.
    pub(super) hurried: bool,
}

/// The counters at the start of a connection (RFC 9768 §3.2.1).
const FIRST: [u64; 3] = [1, 0, 1];
pub(crate) const FIRST_MARKED: u64 = 5;

impl Accurate {
    pub(super) fn new(settings: AccurateEcn, syn: Ecn) -> Self {
        Self {
            settings,
            syn,
            syns: 0,
            marked: FIRST_MARKED,
            ace: Flags::of_ace(FIRST_MARKED),
            bytes: FIRST,
            has_news: false,
            ect1_first: syn == Ecn::Ect1,
            fields: 0,
            changed: [false; 3],
            last_marked: false,
            since: 0,
            hurried: false,
        }
    }

    /// An acceptable segment arrived that is no SYN.
    #[inline]
    pub(super) fn on_segment(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::CE) {
            return self.on_marked(segment.len);
        }
        if segment.len == 0 {
            return;
        }
        match segment.flags.ecn() {
            Ecn::Ect0 => self.count(ECT0, segment.len),
            Ecn::Ect1 => self.count(ECT1, segment.len),
            Ecn::NotCapable | Ecn::Experienced => {}
        }
        self.hurried = self.since >= MARKS;
        self.last_marked = false;
    }

    /// A marked segment arrived with so many bytes.
    fn on_marked(&mut self, len: u32) {
        self.marked += 1;
        self.ace = Flags::of_ace(self.marked);
        self.since += 1;
        if len == 0 {
            return;
        }
        self.count(CE, len);
        // §3.2.2.5.1, (a) and (b).
        self.hurried = !self.last_marked || self.since >= MARKS;
        self.last_marked = true;
    }

    /// So many bytes arrived with the codepoint of this place.
    #[inline]
    fn count(&mut self, place: usize, len: u32) {
        self.bytes[place] += u64::from(len);
        self.has_news = true;
        if !self.changed[place] {
            self.on_first(place);
        }
    }

    /// The counter at this place changes for the first time.
    fn on_first(&mut self, place: usize) {
        self.changed[place] = true;
        // The order is chosen once, with the first byte that is counted.
        if self.fields == 0 {
            self.ect1_first |= place == ECT1;
            self.ect1_first &= place != ECT0;
        }
        let is_first = (place == ECT1) == self.ect1_first;
        self.fields = self.fields.max(match place {
            CE => 2,
            _ if is_first => 1,
            _ => 3,
        });
    }

    /// The flags of a segment that this end sends.
    pub(super) fn flags(&mut self, flags: Flags) -> Flags {
        (self.since, self.hurried) = (0, false);
        if !flags.has(Flags::SYN) {
            return flags.and(self.ace);
        }
        self.syns += 1;
        // §3.2.3.2.2: the second retransmission no longer asks for anything.
        if self.syns > 2 { flags } else { flags.and(crate::accurate::told(self.syn)) }
    }

    /// Adds the option to a segment, if a counter has changed since it was last told and the header
    /// has room for it (§3.2.3.3). Returns whether the room is missing.
    pub(super) fn add_option(
        &mut self,
        is_syn: bool,
        timestamps: bool,
        sack: &mut SackBlocks,
    ) -> bool {
        // A SYN-ACK shows that the path lets the option pass; retransmitted, it goes without.
        let is_first_syn = is_syn && self.syns == 1;
        let has_news = !is_syn && self.has_news;
        if !self.settings.option || !(is_first_syn || has_news) {
            return false;
        }
        let count = if is_syn { 3 } else { self.fields };
        let option = AccEcn::new(self.ect1_first, count, self.bytes);
        let others = if timestamps { TIMESTAMPS } else { 0 };
        let room = (OPTIONS - others - 2 - usize::from(option.len())) / 8;
        // At least two blocks have precedence.
        let has_room = sack.as_slice().len() <= room.min(3) || room >= 2;
        if has_room {
            sack.add_accurate(option, room);
            self.has_news = false;
        }
        !has_room
    }
}

/// The places of the byte counters.
const ECT0: usize = 0;
const CE: usize = 1;
const ECT1: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Listening, config, ms, segment};
    use crate::{Command, Config, DelayedAck, Ecn as Setting, FixedAck, Recovery, Sack};
    use kernel::{Bytes, Duration};
    use wire::{SackBlock, Timestamps};

    fn accurate() -> Config {
        let timer = Duration::from_millis(100);
        Config {
            mss: Some(Bytes(1460)),
            window: Some(Bytes(1 << 20)),
            delayed_ack: DelayedAck::Fixed(FixedAck { segments: 2, timer }),
            ecn: Setting::Accurate(AccurateEcn::default()),
            recovery: Recovery::Sack(Sack::default()),
            ..config()
        }
    }

    const WITH_ECT1: Flags = Flags::ECT.and(Flags::ECT1);
    const WITH_CE: Flags = Flags::ECT.and(Flags::ECT1).and(Flags::CE);

    /// The acknowledgements of this segment.
    fn replies(tcp: &mut Listening, at: u64, segment: &Segment) -> Vec<Segment> {
        tcp.out.clear();
        tcp.receiver.on_segment(ms(at), segment, &mut tcp.out);
        let sent = tcp.out.iter().filter_map(|command| match command {
            Command::Send(reply) => Some(*reply),
            _ => None,
        });
        sent.collect()
    }

    fn connected(config: &Config) -> Listening {
        let mut tcp = Listening::new(config);
        let syn = segment(true, 0, 0, 0, Flags::SYN.and(Flags::of_ace(7)).and(WITH_ECT1));
        let answer = replies(&mut tcp, 0, &syn);
        assert_eq!(answer[0].flags.ace(), 0b011, "the SYN arrived with ECT(1)");
        let option = answer[0].sack.accurate().unwrap();
        assert_eq!(option.counters(), [Some(1), Some(0), Some(1)]);
        replies(&mut tcp, 0, &segment(true, 1, 0, 1, Flags::ACK.and(Flags::of_ace(2))));
        tcp
    }

    fn data(tcp: &mut Listening, number: u64, field: Flags) -> Vec<Segment> {
        let data = segment(true, 1 + 1460 * number, 1460, 1, Flags::ACK.and(field));
        replies(tcp, 10 + number, &data)
    }

    #[test]
    fn the_trace_of_the_design() {
        let mut tcp = connected(&accurate());
        assert!(data(&mut tcp, 0, WITH_ECT1).is_empty());
        let second = data(&mut tcp, 1, WITH_ECT1);
        assert_eq!((second.len(), second[0].flags.ace()), (1, 5));
        assert_eq!(second[0].sack.accurate().unwrap().counters(), [None, None, Some(2921)]);
        let third = data(&mut tcp, 2, WITH_CE);
        assert_eq!((third.len(), third[0].flags.ace()), (1, 6), "at once: the first mark");
        assert!(data(&mut tcp, 3, WITH_CE).is_empty());
        let fifth = data(&mut tcp, 4, WITH_CE);
        assert_eq!((fifth.len(), fifth[0].flags.ace()), (1, 0), "8 modulo 8");
        let option = fifth[0].sack.accurate().unwrap();
        assert_eq!((option.kind(), option.len()), (174, 8));
        assert_eq!(option.counters(), [None, Some(4380), Some(2921)]);
    }

    #[test]
    fn two_marks_are_told_at_once_however_long_acknowledgements_wait() {
        let timer = Duration::from_millis(100);
        let delayed_ack = DelayedAck::Fixed(FixedAck { segments: 10, timer });
        let mut tcp = connected(&Config { delayed_ack, ..accurate() });
        assert_eq!(data(&mut tcp, 0, WITH_CE).len(), 1);
        assert_eq!(data(&mut tcp, 1, WITH_CE).len(), 0);
        assert_eq!(data(&mut tcp, 2, WITH_CE).len(), 1);
        assert_eq!(data(&mut tcp, 3, WITH_ECT1).len(), 0, "the end of marks can wait");
    }

    #[test]
    fn ect_0_is_first_where_it_came_first() {
        let mut tcp = connected(&Config { delayed_ack: DelayedAck::None, ..accurate() });
        let reply = data(&mut tcp, 0, Flags::ECT);
        let option = reply[0].sack.accurate().unwrap();
        assert_eq!((option.kind(), option.counters()), (172, [Some(1461), None, None]));
        let reply = data(&mut tcp, 1, Flags::NONE);
        assert_eq!(reply[0].sack.accurate(), None, "no counter has changed");
    }

    #[test]
    fn selective_acknowledgements_have_precedence() {
        let blocks = |count| {
            let mut blocks = SackBlocks::NONE;
            (0..count).for_each(|start| blocks.push(SackBlock { start, end: start + 1 }));
            blocks
        };
        // Blocks wanted, timestamps, fields: blocks sent, and whether the option is there.
        for (wanted, timestamps, fields, sent, has) in [
            (0, true, 3, 0, true),
            (1, true, 3, 1, true),
            (2, true, 3, 2, false),
            (3, true, 3, 3, false),
            (3, true, 2, 2, true),
            (3, false, 3, 3, true),
            (4, false, 3, 3, true),
            (4, false, 1, 3, true),
        ] {
            let mut end = Accurate::new(AccurateEcn::default(), Ecn::Ect1);
            (end.bytes, end.has_news, end.fields) = ([2, 2, 2], true, fields);
            let mut sack = blocks(wanted);
            let lacks_room = end.add_option(false, timestamps, &mut sack);
            let case = (wanted, timestamps, fields);
            assert_eq!((sack.as_slice().len(), sack.accurate().is_some()), (sent, has), "{case:?}");
            assert_eq!(lacks_room, !has, "{case:?}");
            let most = if timestamps { OPTIONS - TIMESTAMPS } else { OPTIONS };
            assert!(sack.option_size().0 <= most as u64, "{case:?}");
        }
    }

    #[test]
    fn the_option_can_be_off() {
        let settings = AccurateEcn { option: false, ..AccurateEcn::default() };
        let mut tcp = Listening::new(&Config { ecn: Setting::Accurate(settings), ..accurate() });
        let syn = segment(true, 0, 0, 0, Flags::SYN.and(Flags::of_ace(7)));
        let answer = replies(&mut tcp, 0, &syn);
        assert_eq!((answer[0].flags.ace(), answer[0].sack.accurate()), (0b010, None));
        replies(&mut tcp, 0, &segment(true, 1, 0, 1, Flags::ACK.and(Flags::of_ace(2))));
        let reply = data(&mut tcp, 0, WITH_CE);
        assert_eq!((reply[0].flags.ace(), reply[0].sack.accurate()), (6, None));
    }

    #[test]
    fn a_retransmitted_answer_asks_for_less() {
        let mut tcp = Listening::new(&accurate());
        let syn = segment(true, 0, 0, 0, Flags::SYN.and(Flags::of_ace(7)).and(Flags::CE));
        let codes: Vec<_> = (0..3)
            .map(|at| replies(&mut tcp, at, &syn)[0])
            .map(|reply| (reply.flags.ace(), reply.sack.accurate().is_some()))
            .collect();
        assert_eq!(codes, [(0b110, true), (0b110, false), (0, false)]);
        // It still counts: a mark of the SYN does not.
        replies(&mut tcp, 9, &segment(true, 1, 0, 1, Flags::ACK));
        assert_eq!(data(&mut tcp, 0, WITH_CE)[0].flags.ace(), 6);
    }

    #[test]
    fn timestamps_leave_room_for_the_option() {
        let config = Config { timestamps: true, delayed_ack: DelayedAck::None, ..accurate() };
        let mut tcp = Listening::new(&config);
        let timestamps = Some(Timestamps::default());
        let syn = segment(true, 0, 0, 0, Flags::SYN.and(Flags::of_ace(7)).and(WITH_ECT1));
        replies(&mut tcp, 0, &Segment { timestamps, ..syn });
        let third = segment(true, 1, 0, 1, Flags::ACK.and(Flags::of_ace(2)));
        replies(&mut tcp, 0, &Segment { timestamps, ..third });
        let hole = segment(true, 1461, 1460, 1, Flags::ACK.and(WITH_ECT1));
        let reply = replies(&mut tcp, 5, &Segment { timestamps, ..hole });
        assert_eq!(reply[0].sack.as_slice().len(), 1);
        assert_eq!(reply[0].sack.option_size(), Bytes(16), "10 and 5, padded");
    }
}
