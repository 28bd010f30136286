//! What recovery by selective acknowledgements costs beside `NewReno`'s, and Prague with accurate
//! ECN beside CUBIC without ECN: instructions of the sender and the receiver for the segments that
//! arrive and for timers, as callgrind counts them. The tests pass without a comparison where
//! valgrind is not installed.

#[path = "../examples/bulk.rs"]
#[allow(dead_code, reason = "the example's own main")]
mod bulk;

use std::process::Command;

/// The transfer that is counted: recovery, congestion control, and one segment of how many is
/// marked, with commas; and its segments.
const TRANSFER: &str = "SIMOOM_COUNTED_TRANSFER";
const SEGMENTS: &str = "SIMOOM_COUNTED_SEGMENTS";

/// The transfer that `count` runs under callgrind.
#[test]
fn a_transfer_is_complete() {
    let words = std::env::var(TRANSFER).unwrap_or_else(|_| "rack,new_reno,0".into());
    let words: Vec<&str> = words.split(',').collect();
    let segments = std::env::var(SEGMENTS).map_or(1000, |text| text.parse().unwrap());
    let marked = words[2].parse().unwrap();
    let counters = bulk::transfer(segments, words[0], words[1], 0, marked).counters();
    assert!(counters.segments >= segments && counters.retransmissions == 0);
    assert_eq!(counters.marks_reported > 0, marked > 0);
}

/// Instructions of TCP in a transfer, without the path; `None` without valgrind.
fn count(transfer: &str, segments: u64) -> Option<f64> {
    let done = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--toggle-collect=*Sender*on_segment*", "--toggle-collect=*Receiver*on_segment*"])
        .args(["--toggle-collect=*Sender*on_timer*"])
        .arg(std::env::current_exe().expect("the path of this test"))
        .args(["--exact", "a_transfer_is_complete", "--test-threads=1"])
        .env(TRANSFER, transfer)
        .env(SEGMENTS, segments.to_string())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{text}");
    let (_, rest) = text.split_once("Collected : ").expect("callgrind prints its count");
    rest.split_whitespace().next()?.parse().ok()
}

/// Instructions a segment. The difference of two lengths is without the handshake and the growth of
/// buffers.
fn each(transfer: &str) -> Option<f64> {
    Some((count(transfer, 12_000)? - count(transfer, 4_000)?) / 8000.0)
}

/// The transfer costs at most so many times what the other one costs.
#[track_caller]
fn assert_costs(transfer: &str, times: f64, other: &str) {
    let (Some(cost), Some(least)) = (each(transfer), each(other)) else {
        println!("valgrind is not installed: nothing is counted");
        return;
    };
    let text = format!("{transfer}: {cost:.0} instructions a segment, {other}: {least:.0}");
    println!("{text}, ratio {:.3}", cost / least);
    assert!(cost <= times * least, "{text}");
}

#[test]
fn selective_acknowledgements_cost_at_most_a_quarter_more_than_new_reno() {
    assert_costs("rack,new_reno,0", 1.25, "new_reno,new_reno,0");
}

#[test]
fn prague_with_its_feedback_costs_at_most_15_percent_more_than_cubic() {
    assert_costs("rack,prague,0", 1.15, "rack,cubic,0");
    // With the rate as the state.
    assert_costs("rack,prague,40", 1.15, "rack,cubic,0");
    // In avoidance, where each mark costs an acknowledgement.
    assert_costs("rack,prague,100", 1.2, "rack,cubic,0");
}
