//! Queues, and what a wire loses.

use super::check::{Check, number};
use crate::plan::{
    CoDelConfig, ControlLaw, Discipline, FqCoDelConfig, Limit, Loss, PieConfig, QueueUnit,
    RedConfig, SfqConfig, red_weight,
};
use crate::scenario::queue::{
    self, AirtimeFair, Codel, DropTail, Drr, FqCodel, GilbertElliott, GilbertElliottPackets, Pie,
    Queue, Red, Sfq, StationQueue, Trace,
};
use kernel::{BitRate, Bytes, Duration, Instant};

/// What a queue stands before.
#[derive(Clone, Copy, Debug)]
pub(super) enum Site {
    /// A wire of this rate and delay.
    Wire(Option<BitRate>, Duration),
    /// The cell, at the access point, which sends at this rate at most.
    AccessPoint(BitRate),
    /// The cell, at a station that sends at this rate.
    Station(BitRate),
}

impl Site {
    /// What a packet takes to send, without anybody else.
    fn time_for(self, packet: Bytes) -> Duration {
        match self {
            Self::Wire(None, _) => Duration::ZERO,
            Self::Wire(Some(rate), _) | Self::AccessPoint(rate) | Self::Station(rate) => {
                // Without a rate something else is at fault.
                if rate.0 > 0 { rate.time_for(packet) } else { Duration::ZERO }
            }
        }
    }
}

pub(super) fn queue(path: &str, queue: &Queue, site: Site, check: &mut Check) -> Discipline {
    match queue {
        Queue::DropTail(queue) => drop_tail(&format!("{path}.drop_tail"), queue, check),
        Queue::Drr(queue) => drr(&format!("{path}.drr"), queue, check),
        Queue::Sfq(queue) => sfq(&format!("{path}.sfq"), queue, check),
        Queue::Red(queue) => red(&format!("{path}.red"), queue, site, check),
        Queue::Codel(queue) => codel(&format!("{path}.codel"), queue, check),
        Queue::FqCodel(queue) => fq_codel(&format!("{path}.fq_codel"), queue, check),
        Queue::Pie(queue) => pie(&format!("{path}.pie"), queue, check),
        Queue::AirtimeFair(queue) => {
            let path = format!("{path}.airtime_fair");
            match site {
                Site::AccessPoint(_) => {}
                Site::Station(_) => check.fault(
                    &path,
                    "a station sends to the access point only, which needs no share; this is a \
                     queue for ap.queue",
                ),
                Site::Wire(..) => check.fault(
                    &path,
                    "no airtime is used on a wire; this is a queue for ap.queue, and fq_codel or \
                     drr share a wire",
                ),
            }
            airtime_fair(&path, queue, check)
        }
    }
}

fn limit(path: &str, packets: Option<u64>, bytes: Option<u64>, check: &mut Check) -> Limit {
    Limit { packets: limit_packets(path, packets, check), bytes: bytes.map(Bytes) }
}

fn limit_packets(path: &str, limit: Option<u64>, check: &mut Check) -> Option<u32> {
    let path = format!("{path}.limit_packets");
    match limit? {
        0 => {
            let message = "0 would drop every packet: the limit counts the one in service too; 1 \
                           is the least, and without the key there is no limit";
            check.fault(path, message);
            None
        }
        limit => Some(check.whole(path, limit, 1, 1_000_000_000) as u32),
    }
}

fn drop_tail(path: &str, queue: &DropTail, check: &mut Check) -> Discipline {
    Discipline::DropTail {
        limit_packets: limit_packets(path, queue.limit_packets, check),
        limit_bytes: queue.limit_bytes.map(Bytes),
    }
}

fn drr(path: &str, queue: &Drr, check: &mut Check) -> Discipline {
    Discipline::Drr {
        per: queue.per,
        quantum: quantum(path, queue.quantum_bytes, check),
        limit_packets: limit_packets(path, queue.limit_packets, check),
        limit_bytes: queue.limit_bytes.map(Bytes),
    }
}

fn sfq(path: &str, queue: &Sfq, check: &mut Check) -> Discipline {
    Discipline::Sfq(SfqConfig {
        buckets: check.whole(format!("{path}.buckets"), queue.buckets, 1, 1 << 20) as u32,
        limit: limit(path, queue.limit_packets, queue.limit_bytes, check),
    })
}

