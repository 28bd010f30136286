//! MU-RTS: what protects an exchange with several stations (802.11ax-2021 clause 26.2.6).
//!
//! A Trigger frame asks stations for a CTS. All of them send the same one a SIFS later, at 6 Mb/s,
//! so that the access point receives them as one. An MU-RTS is not padded, as in ns-3: the hardware
//! that prepares a CTS needs no time for data.

use crate::mac::timing::{ACK, Timing};
use crate::mac::{Step, TriggerKind};
use crate::phy::{Airtime, Mode};
use kernel::{BitRate, Bytes, Duration, Instant};
use settings::Choice;
use wire::FrameKind;

/// What precedes an HE MU PPDU or a Basic Trigger frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum MuProtection {
    /// Nothing: the standard leaves it to the access point, and ns-3 does so by default.
    #[default]
    None,
    /// An MU-RTS to all its stations and their CTSs, unless they have all answered in the same TXOP
    /// before. A BSRP goes without: its answers protect what follows, as in ns-3.
    MuRts,
}

/// An MU-RTS to several stations, and the CTSs that answer it.
#[derive(Clone, Copy, Debug)]
pub struct MuRts {
    /// Bytes of the MU-RTS.
    pub bytes: Bytes,
    /// Its mode, which all of them hear.
    pub(crate) mode: Mode,
    /// The mode of the CTSs.
    pub(crate) cts_mode: Mode,
    pub(crate) request: Airtime,
    pub(crate) cts: Airtime,
    sifs: Duration,
}

impl MuRts {
    /// An MU-RTS to so many stations, of which this is the slowest mode.
    pub(crate) fn new(timing: &Timing, slowest: &Mode, stations: usize) -> Self {
        let mode = timing.rts_mode(slowest);
        let cts_mode = timing.standard.mode(BitRate::from_mbps(6.0)).unwrap_or(mode);
        let bytes = TriggerKind::MuRts.bytes(stations as u64);
        Self {
            bytes,
            mode,
            cts_mode,
            request: timing.airtime(&mode, bytes),
            cts: timing.airtime(&cts_mode, ACK),
            sifs: timing.sifs(),
        }
    }

    /// How long after its begin what it protects begins.
    pub(crate) fn lasts(&self) -> Duration {
        self.request.total() + self.sifs + self.cts.total() + self.sifs
    }

    /// The MU-RTS and the CTSs, if it begins now.
    pub(crate) fn steps(&self, start: Instant) -> [Step; 2] {
        let request = Step { kind: FrameKind::Trigger, start, airtime: self.request };
        let start = request.end() + self.sifs;
        [request, Step { kind: FrameKind::Cts, start, airtime: self.cts }]
    }
}

/// The stations that need no MU-RTS.
#[derive(Debug)]
pub(crate) struct Protected {
    how: MuProtection,
    /// Those that have answered in the TXOP.
    stations: Vec<u32>,
}

impl Protected {
    pub(crate) fn new(how: MuProtection) -> Self {
        Self { how, stations: Vec::new() }
    }

    /// An access begins: nobody has answered yet.
    pub(crate) fn begin_access(&mut self) {
        self.stations.clear();
    }

    /// These stations have answered.
    pub(crate) fn add(&mut self, answered: impl Iterator<Item = u32>) {
        if self.how == MuProtection::MuRts {
            self.stations.extend(answered);
        }
    }

    /// The MU-RTS before an exchange with stations of which this is the slowest mode.
    pub(crate) fn opening(
        &self,
        timing: &Timing,
        slowest: &Mode,
        mut stations: impl ExactSizeIterator<Item = u32>,
    ) -> Option<MuRts> {
        let number = stations.len();
        let any = stations.any(|station| !self.stations.contains(&station));
        (self.how == MuProtection::MuRts && any).then(|| MuRts::new(timing, slowest, number))
    }
}
