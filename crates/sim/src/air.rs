//! What stands around the medium: the queues from which it takes packets, and what observers are
//! told of it.

mod waiting;

pub(crate) use waiting::{Taken, Waiting};

use crate::medium::Medium;
use crate::notice::{Notice, Observer};
use crate::topology::{RadioId, Topology};
use kernel::{Duration, IdVec, Instant};
use net::UsedAirtime;

/// The airtime of an exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExchangeUse {
    pub(crate) by: RadioId,
    pub(crate) with: Option<RadioId>,
    pub(crate) used: Duration,
    pub(crate) arrived: bool,
}

impl ExchangeUse {
    /// Reports the airtime of a station's traffic to the queue of its access point. A collision
    /// counts with its whole duration.
    #[inline]
    pub(crate) fn report(
        self,
        topology: &Topology,
        queues: &mut IdVec<RadioId, Box<dyn net::Queue>>,
    ) {
        let Self { by, with, used, arrived } = self;
        let received = !topology.is_access_point(by);
        let (access_point, station) = match with {
            _ if !received => (by, with),
            Some(with) if arrived && topology.is_access_point(with) => (with, Some(by)),
            _ => return,
        };
        let station = station.map(|station| topology.radio(station).node);
        queues[access_point].on_airtime(&UsedAirtime { station, received, used });
    }
}

/// What of the medium is reported to observers, beyond packets and airtimes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Listening {
    /// Frames and waits.
    is_watched: bool,
    /// Events and, in space, receptions, which only the checker needs.
    is_checked: bool,
}

impl Listening {
    /// From now on, what the medium does and receptions in space are reported.
    pub(crate) fn listen(&mut self, medium: &mut Medium) {
        self.is_checked = true;
        if let Medium::Space(space) = medium {
            space.listen();
        }
    }

    /// From now on, the frames and the waits of the medium are reported.
    pub(crate) fn watch(&mut self, medium: &mut Medium) {
        self.is_watched = true;
        medium.watch();
    }

    /// Reports an event of the medium.
    #[inline]
    pub(crate) fn report(self, medium: &mut Medium, now: Instant, to: &mut impl Observer) {
        if self.is_checked {
            report_heard(medium, now, to);
        }
        if self.is_watched {
            report_watched(medium, now, to);
        }
    }

    /// Reports for whom the medium was used, where it records that.
    #[inline]
    pub(crate) fn report_use(medium: &mut Medium, now: Instant, to: &mut impl Observer) {
        if let Medium::Space(space) = medium
            && space.records_airtime()
        {
            for used in space.used_airtime() {
                to.on(now, &Notice::AirUsed { used: &used });
            }
        }
    }

    /// Waits that have lasted for this long are reported up to now, so that later records need not
    /// be held back for them.
    pub(crate) fn cut_waits(
        self,
        medium: &mut Medium,
        now: Instant,
        longest: Duration,
        to: &mut impl Observer,
    ) {
        let watched = medium.watched(now).filter(|_| self.is_watched);
        let Some((_, until)) = watched else { return };
        if now.since(until) > longest {
            medium.cut_waits(now);
        }
        report_watched(medium, now, to);
    }

    /// At the end of the run: reports what is on the air.
    pub(crate) fn close(self, medium: &mut Medium, now: Instant, to: &mut impl Observer) {
        if self.is_watched {
            medium.close_watch(now);
            report_watched(medium, now, to);
        }
    }
}

/// Reports what the medium, which is watched, has recorded.
#[cold]
fn report_watched(medium: &mut Medium, now: Instant, to: &mut impl Observer) {
    let Some((records, until)) = medium.watched(now) else { return };
    for record in &*records {
        to.on(now, &Notice::Watched { record });
    }
    to.on(now, &Notice::Complete { until });
    records.clear();
}

/// Reports an event of the medium and the receptions that it has recorded.
#[cold]
fn report_heard(medium: &mut Medium, now: Instant, to: &mut impl Observer) {
    let heard = match medium {
        Medium::Space(space) => space.take_heard(),
        Medium::Cell(_) => Vec::new(),
    };
    to.on(now, &Notice::Air { medium, heard: &heard });
}
