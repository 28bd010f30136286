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

    /// Hands packets to the kernel at once: one, or several that [`offload::joined`] has found to
    /// belong together. A kernel that does not take several as one gets one after the other; what
    /// it does not take even then is counted.
    pub(crate) fn write(&mut self, packets: &[&[u8]]) {
        match (self.write_at_once(packets), packets) {
            (Ok(()), _) => {
                for bytes in packets {
                    count(&mut self.report.received, bytes.len());
                }
            }
            (Err(_), [_]) => self.report.not_written += 1,
            (Err(_), _) => packets.chunks(1).for_each(|one| self.write(one)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offload::tests::{HEADERS, segment};
    use rustix::net::sockopt::set_socket_send_buffer_size;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn what_the_kernel_does_not_take_as_one_is_written_one_by_one() {
        const ACK: u8 = 0x10;
        let (own, other) = UnixDatagram::pair().expect("there are sockets");
        for end in [&own, &other] {
            end.set_nonblocking(true).expect("it is a socket");
        }
        // The least buffer that there is: the socket takes messages of some 4 kB.
        set_socket_send_buffer_size(&own, 1).expect("the least is taken instead");
        let mut port = Port::new("phone".to_owned(), File::from(OwnedFd::from(own)));
        let read = || other.recv(&mut vec![0; BUFFER]).ok();
        let mut write = |data: u32, number: u32| {
            let packets: Vec<Vec<u8>> =
                (0..number).map(|n| segment(n * data, ACK, &vec![7; data as usize])).collect();
            port.write(&packets.iter().map(Vec::as_slice).collect::<Vec<_>>());
            (port.report.received[0], port.report.not_written)
        };
        assert_eq!(write(100, 3), (3, 0));
        assert_eq!([read(), read()], [Some(HEADER + HEADERS + 300), None], "three as one");
        // The buffer has room for the first of them, at least.
        let (received, not_written) = write(1448, 4);
        assert!(received > 3 && received + not_written == 7, "{received}, {not_written}");
        assert_eq!(read(), Some(HEADER + HEADERS + 1448));
    }
}
