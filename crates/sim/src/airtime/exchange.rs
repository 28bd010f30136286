//! The parts of an exchange with a group of stations, one after the other (802.11ax-2021 clauses
//! 26.4.4 and 26.5.2).
//!
//! What follows HE TB PPDUs waits for the end that their L-SIG announces, up to 4 µs after their
//! own: a third party knows no other. With `ns3` it does not.

use super::frames::us;
use kernel::{BitRate, Bytes, Duration};
use settings::{Json, json};
use wifi::mac::{BLOCK_ACK_REQUEST, TriggerKind, block_ack, multi_sta_block_ack, trigger_padding};
use wifi::phy::he::{GroupPpdu, HeFormat};
use wifi::phy::{Mode, Preamble, Standard, TxVector, airtime};

/// Bytes of a CTS (clause 9.3.1.3).
const CTS: Bytes = Bytes(14);

/// How an exchange with data of the access point ends.
pub(super) enum Ends {
    /// Nobody acknowledges.
    Nothing,
    /// BlockAcks and BlockAckReqs in turns.
    BarChain,
    /// A MU-BAR, and BlockAcks in these PPDUs.
    MuBar(GroupPpdu),
    /// BlockAcks in these PPDUs.
    Triggered(GroupPpdu),
}

/// What is known of the frames of an exchange besides the PPDUs of all users.
pub(super) struct GroupParts {
    pub(super) standard: &'static Standard,
    /// The MCS of each user.
    pub(super) mcs: Vec<u8>,
    /// The mode of all control frames; by default that of responses to the user's MCS.
    pub(super) control: Option<Mode>,
    pub(super) ns3: bool,
    /// Bits of the bitmap of a BlockAck.
    pub(super) bitmap: u16,
    /// Time that the padding of Trigger frames gives.
    pub(super) time_to_prepare: Duration,
}

impl GroupParts {
    /// The length of a BlockAck.
    pub(super) fn block_ack(&self) -> Bytes {
        block_ack(self.bitmap)
    }

    /// An MU-RTS to all users, and their CTSs at 6 Mb/s (clause 26.2.6): it is not padded.
    pub(super) fn mu_rts(&self, exchange: &mut Exchange) {
        let mode = self.slowest();
        let cts = self.standard.mode(BitRate::from_mbps(6.0)).unwrap_or(mode);
        let bytes = TriggerKind::MuRts.bytes(self.mcs.len() as u64);
        exchange.frame("MU-RTS Trigger", &mode, bytes);
        self.sifs(exchange);
        exchange.frame("CTSs", &cts, CTS);
        self.sifs(exchange);
    }

    /// Data of the access point and what acknowledges it.
    pub(super) fn down(&self, exchange: &mut Exchange, data: &GroupPpdu, ends: &Ends) {
        exchange.group("HE MU PPDU", HeFormat::Mu, data);
        let users = self.mcs.len() as u64;
        match ends {
            Ends::Nothing => {}
            Ends::BarChain => {
                for (nth, &mcs) in self.mcs.iter().enumerate() {
                    let mode = self.control_mode(mcs);
                    if nth > 0 {
                        self.sifs(exchange);
                        exchange.frame("BlockAckReq", &mode, BLOCK_ACK_REQUEST);
                    }
                    self.sifs(exchange);
                    exchange.frame("BlockAck", &mode, self.block_ack());
                }
            }
            Ends::MuBar(acks) => {
                self.sifs(exchange);
                self.trigger(exchange, "MU-BAR Trigger", TriggerKind::MuBar, users);
                self.responses(exchange, "BlockAcks", acks);
            }
            Ends::Triggered(acks) => self.responses(exchange, "BlockAcks", acks),
        }
    }

    /// Data of the stations, with buffer reports before if there are PPDUs for them.
    pub(super) fn up(
        &self,
        exchange: &mut Exchange,
        reports: Option<&GroupPpdu>,
        data: &GroupPpdu,
    ) {
        let users = self.mcs.len() as u64;
        if let Some(reports) = reports {
            self.trigger(exchange, "BSRP Trigger", TriggerKind::Bsrp, users);
            self.responses(exchange, "buffer reports", reports);
            self.sifs(exchange);
        }
        self.trigger(exchange, "Basic Trigger", TriggerKind::Basic, users);
        self.responses(exchange, "data", data);
        self.sifs(exchange);
        // ns-3 takes the rate of the first user.
        let first = self.mcs.first().copied().unwrap_or(0);
        let mode = if self.ns3 { self.control_mode(first) } else { self.slowest() };
        let bytes = multi_sta_block_ack(self.mcs.iter().map(|_| self.bitmap));
        exchange.frame("Multi-STA BlockAck", &mode, bytes);
    }

