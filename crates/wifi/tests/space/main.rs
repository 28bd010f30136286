//! The general medium: where all hear all it is the cell, to the nanosecond; where they do not,
//! it shows what hidden nodes, exposed nodes, capture and distance do.

#[path = "../common/account.rs"]
mod account;
mod crowd;
mod drive;
mod identity;
mod modern;
mod moving;
#[path = "../common/network.rs"]
mod network;
mod physics;
#[path = "../common/qos.rs"]
mod qos;
#[path = "../common/simulator.rs"]
mod simulator;
#[path = "../common/workload.rs"]
mod workload;
