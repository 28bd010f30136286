//! What flows carry: traffic, packet sizes, TCP.

use super::check::{Check, number};
use crate::plan::{DelayedAck, Recovery, SizePlan, TcpPlan, TrafficPlan};
use crate::scenario::document::Document;
use crate::scenario::flow::{self, Cbr, Flow, Saturated, Size, Tcp, Traffic, Web};
use kernel::{BitRate, Bytes, Duration};

/// The largest MSDU (802.11-2020 clause 9.2.4.8), which carries LLC header and IP packet.
const LARGEST_MSDU: u64 = 2304;
/// The largest IP packet (RFC 791 section 3.1), for where there is no cell.
const LARGEST_PACKET: u64 = 65_535;
/// IP packets are this large by default: the payload of an Ethernet frame.
const USUAL_PACKET: u64 = 1500;
/// A quantity of data beyond which nothing could be transferred in the longest run.
const MUCH: u64 = 1_000_000_000_000_000;
/// The largest window TCP can advertise (RFC 7323 section 2.3).
const LARGEST_WINDOW: u64 = 1 << 30;
/// An hour, beyond which a timer of TCP makes no sense.
const HOUR_MS: f64 = 3_600_000.0;

pub(super) fn traffic(
    path: &str,
    flow: &Flow,
    document: &Document,
    check: &mut Check,
) -> TrafficPlan {
    match &flow.traffic {
        Traffic::Bulk(bulk) => TrafficPlan::Bulk {
            size: bulk
                .size_bytes
                .map(|size| check.bytes(format!("{path}.traffic.bulk.size_bytes"), size, 1, MUCH)),
        },
        Traffic::Web(web) => self::web(&format!("{path}.traffic.web"), web, check),
        Traffic::Cbr(Cbr { rate_mbps, payload_bytes, header_bytes }) => {
            let path = format!("{path}.traffic.cbr");
            let (payload, header) = datagram(&path, *payload_bytes, *header_bytes, document, check);
            TrafficPlan::Cbr { rate: rate(&path, *rate_mbps, payload, check), payload, header }
        }
        Traffic::Saturated(Saturated { payload_bytes, header_bytes }) => {
            let path = format!("{path}.traffic.saturated");
            let (payload, header) = datagram(&path, *payload_bytes, *header_bytes, document, check);
            TrafficPlan::Saturated { payload, header }
        }
    }
}

/// A rate that is not so high that sources alone would take all the time of a run.
fn rate(path: &str, mbps: f64, payload: Bytes, check: &mut Check) -> BitRate {
    const MOST_PER_SECOND: f64 = 1e6;
    let path = format!("{path}.rate_mbps");
    let mbps = check.real(&path, mbps, 1e-6, 1e6);
    let per_second = mbps * 1e6 / payload.bits() as f64;
    if per_second > MOST_PER_SECOND {
        let (is, size, n) = (number(mbps), payload.0, number(per_second.round()));
        check.fault(
            path,
            format!("{is} Mb/s in datagrams of {size} bytes are {n} a second; at most 1000000"),
        );
    }
    BitRate::from_mbps(mbps)
}

fn datagram(
    path: &str,
    payload: u64,
    header: u64,
    document: &Document,
    check: &mut Check,
) -> (Bytes, Bytes) {
    let header = check.bytes(format!("{path}.header_bytes"), header, 0, 200);
    let payload_path = format!("{path}.payload_bytes");
    fits_an_msdu(&payload_path, "payload", payload, header.0, document, check);
    (check.bytes(payload_path, payload, 1, 1_000_000), header)
}

/// Whether data and headers fit one MSDU, or without a cell one IP packet: nothing is fragmented.
fn fits_an_msdu(
    path: &str,
    what: &str,
    data: u64,
    header: u64,
    document: &Document,
    check: &mut Check,
) {
    if !document.has_cell() {
        if data.saturating_add(header) > LARGEST_PACKET {
            let most = LARGEST_PACKET - header;
            check.fault(
                path,
                format!(
                    "{data} bytes of {what} and {header} of headers exceed the largest IP packet, \
                     {LARGEST_PACKET} bytes [RFC 791 section 3.1]; the most is {most}"
                ),
            );
        }
        return;
    }
    let llc = document.wlan.llc_bytes.min(100);
    if data.saturating_add(header).saturating_add(llc) > LARGEST_MSDU {
        let most = LARGEST_MSDU - header - llc;
        check.fault(
            path,
            format!(
                "{data} bytes of {what}, {header} of headers and {llc} of LLC exceed the largest \
                 MSDU, {LARGEST_MSDU} bytes [802.11-2020 clause 9.2.4.8]; the most is {most}"
            ),
        );
    }
}

