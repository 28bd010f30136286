//! Placements, movement models and movement files in scenarios.

use kernel::{Duration, Instant, Seed};
use sim::mobility::TimedPosition;
use sim::plan::MovementPlan;
use sim::{Plan, Scenario, Simulation};
use std::path::{Path, PathBuf};
use wifi::phy::propagation::{Position, Trajectory};

/// A folder for the files of a test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("movement").join(test);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A scenario of an ad-hoc network of stations with these keys, with files in a folder.
fn scenario(count: u32, keys: &str, folder: &Path) -> Scenario {
    let text = format!(
        "standard = '11b'\nduration_s = 200\n[radio]\nad_hoc = true\npropagation = 'two_ray'\n\
         tx_power_dbm = 24.5\n[stations]\ncount = {count}\n{keys}\n\
         [[flows]]\nfrom = 'sta0'\nto = 'sta1'\n"
    );
    let scenario = Scenario::parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    scenario.in_folder(folder).unwrap()
}

/// The waypoints of the stations.
fn waypoints(plan: &Plan) -> Vec<Vec<TimedPosition>> {
    let stations = &plan.space.as_ref().unwrap().stations;
    let waypoints = stations.iter().map(|station| match &station.movement {
        MovementPlan::Waypoints(waypoints) => waypoints.clone(),
        other => panic!("{other:?}"),
    });
    waypoints.collect()
}

/// The position of a station at a time.
fn position(waypoints: &[TimedPosition], at_s: f64) -> [f64; 2] {
    let place = |[x, y]: [f64; 2]| Position { x, y, z: 0.0 };
    let points = waypoints.iter().map(|point| (point.at, place(point.position_m)));
    let at = Instant::ZERO + Duration::from_secs_f64(at_s);
    let Position { x, y, .. } = Trajectory::through(points.collect()).at(at);
    [x, y]
}

/// The faults of three stations that move as a file says.
fn faults(test: &str, format: &str, text: &str) -> Vec<String> {
    let folder = folder(test);
    std::fs::write(folder.join("movement.txt"), text).unwrap();
    let keys = format!("movement.{format}.file = 'movement.txt'");
    let issues = scenario(3, &keys, &folder).resolve().err().unwrap_or_default();
    let prefix = format!("{}/", folder.display());
    issues.iter().map(|issue| issue.to_string().replace(&prefix, "")).collect()
}

#[test]
#[allow(clippy::type_complexity, reason = "a table of times and positions")]
fn setdest_files_are_read_as_they_are() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/data/movement");
    let keys = "movement.setdest.file = 'waypoint_1.tcl'";
    let waypoints = waypoints(&scenario(50, keys, &folder).resolve().unwrap());
    // From an integration of the same file in steps from line to line, written independently.
    let expected: [(usize, [(f64, f64, f64); 4]); 4] = [
        (
            0,
            [
                (1.5, 387.583_096, 16.241_029),
                (7.25, 392.015_089, 42.738_022),
                (100.0, 470.313_646, 510.851_555),
                (199.0, 533.852_493, 813.508_941),
            ],
        ),
        (
            1,
            [
                (12.0, 584.817_273, 923.071_194),
                (33.3, 591.789_721, 792.095_157),
                (150.5, 316.373_096, 403.548_518),
                (199.0, 208.500_093, 530.444_688),
            ],
        ),
        (
            33,
            [
                (0.0, 703.898_463, 908.143_663),
                (12.0, 624.020_614, 908.749_292),
                (33.3, 599.257_259, 779.112_502),
                (199.0, 466.713_546, 523.059_675),
            ],
        ),
        (
            49,
            [
                (0.0, 430.133_686, 951.789_874),
                (33.3, 430.92707, 946.680_057),
                (100.0, 432.617_764, 935.791_084),
                (199.0, 435.127_189, 919.629_041),
            ],
        ),
    ];
    for (node, positions) in expected {
        for (at_s, x, y) in positions {
            let at = position(&waypoints[node], at_s);
            let close = (at[0] - x).abs() < 2e-6 && (at[1] - y).abs() < 2e-6;
            assert!(close, "node {node} at {at_s} s: {at:?}");
        }
    }
}

