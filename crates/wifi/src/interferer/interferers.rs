//! All interferers of a run, and what they did.

use super::{Burst, Packets, Source, SourceSettings, Spectrum, Surroundings, WholeSlots};
use crate::phy::propagation::Position;
use crate::phy::{Primary, Width};
use kernel::{Dbm, Duration, Instant, Rng, Seed, Span};

/// One interferer of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfererConfig {
    /// What it sends.
    pub source: SourceSettings,
    /// It sends from this instant on.
    pub from: Instant,
    /// It sends until this instant.
    pub until: Instant,
    /// Where it transmits, one device or the two of a link; none where there are no radios: then
    /// its bursts reach every node and destroy what they overlap.
    pub devices: Vec<Device>,
    /// Whether carrier sense detects its energy.
    pub sensed: bool,
}

/// A transmitter of an interferer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// Its position.
    pub position: Position,
    /// Transmit power, antenna gains included.
    pub tx_power: Dbm,
}

/// A burst of an interferer that is on the air in a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// The number of the interferer.
    pub interferer: u32,
    /// The burst.
    pub burst: Burst,
    /// The part of its power that is in the channel.
    pub share: f64,
}

impl Arrival {
    /// Whether the burst overlaps a span of time.
    pub fn overlaps(&self, start: Instant, end: Instant) -> bool {
        self.burst.start < end && self.burst.end > start
    }
}

/// What an interferer did to the frames of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfererCounters {
    /// Data frames, or MPDUs of A-MPDUs, that were lost to it.
    pub data_frames: u64,
    /// Control frames that were lost to it.
    pub control_frames: u64,
}

/// The interferers of a run.
#[derive(Debug)]
pub struct Interferers {
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    source: Box<dyn Source>,
    from: Instant,
    until: Instant,
    /// The rule that replaces its bursts, and the draws for it.
    whole_slots: Option<(WholeSlots, Rng)>,
    counters: InterfererCounters,
}

impl Interferers {
    /// The interferers at the start of a run in a network with this primary channel, whose widest
    /// frames are of this width.
    pub fn new(configs: &[InterfererConfig], primary: Primary, widest: Width, seed: &Seed) -> Self {
        let channel = Spectrum::of(primary, widest);
        let member = |(config, index): (&InterfererConfig, u32)| {
            let kind = config.source.get();
            let draws = |rule| (rule, seed.stream("interferer.slots", index));
            Member {
                source: kind.build(&Surroundings { seed: *seed, index, channel }),
                from: config.from,
                until: config.until,
                whole_slots: kind.whole_slots().map(draws),
                counters: InterfererCounters::default(),
            }
        };
        Self { members: configs.iter().zip(0..).map(member).collect() }
    }

    /// Adds the bursts that overlap a span of time in a channel and count as interference: by
    /// interferer, then by time.
    pub fn overlapping(&mut self, span: Span, channel: Spectrum, out: &mut Vec<Arrival>) {
        let by_bursts = |(member, _): &(&mut Member, u32)| member.whole_slots.is_none();
        for (member, interferer) in self.members.iter_mut().zip(0..).filter(by_bursts) {
            member.each(span, |_, burst| {
                let share = burst.spectrum.share_in(channel);
                if share > 0.0 {
                    out.push(Arrival { interferer, burst, share });
                }
            });
        }
    }

    /// A frame begins that is on the air in a channel for this span of time. It destroys the bursts
    /// that overlap it of the interferers and devices for which `destroys` says so. Interferers
    /// that it `reaches` may react.
    pub fn on_frame(
        &mut self,
        span: Span,
        channel: Spectrum,
        reaches: impl Fn(u32) -> bool,
        destroys: impl Fn(u32, u8) -> bool,
    ) {
        for (member, interferer) in self.members.iter_mut().zip(0..) {
            if reaches(interferer) {
                member.source.on_frame(span.start, span.end);
            }
            if !(destroys(interferer, 0) || destroys(interferer, 1)) {
                continue;
            }
            member.each(span, |source, burst| {
                if destroys(interferer, burst.device) && burst.spectrum.share_in(channel) > 0.0 {
                    source.on_destroyed(&burst);
                }
            });
        }
    }

    /// Whether any interferer corrupts data frames by whole slots.
    pub fn have_whole_slots(&self) -> bool {
        self.members.iter().any(|member| member.whole_slots.is_some())
    }

    /// The interferer that corrupts a data frame by its whole slots, if any. The bits of the frame
    /// last for `length`, and the frame begins now.
    pub fn by_whole_slots(
        &mut self,
        now: Instant,
        length: Duration,
        width_mhz: u32,
    ) -> Option<u32> {
        let mut first = None;
        for (member, interferer) in self.members.iter_mut().zip(0..) {
            let is_on = member.from <= now && now < member.until;
            if let (true, Some((rule, rng))) = (is_on, &mut member.whole_slots)
                && rng.chance(rule.corruption(length, width_mhz))
            {
                first = first.or(Some(interferer));
            }
        }
        first
    }

    /// A frame is lost to an interferer.
    pub fn note_loss(&mut self, interferer: u32, is_data: bool) {
        let counters = &mut self.members[interferer as usize].counters;
        *(if is_data { &mut counters.data_frames } else { &mut counters.control_frames }) += 1;
    }

    /// The burst of an interferer that begins first among those that end after an instant.
    pub fn ending_after(&mut self, interferer: u32, at: Instant) -> Option<Burst> {
        self.members[interferer as usize].ending_after(at)
    }

    /// Whether the bursts of an interferer follow from the frames that it hears.
    pub fn reacts(&self, interferer: u32) -> bool {
        self.members[interferer as usize].source.reacts()
    }

    /// What an interferer did so far.
    pub fn counters(&self, interferer: u32) -> &InterfererCounters {
        &self.members[interferer as usize].counters
    }

    /// The packets that a Bluetooth link has sent so far.
    pub fn packets(&self, interferer: u32, now: Instant) -> Option<Packets> {
        let Member { source, from, until, .. } = &self.members[interferer as usize];
        let [before, all] = [*from, now.min(*until)].map(|at| source.packets(at.max(*from)));
        let (before, all) = (before?, all?);
        Some(Packets { sent: all.sent - before.sent, ..all })
    }
}

impl Member {
    /// Its first burst that ends after an instant, as far as it is active.
    fn ending_after(&mut self, at: Instant) -> Option<Burst> {
        let burst = self.source.ending_after(at.max(self.from))?;
        let (start, end) = (burst.start.max(self.from), burst.end.min(self.until));
        (start.max(at) < end).then_some(Burst { start, end, ..burst })
    }

    /// Visits the bursts that overlap a span of time.
    #[inline]
    fn each(&mut self, span: Span, mut visit: impl FnMut(&mut dyn Source, Burst)) {
        let mut at = span.start;
        while let Some(burst) = self.ending_after(at).filter(|burst| burst.start < span.end) {
            visit(&mut *self.source, burst);
            at = burst.end;
        }
    }
}
