//! Checks what precedes exchanges with several stations: an MU-RTS and the CTSs of all of them.

use super::rule::rule;
use super::timing::Times;
use kernel::{Duration, Instant};
use wifi::MacConfig;
use wifi::mac::{Exchange, MuProtection, TriggerKind};
use wire::FrameKind;

/// What may be protected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opened {
    /// When the PPDU begins, or the Trigger frame.
    pub(super) first: Instant,
    /// Those that it is for, or that it asks.
    pub(super) stations: usize,
    /// It is not the first exchange of its TXOP.
    pub(super) goes_on: bool,
}

/// Nothing, or an MU-RTS, SIFS, CTSs and SIFS (802.11ax-2021 clause 26.2.6).
pub(super) fn check(mac: &MacConfig, times: &Times, exchange: &Exchange, of: &Opened) {
    let now = exchange.start;
    let detail = || format!("{exchange:?}");
    let protects = mac.mu.as_ref().is_some_and(|mu| mu.protection == MuProtection::MuRts);
    let is_open = of.first > now;
    rule(now, is_open || of.first == now, "an exchange begins with its first frame", detail);
    let needs = protects && !of.goes_on && of.stations > 0;
    rule(now, is_open || !needs, "an MU-RTS precedes an access for several stations", detail);
    if !is_open {
        return;
    }
    rule(now, protects, "only with protection there is an MU-RTS", detail);
    let mut steps = exchange.steps();
    let (Some(request), Some(cts)) = (steps.next(), steps.next()) else {
        return rule(now, false, "CTSs answer an MU-RTS", detail);
    };
    let kinds = (request.kind, cts.kind) == (FrameKind::Trigger, FrameKind::Cts);
    rule(now, kinds, "CTSs answer an MU-RTS", detail);
    let in_time = request.start == now
        && cts.start == request.end() + times.sifs()
        && of.first == cts.end() + times.sifs();
    rule(now, in_time, "frames of an exchange are a SIFS apart", detail);
    // 14 bytes at 6 Mb/s.
    let lasts = cts.airtime.total() - cts.airtime.extension == Duration::from_micros(44);
    rule(now, lasts, "a CTS that answers an MU-RTS has 6 Mb/s", detail);
    let bits = TriggerKind::MuRts.bytes(of.stations as u64).bits() as f64;
    let carried = request.airtime.payload.as_secs_f64() * 54e6;
    rule(now, carried >= bits, "an MU-RTS has a User Info for each station", detail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use kernel::{Bytes, Seed};
    use wifi::{Cell, Command, Link, NoMsduSource};
    use wire::{Body, Datagram, FlowId, NodeId, Packet};

    /// The exchange of an access point with one station, which has a PPDU of several users.
    fn begun(protection: &str) -> (MacConfig, Exchange, Opened) {
        let text = format!(
            "standard = '11ax'\nstations = 1\n[wlan]\nmcs = 7\n[wlan.mu]\nmin_users = 1\n\
             protection = '{protection}'\n[[flows]]\nfrom = 'ap'\nto = 'sta*'\n"
        );
        let plan = Scenario::parse(&text).expect("a scenario").resolve().expect("a plan");
        let link = Link { mode: plan.stations[0].down.mode(), data_loss: 0.0, ack_loss: 0.0 };
        let seed = Seed { root: 1, replication: 0 };
        let mut cell = Cell::new(plan.wlan.clone(), vec![link], &seed);
        let body = Body::Datagram(Datagram { flow: FlowId(0), number: 0, len: 1000, stream: 0 });
        let to = Some(NodeId(1));
        let packet = Packet::new(NodeId(0), to, Bytes(1028), Instant::ZERO, body);
        let mut out = Vec::new();
        cell.on_packet(Instant(1_000_000), 0, &packet, Some(1), &mut out);
        let Some(Command::Access(ticket)) = out.pop() else { panic!("no access: {out:?}") };
        cell.on_access(ticket.at, ticket.generation, &mut NoMsduSource, &mut out);
        let exchange = *cell.exchange().expect("an exchange");
        let first = exchange.data().expect("data").start;
        (plan.wlan.clone(), exchange, Opened { first, stations: 1, goes_on: false })
    }

    /// What is shown to the checker after a change.
    fn show(protection: &str, change: impl Fn(&mut MacConfig, &mut Exchange, &mut Opened)) {
        let (mut mac, mut exchange, mut opened) = begun(protection);
        change(&mut mac, &mut exchange, &mut opened);
        check(&mac, &Times::of(&mac.timing), &exchange, &opened);
    }

    fn protect(mac: &mut MacConfig, how: MuProtection) {
        mac.mu.as_mut().expect("OFDMA").protection = how;
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        show("none", |_, exchange, opened| assert_eq!(exchange.start, opened.first));
        show("mu_rts", |_, exchange, _| assert_eq!(exchange.steps().count(), 3));
    }

    #[test]
    #[should_panic(expected = "an MU-RTS precedes an access for several stations")]
    fn a_missing_mu_rts_is_found() {
        show("none", |mac, _, _| protect(mac, MuProtection::MuRts));
    }

    #[test]
    fn who_goes_on_needs_none() {
        show("none", |mac, _, opened| {
            protect(mac, MuProtection::MuRts);
            opened.goes_on = true;
        });
    }

    #[test]
    #[should_panic(expected = "only with protection there is an MU-RTS")]
    fn an_mu_rts_that_nobody_wants_is_found() {
        show("mu_rts", |mac, _, _| protect(mac, MuProtection::None));
    }

    #[test]
    #[should_panic(expected = "frames of an exchange are a SIFS apart")]
    fn data_that_is_late_is_found() {
        show("mu_rts", |_, _, opened| opened.first.0 += 1);
    }

    #[test]
    #[should_panic(expected = "an exchange begins with its first frame")]
    fn data_before_its_exchange_is_found() {
        show("none", |_, exchange, _| exchange.start.0 += 1);
    }

    #[test]
    #[should_panic(expected = "CTSs answer an MU-RTS")]
    fn an_mu_rts_without_an_answer_is_found() {
        let (_, bare, _) = begun("none");
        show("mu_rts", |_, exchange, _| {
            let start = exchange.start;
            *exchange = bare;
            exchange.start = start;
        });
    }

    #[test]
    #[should_panic(expected = "an MU-RTS has a User Info for each station")]
    fn an_mu_rts_to_one_of_many_is_found() {
        show("mu_rts", |_, _, opened| opened.stations = 37);
    }
}
