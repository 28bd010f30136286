//! Accurate ECN at the end that sends data (RFC 9768 §3.2): what the counters of an acknowledgement
//! say.

use super::sequence::Outstanding;
use crate::accurate;
use crate::receiver::FIRST_MARKED;
use kernel::Instant;
use wire::{Ecn, Flags, Segment};

/// The scale of the mean number of segments per acknowledgement, and the weight of a new value: as
/// in Linux, 1/64.
const MEAN: u32 = 16;
const WEIGHT: u32 = 6;
/// Without the option, acknowledgements of more segments in the mean are taken for thinned, so that
/// the counter is not taken for wrapped.
const THINNED: u32 = 4 << MEAN;
/// As long as less was sent, the byte counters have not wrapped, and an option may be the first.
const FIRST_WRAP: u64 = 1 << 23;
/// RFC 9768 §3.2.2.3: after so many round trips with nothing but marks from the start on, the marks
/// are taken for a fault of the path.
const ALL_MARKED: u32 = 4;

/// The sender's copy of the receiver's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sender) struct Accurate {
    /// Marked packets: `s.cep`.
    marked: u64,
    /// Bytes of payload with CE: `s.ceb`. The sender needs no others.
    marked_bytes: u64,
    option: Telling,
    /// Whether the counter is taken for wrapped where this is the safe assumption.
    wraps: bool,
    /// The mean number of segments per acknowledgement.
    mean: u32,
    /// The newest timestamp of the receiver.
    newest: Instant,
    /// The ECN field of this end's data; none if the path is not to be trusted.
    ect: Flags,
    /// Whether marks count.
    hears: bool,
    /// Whether the first acknowledgement after the handshake has arrived.
    begun: bool,
    /// Marked packets among those that this end has received: `r.cep`; and the flags that say so.
    own: u64,
    any: Flags,
    /// Round trips in which everything was marked, since the start: their number, and the end of
    /// the current one. None after the first without.
    all_marked: Option<(u32, u64)>,
    /// Marked packets that the congestion control does not know of yet.
    unheard: u64,
    /// One past the highest number sent when the window was last reduced.
    pub(in crate::sender) reduced: u64,
}

/// Whether the receiver sends the option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    /// Not so far.
    Missing,
    Used,
    /// Its first values were impossible: the path rewrites it.
    Mangled,
}

impl Accurate {
    /// A connection whose data has this ECN field.
    pub(in crate::sender) fn new(ect: Flags, wraps: bool) -> Self {
        let mut new = Self {
            marked: FIRST_MARKED,
            marked_bytes: 0,
            option: Telling::Missing,
            wraps,
            mean: 0,
            newest: Instant::ZERO,
            ect,
            hears: true,
            begun: false,
            own: FIRST_MARKED,
            any: Flags::NONE,
            all_marked: Some((0, 1)),
            unheard: 0,
            reduced: 0,
        };
        new.send_with(ect);
        new
    }

    /// From now on the data of this end has this ECN field.
    fn send_with(&mut self, ect: Flags) {
        self.ect = ect;
        self.count_own(false);
    }

    /// A segment arrived, marked or not.
    fn count_own(&mut self, marked: bool) {
        self.own += u64::from(marked);
        let ace = Flags::of_ace(self.own);
        self.any = if self.ect.has(Flags::ECT1) { ace.and(self.ect) } else { ace };
    }

    /// The peer's SYN or SYN-ACK arrived; `told` is how it says this end's arrived, which was sent
    /// with `sent`.
    pub(in crate::sender) fn on_syn(&mut self, sent: Ecn, told: Option<Ecn>, syn: &Segment) {
        self.read_option(syn, 0);
        self.count_own(syn.flags.arrived() == Ecn::Experienced);
        // §3.2.2.3: no router may turn these codepoints into one another.
        let legal = match (sent, told) {
            (Ecn::NotCapable, Some(told)) => told == Ecn::NotCapable,
            (_, None | Some(Ecn::Experienced)) => true,
            (sent, Some(told)) => sent == told,
        };
        if !legal {
            self.send_with(Flags::NONE);
        }
    }

