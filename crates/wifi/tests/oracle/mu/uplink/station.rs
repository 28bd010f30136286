//! Stations: their queues by access category, what they answer, and the timers of MU EDCA.

use super::triggered::Asked;
use super::units::{AROUND_MSDU, Kind, queue_size};
use crate::function::{Function, Hindrance};
use crate::mu::durations::DELIMITER;
use crate::mu::{Derived, dummy};
use crate::timing::Times;
use crate::workload::Workload;
use kernel::{Instant, Rng};
use std::collections::BTreeSet;
use wifi::Link;
use wifi::mac::{MuEdca, MuEdcaCategory};
use wifi::phy::{AccessCategory, Edca};

/// The queue of an access category, and its function.
pub(super) struct Queue {
    pub(super) function: Function,
    /// Number and bytes of the MPDU of those that are not acknowledged.
    pub(super) waiting: Vec<(u64, u64)>,
    /// All of its packets that have not been passed up.
    order: Vec<u64>,
    /// What the access point has of them.
    arrived: BTreeSet<u64>,
    /// What the access point knows of it.
    pub(super) known: Option<u64>,
    /// Its parameters without MU EDCA, and those of MU EDCA.
    edca: Edca,
    mu_edca: Option<MuEdcaCategory>,
    /// Until when the latter hold.
    timer: Option<Instant>,
}

pub(super) struct Station {
    pub(super) node: u32,
    /// In the order of rising priority.
    pub(super) queues: Vec<Queue>,
    pub(super) credits: i64,
    pub(super) place: usize,
    /// When it was last asked for the sizes of its queues.
    pub(super) polled: Instant,
    pub(super) noise: Rng,
    pub(super) link: Link,
    pub(super) hindrance: Hindrance,
}

/// What a station sends in answer to a Trigger frame: so many MPDUs of a category, or a `QoS` Null.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub(super) mpdus: usize,
    pub(super) category: usize,
    pub(super) arrives: bool,
}

impl Queue {
    /// The bytes of those that are not among its first MPDUs.
    pub(super) fn beside(&self, first: usize) -> u64 {
        self.waiting[first..].iter().map(|(_, mpdu)| mpdu + DELIMITER).sum()
    }

    /// The bytes of an A-MPDU of its first MPDUs.
    pub(super) fn psdu(&self, count: usize) -> u64 {
        let sizes = self.waiting.iter().take(count).map(|(_, mpdu)| DELIMITER + mpdu);
        sizes.fold(0_u64, |all, one| all.next_multiple_of(4) + one)
    }

    /// Its first MPDUs end at the access point; returns whether any arrives.
    pub(super) fn send(&mut self, mpdus: usize, loss: f64, noise: &mut Rng) -> bool {
        let mut arrives = false;
        for &(packet, _) in &self.waiting[..mpdus] {
            if !noise.chance(loss) {
                self.arrived.insert(packet);
                arrives = true;
            }
        }
        arrives
    }

    /// The access point has received some, beside which so much waits, and passes up what is in
    /// order.
    pub(super) fn hear(&mut self, now: Instant, mpdus: usize, out: &mut Derived) {
        self.known = Some(queue_size(self.beside(mpdus)));
        while let Some(first) = self.order.first().filter(|it| self.arrived.contains(it)) {
            out.delivered.push((now, 0, *first));
            self.order.remove(0);
        }
    }

    /// A BlockAck tells all that has arrived, an Ack of the first MPDU only.
    pub(super) fn acknowledge(&mut self, only_first: bool) {
        let mut nth = 0..;
        let Self { waiting, arrived, .. } = self;
        waiting.retain(|(packet, _)| {
            let is_told = !only_first || nth.next() == Some(0);
            !(is_told && arrived.contains(packet))
        });
        if waiting.is_empty() {
            self.function.queue.clear();
        }
    }

    /// Whether it does not contend.
    pub(super) fn is_muted(&self) -> bool {
        self.timer.is_some() && self.mu_edca.is_some_and(|own| own.aifsn == 0)
    }

    /// The acknowledgement of triggered data has come (clause 26.2.7).
    pub(super) fn start_timer(&mut self, now: Instant) {
        let Some(MuEdcaCategory { aifsn, cw_min, cw_max, .. }) = self.mu_edca else { return };
        self.timer = self.mu_edca.map(|own| now + own.lasts());
        self.function.parameters = Edca { aifsn, cw_min, cw_max, ..self.edca };
    }

    /// The timer ends, if it is time.
    pub(super) fn end_timer(&mut self, now: Instant) {
        if self.timer.take_if(|until| *until <= now).is_some() {
            self.function.parameters = self.edca;
            self.function.boundary = None;
        }
    }
}

impl Station {
    pub(super) fn all(workload: &Workload) -> Vec<Self> {
        let nobody = Hindrance { busy_until: Instant::ZERO, not_before: Instant::ZERO };
        let mu = workload.config.mu.as_ref().expect("OFDMA");
        let station = |(node, link): (u32, &Link)| Self {
            node,
            queues: queues(workload, node, mu.edca.as_ref()),
            credits: 0,
            place: node as usize,
            polled: Instant::ZERO,
            noise: workload.seed.stream("radio.noise", node),
            link: *link,
            hindrance: nobody,
        };
        (1..).zip(&workload.links).map(station).collect()
    }

