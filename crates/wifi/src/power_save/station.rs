//! The station: when it sleeps, for what it wakes, and which frames it sends to save power.

use super::{Fetch, PowerSave};
use kernel::{Duration, Fired, Instant, Ticket, Timer};
use wire::{Beacon, Management, Null, PowerBits, PsPoll, QosNull};

/// How long after a Null frame that was not acknowledged the station announces again that it
/// sleeps, as in Linux.
const AGAIN: Duration = Duration::from_millis(10);

/// A command of a station to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Send this frame to the access point, before all packets.
    Send(Management),
    /// Call [`Station::on_timer`] with this ticket.
    Set(Ticket),
    /// A service period of its agreement, which the access point knows, begins or ends.
    Period(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It is awake, and its access point knows.
    Active,
    /// It is awake, and a Null frame is to say that it sleeps.
    Announcing,
    /// It saves power, and wakes for beacons and buffered frames.
    Saving,
    /// It is awake, and a Null frame is to say so.
    Waking,
}

/// A station that saves power.
#[derive(Debug)]
pub struct Station {
    rules: PowerSave,
    aid: u8,
    mode: Mode,
    timer: Timer,
    /// Up to when it waits for the beacon of the last TBTT.
    beacon_until: Option<Instant>,
    /// Group addressed frames follow the DTIM.
    awaits_group: bool,
    /// It has polled for a buffered frame, or a service period goes on.
    awaits_frames: bool,
    /// A service period of its agreement goes on.
    in_period: bool,
    /// Its PS-Poll or trigger frame without data is not sent yet.
    solicits: bool,
    /// It has frames to send, or one in service.
    sends: bool,
    /// Up to when `awake` counts.
    counted: Instant,
    awake: Duration,
    solicitations: u64,
    nulls: u64,
    missed: u64,
}

impl Station {
    /// A station with this AID, which is awake at the start of a run.
    pub fn new(rules: PowerSave, aid: u8) -> Self {
        Self {
            rules,
            aid,
            mode: Mode::Active,
            timer: Timer::default(),
            beacon_until: None,
            awaits_group: false,
            awaits_frames: false,
            in_period: false,
            solicits: false,
            sends: false,
            counted: Instant::ZERO,
            awake: Duration::ZERO,
            solicitations: 0,
            nulls: 0,
            missed: 0,
        }
    }

    /// Its rules.
    pub fn rules(&self) -> &PowerSave {
        &self.rules
    }

    /// Whether its data frames may be sent now.
    pub fn may_send(&self) -> bool {
        match self.mode {
            Mode::Active => true,
            Mode::Saving => match self.rules.fetch {
                Fetch::Wake(_) => false,
                Fetch::PsPoll | Fetch::Trigger(_) => true,
                Fetch::Scheduled(_) => self.in_period,
            },
            Mode::Announcing | Mode::Waking => false,
        }
    }

    /// The bits in the headers of its data frames.
    pub fn power_bits(&self) -> PowerBits {
        PowerBits::NONE.and_if(self.mode == Mode::Saving, PowerBits::POWER_MANAGEMENT)
    }

    /// Whether its receiver is on now.
    pub fn is_awake(&self, now: Instant) -> bool {
        self.is_up() || self.beacon_until.is_some_and(|until| now <= until)
    }

    /// The time for which it was awake.
    pub fn awake(&self, now: Instant) -> Duration {
        let lasting = match self.beacon_until {
            _ if self.is_up() => now - self.counted,
            Some(until) => now.min(until).since(self.counted),
            None => Duration::ZERO,
        };
        self.awake + lasting
    }

    /// PS-Polls and trigger frames without data that it sent.
    pub fn solicitations(&self) -> u64 {
        self.solicitations
    }

    /// Null frames that it sent to announce that it sleeps or wakes.
    pub fn nulls(&self) -> u64 {
        self.nulls
    }

    /// Beacons for which it waited in vain.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Whether it is awake for another reason than a beacon.
    fn is_up(&self) -> bool {
        let is_served = self.awaits_group || self.awaits_frames || self.sends;
        self.mode != Mode::Saving || is_served || self.in_period
    }

    fn count(&mut self, now: Instant) {
        self.awake = self.awake(now);
        self.counted = now;
        if !self.is_up() && self.beacon_until.is_some_and(|until| until < now) {
            self.beacon_until = None;
            self.missed += 1;
        }
    }

