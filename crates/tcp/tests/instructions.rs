//! What recovery by selective acknowledgements costs beside `NewReno`'s: instructions of the sender
//! and the receiver for the segments that arrive, as callgrind counts them. The tests pass without
//! a comparison where valgrind is not installed.

#[path = "../examples/bulk.rs"]
#[allow(dead_code, reason = "the example's own main")]
mod bulk;

use std::process::Command;

/// Names the recovery of the transfer that is counted.
const RECOVERY: &str = "SIMOOM_COUNTED_RECOVERY";
const SEGMENTS: &str = "SIMOOM_COUNTED_SEGMENTS";

/// The transfer that `count` runs under callgrind.
#[test]
fn a_transfer_is_complete() {
    let recovery = std::env::var(RECOVERY).unwrap_or_default();
    let segments = std::env::var(SEGMENTS).map_or(1000, |text| text.parse().unwrap());
    let counters = bulk::transfer(segments, &recovery, "new_reno", 0).counters();
    assert!(counters.segments >= segments && counters.retransmissions == 0);
}

/// Instructions of TCP in a transfer, without the path and the timers; `None` without valgrind.
fn count(recovery: &str, segments: u64) -> Option<f64> {
    let done = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--toggle-collect=*Sender*on_segment*", "--toggle-collect=*Receiver*on_segment*"])
        .arg(std::env::current_exe().expect("the path of this test"))
        .args(["--exact", "a_transfer_is_complete", "--test-threads=1"])
        .env(RECOVERY, recovery)
        .env(SEGMENTS, segments.to_string())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{text}");
    let (_, rest) = text.split_once("Collected : ").expect("callgrind prints its count");
    rest.split_whitespace().next()?.parse().ok()
}

#[test]
fn selective_acknowledgements_cost_at_most_a_quarter_more_than_new_reno() {
    // The difference of two lengths is without the handshake and the growth of buffers.
    let each = |recovery| Some((count(recovery, 12_000)? - count(recovery, 4_000)?) / 8000.0);
    let (Some(new_reno), Some(rack)) = (each("new_reno"), each("rack")) else {
        println!("valgrind is not installed: nothing is counted");
        return;
    };
    println!("{rack:.0} instructions a segment, with NewReno {new_reno:.0}");
    assert!(rack <= 1.25 * new_reno, "{rack} instructions a segment, with NewReno {new_reno}");
}
