//! The general medium where not all hear all: what hidden nodes, exposed nodes, capture and
//! distance do. Where all hear all it is the cell, as `tests/oracle` shows.

mod bystanders;
mod crowd;
mod drive;
mod moving;
mod neighbours;
mod network;
mod physics;
mod reuse;
