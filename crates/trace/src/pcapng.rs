//! A capture in pcapng (draft-ietf-opsawg-pcapng): 802.11 frames behind radiotap headers, as a
//! monitor or as each radio sees them, and the packets at both ends of wired links in Ethernet
//! frames.
//!
//! Headers are real: MAC, LLC, IPv4 and TCP, UDP or DSR with their options and checksums; payload
//! is zeros. A frame has as many bytes as the simulation counts. Where the simulation counts more
//! bytes than the headers have, zeros follow the IP packet; where it counts fewer (a SYN, whose
//! options the simulation does not count), the frame is longer.
//!
//! A packet's time is the begin of its PPDU, so that nothing is reordered; radiotap has the end.
//! Each interface has a file of its own, because Wireshark takes a segment that crosses two
//! interfaces for a retransmission. A link tells when a transmission begins only if a trace watches
//! it.

mod addresses;
mod aodv;
mod arp;
pub(crate) mod blocks;
mod ccmp;
mod checksum;
mod dot11;
mod dsr;
mod echo;
mod ip;
mod management;
mod radiotap;
mod tcp;
mod udp;

pub use self::addresses::ipv4;
use self::blocks::{Blocks, Content, ETHERNET, PacketInfo, RADIOTAP};
use self::ccmp::PacketNumbers;
use self::checksum::Crc;
use self::ip::Packets;
use self::radiotap::Reception;
use crate::{
    Frame, FrameContent, FrameKind, FrameLoss, FrameOutcome, Mpdu, Network, PacketEvent,
    PacketStep, Place, Record, Sink,
};
use kernel::{Duration, Instant};
use settings::{Choice, Settings, number};
use std::fmt::Write as _;
use std::io;
use wire::{Body, NodeId, Packet, PathId, Trigger};

/// Bytes of the FCS.
const FCS: usize = wire::FCS.0 as usize;
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
    /// Whether all interfaces are in one file; otherwise each has a file of its own. A packet
    /// crosses several interfaces, which Wireshark takes for retransmissions in one file.
    pub merged: bool,
}

/// An interface of a capture.
struct Interface {
    link: u16,
    name: String,
    description: String,
}

/// The interfaces of a capture: those of radios, and then both ends of each link.
fn interfaces(network: &Network, options: PcapngOptions) -> Vec<Interface> {
    let mut interfaces = Vec::new();
    // A radio alone has nobody to exchange frames with: the access point beside wires only.
    let radios = if network.radios.len() > 1 { &network.radios[..] } else { &[] };
    match options.interfaces {
        Interfaces::Monitor if radios.is_empty() => {}
        Interfaces::Monitor => interfaces.push(Interface {
            link: RADIOTAP,
            name: "monitor".into(),
            description: "all frames on the air".into(),
        }),
        Interfaces::Radios => interfaces.extend(radios.iter().map(|radio| Interface {
            link: RADIOTAP,
            name: radio.name.clone(),
            description: "frames that the radio sends and those for it".into(),
        })),
    }
    let name = |node: NodeId| &network.nodes[node].name[..];
    interfaces.extend(network.wires.iter().map(|wire| Interface {
        link: ETHERNET,
        name: format!("{}.{}", name(wire.from), wire.name),
        description: format!("the end of the link to {}", name(wire.to)),
    }));
    interfaces
}

/// The files of a capture, by what stands in their names before the extension: one for each
/// interface, or one.
pub fn files(network: &Network, options: PcapngOptions) -> Vec<String> {
    if options.merged {
        return vec![String::new()];
    }
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let name = |interface: Interface| {
        let plain = interface.name.replace(|letter| !is_plain(letter), "-");
        format!(".{}", plain.trim_end_matches('-'))
    };
    interfaces(network, options).into_iter().map(name).collect()
}

/// Writes a trace as a capture.
#[derive(Debug)]
pub struct Pcapng<W> {
    network: Network,
    options: PcapngOptions,
    /// The interface of link 0.
    first_link: u32,
    /// One for each file.
    blocks: Vec<Blocks<W>>,
    packets: Packets,
    numbers: PacketNumbers,
    content: Content,
    comment: String,
}

impl<W: io::Write + Send> Pcapng<W> {
    /// Begins a capture in these files, as many as [`files`] names: writes the section, the
    /// interfaces and the names of the nodes.
    pub fn new(network: Network, outs: Vec<W>, options: PcapngOptions) -> io::Result<Self> {
        let interfaces = interfaces(&network, options);
        let first_link = interfaces.len() - network.wires.len();
        let begin = begin_of_measurement(&network);
        let mut blocks: Vec<Blocks<W>> = Vec::with_capacity(outs.len());
        for (number, out) in outs.into_iter().enumerate() {
            let mut file = Blocks::new(out, options.snaplen, begin.clone());
            let program = concat!("Simoom ", env!("CARGO_PKG_VERSION"));
            file.section("simulated network", "simulated time from 1970-01-01", program)?;
            let own = if options.merged { &interfaces[..] } else { &interfaces[number..=number] };
            for Interface { link, name, description } in own {
                file.interface(*link, name, description)?;
            }
            let names = network.nodes.iter().enumerate();
            file.names(names.map(|(n, it)| (ipv4(Some(NodeId(n as u32))), it.name.as_str())))?;
            blocks.push(file);
        }
        let packets = Packets::new(&network);
        Ok(Self {
            network,
            options,
            first_link: first_link as u32,
            blocks,
            packets,
            numbers: PacketNumbers::default(),
            content: Content::default(),
            comment: String::new(),
        })
    }