    /// The third segment of the handshake arrived at this end, which listened (§3.2.2.1). Returns
    /// whether it reports a mark of the SYN-ACK.
    pub(in crate::sender) fn on_third(&mut self, segment: &Segment) -> bool {
        let code = segment.flags.ace();
        if code == 0 {
            self.distrust();
        }
        let marked = accurate::arrival(code) == Some(Ecn::Experienced);
        self.marked += u64::from(marked);
        marked
    }

    /// Marks of this path do not count, and data is not ECN-capable.
    fn distrust(&mut self) {
        self.send_with(Flags::NONE);
        self.hears = false;
    }

    /// The flags of any segment but a SYN: the counter ACE; and ECT(1), with which senders of L4S
    /// send all packets (RFC 9331 §4.1).
    pub(in crate::sender) const fn on_any(&self) -> Flags {
        self.any
    }

    /// The ECN field of data.
    pub(in crate::sender) const fn field(&self) -> Flags {
        self.ect
    }

    /// Whether an acknowledgement reports more marks.
    pub(in crate::sender) const fn is_echoed(&self, segment: &Segment) -> bool {
        self.hears && segment.flags.ace() as u64 != self.marked % 8
    }

    /// An acknowledgement arrived that delivers `delivered` bytes in segments of `mss` bytes;
    /// `sent` is outstanding after it. Returns how many more packets were marked.
    pub(in crate::sender) fn on_ack(
        &mut self,
        segment: &Segment,
        delivered: u64,
        mss: u64,
        sent: Outstanding,
    ) -> u64 {
        if segment.flags.has(Flags::CE) {
            self.count_own(true);
        }
        let stamp = segment.timestamps.map_or(Instant::ZERO, |stamps| stamps.value);
        if delivered == 0 && stamp <= self.newest || stamp < self.newest {
            return 0;
        }
        self.newest = stamp;
        let code = segment.flags.ace();
        if !self.begun && code == 0 {
            // §3.2.2.4: a path that clears the flags.
            self.distrust();
        }
        self.begun = true;
        let count = delivered / mss;
        let least = (u64::from(code) + 8 - self.marked % 8) % 8;
        let bytes = self.read_option(segment, sent.nxt);
        let more = self.decode(least, count, bytes, mss);
        self.marked += more;
        if bytes.is_some_and(|bytes| bytes > 0) && more == 0 {
            // The byte counter rose and the packet counter cannot have (§3.2.2.4).
            self.send_with(Flags::NONE);
        }
        self.watch(more > 0 && more >= count, sent);
        if !self.hears {
            return 0;
        }
        self.unheard += more;
        if delivered == 0 { 0 } else { std::mem::take(&mut self.unheard) }
    }

    /// How many packets were marked: `least` or that and a multiple of eight (appendix A.2). The
    /// acknowledgement covers `count` full segments, and `bytes` more were marked by the option.
    fn decode(&mut self, least: u64, count: u64, bytes: Option<u64>, mss: u64) -> u64 {
        self.update_mean(count);
        if count < least + 8 || !self.wraps {
            return least;
        }
        let safe = count - (count - least) % 8;
        match bytes {
            Some(bytes) if bytes <= mss * least && 2 * bytes < mss * safe => least,
            None if self.mean > THINNED => least,
            _ => safe,
        }
    }

    fn update_mean(&mut self, count: u64) {
        let count = (count.min(1 << 15) as u32) << MEAN;
        self.mean = if self.mean == 0 {
            count
        } else {
            // Each part is below 2^31.
            self.mean - (self.mean >> WEIGHT) + (count >> WEIGHT)
        };
    }

