//! What a script asserts: words for the states, and numbers.

use super::grammar::Assertion;
use super::play::{Player, TestedEnd};
use crate::{Receiver, Sender};
use kernel::{Bytes, Duration};
use std::cmp::Ordering;

/// Linux's congestion states, in the order of their numbers.
const CA_STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];
/// The states of a connection (RFC 9293 §3.3.2).
const STATES: [&str; 11] = [
    "closed",
    "listen",
    "syn_sent",
    "syn_received",
    "established",
    "fin_wait_1",
    "fin_wait_2",
    "close_wait",
    "closing",
    "last_ack",
    "time_wait",
];

impl Player {
    /// Fails with a message unless the assertion holds.
    pub(super) fn check(&self, assertion: &Assertion) -> Result<(), String> {
        let Assertion { text, name, orders, value } = assertion;
        let name = name.strip_prefix("tcpi_").unwrap_or(name);
        let name = name.strip_prefix("snd_").unwrap_or(name);
        let word = match (&self.endpoint, name) {
            (TestedEnd::Sender(sender), "ca_state") => Some((sender.ca_state(), &CA_STATES[..])),
            (TestedEnd::Sender(sender), "state") => {
                Some((sender.state_name(self.now), &STATES[..]))
            }
            (TestedEnd::Receiver(receiver), "state") => {
                Some((receiver.state_name(self.now), &STATES[..]))
            }
            _ => None,
        };
        if let Some((found, known)) = word {
            return check_word(assertion, found, known);
        }
        let found = match &self.endpoint {
            TestedEnd::Sender(sender) => sender_value(sender, name, self.mss),
            TestedEnd::Receiver(receiver) => receiver_value(receiver, name, self.read),
        };
        let found = found.ok_or_else(|| format!("{name:?} is no gauge of this end"))?;
        let wanted = match &**value {
            "infinite" | "TCP_INFINITE_SSTHRESH" => INFINITE,
            number => number.parse().map_err(|_| format!("{value:?} is no number"))?,
        };
        // Whole numbers are compared after rounding, as by implementations with whole windows;
        // other numbers to the last digit written.
        let digits = value.split_once('.').map(|(_, digits)| digits.len().min(12) as i32);
        let seen = if digits.is_some() { found } else { found.floor() };
        let half = digits.map_or(0.0, |digits| 0.5 * 0.1_f64.powi(digits));
        let near = (seen - wanted).abs() <= half + 1e-9 * wanted.abs().max(1.0);
        let order = if near { Ordering::Equal } else { seen.total_cmp(&wanted) };
        if orders.contains(&order) { Ok(()) } else { Err(format!("{text}: is {found}")) }
    }
}

/// Compares a word with the value, which must be one of the known words, or its number in Linux.
fn check_word(assertion: &Assertion, found: &str, known: &[&str]) -> Result<(), String> {
    let Assertion { text, name, orders, value } = assertion;
    let wanted = value.trim_matches('"').trim_start_matches("TCP_CA_");
    let number = wanted.parse().ok().filter(|_: &usize| name.ends_with("ca_state"));
    let number = number.and_then(|number| known.get(number)).copied();
    let wanted = number.map_or_else(|| wanted.to_ascii_lowercase(), str::to_owned);
    if !known.contains(&&*wanted) {
        return Err(format!("{value}: a state is one of {}", known.join(", ")));
    }
    let holds = match orders {
        [Ordering::Equal] => found == wanted,
        [Ordering::Less, Ordering::Greater] => found != wanted,
        _ => return Err(format!("{text}: states have no order; write == or !=")),
    };
    if holds { Ok(()) } else { Err(format!("{text}: is {found}")) }
}

/// Linux's `TCP_INFINITE_SSTHRESH`.
const INFINITE: f64 = 2_147_483_647.0;

fn sender_value(sender: &Sender, name: &str, mss: Bytes) -> Option<f64> {
    let ms = |duration: Duration| duration.0 as f64 / 1e6;
    let segments = |bytes: u64| bytes as f64 / mss.0 as f64;
    let counters = sender.counters();
    let (sacked, lost) = sender.sacked_and_lost();
    Some(match name {
        "cwnd" => sender.window_segments(),
        "ssthresh" => sender.ssthresh_segments().unwrap_or(INFINITE),
        "in_flight" => segments(sender.in_flight_bytes()),
        "unacked" => segments(sender.outstanding_bytes()),
        "sacked" => segments(sacked),
        "lost" => segments(lost),
        "srtt_ms" => ms(sender.srtt()?),
        "rto_ms" => ms(sender.rto()),
        "segments" => counters.segments as f64,
        "duplicate_acks" => counters.duplicate_acks as f64,
        "duplicates_reported" | "dsack_dups" => counters.duplicates_reported as f64,
        "reordering" | "reord_seen" => f64::from(u8::from(sender.has_seen_reordering())),
        "challenges" => counters.challenges as f64,
        "retransmissions" | "total_retrans" => counters.retransmissions as f64,
        "timeouts" => counters.timeouts as f64,
        "recoveries" => counters.fast_retransmits as f64,
        "undone" => counters.undone as f64,
        "probes" => counters.probes as f64,
        "marks_reported" => counters.marks_reported as f64,
        "accurate" => f64::from(u8::from(sender.accurate_feedback().is_some())),
        "trusted" => f64::from(u8::from(sender.accurate_feedback()?.0)),
        "marks_answered" => counters.marks_answered as f64,
        "acknowledged" => sender.acknowledged_bytes() as f64,
        name => return gauge(sender, name),
    })
}

/// The gauge of the congestion control with this name.
fn gauge(sender: &Sender, wanted: &str) -> Option<f64> {
    let mut found = None;
    sender.control().gauges(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found
}

fn receiver_value(receiver: &Receiver, name: &str, read: u64) -> Option<f64> {
    let counters = receiver.counters();
    Some(match name {
        "delivered" => receiver.delivered_bytes() as f64,
        "unread" => (receiver.delivered_bytes() - read) as f64,
        "waiting" => receiver.waiting_bytes() as f64,
        "segments" => counters.segments as f64,
        "duplicates" => counters.duplicates as f64,
        "out_of_order" => counters.out_of_order as f64,
        "challenges" => counters.challenges as f64,
        "acks_sent" => counters.acks_sent as f64,
        _ => return None,
    })
}
