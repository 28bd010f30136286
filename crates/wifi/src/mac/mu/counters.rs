//! Counters of PPDUs to several users.

use super::MuUser;
use kernel::Duration;

/// Counters of the PPDUs that an access point sends to several users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MuCounters {
    /// PPDUs to several users.
    pub ppdus: u64,
    /// The sum of the data rates of their users, in bit/s.
    pub data_rates: u64,
    /// What each node has had of them, by its number.
    pub users: Vec<UserCounters>,
    /// What becomes of RA-RUs.
    pub random: RandomAccessCounters,
}

/// What a station has had of PPDUs to several users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserCounters {
    /// PPDUs with data for the station.
    pub ppdus: u64,
    /// The sum of the tones of its resource units.
    pub tones: u64,
    /// Its MPDUs in them.
    pub mpdus: u64,
    /// Bytes up to the common end of the data in its resource units.
    pub room_bytes: u64,
    /// Those of them that are padding.
    pub padding_bytes: u64,
}

/// What Trigger frames and MU EDCA do to a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TriggerCounters {
    /// Trigger frames that ask it.
    pub asked: u64,
    /// RA-RUs in which it has sent.
    pub attempts: u64,
    /// Those in which the access point has received it.
    pub successes: u64,
    /// The time in which packets wait in an access category that does not contend: its MU EDCA
    /// timer runs, and its AIFSN is 0.
    pub muted: Duration,
    /// Such waits of single categories, from the first packet to data in answer to a Trigger frame
    /// or to the end of the timer.
    pub waits: u64,
    /// The sum of their times.
    pub waited: Duration,
}

/// What becomes of RA-RUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RandomAccessCounters {
    /// RA-RUs of all Trigger frames.
    pub offered: u64,
    /// Those in which a station has sent, or several.
    pub used: u64,
    /// Those in which several have.
    pub collided: u64,
    /// Those in which one has, and the access point has received it.
    pub received: u64,
}

impl TriggerCounters {
    /// Both together.
    pub(crate) fn plus(self, other: &Self) -> Self {
        Self {
            asked: self.asked + other.asked,
            attempts: self.attempts + other.attempts,
            successes: self.successes + other.successes,
            muted: self.muted + other.muted,
            waits: self.waits + other.waits,
            waited: self.waited + other.waited,
        }
    }
}

impl MuCounters {
    /// Of the access point and so many stations.
    pub(crate) fn of(stations: u32) -> Self {
        Self { users: vec![UserCounters::default(); stations as usize + 1], ..Self::default() }
    }

    /// All stations together.
    pub fn all(&self) -> UserCounters {
        self.users.iter().fold(UserCounters::default(), UserCounters::plus)
    }
}

impl UserCounters {
    /// Both together.
    pub(crate) fn plus(self, other: &Self) -> Self {
        Self {
            ppdus: self.ppdus + other.ppdus,
            tones: self.tones + other.tones,
            mpdus: self.mpdus + other.mpdus,
            room_bytes: self.room_bytes + other.room_bytes,
            padding_bytes: self.padding_bytes + other.padding_bytes,
        }
    }

    /// A PPDU has data for the station.
    pub(crate) fn count(&mut self, user: &MuUser) {
        self.ppdus += 1;
        self.tones += u64::from(user.ru.size.tones());
        self.mpdus += u64::from(user.mpdus());
        self.room_bytes += user.room.0;
        self.padding_bytes += user.room.0.saturating_sub(user.on_air.0);
    }
}
