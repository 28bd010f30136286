//! The ports of an emulation: where packets of programs enter and leave.

use crate::offload::{self, Burst, HEADER, Joined};
use std::fs::File;
use std::io::{self, Read, Write};
use wire::{RealPacket, Unreadable};

/// The largest IP packet that enters the network, in bytes: that of an 802.11 network with an
/// Ethernet behind it.
pub const MTU: u16 = 1500;
/// The most that a TUN interface hands over at once.
pub(crate) const BUFFER: usize = HEADER + 65_535;

/// Why a packet of a program did not enter the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// It is not IPv4.
    NotIpv4,
    /// Its header is cut off, or says another length.
    Malformed,
    /// It is a fragment.
    Fragment,
    /// It goes to a group or to all.
    Multicast,
    /// It has more bytes than the network carries; the program's kernel is told so by ICMP.
    TooLarge,
    /// Its source is not the address of the port.
    WrongSource,
    /// No port has its destination.
    NoSuchPort,
    /// The packets in the network have taken all the memory.
    NoMemory,
}

impl Refusal {
    /// All reasons, in their order.
    pub const ALL: [Self; 8] = [
        Self::NotIpv4,
        Self::Malformed,
        Self::Fragment,
        Self::Multicast,
        Self::TooLarge,
        Self::WrongSource,
        Self::NoSuchPort,
        Self::NoMemory,
    ];

    /// The key in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotIpv4 => "not_ipv4",
            Self::Malformed => "malformed",
            Self::Fragment => "fragment",
            Self::Multicast => "multicast",
            Self::TooLarge => "too_large",
            Self::WrongSource => "wrong_source",
            Self::NoSuchPort => "no_such_port",
            Self::NoMemory => "no_memory",
        }
    }

    /// What a report says of such packets.
    pub fn label(self) -> &'static str {
        match self {
            Self::NotIpv4 => "not IPv4",
            Self::Malformed => "malformed",
            Self::Fragment => "fragments",
            Self::Multicast => "multicast or broadcast",
            Self::TooLarge => "larger than the network carries",
            Self::WrongSource => "from another address than the port's",
            Self::NoSuchPort => "to an address that no port has",
            Self::NoMemory => "beyond the memory for packets in the network",
        }
    }
}

/// What a port has carried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortReport {
    /// Its name.
    pub name: String,
    /// Packets and bytes that entered the network.
    pub sent: [u64; 2],
    /// Packets and bytes that left it.
    pub received: [u64; 2],
    /// Packets of the program that did not enter, by reason in the order of [`Refusal::ALL`].
    pub refused: [u64; Refusal::ALL.len()],
    /// Packets that the kernel did not take.
    pub not_written: u64,
}

/// A port.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) tun: File,
    pub(crate) address: [u8; 4],
    pub(crate) report: PortReport,
}

impl Port {
    pub(crate) fn new(name: String, tun: File) -> Self {
        Self { tun, address: [0; 4], report: PortReport { name, ..PortReport::default() } }
    }

    /// Reads what the kernel sends next, if there is anything.
    pub(crate) fn read<'a>(&mut self, buffer: &'a mut [u8]) -> io::Result<Option<Burst<'a>>> {
        match self.tun.read(buffer) {
            Ok(len) => Ok(Burst::new(&mut buffer[..len])),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands packets to the kernel at once, which may not take them: one, or several that
    /// [`offload::joined`] has found to belong together.
    pub(crate) fn write(&mut self, packets: &[&[u8]]) {
        match self.write_at_once(packets) {
            Ok(()) => {
                for bytes in packets {
                    count(&mut self.report.received, bytes.len());
                }
            }
            Err(_) => self.report.not_written += packets.len() as u64,
        }
    }

    /// A TUN interface takes all that is written at once, or nothing.
    fn write_at_once(&mut self, packets: &[&[u8]]) -> io::Result<()> {
        let joined = Joined::new(packets);
        self.tun.write_vectored(&joined.slices(packets)).map(|_| ())
    }

    /// Notes that a packet does not enter, and tells the kernel of one that is too large.
    pub(crate) fn refuse(&mut self, why: Refusal, bytes: &[u8]) {
        self.report.refused[why as usize] += 1;
        if why == Refusal::TooLarge && RealPacket::is_never_fragmented(bytes) {
            // A kernel that does not take it goes on as if it was lost.
            let _ = self.write_at_once(&[&offload::too_large(bytes, MTU)]);
        }
    }

    pub(crate) fn note_sent(&mut self, len: usize) {
        count(&mut self.report.sent, len);
    }

    /// What a packet of this port says, or why it may not enter.
    pub(crate) fn examine(&self, bytes: &[u8]) -> Result<RealPacket, Refusal> {
        let packet = RealPacket::read(bytes, bytes.len()).map_err(|fault| match fault {
            Unreadable::NotIpv4 => Refusal::NotIpv4,
            Unreadable::Truncated => Refusal::Malformed,
        })?;
        match () {
            () if packet.is_multicast() => Err(Refusal::Multicast),
            () if packet.is_fragment => Err(Refusal::Fragment),
            () if packet.from != self.address => Err(Refusal::WrongSource),
            () if packet.len > u32::from(MTU) => Err(Refusal::TooLarge),
            () => Ok(packet),
        }
    }
}

fn count([packets, bytes]: &mut [u64; 2], len: usize) {
    *packets += 1;
    *bytes += len as u64;
}
