//! A full-duplex access point, perhaps with full-duplex stations, in the station and on the air:
//! which data frame it sends while it receives, and which frames may overlap.

use crate::air::{Air, Transmission};
use crate::frame::Frame;
use crate::media::in_cell;
use crate::station::Station;
use crate::workload::Workload;
use crate::{dcf, edca, one_by_one};
use kernel::{BitRate, Bytes, Duration, Instant};
use proptest::prelude::*;
use wifi::Link;
use wifi::mac::{Countdown, Durations, Eifs, FullDuplex, OwnRts, RtsCts, Serve, SlotGrid};
use wifi::phy::{DOT11B, Mode};
use wire::FrameKind;

/// What a station and the access point send at once, and each receiver decodes.
#[derive(Clone, Copy)]
pub(crate) enum Together {
    /// The RTS of this node, which its receiver may answer with more than a CTS; if the node is a
    /// station, perhaps one of the access point, which is not received.
    Rts(u32),
    /// The data frame of this node without RTS and CTS, which its receiver may join; if the node is
    /// a station, perhaps an RTS of the access point, which is not received.
    Bare(u32),
    /// A data frame, and one of its receiver.
    Data,
    /// Data frames of a station and of the access point without RTS and CTS.
    OwnData,
    /// The ACKs of the access point and of a station.
    Acks,
}

impl Air<'_> {
    /// Whether frames that begin at one instant are more than a frame alone or a collision.
    pub(crate) fn together(&self, frames: &[Frame]) -> Option<Together> {
        let optional = self.stations[0].duplex()?.rts_cts == RtsCts::Optional;
        let lasts = |frame: &Frame| self.times.airtime(&frame.mode, frame.psdu).total();
        // No data frame that needs RTS and CTS begins without them.
        let is_bare = |data: &Frame| {
            let sender = &self.stations[data.from as usize];
            data.to.is_some() && !sender.framing.needs_rts(data)
        };
        let secondary = |frame: &&Frame| self.stations[frame.from as usize].secondary;
        match frames {
            [rts] if rts.kind == FrameKind::Rts => Some(Together::Rts(rts.from)),
            [data] if data.kind == FrameKind::Data && optional && is_bare(data) => {
                Some(Together::Bare(data.from))
            }
            [ap, other] if ap.from == 0 => match (ap.kind, other.kind) {
                (FrameKind::Rts, FrameKind::Rts) => {
                    (lasts(ap) <= lasts(other)).then_some(Together::Rts(other.from))
                }
                (FrameKind::Rts, FrameKind::Data) => {
                    (optional && lasts(ap) <= lasts(other)).then_some(Together::Bare(other.from))
                }
                (FrameKind::Data, FrameKind::Data) => {
                    let own = || (optional && ap.to.is_some()).then_some(Together::OwnData);
                    let after_cts = [ap, other].iter().find_map(secondary);
                    after_cts.map(|_| Together::Data).or_else(own)
                }
                (FrameKind::Ack, FrameKind::Ack) => Some(Together::Acks),
                _ => None,
            },
            _ => None,
        }
    }

    /// The receiver of the data frame on the air begins its own, after the MAC header of the
    /// former.
    pub(crate) fn begin_beside(&mut self, now: Instant, frame: Frame) {
        let [primary] = &mut self.flying[..] else { panic!("{now}: one frame is on the air") };
        assert_eq!(primary.frame.to, Some(frame.from), "{now}: the receiver sends");
        let end = now + self.times.airtime(&frame.mode, frame.psdu).total();
        let over = end.max(primary.end);
        (primary.both_over, primary.sets_nav) = (Some(over), true);
        let (both_over, collides, sets_nav) = (Some(over), false, false);
        self.flying.push(Transmission { frame, end, collides, both_over, sets_nav });
    }

    /// Data frames of the access point and of a station begin together without RTS and CTS. Whether
    /// the receiver of the former decodes it depends on the interference by the latter.
    pub(crate) fn begin_own_data(&mut self, end: Instant) {
        let from = self.flying[1].frame.from;
        for transmission in &mut self.flying {
            transmission.both_over = Some(end);
            transmission.sets_nav = transmission.frame.from != 0;
        }
        let access_point = &mut self.stations[0];
        let own = &self.flying[0].frame;
        let is_decodable = if own.to == Some(from) {
            access_point.duplex().is_some_and(|settings| settings.bidirectional)
        } else {
            let alone = access_point.framing.secondary_mode(own.to.expect("a station"));
            own.mode.rate <= alone.rate
        };
        access_point.own_data = Some(is_decodable);
        access_point.counters.collisions += u64::from(!is_decodable);
    }

    /// One of two data frames that overlap ends: its receiver decodes it, and both ends of it wait
    /// for the end of the longer one.
    pub(crate) fn end_beside(&mut self, now: Instant, frame: &Frame, over: Instant) {
        let sender = &mut self.stations[frame.from as usize];
        sender.txop = None;
        if sender.own_data.take() == Some(false) {
            return sender.wait_until(now, over);
        }
        let receiver = &mut self.stations[frame.to.expect("data has a receiver") as usize];
        if receiver.is_lost(frame) {
            receiver.receive_error(now, self.times.eifs(&frame.mode));
            self.stations[frame.from as usize].counters.noise_losses += 1;
        } else {
            receiver.receive(now, frame);
            receiver.wait_until(now, over);
            self.stations[frame.from as usize].note_received(frame);
        }
        self.stations[frame.from as usize].wait_until(now, over);
    }

    /// A data frame that another has joined ends: its header has told its Duration to the others.
    pub(crate) fn overhear_header(&mut self, now: Instant, frame: &Frame) {
        let is_party = |node| node == frame.from || Some(node) == frame.to;
        for other in self.stations.iter_mut().filter(|station| !is_party(station.node)) {
            other.overhear(now, frame);
        }
    }

    /// Both ACKs have ended.
    pub(crate) fn end_acks(&mut self, now: Instant, acks: &[Transmission]) {
        for Transmission { frame, .. } in acks {
            let receiver = &mut self.stations[frame.to.expect("an ACK has a receiver") as usize];
            if receiver.is_lost(frame) {
                receiver.receive_error(now, self.times.eifs(&frame.mode));
                receiver.counters.noise_losses += 1;
            } else {
                receiver.receive(now, frame);
            }
        }
    }
}