#[test]
fn a_node_of_a_setdest_file_turns_on_its_way_and_stops_at_speed_0() {
    let folder = folder("turns");
    let text = "$node_(0) set X_ 0.0\n$node_(0) set Y_ 0.0\n$node_(0) set Z_ 0.0\n\
        $ns_ at 10.0 \"$node_(0) setdest 0.0 100.0 10.0\"\n\
        $node_(1) set X_ 5.0\n$node_(1) set Y_ 0.0\n$god_ set-dist 0 1 1\n\
        $ns_ at 12.0 \"$node_(0) setdest 20.0 20.0 1.0\"\n\
        $ns_ at 14.0 \"$god_ set-dist 0 1 2\"\n\
        $ns_ at 15.0 \"$node_(0) setdest 20.0 20.0 0.0\"\n\
        $ns_ at 3.0 \"$node_(0) setdest 30.0 0.0 10.0\"\n";
    std::fs::write(folder.join("turns.tcl"), text).unwrap();
    let keys = "movement.setdest.file = 'turns.tcl'";
    let waypoints = waypoints(&scenario(2, keys, &folder).resolve().unwrap());
    for (at_s, expected) in [
        (2.0, [0.0, 0.0]),
        (4.0, [10.0, 0.0]),
        (8.0, [30.0, 0.0]),
        // At 10 s from [30, 0] towards [0, 100]; at 12 s from there towards [20, 20].
        (11.0, [27.1265, 9.5783]),
        (13.0, [23.272_146, 19.351_059]),
        // The speed of 0 from 15 s on is a stop, on the way to [20, 20].
        (15.0, [21.310_355, 19.740_127]),
        (99.0, [21.310_355, 19.740_127]),
    ] {
        let at = position(&waypoints[0], at_s);
        let close = (0..2).all(|axis| f64::abs(at[axis] - expected[axis]) < 1e-4);
        assert!(close, "at {at_s} s: {at:?}");
    }
    assert_eq!(position(&waypoints[1], 50.0), [5.0, 0.0]);
}

#[test]
fn the_same_waypoints_in_three_formats() {
    let folder = folder("formats");
    let files = [
        ("csv", "node,time_s,x_m,y_m\n0,0,1,2\n1,0,7,7\n0,10,21,2\n1,4.5,7,16\n"),
        ("bonnmotion", "0.0 1.0 2.0 10.0 21.0 2.0\n0 7 7 4.5 7 16\n"),
        (
            "setdest",
            "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$node_(1) set X_ 7\n$node_(1) set Y_ 7\n\
             $ns_ at 0.0 \"$node_(0) setdest 21 2 2\"\n$ns_ at 0.0 \"$node_(1) setdest 7 16 2\"\n",
        ),
    ];
    for (format, text) in files {
        std::fs::write(folder.join(format), text).unwrap();
        let keys = format!("movement.{format}.file = '{format}'");
        let waypoints = waypoints(&scenario(2, &keys, &folder).resolve().unwrap());
        assert_eq!(position(&waypoints[0], 2.5), [6.0, 2.0], "{format}");
        assert_eq!(position(&waypoints[1], 3.0), [7.0, 13.0], "{format}");
        assert_eq!(position(&waypoints[1], 60.0), [7.0, 16.0], "{format}");
    }
}