    fn on_frame(&mut self, frame: &Frame) -> io::Result<()> {
        if frame.mpdus.is_empty() {
            return self.on_mpdu(frame, &[]);
        }
        let mut mpdus = frame.mpdus.chunk_by(|_, next| next.subframe.is_some_and(|it| it > 0));
        mpdus.try_for_each(|packets| self.on_mpdu(frame, packets))?;
        match &frame.content {
            FrameContent::Trigger(trigger) => self.on_mpdu(&within(frame, trigger), &[]),
            _ => Ok(()),
        }
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
            last: is_last(frame, packets),
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
            let radio = &self.network.radios[frame.from as usize];
            let addresses = &self.packets.addresses;
            dot11::data(frame, first, addresses, radio, &mut self.content.head);
            if radio.has_ccmp {
                self.numbers.header(frame, first, &mut self.content.head);
            }
            self.body(packets, start, if radio.has_ccmp { ccmp::MIC } else { 0 });
        } else if frame.kind == FrameKind::QosNull {
            dot11::null(frame, &self.packets.addresses, &mut self.content.head);
        } else {
            dot11::control(frame, &mut self.content.head);
        }
        let mut crc = Crc::START;
        crc.add(&self.content.head[start..]);
        crc.add_zeros(self.content.zeros);
        let fcs = crc.fcs();
        self.content.tail = Some(if bad_fcs { fcs.map(|byte| !byte) } else { fcs });
        self.write(interface, frame.start, flags)
    }

    /// Writes the content, with the comment, to an interface.
    fn write(&mut self, interface: u32, at: Instant, flags: u32) -> io::Result<()> {
        let (file, interface) =
            if self.options.merged { (0, interface) } else { (interface as usize, 0) };
        let info = PacketInfo { interface, at_ns: at.0, flags, comment: &self.comment };
        self.blocks[file].packet(info, &self.content)
    }

    /// Adds the packets of an MPDU that begins at `start`, the zeros of a MIC, and what the MPDU is
    /// longer than that.
    fn body(&mut self, packets: &[Mpdu], start: usize, mic: usize) {
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
        self.content.zeros += counted.saturating_sub(length).max(mic);
        if let Some(at) = length_at {
            end_subframe(head, at, self.content.zeros - mic);
        }
    }

    /// Writes a packet at an end of a link: when its transmission begins at the near end, and when
    /// it has arrived at the far end.
    fn on_link(&mut self, event: &PacketEvent, wire: u32, is_near: bool) -> io::Result<()> {
        let ends = &self.network.wires[wire as usize];
        let addresses = &self.packets.addresses;
        self.comment.clear();
        self.content.clear();
        let head = &mut self.content.head;
        head.extend(addresses.on_link(ends.to, event.packet.to));
        head.extend(addresses.on_link(ends.from, Some(event.packet.from)));
        head.extend([0x08, 0x00]);
        self.content.zeros = self.packets.write(&event.packet, event.packet_id, head);
        // The two directions of a link follow each other.
        let interface = self.first_link + if is_near { wire } else { wire ^ 1 };
        self.write(interface, event.at, if is_near { OUTBOUND } else { INBOUND })
    }

    /// Writes the comment of a frame or an MPDU that is lost.
    fn describe(&mut self, frame: &Frame, packets: &[Mpdu]) {
        let name = |radio: Option<u32>| {
            radio.map_or("all receivers", |radio| self.network.radios[radio as usize].name.as_str())
        };
        let cause = match frame.outcome {
            FrameOutcome::Lost(loss) => loss.facts().at_receiver,
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
                (PacketStep::Began, Place::Wire(wire)) => self.on_link(event, wire, true),
                (PacketStep::Crossed, Place::Wire(wire)) => self.on_link(event, wire, false),
                _ => Ok(()),
            },
            Record::Wait(_) | Record::Segment(_) | Record::Route(_) => Ok(()),
        }
    }

    fn on_path(&mut self, id: PathId, nodes: &[NodeId]) {
        self.packets.add_path(id, nodes);
    }

    fn finish(&mut self) -> io::Result<()> {
        self.blocks.iter_mut().try_for_each(Blocks::flush)
    }
}

/// Whether an MPDU is the last of its PSDU: a Trigger frame follows the packets.
fn is_last(frame: &Frame, packets: &[Mpdu]) -> bool {
    let triggers = matches!(frame.content, FrameContent::Trigger(_));
    let ends = packets.as_ptr_range().end == frame.mpdus.as_ptr_range().end;
    packets.is_empty() || ends && !triggers
}

/// The Trigger frame in the A-MPDU of a user.
fn within(frame: &Frame, trigger: &Trigger) -> Frame {
    let (kind, psdu) = (FrameKind::Trigger, trigger.kind.bytes(trigger.users.len() as u64));
    Frame { kind, psdu, mpdus: Vec::new(), ..frame.clone() }
}

/// When the measurement begins, with a comment for the first packet from then on; none if there is
/// no warm-up.
fn begin_of_measurement(network: &Network) -> Option<(Instant, String)> {
    let (from, end) = (network.measured_from, network.end);
    let s = |time: Duration| number(time.as_secs_f64());
    let before = from.since(Instant::ZERO);
    let text =
        || format!("the {} s that are measured begin at {} s", s(end.since(from)), s(before));
    (before > Duration::ZERO).then(|| (from, text()))
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