fn quantum(path: &str, bytes: u64, check: &mut Check) -> Bytes {
    check.bytes(format!("{path}.quantum_bytes"), bytes, 1, 1_000_000)
}

fn red(path: &str, queue: &Red, site: Site, check: &mut Check) -> Discipline {
    let at = |key: &str| format!("{path}.{key}");
    let mean_packet = check.bytes(at("mean_packet_bytes"), queue.mean_packet_bytes, 1, 1_000_000);
    let target = check.millis(at("target_delay_ms"), queue.target_delay_ms, 0.001, 60_000.0);
    let packet_time = site.time_for(mean_packet);
    // Rules of thumb for a rate that does not change: in a cell it does.
    let fixed = match site {
        Site::Wire(Some(rate), delay) => Some((rate, delay)),
        _ => None,
    };
    let in_target = fixed.map_or(0.0, |_| target.0 as f64 / packet_time.0 as f64);
    let (unit, min, max) = thresholds(path, queue, f64::max(5.0, in_target / 2.0), check);
    let weight = match (queue.weight, fixed) {
        (Some(weight), _) => check.fraction(at("weight"), weight),
        (None, Some((rate, delay))) => red_weight(rate, delay, mean_packet),
        // Floyd and Jacobson 1993, section 7.
        (None, None) => 0.002,
    };
    Discipline::Red(RedConfig {
        unit,
        min,
        max,
        max_p: check.fraction(at("max_p"), queue.max_p),
        weight,
        gentle: queue.gentle,
        wait: queue.wait,
        by_size: queue.by_size,
        adaptive: queue.adaptive,
        ecn: queue.ecn,
        mark_limit: queue.mark_limit_p.map(|p| check.real(at("mark_limit_p"), p, 0.0, 1.0)),
        mean_packet,
        packet_time,
        limit: limit(path, queue.limit_packets, queue.limit_bytes, check),
    })
}

/// What RED's thresholds count, and both of them.
fn thresholds(path: &str, queue: &Red, usual: f64, check: &mut Check) -> (QueueUnit, f64, f64) {
    const MOST: f64 = 1e12;
    let in_bytes = queue.min_bytes.is_some() || queue.max_bytes.is_some();
    if in_bytes && (queue.min_packets.is_some() || queue.max_packets.is_some()) {
        let message = "thresholds are in packets or in bytes; give one pair of them";
        check.fault(path, message);
    }
    let (unit, name, min, max) = if in_bytes {
        let of = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
        (QueueUnit::Bytes, "bytes", of(queue.min_bytes), of(queue.max_bytes))
    } else {
        (QueueUnit::Packets, "packets", queue.min_packets, queue.max_packets)
    };
    let min_path = format!("{path}.min_{name}");
    let min = match min {
        Some(min) => check.real(&min_path, min, 0.0, MOST),
        None if in_bytes => {
            let message = "missing; with max_bytes both thresholds are in bytes";
            check.fault(&min_path, message);
            0.0
        }
        None => max.map_or(usual, |max| usual.min(max / 3.0)),
    };
    let max_path = format!("{path}.max_{name}");
    let max = max.map_or(3.0 * min, |max| check.real(&max_path, max, 0.0, MOST));
    if max <= min {
        let (max, min) = (number(max), number(min));
        check.fault(max_path, format!("{max} is not above min_{name}, {min}"));
        return (unit, 1.0, 3.0);
    }
    (unit, min, max)
}

/// The parameters of `CoDel`'s control law.
fn law(
    path: &str,
    (target_ms, interval_ms): (f64, f64),
    check: &mut Check,
) -> (Duration, Duration) {
    let target = check.millis(format!("{path}.target_ms"), target_ms, 0.0, 60_000.0);
    let interval = check.millis(format!("{path}.interval_ms"), interval_ms, 0.001, 60_000.0);
    if target > interval {
        let (target, interval) = (number(target_ms), number(interval_ms));
        check.fault(
            format!("{path}.target_ms"),
            format!(
                "{target} is above interval_ms, {interval}; it is 5 % to 10 % of it (RFC 8289 \
                 section 3.2)"
            ),
        );
    }
    (target, interval)
}

