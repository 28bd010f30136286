//! Frames and their Duration fields (IEEE Std 802.11-2020, clauses 9.2.5, 9.3.1 and 10.6.6).

use crate::timing::Times;
use kernel::{Bytes, Duration};
use wifi::mac::Durations;
use wifi::phy::{Mode, ModeClass, TxVector};
use wifi::{Link, MacConfig};
use wire::FrameKind;

const ACK: Bytes = Bytes(14);
const CTS: Bytes = Bytes(14);
const RTS: Bytes = Bytes(20);
/// Bytes of the delimiter before the only MPDU of a VHT PPDU (clause 9.7.1).
const DELIMITER: Bytes = Bytes(4);

/// What its bits say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    pub(crate) from: u32,
    /// `None` for all.
    pub(crate) to: Option<u32>,
    pub(crate) mode: Mode,
    pub(crate) psdu: Bytes,
    /// Duration field: how long after its end the medium is reserved.
    pub(crate) reserves: Duration,
    /// Index of the access function.
    pub(crate) function: usize,
    pub(crate) sequence: u16,
    pub(crate) retry: bool,
    pub(crate) packet: u64,
}

impl Frame {
    /// The station that opened the exchange.
    pub(crate) fn originator(&self) -> u32 {
        match self.kind {
            FrameKind::Cts | FrameKind::Ack => self.to.expect("an answer has a receiver"),
            _ => self.from,
        }
    }
}

/// An MSDU waiting or in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Msdu {
    pub(crate) packet: u64,
    pub(crate) to: Option<u32>,
    pub(crate) size: Bytes,
    pub(crate) sequence: u16,
    /// Its data frame was on the air before.
    pub(crate) retry: bool,
    pub(crate) received: bool,
    /// It has its sequence number.
    pub(crate) numbered: bool,
    /// It was in service and stepped aside for the first of the queue.
    pub(crate) aside: bool,
}

/// How one station forms frames.
#[derive(Clone, Copy)]
pub(crate) struct Framing<'a> {
    pub(crate) node: u32,
    pub(crate) config: &'a MacConfig,
    pub(crate) times: &'a Times,
    pub(crate) links: &'a [Link],
}

