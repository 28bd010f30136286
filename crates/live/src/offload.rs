//! Offloads of a TUN interface: the kernel hands over whole bursts of TCP and leaves checksums to
//! the interface, and takes segments that arrived together as one packet, as from a driver.
//!
//! Before each packet stands the header of virtio-net (Virtual I/O Device 1.2, section 5.1.6).
//! [`Burst`] makes of what the kernel sends the packets that go on the air: TCP segmentation
//! offload, done by the interface. [`joined`] says which of the packets that arrive at one instant
//! a driver joins, and [`Joined`] writes them as one: generic receive offload.

use std::io::IoSlice;
use wire::ipv4::{
    CHECKSUM as IP_CHECKSUM, FRAGMENT, HEADER as IP, IDENTIFICATION, LENGTH, PROTOCOL, SOURCE, Sum,
    put, word,
};

/// Bytes of the header of virtio-net without the field for merged buffers.
pub(crate) const HEADER: usize = 10;
/// Its flag: the checksum covers only the pseudo-header, and the interface completes it.
const NEEDS_CHECKSUM: u8 = 1;
/// Its type of a packet of many TCP segments over IPv4.
const TCP_IPV4: u8 = 1;

/// The protocol number of TCP, and where fields of its header stand (RFC 9293 section 3.1).
const TCP: u8 = 6;
const SEQUENCE: usize = 4;
const ACKNOWLEDGEMENT: usize = 8;
const DATA_OFFSET: usize = 12;
const FLAGS: usize = 13;
const CHECKSUM: usize = 16;
const OPTIONS: usize = 20;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;
/// The largest packet of IPv4.
const LARGEST: usize = 65_535;

/// What the kernel sent at once, as the packets that it stands for.
#[derive(Debug)]
pub(crate) struct Burst<'a> {
    bytes: &'a mut [u8],
    /// Where the data of TCP begin, and how many bytes of it a segment has; a packet that is sent
    /// as it is has none.
    segments: Option<(usize, usize)>,
    /// Bytes of data before the next segment.
    done: usize,
    packet: Vec<u8>,
}

impl<'a> Burst<'a> {
    /// What was read from the interface; `None` if it is not even a header.
    pub(crate) fn new(read: &'a mut [u8]) -> Option<Self> {
        let (header, bytes) = read.split_at_mut_checked(HEADER)?;
        let field = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let (size, begin, offset) = (field(4), field(6), field(8));
        let headers = (header[1] == TCP_IPV4).then(|| headers(bytes)).flatten();
        let segments = headers.filter(|_| size > 0).map(|headers| (headers, size));
        if segments.is_none() && header[0] & NEEDS_CHECKSUM != 0 {
            complete(bytes, begin, offset);
        }
        Some(Self { bytes, segments, done: 0, packet: Vec::new() })
    }

    /// The next packet.
    pub(crate) fn next(&mut self) -> Option<&[u8]> {
        let Some((headers, size)) = self.segments else {
            let all = std::mem::take(&mut self.bytes);
            return (!all.is_empty()).then_some(all);
        };
        let data = self.bytes.get(headers + self.done..).filter(|data| !data.is_empty())?;
        let len = size.min(data.len());
        let (is_first, is_last) = (self.done == 0, len == data.len());
        self.packet.clear();
        self.packet.extend_from_slice(&self.bytes[..headers]);
        self.packet.extend_from_slice(&data[..len]);
        let packet = &mut self.packet;
        let number = word(packet, IDENTIFICATION).wrapping_add((self.done / size) as u16);
        put(packet, IDENTIFICATION, number);
        let sequence = long(packet, IP + SEQUENCE).wrapping_add(self.done as u32);
        packet[IP + SEQUENCE..][..4].copy_from_slice(&sequence.to_be_bytes());
        // RFC 3168 section 6.1.2: a reduction is told once.
        packet[IP + FLAGS] &= if is_first { 0xff } else { !CWR };
        packet[IP + FLAGS] &= if is_last { 0xff } else { !(FIN | PSH) };
        set_length(packet, headers + len);
        set_pseudo_header(packet, headers + len);
        complete(packet, IP, CHECKSUM);
        self.done += len;
        Some(packet)
    }
}

/// Bytes of the headers of a TCP segment over IPv4 without options; none of another packet.
fn headers(bytes: &[u8]) -> Option<usize> {
    let is_tcp = bytes.len() >= IP + OPTIONS && bytes[0] == 0x45 && bytes[PROTOCOL] == TCP;
    let headers = is_tcp.then(|| IP + usize::from(bytes[IP + DATA_OFFSET] >> 4) * 4)?;
    (IP + OPTIONS..=bytes.len()).contains(&headers).then_some(headers)
}