impl Station<'_> {
    fn duplex(&self) -> Option<FullDuplex> {
        self.framing.config.full_duplex
    }

    /// The access point detects the RTS of a station or its data frame, perhaps while it sends an
    /// RTS of its own, and decides what it will send; or a full-duplex station that of the access
    /// point. The secondary frame follows a CTS, or begins at an instant.
    pub(crate) fn prepare_secondary(
        &mut self,
        now: Instant,
        primary: u32,
        own_rts: bool,
        (begins, over): (Option<Instant>, Instant),
    ) {
        let is_bidirectional = self.duplex().is_some_and(|settings| settings.bidirectional);
        if self.node != 0 && !is_bidirectional {
            return;
        }
        let than = if is_bidirectional { self.node } else { primary };
        // No response to an earlier frame can come now.
        if let Some(awaited) = self.awaited {
            self.fail(now, awaited.kind);
        }
        self.own_rts = own_rts;
        let functions = match self.active {
            Some(own) if own_rts => own..own + 1,
            _ => 0..self.functions.len(),
        };
        let own = functions.start;
        // It is too late when the primary frame is over.
        let mut functions = functions.rev().filter(|_| begins.is_none_or(|at| at < over));
        let found = functions.find(|&index| self.find_secondary(index, than));
        if own_rts {
            self.txop = None;
        }
        let Some(index) = found else {
            if own_rts {
                self.counters.collisions += 1;
                self.active = None;
                self.count_failure(own, false);
            }
            return;
        };
        if own_rts {
            // Instead of the data for its own RTS, it sends the secondary frame.
            let (rate, retry) = self.opened;
            self.frames.data_attempts -= 1;
            self.frames.data_rates -= rate;
            self.frames.mpdus -= 1;
            self.frames.repeated_mpdus -= u64::from(retry);
        }
        let msdu = self.functions[index].queue.front().expect("a packet for another");
        let (frame, retry) = (self.framing.secondary(index, msdu, primary), msdu.retry);
        self.frames.data_attempts += 1;
        self.frames.data_rates += frame.mode.rate.0;
        self.frames.mpdus += 1;
        self.frames.repeated_mpdus += u64::from(retry);
        self.secondary = Some(frame);
        if let Some(at) = begins {
            self.begin_secondary(frame);
            self.answer = Some((at, frame));
        }
    }

    /// The secondary frame is to be sent.
    pub(crate) fn begin_secondary(&mut self, frame: Frame) {
        self.active = Some(frame.function);
        self.protect(&frame);
    }

    /// When this node has decoded the MAC header of a data frame that begins now, and has ended its
    /// own RTS if it sends one.
    pub(crate) fn header_over(
        &self,
        now: Instant,
        data: &Frame,
        own_rts: Option<&Frame>,
    ) -> Instant {
        let parts = self.framing.times.airtime(&data.mode, self.framing.header(data));
        let own = |rts: &Frame| now + self.framing.times.airtime(&rts.mode, rts.psdu).total();
        let over = now + parts.preamble + parts.header + parts.payload;
        own_rts.map_or(over, |rts| over.max(own(rts)))
    }

    /// Brings the packet to the head of the queue that is sent; whether there is one.
    fn find_secondary(&mut self, index: usize, than: u32) -> bool {
        let serve = self.duplex().map_or(Serve::First, |settings| settings.serve);
        let function = &mut self.functions[index];
        let fits = |to: Option<u32>| to.is_some_and(|to| to != than);
        let queue = &mut function.queue;
        let Some(first) = queue.front() else { return false };
        if fits(first.to) {
            return true;
        }
        if serve == Serve::HeadOfLine {
            return false;
        }
        if let Some(second) = queue.get(1).filter(|msdu| msdu.aside) {
            let is_fit = fits(second.to);
            if is_fit {
                queue.swap(0, 1);
                (queue[0].aside, queue[1].aside) = (false, true);
            }
            return is_fit;
        }
        let Some(place) = queue.iter().position(|msdu| fits(msdu.to)) else { return false };
        let found = queue.remove(place).expect("a place in the queue");
        queue[0].aside = true;
        queue.push_front(found);
        function.number();
        true
    }

    /// Footnote 3: after a success beside a station, the window may be that after a collision.
    pub(crate) fn double_again(&mut self, index: usize, before: u32) {
        let is_secondary = self.secondary.take().is_some();
        let doubles = self.duplex().is_some_and(|settings| settings.own_rts == OwnRts::Double);
        if is_secondary && self.own_rts && doubles {
            let function = &mut self.functions[index];
            function.window = (2 * before + 1).min(function.parameters.cw_max);
        }
    }

    /// The CTS to the primary transmitter protects the secondary frame, as one to the access point
    /// would.
    fn protect(&mut self, data: &Frame) {
        if self.framing.needs_rts(data) {
            self.functions[data.function].short_retries = 0;
        }
    }

    /// A node detects an ACK while it sends one.
    pub(crate) fn detect_beside(&mut self) {
        if let Some(awaited) = &mut self.awaited {
            awaited.until = None;
        }
    }

    /// A data frame of this station or for it is over, and another one lasts until `over`: the
    /// responses come later.
    fn wait_until(&mut self, now: Instant, over: Instant) {
        let later = over.since(now);
        if let Some(until) = self.awaited.as_mut().and_then(|awaited| awaited.until.as_mut()) {
            *until += later;
        }
        if let Some((at, _)) = &mut self.answer {
            *at += later;
        }
    }
}

