//! A capture in pcapng (draft-ietf-opsawg-pcapng): 802.11 frames behind radiotap headers, as a
//! monitor or as each radio sees them, and the packets of wired links in Ethernet frames.
//!
//! Headers are real: MAC, LLC, IPv4 and TCP, UDP or DSR with their options and checksums; payload
//! is zeros. A frame has as many bytes as the simulation counts. Where the simulation counts more
//! bytes than the headers have, zeros follow the IP packet; where it counts fewer (a SYN, whose
//! options the simulation does not count), the frame is longer.

mod addresses;
mod aodv;
mod arp;
mod blocks;
mod checksum;
mod dot11;
mod dsr;
mod echo;
mod ip;
mod management;
mod radiotap;
mod tcp;

use self::addresses::{ipv4, of_wired};
use self::blocks::{Blocks, Content, ETHERNET, PacketInfo, RADIOTAP};
use self::checksum::Crc;
use self::ip::Packets;
use self::radiotap::Reception;
use crate::{
    Frame, FrameLoss, FrameOutcome, Mpdu, Network, PacketEvent, PacketStep, Place, Record, Sink,
};
use settings::{Choice, Settings};
use std::fmt::Write as _;
use std::io;
use wire::{Body, NodeId, Packet, PathId};

/// Bytes of the FCS.
const FCS: usize = 4;
/// Where the length stands in the header of an A-MSDU subframe.
const SUBFRAME_LENGTH: usize = 12;
/// `epb_flags`: the packet was received, was sent, and has a wrong checksum.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;
const CRC_ERROR: u32 = 1 << 24;

/// Which interfaces capture the frames on the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Interfaces {
    /// One monitor, which captures each frame as its transmitter sent it, also a frame that its
    /// receiver lost. The comment of such a packet says why it was lost.
    #[default]
    Monitor,
    /// One interface for each radio. It captures the frames that the radio sends, the frames with
    /// its address that it receives, and, with a wrong FCS, those that it loses in a collision, to
    /// interference or to noise. It captures nothing of a frame while it transmits or receives
    /// another one, or whose signal is too weak. A broadcast stands at its transmitter only: the
    /// trace does not say which radios received it.
    Radios,
}

/// The instant that the radiotap field TSFT has, in whole microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Tsft {
    /// The end of the PPDU, which Wireshark expects (its preference `wlan_radio.tsf_at_end` is on).
    #[default]
    PpduEnd,
    /// The begin of the PSDU: "when the first bit of the MPDU arrived at the MAC" (radiotap.org).
    MpduStart,
}

/// What a capture contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[settings(name = "Pcapng")]
pub struct PcapngOptions {
    /// The interfaces of radios.
    pub interfaces: Interfaces,
    /// The most bytes of a packet in the file; 0 is all of them. Readers cannot check the FCS and
    /// the TCP checksum of a packet that is cut off; 200 keeps all headers.
    #[setting(key = "snaplen_bytes", default = 0)]
    pub snaplen: u32,
    /// The meaning of the radiotap field TSFT.
    pub tsft: Tsft,
}

/// Writes a trace as a capture.
#[derive(Debug)]
pub struct Pcapng<W> {
    network: Network,
    options: PcapngOptions,
    /// The interface of link 0.
    first_link: u32,
    blocks: Blocks<W>,
    packets: Packets,
    content: Content,
    comment: String,
}

impl<W: io::Write + Send> Pcapng<W> {
    /// Begins a capture: writes the section, the interfaces and the names of the nodes.
    pub fn new(network: Network, out: W, options: PcapngOptions) -> io::Result<Self> {
        let mut blocks = Blocks::new(out, options.snaplen);
        let program = concat!("Simoom ", env!("CARGO_PKG_VERSION"));
        blocks.section("simulated network", "simulated time from 1970-01-01", program)?;
        let first_link = match options.interfaces {
            _ if network.radios.is_empty() => 0,
            Interfaces::Monitor => {
                blocks.interface(RADIOTAP, "monitor", "all frames on the air")?;
                1
            }
            Interfaces::Radios => {
                for radio in &network.radios {
                    let description = "frames that the radio sends and those for it";
                    blocks.interface(RADIOTAP, &radio.name, description)?;
                }
                network.radios.len() as u32
            }
        };
        for wire in network.wires.iter().step_by(2) {
            blocks.interface(ETHERNET, &wire.name, "packets that reach an end of the link")?;
        }
        let names = network.nodes.iter().enumerate();
        blocks.names(names.map(|(n, it)| (ipv4(Some(NodeId(n as u32))), it.name.as_str())))?;
        let packets = Packets::new(&network);
        let (content, comment) = (Content::default(), String::new());
        Ok(Self { network, options, first_link, blocks, packets, content, comment })
    }

