//! A station that Trigger frames ask: what it answers, and what it learns of it.

use super::Node;
use super::own::{Awaited, Exchange, Own};
use crate::mac::mu::{Response, TriggeredUser, Uplink};
use crate::mac::{Bitmap, Edcaf, MuProtection, TriggerKind};
use crate::space::frame::OnAir;
use crate::space::rules::SpaceRules;
use crate::{Command, MsduSource};
use kernel::{Bytes, Instant};
use wire::FrameKind;

/// What a station has that Trigger frames may ask.
#[derive(Debug)]
pub(in crate::space) struct Responder {
    /// Those of answers to Trigger frames that ask for data; `None` if an MU-RTS alone asks it.
    uplink: Option<Uplink>,
    /// `None` while it is associated with none.
    access_point: Option<u32>,
    /// By access category, what it has told of its queue with its last PSDU, if anything.
    told: Vec<Option<Bytes>>,
    /// The basic NAV (clause 26.2.4): that which frames of other networks have set.
    basic_nav: Instant,
    /// It has sent data in answer to a Trigger frame, and does not know what has arrived.
    is_open: bool,
}

impl Responder {
    /// That of a station of this access point; `None` if nobody asks it.
    pub(super) fn of(rules: &SpaceRules, access_point: u32) -> Option<Box<Self>> {
        rules.mac.framing.aggregation?;
        let mu = rules.mac.config.mu.as_ref()?;
        let is_asked = mu.uplink.is_some() || mu.protection == MuProtection::MuRts;
        is_asked.then(|| {
            Box::new(Self {
                uplink: mu.uplink.clone(),
                access_point: Some(access_point),
                told: vec![None; rules.mac.per_node as usize],
                basic_nav: Instant::ZERO,
                is_open: false,
            })
        })
    }
}

impl Node {
    /// The access point that may trigger a station, or ask it for a CTS; `None` if nobody does.
    pub(in crate::space) fn triggered_by(&self) -> Option<u32> {
        self.responder.as_ref()?.access_point
    }

    /// A station has begun to belong to an access point, or belongs to none any more.
    pub(in crate::space) fn belong_to(&mut self, access_point: Option<u32>) {
        if let Some(responder) = &mut self.responder {
            responder.access_point = access_point;
            responder.told.fill(None);
        }
    }

    /// By access category, what a station has told of its queues.
    pub(in crate::space) fn told(&self) -> &[Option<Bytes>] {
        self.responder.as_ref().map_or(&[], |responder| &responder.told)
    }

    /// An EDCAF of a station has assembled a PSDU, which tells the size of its queue.
    pub(super) fn tell_queue(&mut self, index: usize, rules: &SpaceRules, source: &dyn MsduSource) {
        if self.responder.as_ref().is_none_or(|responder| responder.uplink.is_none()) {
            return;
        }
        let queue = self.backlog(index, false, rules, source);
        if let Some(Responder { uplink: Some(uplink), told, .. }) = self.responder.as_deref_mut() {
            told[index] = uplink.told(queue);
        }
    }

    /// What waits at an EDCAF beside the PSDU that it has assembled, or at all with a `QoS` Null.
    fn backlog(
        &self,
        index: usize,
        is_null: bool,
        rules: &SpaceRules,
        source: &dyn MsduSource,
    ) -> Bytes {
        let others = self.edcafs().enumerate().filter(|&(other, _)| other != index);
        let is_alone = others.map(|(_, edcaf)| edcaf).all(Edcaf::is_idle);
        self.edcaf(index).backlog(&rules.mac, is_null, is_alone, source)
    }

    /// A frame for others sets the NAV of a station.
    #[cold]
    #[inline(never)]
    pub(in crate::space) fn note_nav(&mut self, now: Instant, frame: &OnAir) {
        let Some(responder) = &mut self.responder else { return };
        let own = responder.access_point;
        let is_own = own.is_some_and(|own| frame.from == own || frame.to == Some(own));
        if !is_own {
            responder.basic_nav = responder.basic_nav.max(now + frame.reserves);
        }
    }

