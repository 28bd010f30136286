//! What pages are told of a file: names, counts, frames and lives of packets as JSON.

use super::file::AirFile;
use super::life::{Query, Step};
use super::rows::{FrameRow, MpduRow, SegmentRow};
use super::{NONE, Series};
use crate::columns::Columns;
use crate::{Network, words};
use serde_json::{Value as Json, json};
use std::io;

impl AirFile {
    /// What the numbers in tiles refer to, and how many rows there are.
    pub fn about(&self) -> Json {
        let counts = self.counts();
        let series = |series: &Series| match *series {
            Series::Window(flow) => json!(["window", flow]),
            Series::Rtt(flow) => json!(["rtt", flow]),
            Series::RadioQueue(radio) => json!(["radio queue", radio]),
            Series::WireQueue(wire) => json!(["wire queue", wire]),
        };
        let mut about = json!({
            "end_ns": self.end(),
            "cut_ns": self.cut(),
            "is_access_point": self.is_access_point(),
            "series": self.series().iter().map(series).collect::<Vec<_>>(),
            "frames": counts.frames,
            "waits": counts.waits,
            "lost": counts.lost,
            "retried": counts.retried,
            "routes": counts.routes,
            "by_radio": self.by_radio(),
        });
        for (list, names) in self.names() {
            about[list] = json!(names);
        }
        for (list, names) in Columns::names(&Network::default()) {
            if !names.is_empty() {
                about[list] = json!(names);
            }
        }
        about
    }

    /// The next frame that matches, or null: [`AirFile::find`].
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn told_find(&self, query: &Query, number: i64, forward: bool) -> io::Result<Json> {
        Ok(self.find(query, number, forward)?.map_or(Json::Null, |found| frame(&found.frame)))
    }

    /// The frame of a number with its MPDUs, or null: [`AirFile::frame`].
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn told_frame(&self, number: u32) -> io::Result<Json> {
        let Some((row, mpdus)) = self.frame(number)? else { return Ok(Json::Null) };
        let mut told = frame(&row);
        told["mpdus_carried"] = mpdus.iter().map(mpdu).collect();
        told["named"] = json!(self.named(number)?);
        Ok(told)
    }

    /// The steps of a packet: [`AirFile::life`].
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn told_life(&self, packet: u32) -> io::Result<Json> {
        Ok(self.life(packet)?.iter().map(step).collect())
    }
}

fn known(number: u32) -> Option<u32> {
    Some(number).filter(|&number| number != NONE)
}

fn frame(row: &FrameRow) -> Json {
    json!({
        "number": row.number,
        "start_ns": row.start,
        "end_ns": row.end(),
        "preamble_ns": row.preamble,
        "exchange": row.exchange,
        "from": row.from,
        "to": known(row.to),
        "lost_to": known(row.lost_to),
        "kind": row.kind,
        "access_category": row.class,
        "outcome": row.outcome,
        "is_lost": row.is_lost(),
        "mcs": (row.mcs != u8::MAX).then_some(row.mcs),
        "streams": row.streams,
        "width_mhz": row.width_mhz,
        "mpdus": row.mpdus,
        "retried": row.retried,
        "received": row.received,
        "psdu_bytes": row.psdu,
        "nav_ns": row.nav,
        "rate_mbps": row.rate_mbps,
        "signal_dbm": Some(row.signal_dbm).filter(|dbm| !dbm.is_nan()),
        "tones": (row.tones != 0).then_some(row.tones),
        "ru_index": (row.tones != 0).then_some(row.ru_index),
        "padding_bytes": (row.tones != 0).then_some(row.padding),
        "punctured": (row.punctured != 0).then(|| words::subchannels(row.punctured)),
        "random_units": row.random_units,
        "trigger": (row.trigger != u8::MAX).then_some(row.trigger),
    })
}

fn mpdu(row: &MpduRow) -> Json {
    json!({
        "packet": row.packet,
        "flow": known(row.flow),
        "bytes": row.bytes,
        "sequence": row.sequence,
        "retry": row.retry != 0,
        "received": row.received != 0,
    })
}

fn segment(what: &str, row: &SegmentRow) -> Json {
    json!({
        "at_ns": row.at,
        "what": what,
        "flow": row.flow,
        "seq": row.seq,
        "ack": row.ack,
        "length_bytes": row.length,
        "received": row.received != 0,
        "reverse": row.reverse != 0,
        "retransmission": row.retransmission != 0,
        "cwnd_bytes": Some(row.cwnd).filter(|x| x.is_finite()),
        "in_flight_bytes": Some(row.in_flight).filter(|x| x.is_finite()),
        "state": (row.state != u8::MAX).then_some(row.state),
    })
}

fn step(step: &Step) -> Json {
    match step {
        Step::Packet(row) => json!({
            "at_ns": row.at,
            "what": "packet",
            "flow": known(row.flow),
            "place_kind": row.place_kind,
            "place": row.place,
            "step": row.step,
            "cause": (row.cause != u8::MAX).then_some(row.cause),
            "waiting": known(row.waiting),
            "size_bytes": row.size,
        }),
        Step::Frame(row, carried) => json!({
            "at_ns": row.start,
            "what": "frame",
            "frame": frame(row),
            "mpdu": mpdu(carried),
        }),
        Step::Segment(row) => segment("segment", row),
        Step::Acknowledged(row) => segment("acknowledged", row),
    }
}
