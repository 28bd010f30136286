//! The ports of an emulation: where packets of programs enter and leave.

use std::fs::File;
use std::io::{self, Read, Write};
use wire::{RealPacket, Unreadable};

/// The largest packet that a TUN interface hands over, and one more byte.
pub(crate) const BUFFER: usize = 65_536;

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
    /// Its source is not the address of the port.
    WrongSource,
    /// No port has its destination.
    NoSuchPort,
    /// The packets in the network have taken all the memory.
    NoMemory,
}

impl Refusal {
    /// All reasons, in their order.
    pub const ALL: [Self; 7] = [
        Self::NotIpv4,
        Self::Malformed,
        Self::Fragment,
        Self::Multicast,
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

    /// Reads the next packet, if there is one.
    pub(crate) fn read<'a>(&mut self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        match self.tun.read(buffer) {
            Ok(len) => Ok(Some(&buffer[..len])),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet to the kernel, which may not take it.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        match self.tun.write(bytes) {
            // A TUN interface takes a whole packet at once.
            Ok(len) if len == bytes.len() => count(&mut self.report.received, len),
            _ => self.report.not_written += 1,
        }
    }

    pub(crate) fn refuse(&mut self, why: Refusal) {
        self.report.refused[why as usize] += 1;
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
            () => Ok(packet),
        }
    }
}

fn count([packets, bytes]: &mut [u64; 2], len: usize) {
    *packets += 1;
    *bytes += len as u64;
}