    /// The run begins.
    pub fn on_start(&mut self, now: Instant, out: &mut Vec<Command>) {
        if let Fetch::Scheduled(periods) = self.rules.fetch {
            self.mode = Mode::Saving;
            let begins = periods.offset == Duration::ZERO;
            return if begins { self.begin_period(now, out) } else { self.end_period(now, out) };
        }
        self.rest_later(now, out);
    }

    /// Whether it is awake at agreed times only.
    fn is_scheduled(&self) -> bool {
        matches!(self.rules.fetch, Fetch::Scheduled(_))
    }

    /// Whether it wakes for its own packets; between agreed service periods they wait.
    fn may_wake_for_own(&self) -> bool {
        self.in_period || !self.is_scheduled()
    }

    /// A service period begins.
    fn begin_period(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Fetch::Scheduled(periods) = self.rules.fetch else { return };
        self.in_period = true;
        out.extend(self.timer.set(now + periods.duration).map(Command::Set));
        out.push(Command::Period(true));
        if periods.announced {
            self.fetch(out);
        }
    }

    /// The time between service periods begins.
    fn end_period(&mut self, now: Instant, out: &mut Vec<Command>) {
        let Fetch::Scheduled(periods) = self.rules.fetch else { return };
        self.in_period = false;
        // What nobody asked for waits for the next service period, in which somebody may.
        self.sends &= !periods.triggered;
        out.extend(self.timer.set(periods.next_begin(now)).map(Command::Set));
        out.push(Command::Period(false));
    }

    /// There is traffic: a station that wakes for it stays awake.
    fn rest_later(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.mode == Mode::Active {
            let after = match self.rules.fetch {
                Fetch::Wake(timeout) => timeout,
                Fetch::PsPoll | Fetch::Trigger(_) | Fetch::Scheduled(_) => Duration::ZERO,
            };
            out.extend(self.timer.set(now + after).map(Command::Set));
        }
    }

    /// Its own packet is to be sent.
    pub fn on_packet(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.count(now);
        self.sends = self.may_wake_for_own();
        self.wake_to_send(out);
        self.rest_later(now, out);
    }

    fn wake_to_send(&mut self, out: &mut Vec<Command>) {
        if self.mode == Mode::Saving && matches!(self.rules.fetch, Fetch::Wake(_)) {
            self.announce(Mode::Waking, out);
        }
    }

    fn announce(&mut self, mode: Mode, out: &mut Vec<Command>) {
        (self.mode, self.sends) = (mode, true);
        self.nulls += 1;
        out.push(Command::Send(Management::Null(Null { saves_power: mode == Mode::Announcing })));
    }

    /// The time without traffic has passed.
    pub fn on_timer(&mut self, now: Instant, generation: u32, out: &mut Vec<Command>) {
        match self.timer.fire(generation) {
            Fired::Stale => {}
            Fired::Later(ticket) => out.push(Command::Set(ticket)),
            Fired::Due => {
                self.count(now);
                match self.mode {
                    Mode::Active if self.sends && matches!(self.rules.fetch, Fetch::Wake(_)) => {
                        self.rest_later(now, out);
                    }
                    Mode::Active => self.announce(Mode::Announcing, out),
                    Mode::Saving if self.in_period => self.end_period(now, out),
                    Mode::Saving => self.begin_period(now, out),
                    Mode::Announcing | Mode::Waking => {}
                }
            }
        }
    }

    /// A TBTT of its access point, which has had `before` of them before. Each `dtim_period`-th is
    /// a DTIM.
    pub fn on_tbtt(&mut self, now: Instant, before: u64, dtim_period: u32) {
        let listening = self.rules.listening;
        let interval = listening.listen_interval.unwrap_or(dtim_period);
        let is_dtim = before.is_multiple_of(u64::from(dtim_period));
        let listens =
            before.is_multiple_of(u64::from(interval)) || listening.receive_dtims && is_dtim;
        if self.mode == Mode::Saving && listens && !self.is_scheduled() {
            self.count(now);
            self.awaits_group = false;
            self.beacon_until = Some(now + listening.beacon_timeout);
        }
    }

    /// It may receive a beacon of its access point.
    pub fn on_beacon(&mut self, now: Instant, beacon: &Beacon, out: &mut Vec<Command>) {
        self.count(now);
        if self.mode != Mode::Saving || self.beacon_until.take().is_none() && !self.is_up() {
            return;
        }
        self.awaits_group |= beacon.dtim_count == 0 && beacon.has_group;
        self.awaits_frames = beacon.announces(self.aid) && !self.is_scheduled();
        if self.awaits_frames {
            self.fetch(out);
        }
    }

