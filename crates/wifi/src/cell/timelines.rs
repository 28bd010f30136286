//! Timelines: what happens on the air of a cell, each with its picture and to the nanosecond.
//!
//! A picture has a lane for each node and a column for so many microseconds:
//!
//! ```text
//! [data 1==]   a frame; the number is the packet's
//! [data 1xx]   it collides
//! [data 1~~]   noise spoils it
//! [1 2 3---]   an A-MPDU of three frames, of which noise spoils some
//! [ba=] [bar=] a block ack, and a request for it
//! +            a packet comes to the node; the first column of its frame, if it is sent at once
//! *            a packet is delivered at the node
//! ......       the node waits for the end of its interframe space: DIFS or EIFS
//! nnnnnn       and here for the end of its NAV
//! 332211       it counts slots: those that are left
//! ```
//!
//! The picture is drawn from what the cell did, and the test compares it with the one in its text.

mod access;
mod aggregates;
mod broadcast;
mod collisions;
mod edca;
mod noise;
mod ofdm;
mod protection;
mod record;
mod recovery;
mod stage;
