//! The observables of a flow.

use super::observable::Kind::{
    Controller, Counter, Delays, Each, Gauge, Last, MeanRate, Once, Rate, Ratio, Share, Text,
};
use super::observable::{CATEGORIES, CELL, Condition, Events, Observable, observables};
use crate::flow::TcpFlow;
use crate::meter::FlowMeter;
use crate::observers::World;
use crate::traffic::{self, Seen, Viewed};
use kernel::{Duration, Id};
use std::borrow::Cow;
use std::slice::from_ref;
use tcp::{Limit, LimitTimes, ReceiverCounters, Sender, SenderCounters};
use wire::FlowId;

const TCP: Condition = Condition {
    says: "of TCP flows",
    holds: |plan, i| plan.flows[i].tcp.is_some(),
    lacks: |_, i, name| format!("flow {i} runs over UDP and has no {name}"),
};

const TIMED: Condition = Condition {
    says: "of TCP flows and pings",
    holds: |plan, i| (TCP.holds)(plan, i) || (PING.holds)(plan, i),
    lacks: |_, i, name| format!("flow {i} is neither TCP nor a ping and has no {name}"),
};

const PING: Condition = Condition {
    says: "of pings",
    holds: |plan, i| plan.flows[i].settings.traffic.get().echo().is_some(),
    lacks: |_, i, name| format!("flow {i} is no ping and has no {name}"),
};

const REPLIES: Events = Events {
    keep: |world, i| world.observers.meter.flows[FlowId::at(i)].echoes.keep_replies(),
    kept: |world, i| meter(world, i).echoes.replies(),
};

const CODED: Condition = Condition {
    says: "of flows with `tcp.fec`",
    holds: |plan, i| plan.flows[i].tcp.as_ref().is_some_and(|tcp| tcp.config.fec.is_some()),
    lacks: |_, i, name| format!("flow {i} sends no parity (tcp.fec) and has no {name}"),
};

const ACCURATE: Condition = Condition {
    says: "of flows with accurate ECN",
    holds: |plan, i| {
        let tcp = plan.flows[i].tcp.as_ref();
        tcp.is_some_and(|tcp| matches!(tcp.config.ecn, tcp::Ecn::Accurate(_)))
    },
    lacks: |_, i, name| format!("flow {i} has no accurate ECN (tcp.ecn) and no {name}"),
};

const WEB: Condition = Condition {
    says: "of web traffic, requests and writes",
    holds: |plan, i| plan.flows[i].settings.traffic.get().has_sessions(),
    lacks: |_, i, name| format!("flow {i} fetches no files and has no {name}"),
};

const UDP: Condition = Condition {
    says: "of UDP flows",
    holds: |plan, i| plan.flows[i].tcp.is_none() && !(PING.holds)(plan, i),
    lacks: |plan, i, name| match plan.flows[i].tcp {
        Some(_) => format!("flow {i} runs over TCP and has no {name}"),
        None => format!("flow {i} is a ping, which has ping.lost and no {name}"),
    },
};

const CALL: Condition = Condition {
    says: "of calls and conferences",
    holds: |plan, i| plan.flows[i].settings.traffic.get().call().is_some(),
    lacks: |_, i, name| format!("flow {i} is no call and has no {name}"),
};

const CONFERENCE: Condition = Condition {
    says: "of conferences",
    holds: |plan, i| plan.flows[i].settings.traffic.get().feedback().is_some(),
    lacks: |_, i, name| format!("flow {i} is no conference and has no {name}"),
};

const VIDEO: Condition = Condition {
    says: "of video",
    holds: |plan, i| plan.flows[i].settings.traffic.get().is_video(),
    lacks: |_, i, name| format!("flow {i} is no video and has no {name}"),
};

