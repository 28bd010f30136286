//! The tests of this crate in one program, which is built in a fraction of the time that one for
//! each file would take. `tests/test_tidy.py` checks that each file is here.

mod common;
#[path = "../../trace/tests/pcapng/program.rs"]
mod program;
mod random;
mod receiver;

mod bandwidth;
mod bandwidth_groups;
mod beacons;
mod captures;
mod channels;
mod coded;
mod conservation;
mod controllers;
mod counts;
mod determinism;
mod driver;
mod emulation;
mod endpoint;
mod full_duplex;
mod full_duplex_space;
mod goldens;
mod interferers;
mod lockstep;
mod mac80211;
mod modern;
mod modern_faults;
mod movement;
mod moving;
mod observables;
mod pings;
mod power_save;
mod protection;
mod punctured;
mod queues;
mod roaming;
mod routing;
mod scenario;
mod scenario_faults;
mod scenario_files;
mod scenario_properties;
mod space;
mod steps;
mod topology;
