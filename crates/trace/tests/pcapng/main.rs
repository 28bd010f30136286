//! Captures in pcapng: what a small reader of its own and what tshark find in them.

mod bytes;
mod fixture;
mod program;
mod reader;
mod tshark;
