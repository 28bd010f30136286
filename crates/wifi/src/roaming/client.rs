//! A station that roams: when it scans, which access point it chooses, and how it changes to it.

use super::{Roaming, Scan};
use kernel::{Dbm, Duration, Fired, Instant, Ticket, Timer};
use wire::{Authentication, Management, Null, ReassociationRequest, ReassociationResponse};

/// How often a station that waits for the end of what is on the air looks again.
const LOOK: Duration = Duration::from_micros(100);
/// For how long it waits for the end of the service of a frame, then for the answer to it, and how
/// often it sends it: as Linux 4.9 to 6.18 with a driver that reports acknowledgements
/// (`IEEE80211_AUTH_TIMEOUT_LONG`, `_SHORT` and `IEEE80211_AUTH_MAX_TRIES` in
/// `net/mac80211/mlme.c`; those of association are the same).
const SERVICE: Duration = Duration::from_millis(500);
const ANSWER: Duration = Duration::from_millis(100);
const TRIES: u32 = 3;
/// When a Null frame that was not acknowledged is sent again, as in Linux.
const AGAIN: Duration = Duration::from_millis(10);
/// The time between two scans of a station without an access point, as in `wpa_supplicant`.
const SEARCH: Duration = Duration::from_secs(5);

/// A command of a station to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Call [`Client::on_timer`] with this ticket.
    Set(Ticket),
    /// Receive and send in this channel; 0 is a channel without a cell.
    Tune(u16),
    /// Accept frames of this access point alone, and of the one before no more.
    Turn {
        /// The access point of which no frame is accepted any more.
        from: u32,
        /// The access point.
        to: u32,
    },
    /// Send this frame to this access point, before all packets.
    Send(u32, Management),
    /// The station is associated with this access point, to which all packets for it now go.
    Associated(u32),
}

/// A change of the access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// When the station was associated with the new one.
    pub at: Instant,
    /// The access point that it left.
    pub from: u32,
    /// The new one.
    pub to: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It sends and receives packets.
    Associated,
    /// A Null frame is to say that it will be away.
    Announcing,
    /// It waits for the end of what is on the air, before it leaves its channel.
    Stopping,
    /// It is in the channel of this number of its list.
    Scanning(usize),
    /// It has sent so many Authentication frames.
    Authenticating(u32),
    /// It has sent so many Reassociation Requests.
    Reassociating(u32),
    /// It is associated, and exchanges keys.
    Securing,
    /// It has found no access point, and waits for the next scan.
    Searching,
}

/// A station that roams.
#[derive(Debug)]
pub struct Client {
    rules: Roaming,
    /// The channels that it scans, in this order; 0 is one without a cell.
    channels: Vec<u16>,
    /// The access points by number, each with its channel.
    access_points: Vec<(u32, u16)>,
    state: State,
    timer: Timer,
    /// The access point with which it is or was associated.
    own: u32,
    /// The one to which it is changing.
    candidate: u32,
    /// The access point from which it accepts frames.
    turned_to: u32,
    /// It has lost its access point: it takes any other one.
    is_lost: bool,
    /// Its access point has to be told that it is back.
    is_away: bool,
    /// TBTTs of its access point since its last beacon.
    missed: u32,
    /// The signal of that beacon.
    signal: Option<Dbm>,
    last_scan: Option<Instant>,
    /// The signals that it has found in this scan.
    heard: Vec<(u32, Dbm)>,
    /// Since when it is in its present service: with its access point, or without.
    since: Instant,
    outage: Duration,
    /// The time with each of `access_points`.
    served: Vec<Duration>,
    scans: u64,
    handovers: Vec<Handover>,
}