    /// HE TB PPDUs after a SIFS, and the wait for their announced end.
    fn responses(&self, exchange: &mut Exchange, what: &str, ppdu: &GroupPpdu) {
        self.sifs(exchange);
        exchange.group(&format!("HE TB PPDUs, {what}"), HeFormat::Tb, ppdu);
        let wait = ppdu.announced - ppdu.fields.total();
        if wait > Duration::ZERO {
            exchange.add("until the announced end", wait, &json!({}));
        }
    }

    fn trigger(&self, exchange: &mut Exchange, name: &str, kind: TriggerKind, users: u64) {
        let mode = self.slowest();
        let bytes = kind.bytes(users) + trigger_padding(&mode, self.time_to_prepare);
        exchange.frame(name, &mode, bytes);
    }

    fn sifs(&self, exchange: &mut Exchange) {
        exchange.add("SIFS", self.standard.sifs, &json!({}));
    }

    /// The mode of frames that all must decode.
    fn slowest(&self) -> Mode {
        self.control_mode(self.mcs.iter().copied().min().unwrap_or(0))
    }

    /// The mode of control frames to and from a station with this MCS (clause 10.6.6.5.2).
    fn control_mode(&self, mcs: u8) -> Mode {
        if let Some(mode) = self.control {
            return mode;
        }
        let vector = self.standard.tx_vector().expect("a standard with users has an MCS");
        let data = TxVector { mcs, ..vector }.mode().expect("one stream in 20 MHz has each MCS");
        let basic: Vec<_> = self.standard.default_basic_rates().collect();
        self.standard.response_mode(&data, &basic)
    }
}

/// The parts of an exchange so far.
pub(super) struct Exchange {
    /// Each with its name, start and duration.
    pub(super) parts: Vec<Json>,
    /// Their durations together.
    pub(super) lasts: Duration,
}

impl Exchange {
    /// An exchange after such a time of access.
    pub(super) fn after(access: Duration) -> Self {
        let mut new = Self { parts: Vec::new(), lasts: Duration::ZERO };
        if access > Duration::ZERO {
            new.add("access", access, &json!({}));
        }
        new
    }

    /// A control frame in a PPDU of its own.
    fn frame(&mut self, name: &str, mode: &Mode, bytes: Bytes) {
        let lasts = airtime(mode, Preamble::Long, bytes).total();
        let details = json!({ "rate_mbps": mode.rate.as_mbps(), "psdu_bytes": bytes.0 });
        self.add(name, lasts, &details);
    }

    fn add(&mut self, name: &str, lasts: Duration, details: &Json) {
        let mut part = json!({
            "part": name,
            "start_us": us(self.lasts),
            "duration_us": us(lasts),
        });
        for (key, value) in details.as_object().into_iter().flatten() {
            part[key] = value.clone();
        }
        self.parts.push(part);
        self.lasts += lasts;
    }

    /// The PPDUs of all users, with their fields.
    fn group(&mut self, name: &str, format: HeFormat, ppdu: &GroupPpdu) {
        let fields = &ppdu.fields;
        let mut details = json!({
            "legacy_us": us(fields.legacy),
            "sig_a_us": us(fields.sig_a),
            "sig_b_us": us(fields.sig_b),
            "stf_us": us(fields.stf),
            "ltf_us": us(fields.ltf),
            "data_us": us(fields.data),
            "packet_extension_us": us(fields.packet_extension),
            "signal_extension_us": us(fields.signal_extension),
            "symbols": ppdu.end.symbols,
            "announced_us": us(ppdu.announced),
        });
        let length = if format == HeFormat::Tb { "ul_length" } else { "l_sig_length" };
        details[length] = json!(ppdu.length);
        if let Some(sig_b) = &ppdu.sig_b {
            details["sig_b_mcs"] = json!(sig_b.mode.mcs);
            details["ru_allocation"] = json!(sig_b.allocation.as_ref().map(|told| &told.codes));
        }
        self.add(name, fields.total(), &details);
    }
}