pub(super) static FLOW: &[Observable] = observables! {
    /// The flow's name.
    "name": "text" as "flow" => Text(|plan, i| plan.flows[i].name.clone());
    /// The node that sends the data.
    "from": "text" => Text(|plan, i| plan.topology.name(plan.flows[i].from).to_owned());
    /// The node that receives the data.
    "to": "text" => Text(|plan, i| plan.topology.name(plan.flows[i].to).to_owned());
    /// User data delivered in order.
    "goodput_mbps": "Mb/s" as "goodput" => Rate(
        |world, i| meter(world, i).bytes,
        |world, i| world.observers.meter.goodput_mbps(from_ref(meter(world, i))),
    );
    /// Half the 95 % confidence interval of the goodput, by batch means within the run.
    "goodput_ci95_mbps": "Mb/s" as "95 %" => Once(|world, i| {
        let flow = from_ref(meter(world, i));
        world.observers.meter.goodput_half_width_mbps(flow).into()
    });
    /// User data delivered in order since the start of the run.
    "delivered_bytes": "bytes" => Gauge(|world, i| meter(world, i).bytes as f64);
    /// Packets that the transports sent, in both directions.
    "packets_sent": "packets" => Counter(|world, i| meter(world, i).sent);
    /// Segments with data that the sender sent, retransmissions included.
    "segments_sent": "segments" if TCP => Counter(|world, i| sent(world, i).segments);
    /// Segments with data that were retransmitted.
    "retransmissions": "segments" as "re-\nsent" if TCP =>
        Counter(|world, i| sent(world, i).retransmissions);
    /// Expiries of the retransmission timer.
    "timeouts": "1" as "RTOs" if TCP => Counter(|world, i| sent(world, i).timeouts);
    /// Entries into fast recovery, after losses that acknowledgements indicated.
    "fast_retransmits": "1" if TCP => Counter(|world, i| sent(world, i).fast_retransmits);
    /// The fraction of the time with an established connection in which the receive window kept the
    /// sender from sending more; all such fractions add up to 1.
    "limited_by.receive_window_fraction": "1" as "receive window" if TCP => Ratio(
        |world, i| limited(world, i).of(Limit::ReceiveWindow).0,
        |world, i| limited(world, i).total().0,
    );
    /// The fraction of this time in which the application had no data to send.
    "limited_by.application_fraction": "1" as "application" if TCP => Ratio(
        |world, i| limited(world, i).of(Limit::Application).0,
        |world, i| limited(world, i).total().0,
    );
    /// The fraction of this time in which the congestion window was full, except in recovery.
    "limited_by.congestion_window_fraction": "1" as "congestion window" if TCP => Ratio(
        |world, i| limited(world, i).of(Limit::CongestionWindow).0,
        |world, i| limited(world, i).total().0,
    );
    /// The fraction of this time in which the sender repaired a loss, in fast recovery or after a
    /// timeout.
    "limited_by.recovery_fraction": "1" as "recovery" if TCP => Ratio(
        |world, i| limited(world, i).of(Limit::Recovery).0,
        |world, i| limited(world, i).total().0,
    );
    /// The fraction of this time in which the next segment waited for its time by the pacing rate.
    "limited_by.pacing_fraction": "1" as "pacing" if TCP => Ratio(
        |world, i| limited(world, i).of(Limit::Pacing).0,
        |world, i| limited(world, i).total().0,
    );
    /// The fraction of this time in which less than a full segment waited: for an acknowledgement
    /// (Nagle's algorithm or Minshall's), or for more data or window.
    "limited_by.nagle_fraction": "1" as "Nagle" if TCP => Ratio(
        |world, i| limited(world, i).of(Limit::SmallSegment).0,
        |world, i| limited(world, i).total().0,
    );
    /// The fraction of this time in which the sender stood by, because the route had failed.
    "limited_by.stand_by_fraction": "1" as "stand-by" if TCP => Ratio(
        |world, i| limited(world, i).of(Limit::StandBy).0,
        |world, i| limited(world, i).total().0,
    );
    /// The fraction of this time in which TCP small queues kept the next segment from the queue of
    /// the sender's node.
    "limited_by.small_queue_fraction": "1" as "small queue" if TCP => Ratio(
        |world, i| limited(world, i).of(Limit::SmallQueue).0,
        |world, i| limited(world, i).total().0,
    );
    /// The fraction of the window in which a connection of the flow is established; in the rest
    /// nothing is to be sent.
    "connected_fraction": "1" if TCP => Share(|world, i| limited(world, i).total().0);
    /// Parity segments of the first transmission of a block.
    "fec.proactive_segments": "segments" if CODED => Counter(|world, i| sent(world, i).proactive);
    /// Parity segments that repair losses.
    "fec.reactive_segments": "segments" if CODED => Counter(|world, i| sent(world, i).reactive);
    /// The ratio of parity to data, both in segments sent for the first time.
    "fec.overhead_fraction": "1" if CODED => Ratio(
        |world, i| sent(world, i).parity_bytes,
        |world, i| sent(world, i).bytes - sent(world, i).parity_bytes,
    );
    /// ACKs whose header had no room for the option of accurate ECN beside timestamps and SACK
    /// blocks.
    "ecn.acks_without_option": "ACKs" if ACCURATE =>
        Counter(|world, i| received(world, i).without_option);
    /// Blocks that were decoded by means of parity.
    "fec.decoded_blocks": "blocks" if CODED => Counter(|world, i| received(world, i).decoded);
    /// Data units that were recovered by means of parity.
    "fec.recovered_segments": "segments" if CODED =>
        Counter(|world, i| received(world, i).recovered);
    /// Decoded blocks whose bytes were computed and compared with those sent (`tcp.fec.verify`).
    "fec.verified_blocks": "blocks" if CODED => Counter(|world, i| received(world, i).verified);
    /// The sender's estimate of the probability that a unit is lost; 0 without a code.
    "fec.loss_estimate": "1" if TCP =>
        Last(|world, i| shown(world, i, Sender::loss_estimate), &CODED);
    /// The size of the units of the next block; a full segment without a code.
    "fec.unit_bytes": "bytes" if TCP =>
        Gauge(|world, i| shown(world, i, |sender| sender.unit_bytes() as f64));
    /// Packets of the flow that were lost on their way, by all causes. Where nodes forward, a copy
    /// counts too whose other copy has arrived.
    "lost": "packets" as "lost" => Counter(|world, i| meter(world, i).lost());
    /// Packets of the flow that MACs discarded at a retry limit, at all hops. Not all are lost: one
    /// may have arrived, and only its MAC ACKs were lost, or its router sends it another way.
    "retry_drops": "packets" as "retry\ndrops" if CELL =>
        Counter(|world, i| meter(world, i).served.retry_drops);
    /// Packets of the flow that MACs discarded at the end of their lifetime, likewise.
    "lifetime_drops": "packets" as "lifetime\ndrops" if CATEGORIES =>
        Counter(|world, i| meter(world, i).served.lifetime_drops);
};