    fn on_frame(&mut self, frame: &Frame) -> io::Result<()> {
        if !frame.kind.has_mpdus() {
            return self.on_mpdu(frame, &[]);
        }
        let mut mpdus = frame.mpdus.chunk_by(|_, next| next.subframe.is_some_and(|it| it > 0));
        mpdus.try_for_each(|packets| self.on_mpdu(frame, packets))
    }

    /// Writes an MPDU with its packets, several in an A-MSDU, to the interfaces that capture it.
    fn on_mpdu(&mut self, frame: &Frame, packets: &[Mpdu]) -> io::Result<()> {
        self.comment.clear();
        self.describe(frame, packets);
        if self.options.interfaces == Interfaces::Monitor {
            return self.capture(frame, packets, 0, 0);
        }
        self.capture(frame, packets, frame.from, OUTBOUND)?;
        let Some(to) = frame.to.filter(|to| *to != frame.from) else { return Ok(()) };
        if frame.outcome == FrameOutcome::Received && packets.first().is_none_or(|it| it.received) {
            self.capture(frame, packets, to, INBOUND)
        } else if is_attempted(frame.outcome) {
            self.capture(frame, packets, to, INBOUND | CRC_ERROR)
        } else {
            Ok(())
        }
    }

    /// Writes an MPDU to one interface.
    fn capture(
        &mut self,
        frame: &Frame,
        packets: &[Mpdu],
        interface: u32,
        flags: u32,
    ) -> io::Result<()> {
        let bad_fcs = flags & CRC_ERROR != 0;
        let uplink = frame.to.filter(|to| self.packets.addresses.is_access_point(*to));
        // A station that changes its access point has the channel of the new one.
        let in_channel_of = uplink.unwrap_or(frame.from);
        let reception = Reception {
            tsft: self.options.tsft,
            channel_mhz: self.network.radios[in_channel_of as usize].channel_mhz,
            uplink: uplink.is_some(),
            bad_fcs,
            last: packets.as_ptr_range().end == frame.mpdus.as_ptr_range().end,
        };
        self.content.clear();
        radiotap::header(frame, reception, &mut self.content.head);
        let start = self.content.head.len();
        if let Some(first @ Mpdu { packet: Packet { body: Body::Management(of), .. }, .. }) =
            packets.first()
        {
            let addresses = &self.packets.addresses;
            management::write(frame, first, *of, addresses, &mut self.content.head);
        } else if let Some(first) = packets.first() {
            let has_qos = self.network.radios[frame.from as usize].has_qos;
            let addresses = &self.packets.addresses;
            dot11::data(frame, first, addresses, has_qos, &mut self.content.head);
            self.body(packets, start);
        } else {
            dot11::control(frame, &mut self.content.head);
        }
        let mut crc = Crc::START;
        crc.add(&self.content.head[start..]);
        crc.add_zeros(self.content.zeros);
        let fcs = crc.fcs();
        self.content.tail = Some(if bad_fcs { fcs.map(|byte| !byte) } else { fcs });
        let info = PacketInfo { interface, at_ns: frame.start.0, flags, comment: &self.comment };
        self.blocks.packet(info, &self.content)
    }