    /// Requests the frames that the access point buffers.
    fn fetch(&mut self, out: &mut Vec<Command>) {
        let request = match self.rules.fetch {
            Fetch::Wake(_) => {
                self.awaits_frames = false;
                return self.announce(Mode::Waking, out);
            }
            Fetch::PsPoll => Management::PsPoll(PsPoll { aid: self.aid }),
            Fetch::Trigger(_) | Fetch::Scheduled(_) => {
                Management::QosNull(QosNull { ends_period: false })
            }
        };
        if !self.solicits {
            (self.solicits, self.sends) = (true, true);
            self.solicitations += 1;
            out.push(Command::Send(request));
        }
    }

    /// It receives a frame that is addressed to it.
    pub fn on_frame(&mut self, now: Instant, bits: PowerBits, out: &mut Vec<Command>) {
        self.count(now);
        self.rest_later(now, out);
        let ends = match self.rules.fetch {
            Fetch::Wake(_) | Fetch::Scheduled(_) => false,
            Fetch::PsPoll => true,
            Fetch::Trigger(_) => bits.has(PowerBits::EOSP),
        };
        if self.mode == Mode::Saving && ends {
            self.awaits_frames = bits.has(PowerBits::MORE_DATA);
            if self.awaits_frames {
                self.fetch(out);
            }
        }
    }

    /// It may receive a group addressed frame.
    pub fn on_group(&mut self, now: Instant, bits: PowerBits) {
        self.count(now);
        self.awaits_group &= bits.has(PowerBits::MORE_DATA);
    }