fn codel(path: &str, queue: &Codel, check: &mut Check) -> Discipline {
    let (target, interval) = law(path, (queue.target_ms, queue.interval_ms), check);
    let mtu = check.bytes(format!("{path}.mtu_bytes"), queue.mtu_bytes, 0, 1_000_000);
    Discipline::CoDel(CoDelConfig {
        law: ControlLaw { target, interval, mtu, ecn: queue.ecn },
        limit: limit(path, queue.limit_packets, queue.limit_bytes, check),
    })
}

fn fq_codel(path: &str, queue: &FqCodel, check: &mut Check) -> Discipline {
    let at = |key: &str| format!("{path}.{key}");
    let (target, interval) = law(path, (queue.target_ms, queue.interval_ms), check);
    let mtu = check.bytes(at("mtu_bytes"), queue.mtu_bytes, 0, 1_000_000);
    let batch = queue.drop_batch_packets;
    Discipline::FqCoDel(FqCoDelConfig {
        law: ControlLaw { target, interval, mtu, ecn: queue.ecn },
        quantum: quantum(path, queue.quantum_bytes, check),
        buckets: queue.buckets.map(|n| check.whole(at("buckets"), n, 1, 1 << 20) as u32),
        drop_batch: check.whole(at("drop_batch_packets"), batch, 1, 1_000_000) as u32,
        limit: limit(path, Some(queue.limit_packets), queue.limit_bytes, check),
    })
}

fn pie(path: &str, queue: &Pie, check: &mut Check) -> Discipline {
    let at = |key: &str| format!("{path}.{key}");
    Discipline::Pie(PieConfig {
        target: check.millis(at("target_ms"), queue.target_ms, 0.0, 60_000.0),
        update: check.millis(at("update_ms"), queue.update_ms, 1.0, 60_000.0),
        alpha: check.real(at("alpha"), queue.alpha, 0.0, 1e6),
        beta: check.real(at("beta"), queue.beta, 0.0, 1e6),
        max_burst: check.millis(at("max_burst_ms"), queue.max_burst_ms, 0.0, 60_000.0),
        ecn: queue.ecn,
        mark_limit: check.real(at("mark_limit_p"), queue.mark_limit_p, 0.0, 1.0),
        derandomize: queue.derandomize,
        mean_packet: check.bytes(at("mean_packet_bytes"), queue.mean_packet_bytes, 1, 1_000_000),
        limit: limit(path, queue.limit_packets, queue.limit_bytes, check),
    })
}

fn airtime_fair(path: &str, queue: &AirtimeFair, check: &mut Check) -> Discipline {
    let quantum_us = check.real(format!("{path}.quantum_us"), queue.quantum_us, 1.0, 1e6);
    let station = match &queue.station {
        StationQueue::DropTail(queue) => {
            drop_tail(&format!("{path}.station.drop_tail"), queue, check)
        }
        StationQueue::Codel(queue) => codel(&format!("{path}.station.codel"), queue, check),
        StationQueue::FqCodel(queue) => fq_codel(&format!("{path}.station.fq_codel"), queue, check),
    };
    Discipline::AirtimeFair {
        quantum: Duration::from_secs_f64(quantum_us * 1e-6),
        count_received: queue.count_received,
        station: Box::new(station),
        limit: limit(path, Some(queue.limit_packets), queue.limit_bytes, check),
    }
}

pub(super) fn loss(path: &str, loss: Option<&queue::Loss>, check: &mut Check) -> Loss {
    match loss {
        None => Loss::None,
        Some(queue::Loss::Uniform(loss)) => {
            let path = format!("{path}.uniform.probability");
            let probability = given(&path, loss.probability, "as 0.01 for one in a hundred", check);
            Loss::Uniform { probability: check.probability(path, probability) }
        }
        Some(queue::Loss::GilbertElliott(loss)) => {
            gilbert_elliott(&format!("{path}.gilbert_elliott"), loss, check)
        }
        Some(queue::Loss::GilbertElliottPackets(loss)) => {
            gilbert_elliott_packets(&format!("{path}.gilbert_elliott_packets"), loss, check)
        }
        Some(queue::Loss::Periodic(loss)) => {
            let path = format!("{path}.periodic.every");
            if loss.every.is_none() {
                check.fault(&path, "missing; as 100 for each hundredth packet");
            }
            let every = loss.every.unwrap_or(1);
            Loss::Periodic { every: check.whole(path, every, 1, 1_000_000_000_000) }
        }
        Some(queue::Loss::List(loss)) => {
            let path = format!("{path}.list.packets");
            if loss.packets.is_empty() {
                check.fault(&path, "missing; the numbers of lost packets, as [10, 11, 20]");
            }
            if loss.packets.contains(&0) {
                check.fault(&path, "there is no packet 0: packets are counted from 1");
            }
            if !loss.packets.is_sorted_by(|a, b| a < b) {
                check.fault(&path, "must ascend, each number once");
            }
            Loss::List { packets: loss.packets.clone() }
        }
        Some(queue::Loss::Trace(loss)) => trace(&format!("{path}.trace"), loss, check),
    }
}

