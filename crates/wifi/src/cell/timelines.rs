//! Timelines of a cell: what is on the air, as a text picture and to the nanosecond.
//!
//! A timeline has a row for each node and a column for a number of microseconds:
//!
//! ```text
//! [data 1==]   a frame with the number of its packet
//! [data 1xx]   the frame collides
//! [data 1~~]   noise destroys the frame
//! [1 2 3---]   an A-MPDU of three MPDUs, some of which noise destroys
//! [ba=] [bar=] a BlockAck and a BlockAckReq
//! +            a packet arrives at the node, in the first column of its frame if it goes at once
//! *            a packet is delivered at the node
//! ......       the node waits for the end of its interframe space: DIFS or EIFS
//! nnnnnn       the node waits for the end of its NAV
//! 332211       the node counts slots: the number of slots that are left
//! ```
//!
//! A test draws the timeline from the frames of the cell and compares it with its own text. The
//! same happens in a flat space, in which all nodes are at one place: a test that says nothing else
//! is one of both media.

mod access;
mod aggregates;
mod broadcast;
mod collisions;
mod earlier;
mod edca;
mod flat;
mod groups;
mod mu_rts;
mod noise;
mod ofdm;
mod protection;
mod random_access;
mod record;
mod recovery;
mod stage;
mod triggers;
