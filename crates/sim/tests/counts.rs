//! Counts say what they count. Each run is under the checker, which holds for each radio and flow
//! that what a MAC has taken is sent, discarded, or still in service.

use crate::common::{number, run, run_with};

/// An upload of datagrams.
fn upload(keys: &str) -> String {
    format!(
        "standard = '11a'\nduration_s = 10\nwarmup_s = 0\n{keys}\n\
         [[flows]]\nfrom = 'sta0'\nto = 'ap'\ntraffic = 'saturated'\n"
    )
}

#[test]
fn a_frame_whose_acks_are_lost_is_discarded_though_it_has_arrived() {
    // dot11FailedCount: an MSDU is not transmitted successfully when its attempts exceed the retry
    // limit (IEEE 802.11-2020 clause 10.23.2.12.1 and annex C), here 7: 0.9^7 of all.
    let run = run(&upload("[stations]\nack_loss = 0.9"));
    let [sent, discarded] = ["sent", "retry_drops"].map(|key| {
        let of_station = number(&run, &format!("stations[0].{key}"));
        if key == "retry_drops" {
            assert_eq!(of_station, number(&run, "flows[0].retry_drops"));
            assert_eq!(of_station, number(&run, "total.retry_drops"));
        }
        of_station
    });
    let part = discarded / (sent + discarded);
    assert!((part - 0.9_f64.powi(7)).abs() < 0.05, "{discarded} of {}", sent + discarded);
    assert_eq!(number(&run, "flows[0].lost"), 0.0, "all have arrived");
    assert_eq!(number(&run, "total.lost"), 0.0);
}

#[test]
fn a_link_in_one_direction_discards_all() {
    let losses = "stations = 1\nradio.losses_db = [[0, 112], [90, 0]]";
    let run = run(&upload(losses));
    assert_eq!(number(&run, "stations[0].sent"), 0.0);
    let discarded = number(&run, "stations[0].retry_drops");
    let attempts = number(&run, "stations[0].attempts");
    assert!((attempts / 7.0 - discarded).abs() <= 1.0, "{discarded} of {attempts}");
}

#[test]
fn what_is_lost_on_the_air_is_lost_and_discarded() {
    let run = run(&upload("[stations]\ndata_loss = 0.7"));
    let [lost, discarded] = ["flows[0].lost", "flows[0].retry_drops"].map(|key| number(&run, key));
    assert!(lost > 50.0 && lost == discarded, "{lost} and {discarded}");
}

#[test]
fn lost_is_by_all_causes() {
    let text = "standard = '11g'\nduration_s = 5\nwarmup_s = 0\nstations = 2\n\
                [wire]\nrate_mbps = 20\nqueue.drop_tail.limit_packets = 5\n\
                loss.uniform.probability = 0.02\n\
                [ap]\nqueue.drop_tail.limit_packets = 5\n\
                [[flows]]\nfrom = 'server'\nto = 'sta*'\n";
    let run = run(text);
    let lost: f64 = (0..2).map(|i| number(&run, &format!("flows[{i}].lost"))).sum();
    let causes = ["queue_drops", "wire_losses"];
    let parts: f64 = causes.map(|key| number(&run, &format!("total.{key}"))).iter().sum();
    assert!(parts > 20.0);
    assert_eq!(lost, parts);
    assert_eq!(lost, number(&run, "total.lost"));
}

#[test]
fn a_broadcast_is_never_discarded_at_a_retry_limit() {
    // As reported of ath9k_htc (qca/open-ath9k-htc-firmware, report 96): a broadcast, which nobody
    // acknowledges, is no excessive retry.
    let far = "standard = '11g'\nduration_s = 5\nwarmup_s = 0\n[radio]\n[[stations]]\n\
               position_m = [5000, 0]\n[[flows]]\nfrom = 'ap'\nto = 'broadcast'\n\
               traffic.cbr = { rate_mbps = 0.1 }\n";
    let run = run(far);
    let sent = number(&run, "ap.sent");
    assert!(sent > 60.0);
    assert_eq!(number(&run, "ap.attempts"), sent, "a broadcast is sent once");
    assert_eq!(number(&run, "ap.retry_drops"), 0.0);
    assert_eq!(number(&run, "flows[0].lost"), sent, "nobody is in range");
}

#[test]
fn attempts_are_counted_while_other_frames_arrive() {
    // As reported of INET (inet-framework/inet, report 103): a frame that arrives between two
    // attempts does not reset the retry counter.
    let text = upload("stations = 1\nradio.losses_db = [[0, 90], [125, 0]]");
    let run = run(&format!("{text}[[flows]]\nfrom = 'ap'\nto = 'sta0'\ntraffic = 'saturated'\n"));
    let [attempts, discarded, sent] =
        ["attempts", "retry_drops", "sent"].map(|key| number(&run, &format!("stations[0].{key}")));
    assert!(number(&run, "ap.attempts") > 1000.0, "frames arrive at the station");
    assert_eq!(sent, 0.0);
    assert!((attempts / 7.0 - discarded).abs() <= 1.0, "{discarded} of {attempts}");
}

/// An access point that hears no ACK begins its next attempt while the ACK of the last is on the
/// air: the loss of that ACK is no outcome of the new attempt, which the warm-up ends in.
#[test]
fn a_late_response_is_no_outcome_of_the_next_attempt() {
    let done = run_with(
        "standard = '11g'\nduration_s = 0.3\nwarmup_s = 0.00857\nwlan.qos = true\n\
         stations = { count = 2, rate_mbps = 2 }\n\
         radio.losses_db = [[1, 150, 1], [1, 1, 1], [150, 1, 1]]\n\
         [[flows]]\nfrom = 'sta1'\nto = 'server'\ntraffic = 'saturated'\n\
         [[flows]]\nfrom = 'server'\nto = 'sta0-1'\n",
        1,
        &[],
    );
    assert!(number(&done, "ap.collisions") > 0.0);
    assert!(number(&done, "ap.collision_probability") <= 1.0);
}