impl Client {
    /// A station that is associated with the access point `own`. `access_points` are all of them,
    /// by number, each with its channel.
    pub fn new(rules: Roaming, own: u32, access_points: Vec<(u32, u16)>) -> Self {
        let mut channels: Vec<u16> = access_points.iter().map(|&(_, channel)| channel).collect();
        channels.sort_unstable();
        channels.dedup();
        let count = rules.scan_channels.map_or(channels.len(), |count| count as usize);
        channels.resize(count.max(channels.len()), 0);
        Self {
            rules,
            channels,
            state: State::Associated,
            timer: Timer::default(),
            own,
            candidate: own,
            turned_to: own,
            is_lost: false,
            is_away: false,
            missed: 0,
            signal: None,
            last_scan: None,
            heard: Vec::new(),
            since: Instant::ZERO,
            outage: Duration::ZERO,
            served: vec![Duration::ZERO; access_points.len()],
            access_points,
            scans: 0,
            handovers: Vec::new(),
        }
    }

    /// Its rules.
    pub fn rules(&self) -> &Roaming {
        &self.rules
    }

    /// Whether it sends packets.
    pub fn may_send(&self) -> bool {
        self.state == State::Associated
    }

    /// The access point with which it is associated; `None` while it has none.
    pub fn access_point(&self) -> Option<u32> {
        (self.own == self.turned_to && !self.is_lost).then_some(self.own)
    }

    /// The access point with which it is, or was last, associated.
    pub fn own(&self) -> u32 {
        self.own
    }

    /// The access point from which it accepts frames.
    pub fn turned_to(&self) -> u32 {
        self.turned_to
    }

    /// Whether it asks for the signals of the access points in its channel when its time there
    /// ends.
    pub fn surveys(&self) -> bool {
        matches!(self.state, State::Scanning(_)) && self.rules.scan == Scan::Active
    }

    /// The signal of the last beacon of its access point.
    pub fn signal(&self) -> Option<Dbm> {
        self.signal
    }

    /// A TBTT of an access point.
    pub fn on_tbtt(&mut self, now: Instant, access_point: u32, out: &mut Vec<Command>) {
        if access_point != self.own || self.state != State::Associated {
            return;
        }
        self.missed += 1;
        if self.missed > self.rules.beacon_losses {
            self.is_lost = true;
            self.begin_scan(now, out);
        }
    }