pub(super) static SERVICE: &[Observable] = observables! {
    /// Packets of the flow that queues marked instead of dropping them.
    "ecn_marks": "packets" as "ECN\nmarks" => Counter(|world, i| meter(world, i).ecn_marks.all);
    /// One-way delay of data packets, from the sender's transport to the receiver's.
    "delay_s": "s" as "delay" => Delays {
        read: |world, i| Some(Cow::Borrowed(&meter(world, i).delay)),
        title: "packet delay",
        of: "packets",
    };
    /// Round-trip times as measured by TCP, or by the replies to pings.
    "rtt_s": "s" as "RTT" if TIMED => Delays {
        read: |world, i| Some(Cow::Borrowed(&meter(world, i).rtt)),
        title: "round-trip time",
        of: "samples",
    };
    /// Time from the request of a file, or from a write, to its complete reception.
    "session_delay_s": "s" as "file" if WEB => Delays {
        read: |world, i| Some(Cow::Borrowed(&meter(world, i).session)),
        title: "time per file",
        of: "files",
    };
    /// Jitter: the mean difference of the delays of consecutive datagrams, without sign (D of RFC
    /// 3550 section 6.4.1).
    "jitter_s": "s" as "jitter" if UDP =>
        Once(|world, i| meter(world, i).datagrams.jitter_s().into());
    /// The fraction of the datagrams that took longer than `deadline_ms` or were lost; of a
    /// conference, that of its audio packets.
    "late_fraction": "1" as "late" if UDP =>
        Once(|world, i| meter(world, i).datagrams.late_fraction().into());
    /// Echo requests, without those that the end of the run leaves no time for (`timeout_ms`).
    "ping.requests": "requests" if PING => Once(|world, i| meter(world, i).echoes.requests.into());
    /// Those to which no reply came within `timeout_ms`.
    "ping.lost": "requests" as "lost" if PING =>
        Once(|world, i| meter(world, i).echoes.lost().into());
    /// The round trips in a minute: 60 s by the mean of the round-trip times without the longest
    /// twentieth (draft-ietf-ippm-responsiveness-09, "Aggregating the Measurements").
    "ping.rpm": "1/min" as "RPM" if PING => Once(|world, i| {
        (60.0 / meter(world, i).rtt.trimmed_mean(TRIMMED)).into()
    });
    /// The round-trip time of the latest reply; NaN before the first.
    "ping.rtt_s": "s" if PING => Gauge(|world, i| {
        meter(world, i).echoes.latest.map_or(f64::NAN, Duration::as_secs_f64)
    });
    /// The round-trip time of each reply, at the instant at which the reply comes.
    "ping.reply_rtt_s": "s" if PING => Each(REPLIES);
    /// The rating factor R of the E-model (ITU-T G.107), of 100 at most.
    "rating": "1" if CALL => Once(|world, i| rating(world, i).into());
    /// The mean opinion score of the E-model (ITU-T G.107), from 1 to 4.5.
    "mos": "1" as "MOS" if CALL =>
        Once(|world, i| traffic::mean_opinion_score(rating(world, i)).into());
    /// From the first request of a video to its picture, in the whole run.
    "video.startup_delay_s": "s" if VIDEO => Once(|world, i| {
        viewed(world, i).startup_delay.map_or(f64::NAN, Duration::as_secs_f64).into()
    });
    /// Interruptions of the picture, in the whole run.
    "video.rebuffers": "1" as "rebuf-\nfers" if VIDEO =>
        Once(|world, i| viewed(world, i).rebuffers.into());
    /// The fraction of the time without a picture, after the first, in the whole run.
    "video.rebuffering_fraction": "1" as "rebuf-\nfering" if VIDEO => Once(|world, i| {
        let Viewed { stalled, played, .. } = viewed(world, i);
        (stalled.0 as f64 / (stalled.0 + played.0) as f64).into()
    });
    /// Changes of the video's rate, in the whole run.
    "video.switches": "1" as "switches" if VIDEO =>
        Once(|world, i| viewed(world, i).switches.into());
    /// The mean rate of the video's segments, in the whole run.
    "video.rate_mbps": "Mb/s" as "video" if VIDEO => Once(|world, i| {
        let Viewed { rates_mbps, segments, .. } = viewed(world, i);
        (rates_mbps / segments as f64).into()
    });
    /// Video in the buffer of the viewer.
    "video.buffer_s": "s" if VIDEO => Gauge(|world, i| viewed(world, i).buffered.as_secs_f64());
    /// Freezes of the picture of a conference: intervals between two frames of at least three times
    /// the mean of the last 30, and of this mean and 150 ms (W3C webrtc-stats, `freezeCount`).
    "conference.freezes": "1" as "freezes" if CONFERENCE =>
        Counter(|world, i| seen(world, i).freezes);
    /// The fraction of the window in freezes (`totalFreezesDuration`).
    "conference.frozen_fraction": "1" as "frozen" if CONFERENCE =>
        Share(|world, i| seen(world, i).frozen.0);
    /// The fraction of the frames that were not complete `deadline_ms` after their capture.
    "conference.late_fraction": "1" as "late\nframes" if CONFERENCE =>
        Ratio(|world, i| seen(world, i).late, |world, i| seen(world, i).frames);
    /// The mean rate of the video that is encoded, without headers.
    "conference.rate_mbps": "Mb/s" as "encoded" if CONFERENCE => MeanRate(
        |world, i| 8000 * seen(world, i).encoded_bytes,
        active_ms,
    );
    /// The mean rate of the frames that are complete by their deadlines.
    "conference.in_time_mbps": "Mb/s" as "in time" if CONFERENCE => MeanRate(
        |world, i| 8000 * seen(world, i).in_time_bytes,
        active_ms,
    );
    /// The rate of audio and video that its congestion control allows.
    "conference.target_mbps": "Mb/s" if CONFERENCE => Gauge(|world, i| seen(world, i).target_mbps);
    /// The estimated delay gradient times the number of groups, which is compared with the
    /// threshold.
    "conference.gradient_ms": "ms" if CONFERENCE => Gauge(|world, i| seen(world, i).gradient_ms);
    /// The adaptive threshold of the over-use detector.
    "conference.threshold_ms": "ms" if CONFERENCE => Gauge(|world, i| seen(world, i).threshold_ms);
    /// Data sent, not acknowledged, and not considered lost.
    "in_flight_bytes": "bytes" if TCP =>
        Gauge(|world, i| shown(world, i, |sender| sender.in_flight_bytes() as f64));
    /// The receive window, as the sender knows it.
    "receive_window_bytes": "bytes" if TCP =>
        Gauge(|world, i| shown(world, i, |sender| sender.receive_window_bytes() as f64));
    /// The congestion feedback that both ends agreed on: 0 is none, 1 that of RFC 3168 or RFC 8257,
    /// 2 accurate ECN.
    "ecn.feedback": "1" if TCP =>
        Gauge(|world, i| shown(world, i, |sender| f64::from(sender.feedback() as u8)));
    /// The retransmission timeout, including back-off.
    "rto_s": "s" if TCP => Gauge(|world, i| shown(world, i, |sender| sender.rto().as_secs_f64()));
    /// The smoothed round-trip time; NaN before the first sample.
    "srtt_s": "s" if TCP => Gauge(|world, i| {
        shown(world, i, |sender| sender.srtt().map_or(f64::NAN, Duration::as_secs_f64))
    });
    /// The congestion window, without the inflation of fast recovery.
    "control.window_segments": "segments" if TCP =>
        Gauge(|world, i| shown(world, i, Sender::window_segments));
    /// The slow start threshold; infinite while it is arbitrarily high, or if the congestion
    /// control has none.
    "control.ssthresh_segments": "segments" if TCP => Gauge(|world, i| {
        shown(world, i, |sender| sender.ssthresh_segments().unwrap_or(f64::INFINITY))
    });
};