    /// Reads the byte counters; returns how many more bytes were marked, if they tell.
    fn read_option(&mut self, segment: &Segment, nxt: u64) -> Option<u64> {
        let option = segment.sack.accurate()?;
        match self.option {
            Telling::Mangled => return None,
            Telling::Missing if nxt > FIRST_WRAP => return None,
            Telling::Missing => {
                // §3.2.3.2.4: these counters begin with 1.
                let [ect0, _, ect1] = option.counters();
                let mangled = ect0 == Some(0) || ect1 == Some(0);
                self.option = if mangled { Telling::Mangled } else { Telling::Used };
                if mangled {
                    return None;
                }
            }
            Telling::Used => {}
        }
        let before = self.marked_bytes;
        self.marked_bytes = option.marked_after(before);
        Some(self.marked_bytes - before)
    }

    /// Watches for a path that marks everything from the start on.
    fn watch(&mut self, all: bool, sent: Outstanding) {
        let Some((rounds, end)) = &mut self.all_marked else { return };
        if !all {
            self.all_marked = None;
        } else if sent.una >= *end {
            *rounds += 1;
            *end = sent.nxt;
            if *rounds > ALL_MARKED {
                self.distrust();
            }
        }
    }

    /// Whether the path lets marks through.
    pub(in crate::sender) fn is_trusted(&self) -> bool {
        self.hears && self.ect != Flags::NONE
    }

