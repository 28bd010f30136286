//! What the receiver of captured packets could check. It reads a capture as it is written, block by
//! block, and shares nothing with the writer.

mod air;
mod tcp;

use air::Air;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex};
use tcp::Connections;

/// What is wrong in captures, and how much was checked.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// What is wrong, with the file and the number of the packet.
    pub(crate) faults: Vec<String>,
    /// How many times each rule was applied.
    pub(crate) checked: BTreeMap<&'static str, u64>,
    /// The times to live of the packets that each interface saw, by time.
    pub(crate) hops: BTreeMap<PacketKey, Vec<(u64, u8)>>,
}

impl Findings {
    /// A packet has no more time to live than it had before.
    pub(crate) fn check_hops(&mut self) {
        for (key, seen) in &mut self.hops {
            seen.sort_by_key(|&(at_ns, _)| at_ns);
            *self.checked.entry("IP: time to live falls").or_default() += 1;
            if !seen.is_sorted_by_key(|&(_, ttl)| std::cmp::Reverse(ttl)) {
                self.faults.push(format!("{key:x?} lives longer: {seen:?}"));
            }
        }
    }
}

/// Addresses, identification, protocol, and the first bytes of the transport.
pub(crate) type PacketKey = (u32, u32, u16, u8, u64);

/// One file, which is a writer.
pub(crate) struct File {
    name: String,
    /// The address of the node, at an end of a link.
    owner: Option<u32>,
    /// The packets that this file has from each transmitter: the MAC may send one again.
    seen: BTreeSet<(PacketKey, [u8; 6])>,
    buffer: Vec<u8>,
    link: u16,
    last: u64,
    number: u64,
    air: Air,
    connections: Connections,
    findings: Arc<Mutex<Findings>>,
}

/// A packet of a file.
pub(crate) struct Captured<'a> {
    pub(crate) at_ns: u64,
    /// Whether the node of the interface has sent it, which is its source.
    pub(crate) is_own: bool,
    pub(crate) bytes: &'a [u8],
}

/// What a rule finds: its name, and what is wrong with this packet.
pub(crate) type Rules<'a> = dyn FnMut(&'static str, bool, &dyn Fn() -> String) + 'a;

impl File {
    pub(crate) fn new(name: &str, owner: Option<u32>, findings: &Arc<Mutex<Findings>>) -> Self {
        Self {
            name: name.to_owned(),
            owner,
            seen: BTreeSet::new(),
            buffer: Vec::new(),
            link: 0,
            last: 0,
            number: 0,
            air: Air::default(),
            connections: Connections::default(),
            findings: Arc::clone(findings),
        }
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        match kind {
            1 => self.link = u16_le(body, 0),
            6 => self.packet(body),
            _ => {}
        }
    }

    fn packet(&mut self, body: &[u8]) {
        self.number += 1;
        let at_ns = u64::from(u32_le(body, 4)) << 32 | u64::from(u32_le(body, 8));
        let (captured, original) = (u32_le(body, 12) as usize, u32_le(body, 16) as usize);
        let bytes = &body[20..20 + captured];
        let source = bytes.get(26..30).map(|it| u32_be(it, 0));
        let packet =
            Captured { at_ns, is_own: self.owner.is_some() && source == self.owner, bytes };
        let (name, number) = (&self.name, self.number);
        let mut findings = self.findings.lock().unwrap();
        let findings = &mut *findings;
        let (checked, faults) = (&mut findings.checked, &mut findings.faults);
        let mut rules = |rule: &'static str, holds: bool, what: &dyn Fn() -> String| {
            *checked.entry(rule).or_default() += 1;
            if !holds && faults.len() < 4 {
                faults.push(format!("{name}, packet {number} at {at_ns} ns: {rule}: {}", what()));
            }
        };
        rules("time is monotone", at_ns >= self.last, &|| format!("after {}", self.last));
        rules("packets are whole", captured == original, &|| format!("{captured} of {original}"));
        self.last = at_ns;
        let mut ips: Vec<&[u8]> = Vec::new();
        let mut transmitter = [0; 6];
        if self.link == 127 {
            transmitter = self.air.frame(&packet, &mut rules, &mut ips);
        } else if packet.bytes[12..14] == [8, 0] {
            ips.push(&packet.bytes[14..]);
        }
        for ip in ips {
            if let Some(key) = ip_packet(ip, &mut rules) {
                self.connections.segment(&packet, ip, &mut rules);
                if !self.seen.insert((key, transmitter)) {
                    continue;
                }
                findings.hops.entry(key).or_default().push((at_ns, ip[8]));
            }
        }
    }
}

impl io::Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend(bytes);
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut at = 0;
        while buffer.len() >= at + 8 {
            let (kind, total) = (u32_le(&buffer, at), u32_le(&buffer, at + 4) as usize);
            if buffer.len() < at + total {
                break;
            }
            self.block(kind, &buffer[at + 8..at + total - 4]);
            at += total;
        }
        buffer.drain(..at);
        self.buffer = buffer;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        assert!(self.buffer.is_empty(), "the last block is whole");
        Ok(())
    }
}

/// Checks the headers of an IP packet; its key, unless it is no IPv4.
fn ip_packet(ip: &[u8], rules: &mut Rules<'_>) -> Option<PacketKey> {
    if ip[0] != 0x45 {
        return None;
    }
    let length = usize::from(u16_be(ip, 2));
    rules("IP: the packet is not longer than its frame", length <= ip.len(), &|| {
        format!("{length} in {}", ip.len())
    });
    let ip = ip.get(..length)?;
    rules("IP: checksum", sum(&ip[..20]) == 0xffff, &String::new);
    // The requests of DSR begin with 255 (RFC 4728 section 9).
    rules("IP: time to live", ip[8] > 0 && (ip[8] <= 64 || ip[9] == 48), &|| ip[8].to_string());
    let transport = &ip[20..];
    if matches!(ip[9], 6 | 17) {
        let mut pseudo = ip[12..20].to_vec();
        pseudo.extend([0, ip[9]]);
        pseudo.extend((transport.len() as u16).to_be_bytes());
        pseudo.extend(transport);
        rules("IP: checksum of the transport", sum(&pseudo) == 0xffff, &String::new);
    }
    let first = transport.first_chunk::<8>().map_or(0, |it| u64::from_be_bytes(*it));
    Some((u32_be(ip, 12), u32_be(ip, 16), u16_be(ip, 4), ip[9], first))
}

/// The one's complement sum.
fn sum(bytes: &[u8]) -> u32 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    let mut sum: u32 = bytes.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

pub(crate) fn u16_le(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn u32_le(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

pub(crate) fn u16_be(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn u32_be(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}