    pub(super) fn has_packets(&self) -> bool {
        self.queues.iter().any(|queue| !queue.waiting.is_empty())
    }

    /// What the access point knows of its longest queue.
    pub(super) fn known(&self) -> Option<u64> {
        self.queues.iter().filter_map(|queue| queue.known).max()
    }

    /// What it answers, with so many MPDUs at most, and what of it arrives: the category that has
    /// won at the access point comes first, then the highest.
    pub(super) fn answer(
        &mut self,
        asked: &Asked,
        won: usize,
        frames: usize,
        noise: &mut Rng,
    ) -> Answer {
        let &Asked { kind, room, .. } = asked;
        let others = (0..self.queues.len()).rev().filter(|&category| category != won);
        for category in std::iter::once(won).chain(others).filter(|_| kind == Kind::Basic) {
            let queue = &mut self.queues[category];
            let most = frames.min(queue.waiting.len());
            let mpdus = (1..=most).take_while(|&count| queue.psdu(count) <= room).count();
            if mpdus > 0 {
                let arrives = queue.send(mpdus, self.link.data_loss, noise);
                return Answer { mpdus, category, arrives };
            }
        }
        Answer { mpdus: 0, category: won, arrives: !noise.chance(self.link.ack_loss) }
    }

    /// The access point receives an answer, which tells sizes of queues.
    pub(super) fn is_heard(&mut self, now: Instant, answer: Answer, out: &mut Derived) {
        if answer.mpdus > 0 {
            return self.queues[answer.category].hear(now, answer.mpdus, out);
        }
        self.report(answer.category);
    }

    /// A `QoS` Null tells the size of one queue, and its BSR Control which queues are not empty,
    /// the size of the highest of them, and that of all together. Any other may have all that is
    /// left (clauses 9.2.4.5.6 and 9.2.4.6a.4).
    fn report(&mut self, category: usize) {
        let sizes: Vec<u64> = self.queues.iter().map(|queue| queue.beside(0)).collect();
        let total: u64 = sizes.iter().sum();
        let factors = [16, 256, 2048, 32_768];
        let factor = factors.into_iter().find(|factor| total.div_ceil(*factor) <= 253);
        let factor = factor.expect("queues are short");
        let rounded = |size: u64| size.div_ceil(factor) * factor;
        let highest = (0..sizes.len()).rev().find(|&nth| sizes[nth] > 0);
        let own = queue_size(sizes[category]);
        let left = rounded(total) as i64
            - highest.map_or(0, |nth| rounded(sizes[nth]) as i64)
            - if highest == Some(category) { 0 } else { own as i64 };
        for (nth, queue) in self.queues.iter_mut().enumerate() {
            queue.known = Some(match sizes[nth] {
                _ if nth == category => own,
                0 => 0,
                size if Some(nth) == highest => rounded(size),
                _ => left.max(factor as i64) as u64,
            });
        }
    }

    /// The medium becomes busy, by an exchange of this category, if of any of its own.
    pub(super) fn freeze(&mut self, own: Option<usize>, times: &Times) {
        for (category, queue) in self.queues.iter_mut().enumerate() {
            if !queue.is_muted() {
                queue.function.freeze(own == Some(category), kernel::Duration::ZERO, times);
            }
        }
    }

    /// The medium is idle: its functions count slots, but for those that MU EDCA mutes.
    pub(super) fn await_boundaries(&mut self, now: Instant, times: &Times) {
        let Self { hindrance, queues, .. } = self;
        for queue in queues.iter_mut().filter(|queue| !queue.is_muted()) {
            let earliest = now.max(hindrance.not_before);
            queue.function.await_boundary(earliest, times, *hindrance);
        }
    }

    /// When its next slot begins, or a timer ends.
    pub(super) fn next(&self) -> Option<Instant> {
        let slots = self.queues.iter().filter_map(|queue| queue.function.boundary);
        slots.chain(self.queues.iter().filter_map(|queue| queue.timer)).min()
    }
}

fn queues(workload: &Workload, node: u32, mu_edca: Option<&MuEdca>) -> Vec<Queue> {
    let functions = Function::all(workload, node).into_iter().enumerate();
    functions
        .map(|(category, mut function)| {
            let own = workload.packets.iter().zip(0..);
            let own = own.filter(|(it, _)| it.node == node && it.class as usize == category);
            let waiting: Vec<(u64, u64)> =
                own.map(|(it, number)| (number, it.size.0 + AROUND_MSDU)).collect();
            function.queue.extend((!waiting.is_empty()).then(dummy));
            let of_category = |all: &MuEdca| all.of(AccessCategory::ALL[category]).copied();
            Queue {
                order: waiting.iter().map(|&(number, _)| number).collect(),
                waiting,
                arrived: BTreeSet::new(),
                known: None,
                edca: function.parameters,
                mu_edca: mu_edca.and_then(of_category),
                timer: None,
                function,
            }
        })
        .collect()
}