/// Cells of a full-duplex access point, in which most exchanges begin with an RTS.
pub(crate) fn workloads() -> impl Strategy<Value = Workload> {
    let serve = prop::sample::select(vec![Serve::First, Serve::HeadOfLine]);
    let own_rts = prop::sample::select(vec![OwnRts::Reset, OwnRts::Double]);
    let rate = any::<Option<prop::sample::Index>>();
    let threshold = prop::sample::select(vec![0u64, 0, 400, 3000]);
    let options =
        (any::<(bool, bool)>(), prop::sample::select(vec![RtsCts::Required, RtsCts::Optional]));
    (dcf::workloads(), rate, serve, own_rts, threshold, options).prop_map(
        |(mut workload, rate, serve, own_rts, threshold, ((bidirectional, busy_tone), rts_cts))| {
            // Where both data frames get lost, the transmitters begin anew after their timeouts. A
            // response in DSSS may last beyond that, and its NAV would stand while they send: a
            // cell leaves that out.
            let may_last = |link: &Link| link.mode.class.is_dsss() && link.data_loss > 0.0;
            if workload.links.iter().any(may_last) {
                let mode = workload.links[0].mode;
                workload.links.iter_mut().for_each(|link| link.mode = mode);
            }
            let secondary_rate = rate.map(|rate| rate.get(&workload.links).mode.rate);
            let config = &mut workload.config;
            config.full_duplex = Some(FullDuplex {
                secondary_rate,
                serve,
                own_rts,
                bidirectional,
                rts_cts,
                busy_tone,
                ..Default::default()
            });
            config.rts_threshold = Bytes(threshold);
            config.timing.durations = Durations::Standard;
            workload
        },
    )
}

/// Cells of EDCA with one MPDU in a PPDU.
pub(crate) fn workloads_of_edca() -> impl Strategy<Value = Workload> {
    let serve = prop::sample::select(vec![Serve::First, Serve::HeadOfLine]);
    let rts_cts = prop::sample::select(vec![RtsCts::Required, RtsCts::Optional]);
    let mcs = prop::option::of(0u32..8);
    let options = (mcs, serve, rts_cts, any::<bool>());
    (edca::workloads(), options).prop_map(
        |(workload, (secondary_mcs, serve, rts_cts, bidirectional))| {
            let mut workload = one_by_one(workload);
            workload.config.full_duplex = Some(FullDuplex {
                secondary_mcs,
                serve,
                bidirectional,
                rts_cts,
                ..Default::default()
            });
            workload
        },
    )
}