#[test]
fn heights_that_are_all_equal_change_nothing() {
    let folder = folder("heights");
    let lines = "0 10 20 1.5 2 15 20 1.5 10 100 20 1.5\n0 60 40 1.5 2 65 40 1.5 10 150 40 1.5\n";
    std::fs::write(folder.join("file"), lines).unwrap();
    for (dimensions, expected) in [(3, [15.0, 20.0]), (2, [1.99, 14.86])] {
        let movement = format!("{{ file = 'file', dimensions = {dimensions} }}");
        let keys = format!("movement.bonnmotion = {movement}");
        let waypoints = waypoints(&scenario(2, &keys, &folder).resolve().unwrap());
        let at = position(&waypoints[0], 2.0);
        let close = (0..2).all(|axis| f64::abs(at[axis] - expected[axis]) < 0.5);
        assert!(close, "{dimensions}: {at:?}");
    }
    let lines = "0 10 20 1.5 10 100 20 1.5\n0 60 40 1.5 10 150 40 1.5\n";
    std::fs::write(folder.join("file"), lines).unwrap();
    let keys = "movement.bonnmotion.file = 'file'";
    let waypoints = waypoints(&scenario(2, keys, &folder).resolve().unwrap());
    assert_eq!(position(&waypoints[0], 5.0), [55.0, 20.0], "it can only be read with heights");
}

/// The positions of three nodes, without a line end.
const THREE: &str = "# nodes: 3, pause: 2.00, max speed: 10.00, max x: 500.00, max y: 300.00\n\
    $node_(0) set X_ 1.0\n$node_(0) set Y_ 2.0\n$node_(1) set X_ 3.0\n$node_(1) set Y_ 4.0\n\
    $node_(2) set X_ 5.0\n$node_(2) set Y_ 6.0";

#[test]
fn faults_of_setdest_files_have_file_and_line() {
    let path = "stations.movement.setdest.file: movement.txt";
    for (name, text, expected) in [
        (
            "missing",
            THREE.replace("$node_(1) set Y_ 4.0\n", ""),
            ": node 1 has no X_ and Y_; the group has 3 stations, and each is a node of the file",
        ),
        (
            "unknown",
            format!("{THREE}\n$node_(3) set X_ 1.0"),
            ", line 8: there is no node 3: the group has 3 stations, 0 to 2; change `count`",
        ),
        (
            "outside",
            format!("{THREE}\n$ns_ at 1.0 \"$node_(0) setdest 501.0 4.0 1.0\""),
            ", line 8: node 0: [501, 4] is outside the area of 500 x 300 m",
        ),
        (
            "start_outside",
            THREE.replace("set Y_ 6.0", "set Y_ -6.0"),
            ", line 7: node 2: [5, -6] is outside the area of 500 x 300 m",
        ),
        (
            "fast",
            format!("{THREE}\n\n$ns_ at 1.0 \"$node_(0) setdest 50.0 4.0 1000.5\""),
            ", line 9: node 0: a speed of 1000.5 m/s; speeds are 0 to 1000 m/s",
        ),
        (
            "format",
            format!("{THREE}\n0.0 1.0 2.0"),
            ", line 8: 0.0 1.0 2.0 is no line of a setdest file, such as `$node_(0) set X_ 10.0` \
             or `$ns_ at 2.0 \"$node_(0) setdest 30.0 40.0 1.5\"`",
        ),
        (
            "number",
            format!("{THREE}\n$ns_ at 1,5 \"$node_(0) setdest 50.0 4.0 1.0\""),
            ", line 8: 1,5 is not a number",
        ),
        (
            "place",
            THREE.replace("set X_ 5.0", "set X_ 3.0").replace("set Y_ 6.0", "set Y_ 4.0"),
            ": the nodes 1 and 2 are at one place, [3, 4]",
        ),
    ] {
        assert_eq!(faults(name, "setdest", &text), [format!("{path}{expected}")], "{name}");
    }
    assert_eq!(faults("sound", "setdest", THREE), Vec::<String>::new());
}

