//! The scenario keys that choose a mode with an MCS.

use super::tx_vector::fault;
use super::{Guard, Mode, ModeFault, TxVector, Width};
use settings::{Settings, said};

/// The keys that choose a mode with an MCS. Keys that are not set have defaults.
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
pub struct McsKeys {
    /// MCS of data frames in 802.11n and later, counted within a stream (802.11n may also count
    /// its 32 from 0 to 31); default the highest. Rate control uses no higher one.
    #[setting(range = 0..=31)]
    pub mcs: Option<u32>,
    /// Spatial streams; default 1.
    #[setting(range = 1..=8)]
    pub streams: Option<u32>,
    /// Bandwidth in MHz; default 20.
    #[setting(key = "width_mhz")]
    pub width: Option<Width>,
    /// Guard interval in nanoseconds: 400 or 800 in 802.11n and ac, 800, 1600 or 3200 in ax and be;
    /// default 800.
    #[setting(key = "guard_ns")]
    pub guard: Option<Guard>,
}

impl McsKeys {
    /// These keys, with those of `others` where they are not set.
    #[must_use]
    pub fn or(&self, others: &Self) -> Self {
        Self {
            mcs: self.mcs.or(others.mcs),
            streams: self.streams.or(others.streams),
            width: self.width.or(others.width),
            guard: self.guard.or(others.guard),
        }
    }

    /// The names of the keys that are set.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            self.mcs.is_some(),
            self.streams.is_some(),
            self.width.is_some(),
            self.guard.is_some(),
        ];
        Self::keys().iter().copied().zip(given).filter_map(|(key, given)| given.then_some(key))
    }

    /// The vector `like` with these keys; with MCS 0 if none is set.
    ///
    /// # Errors
    ///
    /// The MCS, if it implies another number of streams than the key.
    pub fn vector(&self, like: TxVector) -> Result<TxVector, ModeFault> {
        let narrow = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        let (mut mcs, mut streams) = (narrow(self.mcs.unwrap_or(0)), self.streams.map(narrow));
        // An MCS of 802.11n may imply the number of streams (clause 19.5).
        let counts_streams = like.class.high().is_some_and(|high| high.counts_streams);
        if counts_streams && (8..32).contains(&mcs) {
            let implied = mcs / 8 + 1;
            if streams.is_some_and(|given| given != implied) {
                let message = said!(
                    "{mcs} has {implied} streams in 802.11n [802.11-2020 19.5]",
                    "leave streams out, or count the MCS of each from 0 to 7"
                );
                return fault("mcs", message);
            }
            (mcs, streams) = (mcs % 8, Some(implied));
        }
        let (width, guard) = (self.width.unwrap_or_default(), self.guard.unwrap_or_default());
        Ok(TxVector { mcs, streams: streams.unwrap_or(1), width, guard, ..like })
    }

    /// The chosen mode and its vector.
    ///
    /// # Errors
    ///
    /// The faulty key and the reason.
    pub fn mode(&self, like: TxVector) -> Result<(Mode, TxVector), ModeFault> {
        let vector = self.vector(like)?;
        let mode = if self.mcs.is_some() { vector.mode() } else { vector.fastest() }?;
        Ok((mode, TxVector { mcs: mode.mcs, ..vector }))
    }
}
