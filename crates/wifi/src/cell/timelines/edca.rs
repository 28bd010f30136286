//! EDCA (clauses 10.23.2.2 and 10.23.2.4). At 5 GHz a slot is 9 µs. The AIFS of best effort is 16
//! µs + 3 slots = 43 µs, that of voice and video 34 µs.

use super::stage::{AP, STA1, STA2, STA3, Script};
use crate::mac::Countdown;
use crate::phy::DOT11N;
use kernel::Duration;
use wire::TrafficClass::{BestEffort, Video, Voice};

#[test]
fn the_shorter_interframe_space_goes_first() {
    let record =
        Script::high(&DOT11N, 2).up(0, STA1).up(0, STA2).class(Voice).draws(STA1, [2]).play(10);
    record.shows(
        &[
            (34_000, 82_000, STA2, "data 2"),
            (98_000, 126_000, AP, "ack"),
            (187_000, 235_000, STA1, "data 1"),
            (251_000, 279_000, AP, "ack"),
        ],
        "
            µs    0         100       200
            ap            * [a]          * [a]
            sta1  +...           ..21[1==]
            sta2  +..[2==]       .
        ",
    );
}

/// Station 3 transmits at a slot boundary of stations 1 and 2: they count down at that boundary.
#[test]
fn a_slot_in_which_another_begins_to_send_is_counted() {
    let record = counts().play(10);
    record.shows(
        &[
            (43_000, 91_000, STA1, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (187_000, 235_000, STA3, "data 3"),
            (251_000, 279_000, AP, "ack"),
            (340_000, 388_000, STA2, "data 2"),
            (404_000, 432_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300       400
            ap             * [a]         * [a]          * [a]
            sta1  +...[1==]     ....9         .....7
            sta2        +       ....4         .....2[2==]
            sta3        +       ....1[3==]    .....
        ",
    );
}

/// As under DCF: only whole idle slots count.
#[test]
fn or_it_is_not() {
    let record = counts().with(|config| config.countdown = Countdown::IdleSlots).play(10);
    record.shows(
        &[
            (43_000, 91_000, STA1, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (187_000, 235_000, STA3, "data 3"),
            (251_000, 279_000, AP, "ack"),
            (349_000, 397_000, STA2, "data 2"),
            (413_000, 441_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300       400
            ap             * [a]         * [a]           * [a]
            sta1  +...[1==]     ....9         .....86
            sta2        +       ....4         .....31[2==]
            sta3        +       ....1[3==]    .....
        ",
    );
}

fn counts() -> Script {
    Script::high(&DOT11N, 3)
        .up(0, STA1)
        .up(60, STA2)
        .up(60, STA3)
        .draws(STA1, [9])
        .draws(STA2, [4])
        .draws(STA3, [1])
}

/// Voice needs 3 slots after 34 µs, best effort 2 after 43 µs. Both back-offs end together, and
/// voice wins the internal collision. Best effort then draws from a larger window.
#[test]
fn the_higher_category_wins_an_internal_collision() {
    let record = Script::high(&DOT11N, 1)
        .up(0, STA1)
        .down(60, STA1)
        .down(60, STA1)
        .class(Voice)
        .draws(AP, [2, 4])
        .draws_for(AP, Voice, [3])
        .play(10);
    record.shows(
        &[
            (43_000, 91_000, STA1, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (196_000, 244_000, AP, "data 3"),
            (260_000, 288_000, STA1, "ack"),
            (367_000, 415_000, AP, "data 2"),
            (431_000, 459_000, STA1, "ack"),
        ],
        "
            µs    0         100       200       300       400
            ap          +  * [a]...321[3=]       ...321[2==]
            sta1  +...[1==]     ....      * [a]            * [a]
        ",
    );
    assert_eq!(record.frame_counters[0].internal_collisions, 1);
}

/// A frame that arrives at an EDCAF without a back-off on an idle medium is sent at the next slot
/// boundary: 16 µs + 3 slots + 7 slots.
#[test]
fn frames_leave_at_slot_boundaries() {
    let record = Script::high(&DOT11N, 1).up(100, STA1).play(10);
    record.shows(
        &[(106_000, 154_000, STA1, "data 1"), (170_000, 198_000, AP, "ack")],
        "
            µs    0         100       200
            ap                   * [a]
            sta1            +[1=]
        ",
    );
    let idle_slots = |config: &mut crate::MacConfig| config.countdown = Countdown::IdleSlots;
    let record = Script::high(&DOT11N, 1).up(100, STA1).with(idle_slots).play(10);
    assert_eq!(record.last_access_ns(), 100_000);
}

/// A collision of two stations with frames of different categories.
#[test]
fn categories_of_two_nodes_collide() {
    let record = Script::high(&DOT11N, 3)
        .up(0, STA3)
        .up(60, STA1)
        .class(Video)
        .up(60, STA2)
        .draws_for(STA1, Video, [1, 0])
        .draws(STA2, [0, 3])
        .play(10);
    record.shows(
        &[
            (43_000, 91_000, STA3, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (178_000, 226_000, STA1, "data 2"),
            (178_000, 226_000, STA2, "data 3"),
            (278_000, 326_000, STA1, "data 2"),
            (342_000, 370_000, AP, "ack"),
            (431_000, 479_000, STA2, "data 3"),
            (495_000, 523_000, AP, "ack"),
        ],
        "
            µs    0         100       200       300       400       500
            ap             * [a]                  * [a]          *  []
            sta1        +       ...1[2xx].....[2==]      ..
            sta2        +       ....[3xx].....           ...2[3==]
            sta3  +...[1==]     ....
        ",
    );
}

/// The TXOP limit has room for two exchanges of 48 + 16 + 28 µs and the SIFS between them.
#[test]
fn a_txop_holds_as_many_exchanges_as_fit() {
    let record = Script::high(&DOT11N, 2)
        .with(|config| {
            let edca = config.edca.as_mut().expect("EDCA");
            edca.access_point[BestEffort as usize].txop_limit = Duration::from_micros(210);
            config.aggregation.as_mut().expect("aggregation").frames = 1;
        })
        .down(0, STA1)
        .down(0, STA2)
        .down(0, STA1)
        .up(60, STA1)
        .draws(AP, [3])
        .draws(STA1, [1])
        .play(10);
    record.shows(
        &[
            (43_000, 91_000, AP, "data 1"),
            (107_000, 135_000, STA1, "ack"),
            (151_000, 199_000, AP, "data 2"),
            (215_000, 243_000, STA2, "ack"),
            (295_000, 343_000, STA1, "data 4"),
            (359_000, 387_000, AP, "ack"),
            (439_000, 487_000, AP, "data 3"),
            (503_000, 531_000, STA1, "ack"),
        ],
        "
            µs    0         100       200       300       400       500
            ap    +...[1==]      [2==]     ....3    * [a]....1[3==]
            sta1        +  * [a]           ....1[4=]     ....     * [a]
            sta2                     *  []
        ",
    );
}

/// The TXOP holder has no further frame: its back-off begins with the end of its exchange.
#[test]
fn a_txop_ends_with_the_queue() {
    let record = Script::high(&DOT11N, 1)
        .with(|config| {
            let edca = config.edca.as_mut().expect("EDCA");
            edca.stations[BestEffort as usize].txop_limit = Duration::from_micros(2528);
        })
        .up(0, STA1)
        .up(140, STA1)
        .draws(STA1, [3])
        .play(10);
    record.shows(
        &[
            (43_000, 91_000, STA1, "data 1"),
            (107_000, 135_000, AP, "ack"),
            (151_000, 199_000, STA1, "data 2"),
            (215_000, 243_000, AP, "ack"),
        ],
        "
            µs    0         100       200
            ap             * [a]     *  []
            sta1  +...[1==]     +[2==]
        ",
    );
}