#[test]
fn faults_of_tables_of_waypoints_have_file_and_line() {
    for (name, format, text, expected) in [
        (
            "columns",
            "csv",
            "time_s,node,x,y\n",
            ", line 1: there is no column x_m; the first line is time_s,node,x_m,y_m",
        ),
        (
            "values",
            "csv",
            "time_s,node,x_m,y_m\n0,0,1,2\n0,1,1\n",
            ", line 3: 3 values, but the first line names 4 columns",
        ),
        (
            "order",
            "csv",
            "time_s,node,x_m,y_m\n0,0,1,2\n0,1,7,1\n0,2,3,1\n5,0,3,4\n5,0,3,5\n",
            ", line 6: node 0: 5 s is not after its waypoint at 5 s",
        ),
        (
            "jump",
            "csv",
            "time_s,node,x_m,y_m\n0,0,1,2\n0,1,7,1\n0,2,3,1\n0.5,2,600,1\n",
            ", line 5: node 2: a speed of 1194 m/s; speeds are 0 to 1000 m/s",
        ),
        ("lines", "bonnmotion", "0 1 1\n0 2 2\n", ": node 2 is missing: the group has 3 stations"),
        (
            "three",
            "bonnmotion",
            "0 1 1\n0 2 2 0\n0 3 3\n",
            ", line 2: node 1: 4 numbers; each waypoint has 3 (dimensions = 2)",
        ),
        (
            "heights",
            "bonnmotion",
            "0 1 1 0\n0 2 2 0 10 2 2 4\n0 3 3 0\n",
            ", line 2: node 1: the height 4 is not that of the first waypoint, 0; movement is in a \
             plane",
        ),
        (
            "both",
            "bonnmotion",
            // Four waypoints with two coordinates, or three with a height of 1.5.
            "0 10 20 1.5 2 15 20 1.5 10 100 20 1.5\n0 150 20 1.5 2 150 20 1.5 10 150 20 1.5\n\
             0 150 20 1.5 2 150 20 1.5 10 150 20 1.5\n",
            ", line 1: each line can be read as waypoints with two coordinates and with three; say \
             dimensions = 2, or dimensions = 3 for a file with heights",
        ),
    ] {
        let message = format!("stations.movement.{format}.file: movement.txt{expected}");
        assert_eq!(faults(&format!("table_{name}"), format, text), [message]);
    }
}

#[test]
fn a_file_that_is_missing_is_one_fault() {
    let scenario = scenario(3, "movement.csv.file = 'none.csv'", Path::new("nowhere"));
    let issues = scenario.resolve().unwrap_err();
    assert_eq!(issues.len(), 1);
    let message = issues[0].to_string();
    assert!(message.starts_with("stations.movement.csv.file: nowhere/none.csv cannot be read: "));
}

/// The faults of ten stations with these keys.
fn wrong(keys: &str) -> Vec<String> {
    let issues = scenario(10, keys, Path::new("")).resolve().err().unwrap_or_default();
    issues.iter().map(ToString::to_string).collect()
}

fn waypoint(at_s: u32, east_m: u32) -> String {
    format!("{{ at_s = {at_s}, position_m = [{east_m}, 0] }}")
}

#[test]
fn a_group_says_once_where_its_stations_are() {
    let area = "movement.random_waypoint.area_m = [100, 100]";
    assert_eq!(wrong(area), Vec::<String>::new());
    assert_eq!(
        wrong(&format!("{area}\nring_m = 3.0\nposition_m = [1, 2]")),
        [
            "stations.ring_m: the movement says where they are; remove one of the two keys",
            "stations.position_m: the movement says where they are; remove one of the two keys",
        ]
    );
    assert_eq!(wrong("placement = 'chain'\nposition_m = [10, 20]"), Vec::<String>::new());
    assert_eq!(
        wrong("position_m = [10, 20]"),
        ["stations: sta0 and sta1 are at one place, [10, 20]; give them positions, a ring_m, a \
          placement or a movement"]
    );
    assert_eq!(
        wrong(&format!("waypoints = [{}, {}]", waypoint(0, 0), waypoint(1, 1001))),
        [concat!(
            "stations.waypoints[1].position_m: 1001 m/s from the previous waypoint; stations ",
            "move at most at 1000 m/s"
        )]
    );
}