    /// Whether the basic NAV of a station has expired: the NAV that frames of its own network have
    /// set does not count.
    pub(super) fn may_answer(&self, now: Instant) -> bool {
        self.responder.as_ref().is_some_and(|responder| responder.basic_nav <= now)
    }

    /// The PPDU of a station begins that a Trigger frame of this kind asks for. `user` has what the
    /// Trigger frame allows it. Returns what it sends; `None` if nothing fits.
    pub(in crate::space) fn answer_trigger(
        &mut self,
        now: Instant,
        kind: TriggerKind,
        user: &mut TriggeredUser,
        rules: &SpaceRules,
        source: &mut dyn MsduSource,
    ) -> Option<FrameKind> {
        let responder = self.responder.as_ref()?;
        let access_point = responder.access_point?;
        user.answer_null(responder.uplink.as_ref()?.null(&rules.mac));
        if kind == TriggerKind::Basic {
            user.categories(rules.mac.per_node).any(|category| {
                let edcaf = &mut self.contenders[category as usize].edcaf;
                user.answer(now, category, edcaf, access_point, &rules.mac, source)
            });
        }
        let own = usize::from(user.category);
        match user.response {
            Response::Nothing => return None,
            Response::Null => {
                let mut queues = [Bytes::ZERO; 4];
                for (index, queue) in queues.iter_mut().enumerate().take(self.contenders.len()) {
                    *queue = self.backlog(index, true, rules, source);
                }
                if let Some(Responder { uplink: Some(uplink), told, .. }) =
                    self.responder.as_deref_mut()
                {
                    uplink.tell_in_null(user, &queues, told);
                }
            }
            Response::Request | Response::Data => {
                self.tell_queue(own, rules, source);
                self.edcaf_mut(own).psdu = user.psdu;
                self.own = Own::Sending(Exchange { edcaf: own, opened: now, txop: None });
                if let Some(responder) = &mut self.responder {
                    responder.is_open = true;
                }
            }
        }
        if user.mpdus() > 0 {
            self.counters.frames.count_data(user.rate, user.mpdus(), user.repeated);
        }
        user.kind()
    }

    /// A station has sent its answer to a Trigger frame, and waits for the Multi-STA BlockAck.
    pub(super) fn await_acknowledgement(
        &mut self,
        now: Instant,
        rules: &SpaceRules,
        frame: &OnAir,
    ) {
        if self.is_answering() {
            let (sifs, timeout) = (rules.timing().sifs(), rules.responses(&frame.mode).timeout);
            self.await_response(Awaited::after(now, FrameKind::BlockAck, sifs, timeout));
        }
    }

    /// Whether a station does not know yet what has arrived of its answer.
    pub(super) fn is_answering(&self) -> bool {
        self.responder.as_ref().is_some_and(|responder| responder.is_open)
    }

    /// A station knows what has arrived of its answer: `acked`, or nothing. Its contention window
    /// and its back-off stay as they are (clause 10.23.2.2).
    pub(super) fn end_answer(
        &mut self,
        now: Instant,
        acked: Option<&Bitmap>,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        let Some(&Exchange { edcaf, .. }) = self.own.exchange() else { return };
        if let Some(responder) = &mut self.responder {
            responder.is_open = false;
        }
        self.own = Own::Idle;
        self.exchanges = self.exchanges.wrapping_add(1);
        let (framing, settled) = (&rules.mac.framing, &mut self.settled);
        let originator = &mut self.contenders[edcaf].edcaf.originator;
        match acked {
            Some(acked) => originator.on_multi_sta(framing, now, acked, settled),
            None => originator.on_no_answer(framing, now, settled),
        }
        self.settle(out);
    }

    /// A station that a Trigger frame has asked decodes the Multi-STA BlockAck.
    pub(in crate::space) fn hear_acknowledgement(
        &mut self,
        now: Instant,
        acked: Option<&Bitmap>,
        rules: &SpaceRules,
        out: &mut Vec<Command>,
    ) {
        self.carrier.on_decoded();
        if self.is_answering() {
            self.end_answer(now, acked, rules, out);
        }
    }
}
