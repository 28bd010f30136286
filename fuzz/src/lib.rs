//! What the fuzz targets do with bytes. No input causes a panic or an endless run.

use arbitrary::{Arbitrary, Unstructured};
use kernel::{Bytes, Duration, Instant};
use tcp::{Config, Receiver, TimerId};
use wire::{Flags, FlowId, SackBlocks, Segment};

/// Reads a scenario and resolves it; one that can be read can be written and read again.
pub fn scenario(data: &[u8]) {
    match sim::Scenario::parse_bytes(data) {
        Ok(scenario) => {
            let text = scenario.to_toml();
            let again = sim::Scenario::parse_bytes(text.as_bytes()).expect("its own text");
            assert_eq!(again.to_toml(), text);
            if let Err(issues) = scenario.resolve() {
                are_told(&issues);
            }
        }
        Err(issues) => are_told(&issues),
    }
}

/// Faults have reasons, and each is told once.
fn are_told(issues: &[sim::Issue]) {
    assert!(!issues.is_empty() && issues.iter().all(|issue| !issue.said.message.is_empty()));
    let told: std::collections::BTreeSet<_> = issues.iter().map(sim::Issue::with_line).collect();
    assert_eq!(told.len(), issues.len(), "a fault is told twice");
}

/// Runs a script; a failure refers to one of its lines.
pub fn script(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(failure) = tcp::script::run(&text).failure {
        assert!((1..=text.lines().count().max(1)).contains(&failure.line), "no such line");
    }
}

/// One event of a receiver.
#[derive(Arbitrary)]
struct Event {
    /// Segment or timer.
    what: u8,
    /// Milliseconds since the previous event.
    later_ms: u16,
    seq: u32,
    len: u16,
    ack: u32,
    flags: u16,
}

/// Sends any segments to a receiver: it delivers no more than they have, and answers each with a
/// bounded number of commands.
pub fn segments(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let flow = FlowId(7);
    let config = Config { mss: Some(Bytes(100)), window: Some(Bytes(1000)), ..Config::default() };
    let mut receiver = Receiver::new(flow, 3, &config);
    let (mut now, mut out) = (Instant::ZERO, Vec::new());
    let mut given = 0;
    for event in bytes.arbitrary_iter::<Event>().into_iter().flatten().flatten() {
        now += Duration::from_millis(u64::from(event.later_ms));
        let segment = Segment {
            flow,
            connection: 3,
            forward: true,
            seq: u64::from(event.seq),
            len: u32::from(event.len),
            ack: u64::from(event.ack),
            window: 10_000,
            flags: Flags(event.flags),
            timestamps: None,
            sack: SackBlocks::NONE,
            coded: None,
        };
        given += u64::from(event.len);
        match event.what % 8 {
            0 => receiver.on_timer(now, TimerId::DelayedAck, &mut out),
            1 => receiver.on_timer(now, TimerId::Retransmit, &mut out),
            _ => receiver.on_segment(now, &segment, &mut out),
        }
        assert!(out.len() <= 200, "{} commands", out.len());
        out.clear();
        assert!(receiver.delivered_bytes() <= given, "more than was sent");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random bytes (xorshift64).
    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut byte = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..length).map(|_| byte()).collect()
    }

    /// A text of which some bytes are replaced.
    fn changed(text: &str, seed: u64) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        for pair in noise(seed, 12).chunks(3) {
            let at = (usize::from(pair[0]) << 8 | usize::from(pair[1])) % bytes.len();
            bytes[at] = pair[2];
        }
        bytes
    }

    #[test]
    fn any_bytes_are_a_scenario_or_a_fault() {
        let text = include_str!("../../scenarios/cafe.toml");
        (0..500).for_each(|seed| scenario(&noise(seed, 200)));
        (0..2000).for_each(|seed| scenario(&changed(text, seed)));
    }

    #[test]
    fn any_bytes_are_a_script_or_a_fault() {
        let text = "0 connect\n0 > S 0:0(0)\n+0.1 < S. 0:0(0) ack 1 win 65535\n+0 write 1000\n";
        (0..500).for_each(|seed| script(&noise(seed, 200)));
        (0..2000).for_each(|seed| script(&changed(text, seed)));
    }

    #[test]
    fn any_segments_do_a_receiver_no_harm() {
        (0..2000).for_each(|seed| segments(&noise(seed, 2000)));
    }
}