/// Cells as above that a space can reproduce: each exchange begins with an RTS, and RTSs have a
/// mode of their own. No packet comes between the beginning of an RTS and the CTS, when a space has
/// not chosen the secondary frame yet and a cell has.
pub(crate) fn workloads_in_space() -> impl Strategy<Value = Workload> {
    let serve = vec![Serve::First, Serve::HeadOfLine, Serve::BestRate, Serve::Random];
    (workloads(), prop::sample::select(serve)).prop_map(|(mut workload, serve)| {
        let Workload { config, links, packets, .. } = &mut workload;
        let timing = &mut config.timing;
        let standard = timing.standard;
        let rts = if standard == &DOT11B { 2.0 } else { 9.0 };
        let rts = standard.mode(BitRate::from_mbps(rts)).expect("a rate of the standard");
        let is_usable = |mode: &Mode| mode.class == rts.class && mode.rate != rts.rate;
        let fastest = *standard.modes.iter().rev().find(|mode| is_usable(mode)).expect("a mode");
        for link in links.iter_mut().filter(|link| !is_usable(&link.mode)) {
            link.mode = fastest;
        }
        if config.rts_threshold > Bytes::ZERO && timing.eifs != Eifs::None {
            // After frames that differ only a cell takes the shortest EIFS.
            let mode = links[0].mode;
            for link in links.iter_mut() {
                link.mode = mode;
            }
            if timing.eifs == Eifs::Estimated {
                config.rts_threshold = Bytes(3000);
            }
        }
        let lowest = standard.lowest_mandatory(rts.class).rate;
        timing.basic_rates.retain(|&rate| rate != rts.rate);
        timing.basic_rates.push(lowest);
        timing.basic_rates.sort_unstable();
        timing.basic_rates.dedup();
        timing.rts = Some(rts);
        if timing.slot_grid.is_shared() {
            timing.slot_grid = SlotGrid::Standard;
            config.countdown = Countdown::Standard;
        }
        for packet in packets.iter_mut().filter(|packet| packet.node == 0) {
            packet.to = packet.to.or(Some(1));
        }
        let settings = config.full_duplex.as_mut().expect("full duplex");
        let rate = links.last().expect("a station").mode.rate;
        settings.secondary_rate = settings.secondary_rate.map(|_| rate);
        settings.serve = serve;
        settings.busy_tone = false;
        not_before_the_choice(workload)
    })
}

/// Cells of EDCA, with single MPDUs and with A-MPDUs, that a space can reproduce, as above.
pub(crate) fn workloads_of_edca_in_space() -> impl Strategy<Value = Workload> {
    let serve = vec![Serve::First, Serve::HeadOfLine, Serve::BestRate, Serve::Random];
    let own_rts = prop::sample::select(vec![OwnRts::Reset, OwnRts::Double]);
    let rts_cts = prop::sample::select(vec![RtsCts::Required, RtsCts::Optional]);
    let options = (prop::option::of(0u32..8), prop::sample::select(serve), own_rts, rts_cts);
    (edca::workloads(), options, any::<bool>()).prop_map(
        |(mut workload, (secondary_mcs, serve, own_rts, rts_cts), bidirectional)| {
            let Workload { config, packets, .. } = &mut workload;
            for packet in packets.iter_mut().filter(|packet| packet.node == 0) {
                packet.to = packet.to.or(Some(1));
            }
            config.full_duplex = Some(FullDuplex {
                secondary_mcs,
                serve,
                own_rts,
                bidirectional,
                rts_cts,
                ..Default::default()
            });
            not_before_the_choice(workload)
        },
    )
}

/// The workload whose packets come later where one would come between an RTS and its CTS, or during
/// a data frame.
fn not_before_the_choice(mut workload: Workload) -> Workload {
    loop {
        let record = in_cell(&workload);
        let packets = &mut workload.packets;
        let late = record.air.windows(2).find_map(|frames| {
            let [first, next] = frames else { return None };
            let until = match (first.kind(), next.kind()) {
                (Some(FrameKind::Rts), Some(FrameKind::Cts)) => next.start(),
                (Some(FrameKind::Data), _) => first.end(),
                _ => return None,
            };
            let is_between = |at: Instant| first.start() < at && at <= until;
            let first = packets.iter().position(|packet| is_between(packet.at))?;
            Some((first, until + Duration(1)))
        });
        let Some((first, at)) = late else { return workload };
        let later = at - packets[first].at;
        packets[first..].iter_mut().for_each(|packet| packet.at += later);
    }
}