/// Whether a driver joins a packet to those of one flow that arrived with it, of which these are
/// the first and the last, and which have `len` bytes together: the length with it. These are the
/// rules of generic receive offload: the data follow, and the headers are the same but for what
/// differs between segments.
pub(crate) fn joined(first: &[u8], last: &[u8], len: usize, next: &[u8]) -> Option<usize> {
    let (begin, end) = (headers(first)?, headers(next)?);
    let (size, data) = (first.len() - begin, next.len() - end);
    let same = |from: usize, to: usize| first[from..to] == next[from..to];
    let plain = |packet: &[u8]| packet[IP + FLAGS] & !(PSH | FIN | ECE) == ACK;
    let expected = long(last, IP + SEQUENCE).wrapping_add((last.len() - begin) as u32);
    let joins = begin == end
        && same(0, LENGTH)
        && same(FRAGMENT, IP_CHECKSUM)
        && same(SOURCE, IP + SEQUENCE)
        && same(IP + ACKNOWLEDGEMENT, IP + FLAGS)
        && same(IP + OPTIONS, begin)
        && (plain(first) && plain(next))
        && first[IP + FLAGS] & ECE == next[IP + FLAGS] & ECE
        && last[IP + FLAGS] & (PSH | FIN) == 0
        && long(next, IP + SEQUENCE) == expected
        && (1..=size).contains(&data)
        && last.len() == first.len()
        && len + data <= LARGEST;
    joins.then_some(len + data)
}

/// Packets as they are written to the interface: one, or several as one.
#[derive(Debug)]
pub(crate) struct Joined {
    header: [u8; HEADER],
    /// The headers of the packet that stands for several.
    headers: Vec<u8>,
}

impl Joined {
    /// Of packets that [`joined`] has found to belong together.
    pub(crate) fn new(packets: &[&[u8]]) -> Self {
        let mut header = [0; HEADER];
        let (Some(first), Some(last), true) = (packets.first(), packets.last(), packets.len() > 1)
        else {
            return Self { header, headers: Vec::new() };
        };
        let begin = headers(first).unwrap_or(first.len());
        let len = begin + packets.iter().map(|packet| packet.len() - begin).sum::<usize>();
        let mut headers = first[..begin].to_vec();
        headers[IP + FLAGS] |= last[IP + FLAGS] & (PSH | FIN);
        set_length(&mut headers, len);
        set_pseudo_header(&mut headers, len);
        (header[0], header[1]) = (NEEDS_CHECKSUM, TCP_IPV4);
        let fields = [begin, first.len() - begin, IP, CHECKSUM];
        for (field, into) in fields.into_iter().zip(header[2..].chunks_exact_mut(2)) {
            into.copy_from_slice(&(field as u16).to_ne_bytes());
        }
        Self { header, headers }
    }

    /// What is written at once.
    pub(crate) fn slices<'a>(&'a self, packets: &'a [&[u8]]) -> Vec<IoSlice<'a>> {
        let begin = self.headers.len();
        let fronts =
            [&self.header[..], &self.headers[..]].into_iter().filter(|all| !all.is_empty());
        let data = packets.iter().map(|packet| &packet[begin..]);
        fronts.chain(data).map(IoSlice::new).collect()
    }
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from(word(bytes, at)) << 16 | u32::from(word(bytes, at + 2))
}

/// The checksum of bytes that begin at an even offset.
fn checksum(bytes: &[u8]) -> u16 {
    let mut sum = Sum::default();
    sum.add(bytes);
    sum.value()
}

/// Completes a checksum whose field has the sum of the pseudo-header.
fn complete(bytes: &mut [u8], begin: usize, offset: usize) {
    if begin + offset + 2 > bytes.len() {
        return;
    }
    let checksum = checksum(&bytes[begin..]);
    // RFC 768: a checksum of zero says that there is none. It is sent as all ones, which is the
    // same number.
    put(bytes, begin + offset, if checksum == 0 { 0xffff } else { checksum });
}

/// Writes the length of the packet into its IP header, and the checksum that this then has.
fn set_length(headers: &mut [u8], len: usize) {
    put(headers, LENGTH, len as u16);
    put(headers, IP_CHECKSUM, 0);
    let checksum = checksum(&headers[..IP]);
    put(headers, IP_CHECKSUM, checksum);
}

