//! Protocol Buffers: the wire format (protobuf.dev, "Encoding"), as far as a trace needs it.

const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const LENGTH_DELIMITED: u64 = 2;

/// Bytes of a message under construction.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    /// A field of a type `uint64`, `int64`, `bool` or enum.
    pub(super) fn varint(&mut self, field: u64, value: u64) {
        self.raw_varint(field << 3 | VARINT);
        self.raw_varint(value);
    }

    /// A field of type `fixed64`.
    pub(super) fn fixed64(&mut self, field: u64, value: u64) {
        self.raw_varint(field << 3 | FIXED_64);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A field of type `double`.
    pub(super) fn double(&mut self, field: u64, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    /// A field of type `string`.
    pub(super) fn string(&mut self, field: u64, value: &str) {
        self.raw_varint(field << 3 | LENGTH_DELIMITED);
        self.raw_varint(value.len() as u64);
        self.bytes.extend_from_slice(value.as_bytes());
    }

    /// A field that is a message; `fill` adds its fields.
    pub(super) fn message(&mut self, field: u64, fill: impl FnOnce(&mut Self)) {
        self.raw_varint(field << 3 | LENGTH_DELIMITED);
        // The length precedes the content, and is known after it. Nearly all messages are shorter
        // than 128 bytes, so that their length takes the one byte that is kept free here.
        let place = self.bytes.len();
        self.bytes.push(0);
        fill(self);
        let length = self.bytes.len() - place - 1;
        let mut rest = length;
        let mut at = place;
        while rest >= 0x80 {
            self.bytes[at] = rest as u8 | 0x80;
            rest >>= 7;
            at += 1;
            self.bytes.insert(at, 0);
        }
        self.bytes[at] = rest as u8;
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(fill: impl FnOnce(&mut Buffer)) -> Vec<u8> {
        let mut buffer = Buffer::default();
        fill(&mut buffer);
        buffer.bytes
    }

    /// The examples of the page "Encoding".
    #[test]
    fn the_published_examples_are_encoded_byte_by_byte() {
        assert_eq!(bytes(|b| b.varint(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(bytes(|b| b.string(2, "testing")), b"\x12\x07testing");
        assert_eq!(bytes(|b| b.message(3, |b| b.varint(1, 150))), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(bytes(|b| b.varint(1, -2_i64 as u64)).len(), 11, "an int64 of -2");
    }

    #[test]
    fn fixed_64_is_little_endian() {
        assert_eq!(bytes(|b| b.fixed64(1, 1)), [0x09, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes(|b| b.double(1, 1.0)), [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }

    #[test]
    fn a_long_message_has_a_long_length() {
        let long = "x".repeat(300);
        let outer = bytes(|b| b.message(1, |b| b.string(2, &long)));
        assert_eq!(outer[..6], [0x0a, 0xaf, 0x02, 0x12, 0xac, 0x02], "303, then 300");
        assert_eq!(outer.len(), 6 + 300);
        let longer = "x".repeat(20_000);
        let outer = bytes(|b| b.message(1, |b| b.string(2, &longer)));
        assert_eq!(outer[..8], [0x0a, 0xa4, 0x9c, 0x01, 0x12, 0xa0, 0x9c, 0x01]);
        assert_eq!(outer.len(), 8 + 20_000);
    }
}