fn web(path: &str, web: &Web, check: &mut Check) -> TrafficPlan {
    if web.files == Some(0) {
        check.fault(format!("{path}.files"), "0 files are no session; the least is 1");
    }
    TrafficPlan::Web {
        size: size(&format!("{path}.size"), &web.size, check),
        think: Duration::from_secs_f64(check.seconds(
            format!("{path}.think_s"),
            web.think_s,
            0.0,
            1e6,
        )),
        files: web.files,
        first: web.first,
        delay: web.delay,
    }
}

fn size(path: &str, size: &Size, check: &mut Check) -> SizePlan {
    match size {
        Size::Constant(constant) => SizePlan::Constant(check.bytes(
            format!("{path}.constant.bytes"),
            constant.bytes,
            1,
            MUCH,
        )),
        Size::Exponential(exponential) => {
            let path = format!("{path}.exponential.mean_bytes");
            SizePlan::Exponential { mean: check.bytes(path, exponential.mean_bytes, 1, MUCH) }
        }
        Size::Pareto(pareto) => {
            let mean_path = format!("{path}.pareto.mean_bytes");
            let shape_path = format!("{path}.pareto.shape");
            let shape = pareto.shape;
            if !(shape > 1.0 && shape <= 1000.0) {
                let is = number(shape);
                let message = format!("must be above 1, or the mean is infinite; is {is}");
                check.fault(shape_path, message);
            }
            SizePlan::Pareto { mean: check.bytes(mean_path, pareto.mean_bytes, 1, MUCH), shape }
        }
        Size::Empirical(list) => empirical(&format!("{path}.empirical"), list, check),
    }
}

fn empirical(path: &str, list: &flow::Empirical, check: &mut Check) -> SizePlan {
    const LONGEST: usize = 100_000;
    let (n, bytes_path) = (list.bytes.len(), format!("{path}.bytes"));
    if n == 0 || n > LONGEST {
        let message = format!("{n} sizes; a list has from 1 to {LONGEST}, as bytes = [1000, 5000]");
        check.fault(&bytes_path, message);
    }
    let sizes = list
        .bytes
        .iter()
        .enumerate()
        .map(|(index, size)| check.bytes(format!("{bytes_path}[{index}]"), *size, 1, MUCH));
    let sizes = sizes.collect();
    let weights = list.weights.clone().unwrap_or_else(|| vec![1.0; n]);
    let path = format!("{path}.weights");
    if weights.len() != n {
        let m = weights.len();
        check.fault(&path, format!("{m} weights for {n} sizes; each size has one"));
    }
    for (index, weight) in weights.iter().enumerate() {
        check.real(format!("{path}[{index}]"), *weight, 0.0, 1e15);
    }
    let total: f64 = weights.iter().sum();
    if n > 0 && total == 0.0 {
        check.fault(&path, "all are 0; at least one size must occur");
    }
    let mut below = 0.0;
    let mut cumulative: Vec<f64> = weights
        .iter()
        .map(|weight| {
            below += weight;
            below / total
        })
        .collect();
    // The last size that occurs, and what follows it, ends at 1 exactly, whatever the rounding.
    let last = weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0);
    cumulative.iter_mut().skip(last).for_each(|sum| *sum = 1.0);
    SizePlan::Empirical { sizes, cumulative }
}

/// TCP of a flow at `path`.
pub(super) fn tcp(path: &str, flow: &Flow, document: &Document, check: &mut Check) -> TcpPlan {
    let control = super::control::control(path, &flow.control, check);
    let tcp = &flow.tcp;
    let path = format!("{path}.tcp");
    // RFC 9293 and RFC 791: 20 bytes each; RFC 7323 appendix A: 12 for timestamps.
    let usual_header = if tcp.timestamps { 52 } else { 40 };
    let header_path = format!("{path}.header_bytes");
    let header = check.bytes(header_path, tcp.header_bytes.unwrap_or(usual_header), 0, 200);
    let headers = header.0 + tcp.fec.as_ref().map_or(0, |fec| fec.header_bytes.min(100));
    let mss = tcp.mss_bytes.unwrap_or(USUAL_PACKET - headers);
    let mss_path = format!("{path}.mss_bytes");
    fits_an_msdu(&mss_path, "segment", mss, headers, document, check);
    let mss = check.bytes(mss_path, mss, 1, LARGEST_MSDU);
    let fec_path = format!("{path}.fec");
    let fec = tcp.fec.as_ref().map(|keys| super::fec::fec(&fec_path, keys, mss.0, check));
    let ssthresh_path = format!("{path}.initial_ssthresh_segments");
    let window_path = format!("{path}.initial_window_segments");
    let (rto_initial, rto_min, rto_max) = timeouts(&path, tcp, check);
    TcpPlan {
        control,
        mss,
        window: window(&path, tcp, mss, check),
        initial_window: check.whole(window_path, tcp.initial_window_segments, 1, 1_000_000) as u32,
        initial_ssthresh: tcp
            .initial_ssthresh_segments
            .map(|ssthresh| check.whole(ssthresh_path, ssthresh, 2, 1_000_000_000) as u32),
        read_rate: tcp.read_rate_mbps.map(|rate| {
            BitRate::from_mbps(check.real(format!("{path}.read_rate_mbps"), rate, 1e-3, 1e6))
        }),
        timestamps: tcp.timestamps,
        header,
        delayed_ack: delayed_ack(&path, &tcp.delayed_ack, check),
        ack_heartbeat: tcp.ack_heartbeat,
        rto_initial,
        rto_min,
        rto_max,
        rto_rule: tcp.rto_rule,
        link_rate: tcp.link_rate,
        recovery: match tcp.recovery {
            flow::Recovery::NewReno => Recovery::NewReno,
            flow::Recovery::Sack(flow::Sack { rack, reduction, f_rto, undo }) => {
                Recovery::Sack { rack, reduction, f_rto, undo }
            }
        },
        fec,
        ecn: tcp.ecn,
        pacing: tcp.pacing,
        byte_counting: tcp.byte_counting,
        limited_transmit: tcp.limited_transmit,
        restart_after_idle: tcp.restart_after_idle,
        close: tcp.close,
        pad_last_segment: tcp.pad_last_segment,
    }
}