/// Writes the sum of the pseudo-header of TCP (RFC 9293 section 3.1) where its checksum stands.
fn set_pseudo_header(headers: &mut [u8], len: usize) {
    let [high, low] = ((len - IP) as u16).to_be_bytes();
    let mut pseudo = [0, TCP, high, low, 0, 0, 0, 0, 0, 0, 0, 0];
    pseudo[4..].copy_from_slice(&headers[SOURCE..IP]);
    put(headers, IP + CHECKSUM, !checksum(&pseudo));
}

/// The message that a packet is too large for the network (RFC 792, RFC 1191 section 4), from its
/// destination to its source: headers, and the first bytes of the packet.
pub(crate) fn too_large(packet: &[u8], mtu: u16) -> Vec<u8> {
    const ICMP: usize = 8;
    let quoted = &packet[..packet.len().min(usize::from(packet[0] & 15) * 4 + ICMP)];
    let mut message = vec![0; IP + ICMP];
    (message[0], message[8], message[PROTOCOL]) = (0x45, 64, 1);
    message[SOURCE..SOURCE + 4].copy_from_slice(&packet[SOURCE + 4..IP]);
    message[SOURCE + 4..IP].copy_from_slice(&packet[SOURCE..SOURCE + 4]);
    // Destination unreachable, because fragmentation is needed.
    (message[IP], message[IP + 1]) = (3, 4);
    put(&mut message, IP + 6, mtu);
    message.extend_from_slice(quoted);
    let len = message.len();
    set_length(&mut message, len);
    complete(&mut message, IP, 2);
    message
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const OPTIONS_LEN: usize = 12;
    pub(crate) const HEADERS: usize = IP + OPTIONS + OPTIONS_LEN;

    /// A segment with these data, whose checksums are right.
    pub(crate) fn segment(sequence: u32, flags: u8, data: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; HEADERS];
        (packet[0], packet[8], packet[PROTOCOL]) = (0x45, 64, TCP);
        packet[SOURCE..IP].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 4]);
        packet[IP + SEQUENCE..][..4].copy_from_slice(&sequence.to_be_bytes());
        (packet[IP + DATA_OFFSET], packet[IP + FLAGS]) = (8 << 4, flags);
        packet.extend_from_slice(data);
        let len = packet.len();
        set_length(&mut packet, len);
        set_pseudo_header(&mut packet, len);
        complete(&mut packet, IP, CHECKSUM);
        packet
    }

    fn data(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at * 7) as u8).collect()
    }

    /// Whether the checksums of IP and TCP are right: those of all with them are zero.
    fn is_sound(packet: &[u8]) -> bool {
        let mut pseudo = packet[SOURCE..IP].to_vec();
        pseudo.extend([0, TCP]);
        pseudo.extend(((packet.len() - IP) as u16).to_be_bytes());
        pseudo.extend_from_slice(&packet[IP..]);
        checksum(&packet[..IP]) == 0 && checksum(&pseudo) == 0
    }

    fn packets(read: &mut [u8]) -> Vec<Vec<u8>> {
        let mut burst = Burst::new(read).expect("there is a header");
        std::iter::from_fn(|| burst.next().map(<[u8]>::to_vec)).collect()
    }

    /// What the kernel would be given for these packets.
    fn written(parts: &[Vec<u8>]) -> Vec<u8> {
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        Joined::new(&parts).slices(&parts).concat_bytes()
    }

    trait Concat {
        fn concat_bytes(&self) -> Vec<u8>;
    }

    impl Concat for Vec<IoSlice<'_>> {
        fn concat_bytes(&self) -> Vec<u8> {
            self.iter().flat_map(|slice| slice.iter().copied()).collect()
        }
    }

    #[test]
    fn segments_that_arrive_together_are_written_as_one_and_split_again() {
        let all = data(2500);
        let flags = [ACK, ACK, ACK | PSH];
        let parts: Vec<Vec<u8>> = all
            .chunks(1000)
            .zip(flags)
            .scan(u32::MAX - 500, |sequence, (part, flags)| {
                let packet = segment(*sequence, flags, part);
                *sequence = sequence.wrapping_add(part.len() as u32);
                Some(packet)
            })
            .enumerate()
            .map(|(number, mut packet)| {
                put(&mut packet, IDENTIFICATION, number as u16);
                let len = packet.len();
                set_length(&mut packet, len);
                packet
            })
            .collect();
        let mut len = parts[0].len();
        for pair in 0..2 {
            len = joined(&parts[0], &parts[pair], len, &parts[pair + 1]).expect("they follow");
        }
        let mut whole = written(&parts);
        assert_eq!(whole.len(), HEADER + HEADERS + 2500);
        assert_eq!(whole[..2], [NEEDS_CHECKSUM, TCP_IPV4]);
        assert_eq!(packets(&mut whole), parts);
        assert!(parts.iter().all(|packet| is_sound(packet)));
    }

    #[test]
    fn one_packet_is_written_as_it_is() {
        let packet = segment(1, ACK, &data(10));
        let mut whole = written(std::slice::from_ref(&packet));
        assert_eq!(whole[..HEADER], [0; HEADER]);
        assert_eq!(packets(&mut whole), [packet]);
    }

    #[test]
    fn a_reduction_is_told_by_the_first_segment_and_an_end_by_the_last() {
        let mut whole = written(&[segment(1, ACK, &data(100)), segment(101, ACK, &data(100))]);
        whole[HEADER + IP + FLAGS] |= CWR | FIN | PSH;
        let flags: Vec<u8> = packets(&mut whole).iter().map(|packet| packet[IP + FLAGS]).collect();
        assert_eq!(flags, [ACK | CWR, ACK | FIN | PSH]);
    }

    #[test]
    fn what_is_no_next_segment_of_the_same_burst_is_not_joined() {
        let first = segment(1, ACK, &data(100));
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut next = segment(101, ACK, &data(100));
            change(&mut next);
            joined(&first, &first, first.len(), &next).is_some()
        };
        assert!(with(&|_| {}));
        assert!(!with(&|next| next[1] = 3), "congestion was experienced");
        assert!(!with(&|next| next[IP + 1] = 9), "another port");
        assert!(!with(&|next| next[IP + ACKNOWLEDGEMENT] = 1), "another acknowledgement");
        assert!(!with(&|next| next[IP + OPTIONS + 3] = 1), "another timestamp");
        assert!(!with(&|next| next[IP + FLAGS] |= CWR), "a reduction");
        assert!(!with(&|next| next[IP + FLAGS] |= 2), "SYN");
        assert!(!with(&|next| next[IP + SEQUENCE + 3] += 1), "a gap");
        assert!(!with(&|next| next.truncate(HEADERS)), "no data");
        assert!(!with(&|next| next.push(0)), "more than the first");
        assert!(with(&|next| next.truncate(HEADERS + 1)), "less than the first");
        let short = segment(1, ACK, &data(50));
        assert_eq!(joined(&first, &short, 0, &segment(51, ACK, &data(50))), None);
        let (pushed, next) = (segment(1, ACK | PSH, &data(100)), segment(101, ACK, &data(100)));
        assert_eq!(joined(&pushed, &pushed, 0, &next), None);
        assert_eq!(joined(&first, &first, LARGEST - 100, &next), Some(LARGEST));
        assert_eq!(joined(&first, &first, LARGEST - 99, &next), None);
    }

    #[test]
    fn the_checksum_of_a_datagram_is_completed() {
        let mut read = vec![NEEDS_CHECKSUM, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        read[6..8].copy_from_slice(&20_u16.to_ne_bytes());
        read[8..10].copy_from_slice(&6_u16.to_ne_bytes());
        let mut packet = vec![0x45, 0, 0, 30, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 4];
        packet.extend([0, 9, 0, 9, 0, 10, 0x14, 0x20, 1, 2]);
        read.extend(packet);
        let packet = &packets(&mut read)[0];
        // 1420 is the sum of the pseudo-header; with header and data 1420 + 9 + 9 + 10 + 102.
        assert_eq!(word(packet, 26), !0x153e);
    }

    #[test]
    fn a_header_that_is_cut_off_and_a_packet_of_nothing_are_no_packets() {
        assert!(Burst::new(&mut [0; HEADER - 1]).is_none());
        assert!(packets(&mut [0; HEADER]).is_empty());
        // Nothing can be completed beyond the end.
        let mut read = [NEEDS_CHECKSUM, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 7];
        assert_eq!(packets(&mut read), [[7]]);
        // A burst of segments whose header is cut off is one packet, which is refused later.
        let mut read = [0, TCP_IPV4, 0, 0, 1, 1, 0, 0, 0, 0, 0x45, 0];
        assert_eq!(packets(&mut read), [[0x45, 0]]);
    }

    #[test]
    fn a_packet_that_is_too_large_is_answered() {
        let packet = segment(7, ACK, &data(2000));
        let message = too_large(&packet, 1500);
        assert_eq!(message.len(), 20 + 8 + 28);
        assert_eq!((checksum(&message[..20]), checksum(&message[20..])), (0, 0));
        assert_eq!(message[20..22], [3, 4]);
        assert_eq!((message[12..16].to_vec(), word(&message, 26)), (packet[16..20].to_vec(), 1500));
        assert_eq!(message[16..20], packet[12..16]);
        assert_eq!(message[28..], packet[..28]);
    }
}