    /// Whether the receiver sends the option.
    pub(in crate::sender) fn has_option(&self) -> bool {
        self.option == Telling::Used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::segment;
    use wire::AccEcn;

    const MSS: u64 = 1460;

    fn sent(una: u64, nxt: u64) -> Outstanding {
        Outstanding { una, nxt }
    }

    fn end() -> Accurate {
        Accurate::new(Flags::ECT, true)
    }

    fn ack(marked: u64) -> Segment {
        segment(false, 1, 0, 1, Flags::ACK.and(Flags::of_ace(marked)))
    }

    fn with_option(marked: u64, bytes: [u64; 3]) -> Segment {
        let mut ack = ack(marked);
        ack.sack.add_accurate(AccEcn::new(false, 3, bytes), 3);
        ack
    }

    #[test]
    fn without_the_option_the_counter_wraps_where_this_is_safe() {
        // Segments acknowledged, the counter's step: marked packets (appendix A.2.1).
        for (count, step, marked) in
            [(9, 2, 2), (10, 2, 10), (16, 1, 9), (2, 2, 2), (1, 3, 3), (0, 1, 1), (8, 0, 8)]
        {
            // The mean is not above 4.
            let mut end = Accurate { mean: 1 << MEAN, ..end() };
            assert_eq!(end.decode(step, count, None, MSS), marked, "{count} {step}");
        }
    }

    #[test]
    fn the_option_tells_whether_the_counter_wrapped() {
        // RFC 9768 appendix A.2.2: step, safe step, marked bytes, marked packets.
        for (step, safe, bytes, marked) in [(2, 10, 1460, 2), (7, 15, 10_200, 7), (0, 8, 1460, 8)] {
            assert_eq!(end().decode(step, safe, Some(bytes), MSS), marked, "{step} {safe} {bytes}");
        }
    }

    #[test]
    fn a_lost_acknowledgement_loses_no_mark() {
        let mut end = Accurate { marked: 8, mean: 2 << MEAN, ..end() };
        assert_eq!(end.on_ack(&ack(19), 12 * MSS, MSS, sent(1, 1)), 11);
        // Of twelve segments three were marked: it looks the same, unless acknowledgements are
        // known to be thinned …
        let mut thinned = Accurate { marked: 8, mean: 12 << MEAN, ..end };
        assert_eq!(thinned.on_ack(&ack(11), 12 * MSS, MSS, sent(1, 1)), 3);
        // … or the option tells.
        let mut told = Accurate { marked: 8, mean: 2 << MEAN, ..end };
        assert_eq!(told.on_ack(&with_option(11, [1, 3 * MSS, 1]), 12 * MSS, MSS, sent(1, 1)), 3);
        let mut off = Accurate { marked: 8, wraps: false, ..end };
        assert_eq!(off.on_ack(&ack(19), 12 * MSS, MSS, sent(1, 1)), 3);
    }

    #[test]
    fn an_overtaken_acknowledgement_is_old() {
        let mut end = end();
        assert_eq!(end.on_ack(&ack(7), 2 * MSS, MSS, sent(1, 1)), 2);
        assert_eq!(end.on_ack(&ack(6), 0, MSS, sent(1, 1)), 0);
        assert_eq!(end.on_ack(&ack(8), 2 * MSS, MSS, sent(1, 1)), 1, "5, 7, 8");
    }

    #[test]
    fn the_option_is_ignored_if_its_first_values_are_impossible() {
        let mut mangled = end();
        mangled.on_ack(&with_option(5, [0, 0, 1]), MSS, MSS, sent(1, 1));
        assert!(!mangled.has_option());
        mangled.on_ack(&with_option(5, [1461, 0, 1]), MSS, MSS, sent(1, 1));
        assert!(!mangled.has_option(), "for good");
        let mut late = end();
        late.on_ack(&ack(5), MSS, MSS, sent(1, 1));
        late.on_ack(&with_option(5, [1461, 0, 1]), MSS, MSS, sent(1, FIRST_WRAP));
        assert!(late.has_option(), "resumed");
        let mut too_late = end();
        too_late.on_ack(&with_option(5, [1461, 0, 1]), MSS, MSS, sent(1, FIRST_WRAP + 1));
        assert!(!too_late.has_option());
    }

    #[test]
    fn a_path_that_rewrites_the_field_gets_no_more_of_it() {
        use Ecn::{Ect0, Ect1, Experienced, NotCapable};
        let syn = segment(false, 0, 0, 1, Flags::SYN.and(Flags::ACK));
        for (field, told, trusted) in [
            (NotCapable, Some(NotCapable), true),
            (NotCapable, Some(Ect0), false),
            (NotCapable, Some(Experienced), false),
            (Ect1, Some(Ect1), true),
            (Ect1, Some(Experienced), true),
            (Ect1, Some(NotCapable), false),
            (Ect1, Some(Ect0), false),
            (Ect1, None, true),
        ] {
            let mut end = end();
            end.on_syn(field, told, &syn);
            assert_eq!(end.is_trusted(), trusted, "{field:?} {told:?}");
            assert!(end.on_ack(&ack(6), MSS, MSS, sent(1, 1)) == 1, "marks still count");
        }
    }

    #[test]
    fn impossible_counters_end_it() {
        let mut zeroed = end();
        assert_eq!(zeroed.on_ack(&ack(0), MSS, MSS, sent(1, 1)), 0);
        assert!(!zeroed.is_trusted());
        let mut torn = end();
        assert_eq!(torn.on_ack(&with_option(5, [1, 1460, 1]), MSS, MSS, sent(1, 1)), 0);
        assert_eq!(torn.field(), Flags::NONE, "bytes and no packet");
        let mut always = end();
        for round in 1..=5 {
            assert!(always.is_trusted(), "{round}");
            always.on_ack(&ack(5 + round), MSS, MSS, sent(round, round + 1));
        }
        assert!(!always.is_trusted());
    }

    #[test]
    fn the_third_segment_tells_how_the_answer_arrived() {
        let mut marked = end();
        assert!(marked.on_third(&ack(0b110)));
        assert_eq!(marked.marked, 6);
        let mut clear = end();
        assert!(!clear.on_third(&ack(0b010)));
        assert_eq!((clear.marked, clear.is_trusted()), (5, true));
        let mut cleared = end();
        assert!(!cleared.on_third(&ack(0)));
        assert!(!cleared.is_trusted());
    }
}