fn window(path: &str, tcp: &Tcp, mss: Bytes, check: &mut Check) -> Bytes {
    let in_bytes = format!("{path}.window_bytes");
    let in_segments = format!("{path}.window_segments");
    let most_segments = LARGEST_WINDOW / mss.0;
    match (tcp.window_bytes, tcp.window_segments) {
        (Some(bytes), Some(segments)) => {
            let message = format!(
                "{segments} segments, and window_bytes {bytes} too: the same window twice; keep one"
            );
            check.fault(in_segments, message);
            mss
        }
        (None, Some(segments)) => {
            Bytes(check.whole(in_segments, segments, 1, most_segments) * mss.0)
        }
        (bytes, None) => {
            let bytes = bytes.unwrap_or(65_535);
            if bytes < mss.0 {
                let mss = mss.0;
                check.fault(
                    &in_bytes,
                    format!("{bytes} would never let a full segment of {mss} bytes pass"),
                );
            }
            check.bytes(in_bytes, bytes.max(mss.0), 1, LARGEST_WINDOW)
        }
    }
}

fn timeouts(path: &str, tcp: &Tcp, check: &mut Check) -> (Duration, Duration, Duration) {
    let mut timeout =
        |key: &str, value: f64| check.millis(format!("{path}.{key}"), value, 1e-3, HOUR_MS);
    let initial = timeout("rto_initial_ms", tcp.rto_initial_ms);
    let min = timeout("rto_min_ms", tcp.rto_min_ms);
    let max = timeout("rto_max_ms", tcp.rto_max_ms);
    let ms = |timeout: Duration| number(timeout.as_secs_f64() * 1e3);
    if min > max {
        let message = format!("{} is above rto_max_ms, {}", ms(min), ms(max));
        check.fault(format!("{path}.rto_min_ms"), message);
    } else if initial < min || initial > max {
        let message = format!(
            "{} is not between rto_min_ms, {}, and rto_max_ms, {}",
            ms(initial),
            ms(min),
            ms(max)
        );
        check.fault(format!("{path}.rto_initial_ms"), message);
    }
    (initial, min, max)
}

fn delayed_ack(path: &str, delayed_ack: &flow::DelayedAck, check: &mut Check) -> DelayedAck {
    const LONGEST_MS: f64 = 60_000.0;
    let path = format!("{path}.delayed_ack");
    match delayed_ack {
        flow::DelayedAck::None => DelayedAck::None,
        flow::DelayedAck::Fixed(fixed) => DelayedAck::Fixed {
            segments: check.whole(format!("{path}.fixed.segments"), fixed.segments, 1, 1_000_000)
                as u32,
            timer: check.millis(format!("{path}.fixed.timer_ms"), fixed.timer_ms, 1e-3, LONGEST_MS),
        },
        flow::DelayedAck::Dynamic(dynamic) => {
            let timer_path = format!("{path}.dynamic.timer_ms");
            let path = format!("{path}.dynamic.thresholds");
            let thresholds = match dynamic.thresholds[..] {
                [a, b, c] if 1 <= a && a <= b && b <= c => [a, b, c],
                [_, _, _] => {
                    let is = &dynamic.thresholds;
                    let message = format!("must ascend from at least 1, as [2, 5, 9]; is {is:?}");
                    check.fault(path, message);
                    [1; 3]
                }
                _ => {
                    let n = dynamic.thresholds.len();
                    check.fault(path, format!("takes three numbers, as [2, 5, 9]; has {n}"));
                    [1; 3]
                }
            };
            let timer = check.millis(timer_path, dynamic.timer_ms, 1e-3, LONGEST_MS);
            DelayedAck::Dynamic { thresholds, timer }
        }
    }
}
