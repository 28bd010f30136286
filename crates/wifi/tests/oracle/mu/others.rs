//! Up to when those defer who hear an exchange of the access point: a NAV (clauses 10.3.2.4 and
//! 26.2.4), or an EIFS after what they could not decode (10.3.2.3.7).

use kernel::Instant;

/// Those who have a part in an exchange, and all others.
#[derive(Clone, Debug, Default)]
pub(super) struct Others {
    users: Vec<User>,
    /// The NAV of who has none.
    nav: Instant,
}

#[derive(Clone, Copy, Debug)]
struct User {
    node: u32,
    nav: Instant,
    /// The end of a frame that it could not decode, after which it has decoded none.
    failed: Option<Instant>,
}

impl Others {
    /// A frame reserves the medium up to here; of each user, whether it is for it and was decoded.
    pub(super) fn of(users: impl Iterator<Item = (u32, bool)>, reserved: Instant) -> Self {
        let user = |(node, hears)| {
            let nav = if hears { Instant::ZERO } else { reserved };
            User { node, nav, failed: None }
        };
        Self { users: users.map(user).collect(), nav: reserved }
    }

    /// A frame to a user or by it reserves the medium up to here.
    pub(super) fn reserve(&mut self, party: u32, until: Instant) {
        self.nav = self.nav.max(until);
        for user in self.users.iter_mut().filter(|user| user.node != party) {
            (user.nav, user.failed) = (user.nav.max(until), None);
        }
    }

    /// A user could not decode a frame that ended here.
    pub(super) fn fail(&mut self, node: u32, end: Instant) {
        let own = self.users.iter_mut().filter(|user| user.node == node);
        own.for_each(|user| user.failed = Some(end));
    }

    /// Those of an exchange that follows.
    pub(super) fn and(self, next: Self) -> Self {
        let before = |node| self.nav_of(node);
        let mut users = next.users;
        for user in &mut users {
            user.nav = user.nav.max(before(user.node));
        }
        for user in &self.users {
            if users.iter().all(|other| other.node != user.node) {
                users.push(User { nav: user.nav.max(next.nav), failed: None, ..*user });
            }
        }
        Self { nav: self.nav.max(next.nav), users }
    }

    fn nav_of(&self, node: u32) -> Instant {
        let own = self.users.iter().find(|user| user.node == node);
        own.map_or(self.nav, |user| user.nav)
    }

    /// When the NAV of a station ends, or its EIFS but for a DIFS: this longer than that.
    pub(super) fn defers(&self, node: u32, extra: kernel::Duration) -> Instant {
        let own = self.users.iter().find(|user| user.node == node);
        let failed = own.and_then(|user| user.failed).map(|end| end + extra);
        self.nav_of(node).max(failed.unwrap_or_default())
    }
}