/// Gauges of individual congestion controls.
pub(super) static CONTROL: &[Observable] = observables! {
    /// `cubic`: the window at the last loss.
    "control.w_max_segments": "segments" if TCP => Controller("w_max_segments");
    /// `cubic`: the time in which the window returns to that of the last loss.
    "control.k_s": "s" if TCP => Controller("k_s");
    /// `cubic`: the estimated window of Reno.
    "control.reno_window_segments": "segments" if TCP => Controller("reno_window_segments");
    /// `westwood`: the estimated delivery rate.
    "control.rate_segments_per_s": "segments/s" if TCP => Controller("rate_segments_per_s");
    /// `vegas`: the estimated number of segments that wait in the queues of the path.
    "control.queued_segments": "segments" if TCP => Controller("queued_segments");
    /// `afw`: the increment of the window per round trip.
    "control.increment_segments": "segments" if TCP => Controller("increment_segments");
    /// `lt`: the estimated probability that a segment is lost.
    "control.loss_estimate": "1" if TCP => Controller("loss_estimate");
    /// `bbr` and `bbr3`: the estimated bottleneck rate.
    "control.rate_mbps": "Mb/s" if TCP => Controller("rate_mbps");
    /// `bbr` and `bbr3`: the minimum round-trip time in the filter's window.
    "control.rtt_min_s": "s" if TCP => Controller("rtt_min_s");
    /// `bbr` and `bbr3`: the ratio of the pacing rate to the estimated rate.
    "control.pacing_gain": "1" if TCP => Controller("pacing_gain");
    /// `bbr` and `bbr3`: the excess of acknowledged data over the expected amount.
    "control.extra_acked_segments": "segments" if TCP => Controller("extra_acked_segments");
    /// `bbr3`: the long-term bound of the data in flight.
    "control.inflight_high_segments": "segments" if TCP => Controller("inflight_high_segments");
    /// `bbr3`: the short-term bound of the data in flight.
    "control.inflight_low_segments": "segments" if TCP => Controller("inflight_low_segments");
    /// `bbr3`: the short-term bound of the rate.
    "control.rate_low_mbps": "Mb/s" if TCP => Controller("rate_low_mbps");
    /// `bbr3`, `dctcp` and `prague`: the moving average of the fraction of marked segments.
    "control.mark_share": "1" if TCP => Controller("mark_share");
    /// `prague`: the window before it is rounded to whole segments; none while it is `NewReno`,
    /// for want of accurate ECN.
    "control.fractional_window_segments": "segments" if TCP =>
        Controller("fractional_window_segments");
    /// `prague`: the score by which a bottleneck seems to mark all flows alike.
    "control.classic_score": "1" if TCP => Controller("classic_score");
    /// `cross_layer`: the window that corresponds to the link rate.
    "control.ideal_window_segments": "segments" if TCP => Controller("ideal_window_segments");
};