#[test]
fn settings_of_movements_are_checked() {
    let area = "area_m = [100.0, 100.0]";
    for (keys, expected) in [
        (
            "movement.random_waypoint.pause_s = 1".to_owned(),
            "stations.movement.random_waypoint.area_m: missing; as [1000.0, 1000.0]",
        ),
        (
            format!("movement.random_walk = {{ {area}, speed_mps = [2, 1] }}"),
            "stations.movement.random_walk.speed_mps: [2, 1] must be the least and the greatest \
             speed",
        ),
        (
            format!("movement.random_waypoint = {{ {area}, speed_mps = [0, 1] }}"),
            "stations.movement.random_waypoint.speed_mps: a least speed of 0 has no stationary \
             state, because the mean duration of a trip is infinite; take at least 0.1, or start = \
             \"setdest\"",
        ),
        (
            format!("movement.random_waypoint = {{ {area}, speed_mps = [1, 1001] }}"),
            "stations.movement.random_waypoint.speed_mps[1]: must be from 0 to 1000 m/s, is 1001",
        ),
        (format!("movement.gauss_markov = {{ {area}, step_s = 1e-3, deviation_mps = 100 }}"), ""),
        (
            "movement.manhattan = { area_m = [0.01, 0.01], streets = [900, 900] }".to_owned(),
            "stations.movement.manhattan: 10 stations have about 1.798e9 waypoints in 200 s, \
             and at most 10000000 are kept; take longer steps or a shorter run",
        ),
    ] {
        let expected = (!expected.is_empty()).then(|| expected.to_owned());
        assert_eq!(wrong(&keys), Vec::from_iter(expected), "{keys}");
    }
}

#[test]
fn each_station_moves_by_its_own_stream() {
    let run = |count: u32, seed: u64| {
        let keys = "movement.random_waypoint = { area_m = [150, 150], speed_mps = [5, 50] }";
        let plan = scenario(count, keys, Path::new("")).set("duration_s", "4").unwrap();
        let seed = Seed { root: seed, replication: 0 };
        let plan = plan.resolve().unwrap();
        let heard = sim::hearing(&plan, &seed, Instant::ZERO + Duration::from_millis(3000));
        let (_, pairs) = heard.unwrap();
        pairs.iter().find(|pair| pair.from == "sta0" && pair.to == "sta1").unwrap().signal_dbm
    };
    assert_eq!(run(2, 1), run(9, 1), "further stations change nothing");
    assert_ne!(run(2, 1), run(2, 2));
}

#[test]
fn powers_of_moving_nodes_are_those_that_the_checker_computes() {
    for keys in [
        "placement.uniform.area_m = [900, 900]",
        "movement.random_waypoint = { area_m = [900, 900], speed_mps = [50, 500] }",
        "movement.manhattan = { area_m = [900, 900], speed_mps = [50, 500] }",
        "movement.gauss_markov = { area_m = [900, 900], deviation_mps = 100 }",
    ] {
        let scenario = scenario(12, keys, Path::new("")).set("duration_s", "4").unwrap();
        let flows = "[{ from = \"sta*\", to = \"sta0\", traffic = \"saturated\" }]";
        // The range of a signal is 150 m, so that nodes come into range and leave it often.
        let scenario =
            scenario.set("flows", flows).unwrap().set("radio.tx_power_dbm", "-15").unwrap();
        let plan = scenario.resolve().unwrap_or_else(|issues| panic!("{keys}: {issues:?}"));
        let run = Simulation::new(&plan, Seed { root: 8, replication: 0 }, &[], true);
        let run = run.expect("no probes").finish();
        assert!(run.events > 10_000, "{keys}: {} events", run.events);
    }
}