    /// Adds the packets of an MPDU that begins at `start`, and what it is longer than they are.
    fn body(&mut self, packets: &[Mpdu], start: usize) {
        let head = &mut self.content.head;
        let mut length_at = None;
        for mpdu in packets {
            // The subframe before this one, padded to a multiple of four bytes.
            if let Some(at) = length_at {
                head.resize(head.len() + self.content.zeros, 0);
                end_subframe(head, at, 0);
                let start = at - SUBFRAME_LENGTH;
                head.resize(start + (head.len() - start).next_multiple_of(4), 0);
            }
            if mpdu.subframe.is_some() {
                dot11::subframe(&mpdu.packet, &self.packets.addresses, head);
                length_at = Some(head.len());
                head.extend([0; 2]);
            }
            head.extend(dot11::llc(&mpdu.packet));
            self.content.zeros = self.packets.write(&mpdu.packet, mpdu.packet_id, head);
        }
        let length = head.len() - start + self.content.zeros + FCS;
        let counted = packets.first().map_or(0, |mpdu| mpdu.bytes.0 as usize);
        self.content.zeros += counted.saturating_sub(length);
        if let Some(at) = length_at {
            end_subframe(head, at, self.content.zeros);
        }
    }

    /// Writes a packet that has crossed a link.
    fn on_crossed(&mut self, event: &PacketEvent, wire: u32) -> io::Result<()> {
        let ends = &self.network.wires[wire as usize];
        self.content.clear();
        let head = &mut self.content.head;
        head.extend(of_wired(ends.to));
        head.extend(of_wired(ends.from));
        head.extend([0x08, 0x00]);
        self.content.zeros = self.packets.write(&event.packet, event.packet_id, head);
        let interface = self.first_link + wire / 2;
        let info = PacketInfo { interface, at_ns: event.at.0, flags: 0, comment: "" };
        self.blocks.packet(info, &self.content)
    }

    /// Writes the comment of a frame or an MPDU that is lost.
    fn describe(&mut self, frame: &Frame, packets: &[Mpdu]) {
        let name = |radio: Option<u32>| {
            radio.map_or("all receivers", |radio| self.network.radios[radio as usize].name.as_str())
        };
        let cause = match frame.outcome {
            FrameOutcome::Lost(FrameLoss::Collision) => "collision",
            FrameOutcome::Lost(FrameLoss::Interference) => "interference",
            FrameOutcome::Lost(FrameLoss::Noise) => "noise",
            FrameOutcome::Lost(FrameLoss::ReceiverTransmits) => "it transmits",
            FrameOutcome::Lost(FrameLoss::ReceiverBusy) => "it receives another frame",
            FrameOutcome::Lost(FrameLoss::TooWeak) => "the signal is too weak",
            FrameOutcome::Received if packets.first().is_some_and(|it| !it.received) => {
                "this MPDU only"
            }
            FrameOutcome::Unknown => {
                self.comment.push_str("the run ends first");
                return;
            }
            _ => return,
        };
        write!(self.comment, "lost at {}: {cause}", name(frame.to)).expect("a string has room");
        if frame.lost_to.is_some() {
            write!(self.comment, ", {} transmits", name(frame.lost_to)).expect("a string has room");
        }
    }
}

impl<W: io::Write + Send> Sink for Pcapng<W> {
    fn on(&mut self, record: &Record<'_>) -> io::Result<()> {
        match record {
            Record::Frame(frame) => self.on_frame(frame),
            Record::Packet(event) => match (event.step, event.place) {
                (PacketStep::Crossed, Place::Wire(wire)) => self.on_crossed(event, wire),
                _ => Ok(()),
            },
            Record::Wait(_) | Record::Segment(_) | Record::Route(_) => Ok(()),
        }
    }

    fn on_path(&mut self, id: PathId, nodes: &[NodeId]) {
        self.packets.add_path(id, nodes);
    }

    fn finish(&mut self) -> io::Result<()> {
        self.blocks.flush()
    }
}

/// Sets the length of the MSDU in an A-MSDU subframe, of which `zeros` bytes are still missing.
fn end_subframe(head: &mut [u8], length_at: usize, zeros: usize) {
    let length = head.len() - length_at - 2 + zeros;
    head[length_at..length_at + 2].copy_from_slice(&(length as u16).to_be_bytes());
}

/// Whether the receiver of a frame that is lost began to receive it.
fn is_attempted(outcome: FrameOutcome) -> bool {
    matches!(
        outcome,
        FrameOutcome::Received
            | FrameOutcome::Lost(FrameLoss::Collision | FrameLoss::Interference | FrameLoss::Noise)
    )
}