/// The part of the round-trip times of which responsiveness is the mean.
pub(super) const TRIMMED: f64 = 0.95;

/// What the viewer of a video has seen.
fn viewed(world: &World, flow: usize) -> Viewed {
    world.flows[FlowId::at(flow)].source.viewed(world.now).unwrap_or_default()
}

/// What the viewer of a conference has seen.
fn seen(world: &World, flow: usize) -> Seen {
    world.flows[FlowId::at(flow)].source.seen(world.now).unwrap_or_default()
}

/// For how long a conference has gone on, in milliseconds.
fn active_ms(world: &World, flow: usize) -> u64 {
    (seen(world, flow).active.as_secs_f64() * 1e3) as u64
}

/// The rating factor of a call.
fn rating(world: &World, flow: usize) -> f64 {
    let late = meter(world, flow).datagrams.late_fraction();
    world.flows[FlowId::at(flow)].call.as_ref().map_or(f64::NAN, |call| call.rating(late))
}

fn meter(world: &World, flow: usize) -> &FlowMeter {
    &world.observers.meter.flows[FlowId::at(flow)]
}

/// The sender's counters of all connections; zeros over UDP.
fn sent(world: &World, flow: usize) -> SenderCounters {
    world.flows[FlowId::at(flow)].tcp().map(TcpFlow::counters).unwrap_or_default()
}

/// The receiver's, likewise.
fn received(world: &World, flow: usize) -> ReceiverCounters {
    world.flows[FlowId::at(flow)].tcp().map(TcpFlow::received).unwrap_or_default()
}

/// How long each reason limited the senders of all connections; zeros over UDP.
fn limited(world: &World, flow: usize) -> LimitTimes {
    world.flows[FlowId::at(flow)].tcp().map(|tcp| tcp.limit_times(world.now)).unwrap_or_default()
}

/// Reads a value of the sender; NaN over UDP.
fn shown(world: &World, flow: usize, read: fn(&Sender) -> f64) -> f64 {
    world.flows[FlowId::at(flow)].tcp().map_or(f64::NAN, |tcp| read(&tcp.sender))
}