/// A value that has no default.
fn given(path: &str, value: Option<f64>, example: &str, check: &mut Check) -> f64 {
    if value.is_none() {
        check.fault(path, format!("missing; {example}"));
    }
    value.unwrap_or_default()
}

fn gilbert_elliott(path: &str, loss: &GilbertElliott, check: &mut Check) -> Loss {
    let mean = |key: &str, mean_ms: Option<f64>, check: &mut Check| {
        let path = format!("{path}.{key}");
        if mean_ms.is_none() {
            check.fault(&path, "missing; mean length in milliseconds, as 100");
        }
        // A day: longer times hardly ever change within a run.
        mean_ms.map_or(Duration(1), |ms| check.millis(path, ms, 0.001, 86_400_000.0))
    };
    Loss::GilbertElliott {
        good: mean("good_ms", loss.good_ms, check),
        bad: mean("bad_ms", loss.bad_ms, check),
        good_loss: check.real(format!("{path}.good_loss"), loss.good_loss, 0.0, 1.0),
        bad_loss: check.real(format!("{path}.bad_loss"), loss.bad_loss, 0.0, 1.0),
    }
}

fn gilbert_elliott_packets(path: &str, loss: &GilbertElliottPackets, check: &mut Check) -> Loss {
    let at = |key: &str| format!("{path}.{key}");
    let to_bad = given(&at("to_bad"), loss.to_bad, "a probability per packet, as 0.01", check);
    let to_good = given(&at("to_good"), loss.to_good, "a probability per packet, as 0.2", check);
    if loss.to_good == Some(0.0) {
        check.fault(at("to_good"), "0 would leave the channel bad for ever; above 0 to 1");
    }
    Loss::GilbertElliottPackets {
        to_bad: check.real(at("to_bad"), to_bad, 0.0, 1.0),
        to_good: check.real(at("to_good"), to_good, 0.0, 1.0),
        good_loss: check.real(at("good_loss"), loss.good_loss, 0.0, 1.0),
        bad_loss: check.real(at("bad_loss"), loss.bad_loss, 0.0, 1.0),
    }
}

fn trace(path: &str, loss: &Trace, check: &mut Check) -> Loss {
    let (times, probabilities) = (&loss.times_s, &loss.probabilities);
    if times.is_empty() {
        check.fault(format!("{path}.times_s"), "missing; from when on, as [10.0, 12.0]");
    }
    if times.len() != probabilities.len() {
        check.fault(
            format!("{path}.probabilities"),
            format!("{} for {} times; one for each of times_s", probabilities.len(), times.len()),
        );
    }
    if !times.is_sorted_by(|a, b| a < b) {
        check.fault(format!("{path}.times_s"), "must ascend, each time once");
    }
    let mut steps = Vec::with_capacity(times.len());
    for (index, (&time_s, &probability)) in times.iter().zip(probabilities).enumerate() {
        let time_s = check.seconds(format!("{path}.times_s[{index}]"), time_s, 0.0, 1e6);
        let from = Instant::ZERO + Duration::from_secs_f64(time_s);
        let path = format!("{path}.probabilities[{index}]");
        steps.push((from, check.real(path, probability, 0.0, 1.0)));
    }
    let period = loss.period_s.map(|period_s| {
        let path = format!("{path}.period_s");
        if times.last().is_some_and(|&last| period_s <= last) {
            let (period, last) = (number(period_s), number(times[times.len() - 1]));
            check.fault(&path, format!("{period} is not after the last of times_s, {last} s"));
        }
        Duration::from_secs_f64(check.seconds(path, period_s, 1e-6, 1e6))
    });
    Loss::Trace { steps, period }
}