    /// The service of its packet, or of this frame, has ended; it may have more to send.
    pub fn on_sent(
        &mut self,
        now: Instant,
        frame: Option<Management>,
        is_acknowledged: bool,
        sends: bool,
        out: &mut Vec<Command>,
    ) {
        self.count(now);
        self.sends = sends && self.may_wake_for_own();
        match frame {
            Some(Management::Null(Null { saves_power: true })) if is_acknowledged => {
                self.mode = Mode::Saving;
                if sends {
                    self.wake_to_send(out);
                }
            }
            Some(Management::Null(Null { saves_power: true })) => {
                self.mode = Mode::Active;
                out.extend(self.timer.set(now + AGAIN).map(Command::Set));
            }
            Some(Management::Null(Null { saves_power: false })) => {
                self.mode = Mode::Active;
                self.rest_later(now, out);
            }
            Some(_) => {
                self.solicits = false;
                self.awaits_frames &= is_acknowledged;
            }
            None => {
                let triggers = matches!(self.rules.fetch, Fetch::Trigger(_));
                self.awaits_frames |= triggers && is_acknowledged && self.mode == Mode::Saving;
                self.rest_later(now, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power_save::{LegacySettings, PowerSaveMode, Retrieval, TwtSettings, UApsdSettings};

    const AWAKE: Management = Management::Null(Null { saves_power: false });
    const ASLEEP: Management = Management::Null(Null { saves_power: true });
    const POLL: Management = Management::PsPoll(PsPoll { aid: 1 });
    const TRIGGER: Management = Management::QosNull(QosNull { ends_period: false });

    fn ms(at: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(at)
    }

    /// What a station does by these events, which stop before the first TBTT, at 200 ms.
    struct Scene {
        station: Station,
        out: Vec<Command>,
    }

    impl Scene {
        fn new(mode: &dyn PowerSaveMode) -> Self {
            let mut scene = Self { station: Station::new(mode.rules(), 1), out: Vec::new() };
            scene.station.on_start(ms(0), &mut scene.out);
            scene.time_out();
            assert_eq!(scene.sent(), [ASLEEP]);
            scene.done(100, ASLEEP, true);
            assert!(scene.sent().is_empty() && !scene.station.is_awake(ms(101)));
            scene
        }

        fn polling() -> Self {
            Self::new(&LegacySettings { retrieval: Retrieval::PsPoll, ..Default::default() })
        }

        /// Fires the timer that was set.
        fn time_out(&mut self) -> Instant {
            let Some(Command::Set(ticket)) = self.out.pop() else { panic!("no timer") };
            self.station.on_timer(ticket.at, ticket.generation, &mut self.out);
            ticket.at
        }

        fn sent(&mut self) -> Vec<Management> {
            let frame = |command| match command {
                Command::Send(frame) => Some(frame),
                Command::Set(_) | Command::Period(_) => None,
            };
            self.out.drain(..).filter_map(frame).collect()
        }

        fn done(&mut self, at: u64, frame: Management, is_acknowledged: bool) {
            self.station.on_sent(ms(at), Some(frame), is_acknowledged, false, &mut self.out);
        }

        fn beacon(&mut self, at: u64, tim: u64) -> Vec<Management> {
            let beacon = Beacon { interval: 100, dtim_period: 1, tim, ..Beacon::default() };
            self.station.on_tbtt(ms(200), 2, 1);
            self.station.on_beacon(ms(at), &beacon, &mut self.out);
            self.sent()
        }
    }

    #[test]
    fn a_station_wakes_for_what_the_tim_announces_and_sleeps_after_the_timeout() {
        let mut scene = Scene::new(&LegacySettings::default());
        assert_eq!(scene.beacon(202, 0b10), [], "for another station");
        assert_eq!(scene.station.awake(ms(300)), Duration::from_millis(102));
        assert_eq!(scene.beacon(204, 0b01), [AWAKE]);
        assert!(!scene.station.may_send());
        scene.done(205, AWAKE, true);
        assert!(scene.station.may_send());
        scene.station.on_frame(ms(230), PowerBits::NONE, &mut scene.out);
        scene.time_out();
        assert_eq!(scene.time_out(), ms(330));
        assert_eq!(scene.sent(), [ASLEEP]);
    }

    #[test]
    fn a_station_wakes_for_its_own_packet_and_not_twice() {
        let mut scene = Scene::new(&LegacySettings::default());
        scene.station.on_packet(ms(150), &mut scene.out);
        scene.station.on_packet(ms(151), &mut scene.out);
        assert_eq!(scene.sent(), [AWAKE]);
        let mut scene = Scene::polling();
        scene.station.on_packet(ms(150), &mut scene.out);
        assert_eq!(scene.sent(), []);
        assert!(scene.station.may_send() && scene.station.is_awake(ms(160)));
        assert_eq!(scene.station.power_bits(), PowerBits::POWER_MANAGEMENT);
        scene.station.on_sent(ms(160), None, true, false, &mut scene.out);
        assert!(!scene.station.is_awake(ms(161)));
    }

    #[test]
    fn what_is_not_acknowledged_changes_nothing() {
        let mut scene = Scene::new(&LegacySettings::default());
        scene.station.on_packet(ms(150), &mut scene.out);
        scene.done(151, AWAKE, true);
        scene.sent();
        scene.station.on_frame(ms(160), PowerBits::NONE, &mut scene.out);
        scene.station.announce(Mode::Announcing, &mut scene.out);
        scene.done(300, ASLEEP, false);
        assert!(scene.station.may_send());
        let mut scene = Scene::polling();
        assert_eq!(scene.beacon(201, 1), [POLL]);
        scene.done(202, POLL, false);
        assert!(!scene.station.is_awake(ms(203)), "it tries again after the next beacon");
    }

    #[test]
    fn a_poll_fetches_one_frame_and_more_data_another() {
        let mut scene = Scene::polling();
        assert_eq!(scene.beacon(201, 1), [POLL]);
        scene.done(202, POLL, true);
        scene.station.on_frame(ms(203), PowerBits::MORE_DATA, &mut scene.out);
        assert_eq!(scene.sent(), [POLL]);
        scene.done(204, POLL, true);
        assert!(scene.station.is_awake(ms(205)));
        scene.station.on_frame(ms(206), PowerBits::NONE, &mut scene.out);
        assert_eq!(scene.sent(), []);
        assert!(!scene.station.is_awake(ms(207)));
        // Up to the ACK of its first Null frame, then from the TBTT to the last frame.
        assert_eq!(scene.station.awake(ms(300)), Duration::from_millis(100 + 6));
    }

    #[test]
    fn a_service_period_lasts_until_its_end_is_announced() {
        let mut scene = Scene::new(&UApsdSettings::default());
        assert_eq!(scene.beacon(201, 1), [TRIGGER]);
        scene.done(202, TRIGGER, true);
        scene.station.on_frame(ms(203), PowerBits::MORE_DATA, &mut scene.out);
        assert!(scene.sent().is_empty() && scene.station.is_awake(ms(204)));
        scene.station.on_frame(ms(205), PowerBits::EOSP, &mut scene.out);
        assert!(!scene.station.is_awake(ms(206)));
        scene.station.on_packet(ms(210), &mut scene.out);
        scene.station.on_sent(ms(211), None, true, false, &mut scene.out);
        assert!(scene.station.is_awake(ms(212)), "its data frame is a trigger frame");
        let both = PowerBits::EOSP.and_if(true, PowerBits::MORE_DATA);
        scene.station.on_frame(ms(213), both, &mut scene.out);
        assert_eq!(scene.sent(), [TRIGGER], "the period was too short");
    }

    #[test]
    fn a_beacon_that_does_not_come_costs_the_timeout() {
        let mut scene = Scene::polling();
        scene.station.on_tbtt(ms(200), 2, 1);
        let before = scene.station.awake(ms(200));
        assert!(scene.station.is_awake(ms(210)) && !scene.station.is_awake(ms(211)));
        scene.station.on_beacon(ms(215), &Beacon { tim: 1, ..Beacon::default() }, &mut scene.out);
        assert_eq!(scene.sent(), [], "it sleeps");
        assert_eq!(scene.station.awake(ms(300)) - before, Duration::from_millis(10));
        assert_eq!(scene.station.missed(), 1);
    }

    #[test]
    fn a_station_listens_to_its_interval_and_to_dtims() {
        let listens = |listen_interval, receive_dtims, before, dtim_period| {
            let listening = crate::power_save::Listening {
                listen_interval,
                receive_dtims,
                ..Default::default()
            };
            let retrieval = Retrieval::PsPoll;
            let mut scene =
                Scene::new(&LegacySettings { retrieval, listening, ..Default::default() });
            scene.station.on_tbtt(ms(200), before, dtim_period);
            scene.station.is_awake(ms(201))
        };
        assert!(listens(None, true, 6, 3) && !listens(None, true, 7, 3));
        assert!(listens(Some(1), true, 7, 3) && listens(Some(5), true, 6, 3));
        assert!(listens(Some(5), false, 10, 3) && !listens(Some(5), false, 6, 3));
    }

    /// A station with service periods of 10.24 ms from 5 ms on, every 100 ms.
    fn scheduled(announced: bool) -> (Station, Vec<Command>) {
        let twt = TwtSettings {
            interval: Duration::from_millis(100),
            offset: Duration::from_millis(5),
            announced,
            ..TwtSettings::default()
        };
        let (mut station, mut out) = (Station::new(twt.rules(), 1), Vec::new());
        station.on_start(ms(0), &mut out);
        (station, out)
    }

    /// Fires the timer that was set, and returns when and what else the station commands.
    fn fire(station: &mut Station, out: &mut Vec<Command>) -> (Instant, Vec<Command>) {
        let is_timer = |command: &Command| matches!(command, Command::Set(_));
        let at = out.iter().position(is_timer).expect("a timer");
        let Command::Set(ticket) = out.remove(at) else { panic!("no timer") };
        out.clear();
        station.on_timer(ticket.at, ticket.generation, out);
        (ticket.at, out.iter().copied().filter(|it| !is_timer(it)).collect())
    }

    #[test]
    fn service_periods_begin_and_end_at_agreed_times() {
        let (mut station, mut out) = scheduled(false);
        assert!(!station.is_awake(ms(1)) && !station.may_send());
        assert_eq!(fire(&mut station, &mut out), (ms(5), vec![Command::Period(true)]));
        assert!(station.is_awake(ms(6)) && station.may_send());
        let end = ms(5) + Duration::from_micros(10_240);
        assert_eq!(fire(&mut station, &mut out), (end, vec![Command::Period(false)]));
        assert!(!station.is_awake(ms(20)) && !station.may_send());
        station.on_packet(ms(30), &mut Vec::new());
        assert!(!station.is_awake(ms(31)), "its packet waits");
        assert_eq!(fire(&mut station, &mut out).0, ms(105));
        assert_eq!(station.awake(ms(106)), Duration::from_micros(11_240));
    }

    #[test]
    fn an_announced_period_begins_with_a_trigger_frame() {
        let (mut station, mut out) = scheduled(true);
        let (_, commands) = fire(&mut station, &mut out);
        assert_eq!(commands, [Command::Period(true), Command::Send(TRIGGER)]);
        assert_eq!(station.solicitations(), 1);
    }
}
