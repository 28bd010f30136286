//! The tests of this crate in one program, which is built in a fraction of the time that one for
//! each file would take. `tests/test_tidy.py` checks that each file is here.

mod controls;
mod corpus;
mod dumbbell;
mod pipe;
mod plain;

mod bbr3;
mod closing;
mod coded;
mod conformance;
mod controllers;
mod defects;
mod fuzz;
mod l4s;
mod random_loss;
mod scripts;
mod slow_reader;
mod timelines;
mod transfer;
