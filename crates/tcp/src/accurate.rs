//! The handshake of ECN: which feedback both ends agree on (RFC 3168 §6.1.1, RFC 9768 §3.1).
//!
//! Accurate ECN is two further files and one option: `receiver/accurate.rs` counts marks,
//! `sender/accurate.rs` reads the counters and decides what it trusts. The option shares the place
//! of the fourth SACK block, for which a header with it has no room, so that segments are no larger
//! (`wire::AccEcn`). Data flows in one direction only: the sender counts no bytes and sends no
//! option.

use crate::Ecn;
use wire::{Ecn as Field, Flags};

/// The congestion feedback that both ends agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// None: no packet is ECN-capable.
    #[default]
    None,
    /// ECE, until CWR answers it (RFC 3168), or for each mark (RFC 8257).
    Classic,
    /// The counter ACE, and the `AccECN` option (RFC 9768).
    Accurate,
}

impl Feedback {
    /// The word for it in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Classic => "classic",
            Self::Accurate => "accurate",
        }
    }
}

/// The flags of a SYN that asks for feedback. RFC 9768 §3.1.4.1: from its second retransmission on
/// a SYN no longer asks for accurate feedback, because the path may drop such SYNs.
pub(crate) fn request(wanted: Ecn, resent: u32) -> Flags {
    match wanted {
        Ecn::Off => Flags::NONE,
        Ecn::Classic | Ecn::EachMark => Flags::ECE.and(Flags::CWR),
        Ecn::Accurate(_) if resent > 1 => Flags::NONE,
        Ecn::Accurate(_) => Flags::of_ace(0b111),
    }
}

/// What a server with this setting agrees on, given the flags of the SYN (RFC 9768 table 2).
pub(crate) fn agree(own: Ecn, syn: Flags) -> Feedback {
    match (own, syn.ace()) {
        (Ecn::Off, _) | (_, 0b000) => Feedback::None,
        (Ecn::Accurate(_), 0b011) => Feedback::Classic,
        (Ecn::Accurate(_), _) => Feedback::Accurate,
        (Ecn::Classic | Ecn::EachMark, asked) if asked & 0b011 == 0b011 => Feedback::Classic,
        (Ecn::Classic | Ecn::EachMark, _) => Feedback::None,
    }
}

/// The flags of the SYN-ACK for this agreement; with accurate feedback they tell how the SYN
/// arrived.
pub(crate) fn answer(agreed: Feedback, syn: Field) -> Flags {
    match agreed {
        Feedback::None => Flags::NONE,
        Feedback::Classic => Flags::ECE,
        Feedback::Accurate => told(syn),
    }
}

/// What a client that sent [`request`] concludes from the flags of the SYN-ACK (RFC 9768 table 2),
/// and, with accurate feedback, how its SYN arrived, if the answer tells.
pub(crate) fn conclude(own: Ecn, syn_ack: Flags) -> (Feedback, Option<Field>) {
    match (own, syn_ack.ace()) {
        (Ecn::Classic | Ecn::EachMark, _) if syn_ack.has(Flags::ECE) => (Feedback::Classic, None),
        // A server that reflects all flags knows no ECN.
        (Ecn::Off | Ecn::Classic | Ecn::EachMark, _) | (_, 0b000 | 0b111) => (Feedback::None, None),
        (_, 0b001) => (Feedback::Classic, None),
        (_, code) => (Feedback::Accurate, arrival(code)),
    }
}

/// The flags that tell how a SYN or SYN-ACK arrived (RFC 9768 table 3).
pub(crate) const fn told(field: Field) -> Flags {
    Flags::of_ace(match field {
        Field::NotCapable => 0b010,
        Field::Ect1 => 0b011,
        Field::Ect0 => 0b100,
        Field::Experienced => 0b110,
    })
}

/// How a SYN or SYN-ACK arrived, by the flags that tell it.
pub(crate) const fn arrival(code: u8) -> Option<Field> {
    match code {
        0b010 => Some(Field::NotCapable),
        0b011 => Some(Field::Ect1),
        0b100 => Some(Field::Ect0),
        0b110 => Some(Field::Experienced),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccurateEcn;

    const ACCURATE: Ecn = Ecn::Accurate(AccurateEcn { option: true, wraps: true });

    #[test]
    fn a_server_answers_by_the_table() {
        use Feedback::{Accurate, Classic, None};
        for (asked, accurate, classic) in [
            (0b000, None, None),
            (0b001, Accurate, None),
            (0b010, Accurate, None),
            (0b011, Classic, Classic),
            (0b100, Accurate, None),
            (0b101, Accurate, None),
            (0b110, Accurate, None),
            (0b111, Accurate, Classic),
        ] {
            let syn = Flags::of_ace(asked).and(Flags::SYN);
            assert_eq!(agree(ACCURATE, syn), accurate, "{asked:03b}");
            assert_eq!(agree(Ecn::Classic, syn), classic, "{asked:03b}");
            assert_eq!(agree(Ecn::EachMark, syn), classic, "{asked:03b}");
            assert_eq!(agree(Ecn::Off, syn), None, "{asked:03b}");
        }
    }

    #[test]
    fn a_client_concludes_by_the_table() {
        use Feedback::{Accurate, Classic, None as Not};
        for (answer, feedback, field) in [
            (0b000, Not, None),
            (0b001, Classic, None),
            (0b010, Accurate, Some(Field::NotCapable)),
            (0b011, Accurate, Some(Field::Ect1)),
            (0b100, Accurate, Some(Field::Ect0)),
            (0b101, Accurate, None),
            (0b110, Accurate, Some(Field::Experienced)),
            (0b111, Not, None),
        ] {
            let syn_ack = Flags::of_ace(answer).and(Flags::SYN).and(Flags::ACK);
            assert_eq!(conclude(ACCURATE, syn_ack), (feedback, field), "{answer:03b}");
            let classic = if answer & 1 == 1 { Classic } else { Not };
            assert_eq!(conclude(Ecn::Classic, syn_ack), (classic, None), "{answer:03b}");
            assert_eq!(conclude(Ecn::Off, syn_ack), (Not, None), "{answer:03b}");
        }
    }

    #[test]
    fn what_one_end_tells_the_other_understands() {
        for field in [Field::NotCapable, Field::Ect0, Field::Ect1, Field::Experienced] {
            assert_eq!(arrival(told(field).ace()), Some(field));
            let told = answer(Feedback::Accurate, field);
            assert_eq!(conclude(ACCURATE, told), (Feedback::Accurate, Some(field)));
        }
        assert_eq!(answer(Feedback::Classic, Field::Ect1), Flags::ECE);
        assert_eq!(answer(Feedback::None, Field::Ect1), Flags::NONE);
    }

    #[test]
    fn the_third_syn_no_longer_asks() {
        let asked = |resent| request(ACCURATE, resent).ace();
        assert_eq!([asked(0), asked(1), asked(2), asked(9)], [0b111, 0b111, 0, 0]);
        assert_eq!(request(Ecn::Classic, 5).ace(), 0b011);
    }
}