impl<'a> Framing<'a> {
    /// The link between this station and another.
    pub(crate) fn link(&self, other: u32) -> &'a Link {
        &self.links[self.node.max(other) as usize - 1]
    }

    /// The first frame of an exchange.
    pub(crate) fn first(&self, function: usize, msdu: &Msdu) -> Frame {
        let data = self.data(function, msdu);
        if self.needs_rts(&data) { self.rts(&data) } else { data }
    }

    pub(crate) fn needs_rts(&self, data: &Frame) -> bool {
        data.to.is_some() && data.psdu > self.config.rts_threshold
    }

    pub(crate) fn data(&self, function: usize, msdu: &Msdu) -> Frame {
        let (times, mode) = (self.times, self.data_mode(msdu));
        let mpdu = msdu.size + self.config.overhead();
        let delimited = mode.class == ModeClass::Vht;
        let ack = times.sifs() + self.airtime(&times.response_mode(&mode), ACK);
        Frame {
            kind: FrameKind::Data,
            from: self.node,
            to: msdu.to,
            mode,
            psdu: if delimited { mpdu + DELIMITER } else { mpdu },
            reserves: msdu.to.map_or(Duration::ZERO, |_| self.duration_field(ack)),
            function,
            sequence: msdu.sequence,
            retry: msdu.retry,
            packet: msdu.packet,
        }
    }

    /// The data frame of a full-duplex access point to a station while it receives from another. If
    /// the two nodes send to each other, it is as all others between them.
    pub(crate) fn secondary(&self, function: usize, msdu: &Msdu, primary: u32) -> Frame {
        let data = self.data(function, msdu);
        if msdu.to == Some(primary) {
            return data;
        }
        let mode = self.secondary_mode(msdu.to.expect("a station"));
        let ack = self.times.sifs() + self.airtime(&self.times.response_mode(&mode), ACK);
        Frame { mode, reserves: self.duration_field(ack), ..data }
    }

    /// The mode of secondary frames to a station while another sends.
    pub(crate) fn secondary_mode(&self, to: u32) -> Mode {
        let mode = self.link(to).mode;
        let Some(settings) = self.config.full_duplex else { return mode };
        if let Some(rate) = settings.secondary_rate {
            return self.times.standard_mode(rate).expect("a rate");
        }
        let vector = self.config.timing.standard.tx_vector();
        let of = |mcs: u32| {
            let Mode { streams, width, guard, .. } = mode;
            TxVector { mcs: mcs as u8, streams, width, guard, ..vector.expect("MCSs") }.mode()
        };
        settings.secondary_mcs.map_or(mode, |mcs| of(mcs).expect("an MCS"))
    }

    /// The bytes of a data frame up to the end of its MAC header.
    pub(crate) fn header(&self, data: &Frame) -> Bytes {
        let qos = if self.config.edca.is_some() { Bytes(2) } else { Bytes(0) };
        let delimiter = if data.mode.class == ModeClass::Vht { DELIMITER } else { Bytes(0) };
        self.config.mac_header + qos + delimiter
    }

    /// When the exchange ends in which a station's RTS, which has just been received, opens data of
    /// the station and a secondary frame: after the longer of both and the longer of both ACKs.
    pub(crate) fn both_reserve(&self, rts: &Frame, secondary: &Frame) -> Duration {
        let times = self.times;
        let cts = times.sifs() + self.airtime(&times.response_mode(&rts.mode), CTS) + times.sifs();
        let ack = |mode: &Mode| self.airtime(&times.response_mode(mode), ACK);
        let own = self.link(rts.from).mode;
        let first = rts.reserves - cts - times.sifs() - ack(&own);
        let second = self.airtime(&secondary.mode, secondary.psdu);
        let last = ack(&own).max(ack(&secondary.mode));
        self.duration_field(cts + first.max(second) + times.sifs() + last)
    }

    /// A broadcast is of the family that all can receive.
    fn data_mode(&self, msdu: &Msdu) -> Mode {
        let Some(to) = msdu.to else {
            let mut modes = self.links.iter().map(|link| link.mode);
            let dsss = modes.clone().find(|mode| mode.class.is_dsss());
            return self.times.broadcast_mode(&dsss.or(modes.next()).expect("a station"));
        };
        self.link(to).mode
    }

    fn rts(&self, data: &Frame) -> Frame {
        let times = self.times;
        let mode = times.rts_mode(&data.mode);
        let cts = times.sifs() + self.airtime(&times.response_mode(&mode), CTS);
        let rest = times.sifs() + self.airtime(&data.mode, data.psdu) + data.reserves;
        let reserves = self.duration_field(cts + rest);
        Frame { kind: FrameKind::Rts, mode, psdu: RTS, reserves, ..*data }
    }

    /// The CTS or ACK that answers a frame.
    pub(crate) fn answer(&self, to: &Frame, kind: FrameKind) -> Frame {
        let mode = self.times.response_mode(&to.mode);
        let reserves = to.reserves - (self.times.sifs() + self.airtime(&mode, ACK));
        Frame { kind, from: self.node, to: Some(to.from), mode, psdu: ACK, reserves, ..*to }
    }

    /// When the exchange that a frame begins ends, after the frame's beginning.
    pub(crate) fn exchange_time(&self, first: &Frame) -> Duration {
        self.airtime(&first.mode, first.psdu) + first.reserves
    }

    fn airtime(&self, mode: &Mode, psdu: Bytes) -> Duration {
        self.times.airtime(mode, psdu).total()
    }

    fn duration_field(&self, lasting: Duration) -> Duration {
        match self.times.durations {
            Durations::Standard => lasting,
            Durations::Ns2 => Duration((lasting.0 as f64 * 1e-3).round() as u64 * 1000),
        }
    }
}