    /// It has received the beacon of an access point with this signal.
    pub fn on_beacon(&mut self, now: Instant, from: u32, signal: Dbm, out: &mut Vec<Command>) {
        match self.state {
            State::Scanning(_) if self.rules.scan == Scan::Passive => self.note(from, signal),
            State::Associated if from == self.own => {
                (self.missed, self.signal) = (0, Some(signal));
                let since_scan = now - self.last_scan.unwrap_or(Instant::ZERO);
                let is_due = if signal < self.rules.threshold {
                    self.last_scan.is_none() || since_scan >= self.rules.short_interval
                } else {
                    since_scan >= self.rules.long_interval
                };
                if is_due {
                    self.begin_scan(now, out);
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, from: u32, signal: Dbm) {
        self.heard.retain(|&(other, _)| other != from);
        self.heard.push((from, signal));
    }

    /// Its timer expires. `is_at_rest`: nothing of it is in service or on the air. `heard` are the
    /// signals of the access points in its channel, if [`Client::surveys`].
    pub fn on_timer(
        &mut self,
        now: Instant,
        generation: u32,
        is_at_rest: bool,
        heard: &[(u32, Dbm)],
        out: &mut Vec<Command>,
    ) {
        match self.timer.fire(generation) {
            Fired::Stale => return,
            Fired::Later(ticket) => return out.push(Command::Set(ticket)),
            Fired::Due => {}
        }
        match self.state {
            State::Stopping | State::Scanning(_) if !is_at_rest => self.wait(now + LOOK, out),
            State::Stopping => {
                self.heard.clear();
                self.scans += 1;
                self.last_scan = Some(now);
                self.visit(now, 0, out);
            }
            State::Scanning(place) => {
                for &(from, signal) in heard {
                    self.note(from, signal);
                }
                if place + 1 < self.channels.len() {
                    self.visit(now, place + 1, out);
                } else {
                    self.choose(now, out);
                }
            }
            State::Authenticating(tries) => self.authenticate(now, tries, out),
            State::Reassociating(tries) => self.reassociate(now, tries, out),
            State::Securing => self.associate(now, out),
            State::Searching => self.begin_scan(now, out),
            State::Associated if self.is_away => self.announce(false, out),
            State::Associated | State::Announcing => {}
        }
    }

    /// The service of one of its own frames has ended; `arrived` says whether it was acknowledged.
    pub fn on_sent(
        &mut self,
        now: Instant,
        frame: Management,
        arrived: bool,
        out: &mut Vec<Command>,
    ) {
        match (self.state, frame) {
            (State::Announcing, Management::Null(Null { saves_power: true })) => {
                self.state = State::Stopping;
                self.wait(now + LOOK, out);
            }
            (State::Associated, Management::Null(Null { saves_power: false })) => {
                self.is_away &= !arrived;
                if self.is_away {
                    self.wait(now + AGAIN, out);
                }
            }
            (State::Authenticating(_), Management::Authentication(_))
            | (State::Reassociating(_), Management::ReassociationRequest(_)) => {
                self.wait(now + if arrived { ANSWER } else { LOOK }, out);
            }
            _ => {}
        }
    }

    /// It has received a frame of an access point.
    pub fn on_frame(&mut self, now: Instant, from: u32, frame: Management, out: &mut Vec<Command>) {
        if from != self.candidate {
            return;
        }
        match (self.state, frame) {
            (
                State::Authenticating(_),
                Management::Authentication(Authentication { transaction: 2 }),
            ) => {
                self.reassociate(now, 0, out);
            }
            (State::Reassociating(_), Management::ReassociationResponse(ReassociationResponse)) => {
                self.state = State::Securing;
                if self.rules.authentication == Duration::ZERO {
                    self.timer.cancel();
                    self.associate(now, out);
                } else {
                    self.wait(now + self.rules.authentication, out);
                }
            }
            _ => {}
        }
    }

    fn wait(&mut self, until: Instant, out: &mut Vec<Command>) {
        out.extend(self.timer.set(until).map(Command::Set));
    }

    fn announce(&mut self, saves_power: bool, out: &mut Vec<Command>) {
        out.push(Command::Send(self.own, Management::Null(Null { saves_power })));
    }

    /// It stops to send, and scans when nothing of it is on the air.
    fn begin_scan(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.state == State::Associated {
            self.change_service(now, true);
        }
        if self.rules.announce && !self.is_lost {
            self.is_away = true;
            self.state = State::Announcing;
            self.timer.cancel();
            return self.announce(true, out);
        }
        self.state = State::Stopping;
        self.wait(now + LOOK, out);
    }

    fn visit(&mut self, now: Instant, place: usize, out: &mut Vec<Command>) {
        self.state = State::Scanning(place);
        out.push(Command::Tune(self.channels[place]));
        self.wait(now + self.rules.dwell(), out);
    }

    /// The scan ends.
    fn choose(&mut self, now: Instant, out: &mut Vec<Command>) {
        let strongest = self.heard.iter().copied();
        let strongest = strongest.reduce(|best, next| if next.1 > best.1 { next } else { best });
        let here = self.heard.iter().find(|(from, _)| *from == self.own);
        let here = here.map(|&(_, signal)| signal).or(self.signal);
        match strongest {
            None if self.is_lost => {
                self.state = State::Searching;
                self.wait(now + SEARCH, out);
            }
            Some((to, signal)) if self.is_better(to, signal, here) => {
                self.candidate = to;
                out.push(Command::Tune(self.channel_of(to)));
                out.push(Command::Turn { from: self.turned_to, to });
                self.turned_to = to;
                self.authenticate(now, 0, out);
            }
            _ => self.come_back(now, out),
        }
    }

    fn is_better(&self, to: u32, signal: Dbm, here: Option<Dbm>) -> bool {
        let gains = here.is_none_or(|here| (signal - here).0 >= self.rules.hysteresis.0);
        self.is_lost || to != self.own && gains
    }

    fn come_back(&mut self, now: Instant, out: &mut Vec<Command>) {
        out.push(Command::Tune(self.channel_of(self.own)));
        self.change_service(now, false);
        (self.state, self.missed) = (State::Associated, 0);
        self.timer.cancel();
        if self.is_away {
            self.announce(false, out);
        }
    }

    fn channel_of(&self, access_point: u32) -> u16 {
        let found = self.access_points.iter().find(|(number, _)| *number == access_point);
        found.map_or(0, |&(_, channel)| channel)
    }

    fn authenticate(&mut self, now: Instant, tries: u32, out: &mut Vec<Command>) {
        if tries == TRIES {
            return self.give_up(now, out);
        }
        self.state = State::Authenticating(tries + 1);
        out.push(Command::Send(
            self.candidate,
            Management::Authentication(Authentication { transaction: 1 }),
        ));
        self.wait(now + SERVICE, out);
    }

    fn reassociate(&mut self, now: Instant, tries: u32, out: &mut Vec<Command>) {
        if tries == TRIES {
            return self.give_up(now, out);
        }
        self.state = State::Reassociating(tries + 1);
        let frame = Management::ReassociationRequest(ReassociationRequest { current: self.own });
        out.push(Command::Send(self.candidate, frame));
        self.wait(now + SERVICE, out);
    }

    /// The access point does not answer: the station looks for any.
    fn give_up(&mut self, now: Instant, out: &mut Vec<Command>) {
        (self.is_lost, self.state) = (true, State::Stopping);
        self.wait(now + LOOK, out);
    }

    fn associate(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.candidate != self.own {
            self.handovers.push(Handover { at: now, from: self.own, to: self.candidate });
        }
        self.change_service(now, false);
        (self.own, self.is_lost, self.is_away) = (self.candidate, false, false);
        (self.state, self.missed, self.signal) = (State::Associated, 0, None);
        out.push(Command::Associated(self.own));
    }

    /// Its service by an access point ends, or its outage does.
    fn change_service(&mut self, now: Instant, is_served: bool) {
        let lasted = now - self.since;
        if is_served {
            if let Some(place) = self.place_of(self.own) {
                self.served[place] += lasted;
            }
        } else {
            self.outage += lasted;
        }
        self.since = now;
    }

    fn place_of(&self, access_point: u32) -> Option<usize> {
        self.access_points.iter().position(|(number, _)| *number == access_point)
    }

    /// The time up to now in which it could exchange no packets.
    pub fn outage(&self, now: Instant) -> Duration {
        let open = if self.may_send() { Duration::ZERO } else { now - self.since };
        self.outage + open
    }

    /// The time up to now in which it could exchange packets with each access point.
    pub fn served(&self, now: Instant) -> Vec<Duration> {
        let mut served = self.served.clone();
        if let Some(place) = self.place_of(self.own).filter(|_| self.may_send()) {
            served[place] += now - self.since;
        }
        served
    }

    /// Its scans so far.
    pub fn scans(&self) -> u64 {
        self.scans
    }

    /// Its changes of access point so far.
    pub fn handovers(&self) -> &[Handover] {
        &self.handovers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: u32 = 0;
    const NEW: u32 = 9;
    const STRONG: Dbm = Dbm(-60.0);
    const WEAK: Dbm = Dbm(-75.0);

    /// A station and its time in milliseconds, with what it has asked for since.
    struct Scene {
        client: Client,
        now: Instant,
        generation: u32,
        due: Option<Instant>,
    }

    impl Scene {
        fn new(rules: Roaming) -> Self {
            let client = Client::new(rules, OLD, vec![(OLD, 36), (NEW, 40)]);
            Self { client, now: Instant::ZERO, generation: 0, due: None }
        }

        fn take(&mut self, commands: Vec<Command>) -> Vec<Command> {
            let mut is_ticket = |command: &Command| {
                if let Command::Set(ticket) = command {
                    (self.generation, self.due) = (ticket.generation, Some(ticket.at));
                }
                matches!(command, Command::Set(_))
            };
            commands.into_iter().filter(|command| !is_ticket(command)).collect()
        }

        fn beacon(&mut self, signal: Dbm) -> Vec<Command> {
            let mut out = Vec::new();
            self.client.on_beacon(self.now, OLD, signal, &mut out);
            self.take(out)
        }

        fn sent(&mut self, frame: Management, arrived: bool) -> Vec<Command> {
            let mut out = Vec::new();
            self.client.on_sent(self.now, frame, arrived, &mut out);
            self.take(out)
        }

        fn frame(&mut self, frame: Management) -> Vec<Command> {
            let mut out = Vec::new();
            self.client.on_frame(self.now, NEW, frame, &mut out);
            self.take(out)
        }

        /// The timer expires: the station is at rest, and detects these signals.
        fn expire(&mut self, heard: &[(u32, Dbm)]) -> Vec<Command> {
            self.now = self.due.take().expect("a timer is set");
            let mut out = Vec::new();
            self.client.on_timer(self.now, self.generation, true, heard, &mut out);
            self.take(out)
        }
    }

    fn quiet() -> Roaming {
        Roaming { announce: false, ..Roaming::default() }
    }

    const AWAY: Management = Management::Null(Null { saves_power: true });
    const BACK: Management = Management::Null(Null { saves_power: false });

    #[test]
    fn a_weak_signal_begins_a_scan_and_a_strong_one_does_not() {
        let mut scene = Scene::new(Roaming::default());
        assert_eq!(scene.beacon(STRONG), []);
        assert!(scene.client.may_send());
        assert_eq!(scene.beacon(WEAK), [Command::Send(OLD, AWAY)]);
        assert!(!scene.client.may_send());
        assert_eq!(scene.sent(AWAY, true), []);
        assert_eq!(scene.expire(&[]), [Command::Tune(36)]);
        assert_eq!(scene.expire(&[(OLD, WEAK)]), [Command::Tune(40)]);
        let back = [Command::Tune(36), Command::Send(OLD, BACK)];
        assert_eq!(scene.expire(&[(NEW, Dbm(-68.0))]), back, "7 dB are too little");
        assert!(scene.client.may_send());
        assert_eq!(scene.beacon(WEAK), [], "the short interval has not passed");
        scene.now += Duration::from_secs(30);
        assert_eq!(scene.beacon(WEAK), [Command::Send(OLD, AWAY)]);
    }

    #[test]
    fn a_strong_access_point_is_scanned_for_at_the_long_interval() {
        let mut scene = Scene::new(quiet());
        scene.now = Instant::ZERO + Duration::from_secs(299);
        scene.beacon(STRONG);
        assert!(scene.client.may_send());
        scene.now += Duration::from_secs(1);
        scene.beacon(STRONG);
        assert!(!scene.client.may_send());
    }

    /// A station that has scanned and found a stronger access point.
    fn changing(rules: Roaming) -> Scene {
        let mut scene = Scene::new(rules);
        scene.beacon(WEAK);
        scene.expire(&[]);
        scene.expire(&[(OLD, WEAK)]);
        let request =
            Command::Send(NEW, Management::Authentication(Authentication { transaction: 1 }));
        let turn = Command::Turn { from: OLD, to: NEW };
        let commands = scene.expire(&[(NEW, Dbm(-67.0))]);
        assert_eq!(commands, [Command::Tune(40), turn, request]);
        assert_eq!(scene.client.access_point(), None);
        scene
    }

    #[test]
    fn a_handover_is_two_pairs_of_frames() {
        let mut scene = changing(quiet());
        let request = Management::ReassociationRequest(ReassociationRequest { current: OLD });
        assert_eq!(
            scene.sent(Management::Authentication(Authentication { transaction: 1 }), true),
            []
        );
        assert_eq!(
            scene.frame(Management::Authentication(Authentication { transaction: 2 })),
            [Command::Send(NEW, request)]
        );
        assert_eq!(scene.sent(request, true), []);
        let response = Management::ReassociationResponse(ReassociationResponse);
        assert_eq!(scene.frame(response), [Command::Associated(NEW)]);
        assert_eq!(scene.client.access_point(), Some(NEW));
        let at = scene.now;
        assert_eq!(scene.client.handovers(), [Handover { at, from: OLD, to: NEW }]);
        let scan = Duration::from_millis(60) + LOOK;
        assert_eq!(scene.client.outage(at), scan);
        assert_eq!(scene.client.served(at), [Duration::ZERO; 2]);
    }

    #[test]
    fn keys_are_exchanged_before_data() {
        let authentication = Duration::from_millis(70);
        let mut scene = changing(Roaming { authentication, ..quiet() });
        scene.frame(Management::Authentication(Authentication { transaction: 2 }));
        let response = scene.now;
        assert_eq!(scene.frame(Management::ReassociationResponse(ReassociationResponse)), []);
        assert!(!scene.client.may_send());
        assert_eq!(scene.expire(&[]), [Command::Associated(NEW)]);
        assert_eq!(scene.now, response + authentication);
    }

    #[test]
    fn an_access_point_that_does_not_answer_is_given_up() {
        let mut scene = changing(quiet());
        let frame = Management::Authentication(Authentication { transaction: 1 });
        let again = Command::Send(NEW, frame);
        // The first is not served, the second is not acknowledged, and the third not answered.
        let mut before = scene.now;
        assert_eq!(scene.expire(&[]), [again]);
        assert_eq!(scene.now - before, Duration::from_millis(500));
        before = scene.now;
        scene.sent(frame, false);
        assert_eq!(scene.expire(&[]), [again]);
        assert_eq!(scene.now - before, LOOK);
        before = scene.now;
        scene.sent(frame, true);
        assert_eq!(scene.expire(&[]), []);
        assert_eq!(scene.now - before, Duration::from_millis(100));
        assert_eq!(scene.expire(&[]), [Command::Tune(36)], "it scans again");
        scene.expire(&[(OLD, Dbm(-81.0))]);
        let commands = scene.expire(&[]);
        assert_eq!(
            commands[1],
            Command::Turn { from: NEW, to: OLD },
            "any one is better than none"
        );
    }

    #[test]
    fn without_beacons_the_station_looks_for_any_access_point() {
        let mut scene = Scene::new(Roaming { beacon_losses: 2, ..Roaming::default() });
        let mut out = Vec::new();
        for _ in 0..2 {
            scene.client.on_tbtt(scene.now, OLD, &mut out);
            scene.client.on_tbtt(scene.now, NEW, &mut out);
        }
        assert!(out.is_empty() && scene.client.may_send());
        scene.client.on_tbtt(scene.now, OLD, &mut out);
        assert_eq!(scene.take(out), [], "it announces nothing");
        assert!(!scene.client.may_send());
        assert_eq!(scene.expire(&[]), [Command::Tune(36)]);
        assert_eq!(scene.expire(&[]), [Command::Tune(40)]);
        let before = scene.now;
        assert_eq!(scene.expire(&[]), [], "there is none");
        assert_eq!(scene.expire(&[]), []);
        assert!(scene.now - before >= SEARCH);
        assert_eq!(scene.expire(&[]), [Command::Tune(36)]);
    }

    #[test]
    fn a_passive_scan_learns_of_beacons_alone() {
        let mut scene = Scene::new(Roaming { scan: Scan::Passive, ..quiet() });
        scene.beacon(WEAK);
        scene.expire(&[]);
        assert!(!scene.client.surveys());
        scene.expire(&[]);
        let mut out = Vec::new();
        scene.client.on_beacon(scene.now, NEW, STRONG, &mut out);
        let begun = scene.now;
        assert_eq!(scene.expire(&[])[1], Command::Turn { from: OLD, to: NEW });
        assert_eq!(scene.now - begun, Duration::from_millis(110));
    }

    #[test]
    fn a_station_waits_for_the_end_of_what_is_on_the_air() {
        let mut scene = Scene::new(quiet());
        scene.beacon(WEAK);
        scene.now = scene.due.take().unwrap();
        let mut out = Vec::new();
        scene.client.on_timer(scene.now, scene.generation, false, &[], &mut out);
        assert_eq!(scene.take(out), []);
        assert_eq!(scene.expire(&[]), [Command::Tune(36)]);
    }

    #[test]
    fn further_channels_are_without_a_cell() {
        let mut scene = Scene::new(Roaming { scan_channels: Some(4), ..quiet() });
        scene.beacon(WEAK);
        let tuned: Vec<_> = (0..4).flat_map(|_| scene.expire(&[(OLD, WEAK)])).collect();
        assert_eq!(tuned, [36, 40, 0, 0].map(Command::Tune));
    }
}
