//! Frames that the MAC sends for itself, without an IP packet. Each kind is a file, which has all
//! of it: kind, length, what it says to readers, and its fields in a capture.

mod authentication;
mod beacon;
mod elements;
mod null;
mod power;
mod ps_poll;
mod qos_null;
mod reassociation_request;
mod reassociation_response;

pub use elements::{Capture, Rates};
pub use power::PowerBits;

use crate::{FrameKind, TrafficClass};
use kernel::Bytes;

/// MAC header and FCS of a management frame (802.11-2020 clause 9.3.3.1).
const HEADER: u64 = 24 + 4;

/// What a kind of frame is.
trait MacFrame {
    /// Its kind.
    const KIND: FrameKind;

    /// Its bytes with MAC header and FCS, in a network with these rates.
    fn length(&self, rates: Rates) -> u64;

    /// The bits by which it serves power saving.
    fn power_bits(&self) -> PowerBits {
        PowerBits::NONE
    }

    /// The field Duration/ID, where it is no duration.
    fn id(&self) -> Option<u16> {
        None
    }

    /// Appends what it says, beside its kind and the bits of power saving.
    fn tell(&self, _text: &mut String) {}

    /// Appends the fields behind the MAC header.
    fn fields(&self, _capture: &Capture, _out: &mut Vec<u8>) {}
}

/// Declares the frames: the enum of all of them, and what each file says.
macro_rules! frames {
    ($($file:ident::$Name:ident,)*) => {
        $(pub use $file::$Name;)*

        /// A frame of the MAC that carries no IP packet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Management {
            $(
                #[doc = concat!("See [`", stringify!($Name), "`].")]
                $Name($Name),
            )*
        }

        impl Management {
            /// The kind of its frame.
            pub const fn kind(&self) -> FrameKind {
                match self {
                    $(Self::$Name(_) => <$Name as MacFrame>::KIND,)*
                }
            }

            /// Its bytes with MAC header and FCS, in a network with these rates.
            pub fn length(&self, rates: Rates) -> Bytes {
                Bytes(match self {
                    $(Self::$Name(frame) => frame.length(rates),)*
                })
            }

            /// The bits by which it serves power saving.
            pub fn power_bits(&self) -> PowerBits {
                match self {
                    $(Self::$Name(frame) => frame.power_bits(),)*
                }
            }

            /// The field Duration/ID, where it is no duration.
            pub fn id(&self) -> Option<u16> {
                match self {
                    $(Self::$Name(frame) => frame.id(),)*
                }
            }

            /// Appends what it says, beside its kind and the bits of power saving.
            pub fn tell(&self, text: &mut String) {
                match self {
                    $(Self::$Name(frame) => frame.tell(text),)*
                }
            }

            /// Appends the fields behind the MAC header.
            pub fn fields(&self, capture: &Capture, out: &mut Vec<u8>) {
                match self {
                    $(Self::$Name(frame) => frame.fields(capture, out),)*
                }
            }
        }
    };
}

frames! {
    beacon::Beacon,
    null::Null,
    qos_null::QosNull,
    ps_poll::PsPoll,
    authentication::Authentication,
    reassociation_request::ReassociationRequest,
    reassociation_response::ReassociationResponse,
}

impl Management {
    /// The access category of these frames (802.11-2020 clause 10.2.3.2).
    pub const CLASS: TrafficClass = TrafficClass::Voice;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each kind.
    const EACH: [Management; 7] = [
        Management::Beacon(Beacon {
            interval: 100,
            dtim_count: 0,
            dtim_period: 1,
            tim: 0,
            has_group: false,
        }),
        Management::Null(Null { saves_power: true }),
        Management::QosNull(QosNull { ends_period: false }),
        Management::PsPoll(PsPoll { aid: 1 }),
        Management::Authentication(Authentication { transaction: 1 }),
        Management::ReassociationRequest(ReassociationRequest { current: 0 }),
        Management::ReassociationResponse(ReassociationResponse),
    ];

    #[test]
    fn the_length_of_a_frame_is_that_of_its_fields() {
        for frame in EACH {
            for rates in [Rates::Dsss, Rates::Ofdm] {
                let address = |_| [0; 6];
                let mut fields = Vec::new();
                frame
                    .fields(&Capture { rates, timestamp_us: 0, receiver: 1, address }, &mut fields);
                let header = match frame.kind() {
                    FrameKind::PsPoll => 16,
                    FrameKind::QosNull => 26,
                    _ => 24,
                };
                let length = header + fields.len() as u64 + 4;
                assert_eq!(frame.length(rates), Bytes(length), "{frame:?} {rates:?}");
            }
        }
    }

    #[test]
    fn every_frame_is_one_of_the_mac() {
        for frame in EACH {
            assert!(frame.kind().is_of_mac(), "{frame:?}");
            assert_eq!(frame.kind().facts().control & 3, 0, "protocol version 0");
        }
    }
}
