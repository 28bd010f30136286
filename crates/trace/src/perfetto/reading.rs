//! A reader of traces that shares no code with the writer: what Perfetto would show.

use std::collections::BTreeMap;

/// The lanes, counters and arrows of a trace.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Lane (`nodes/ap/data`), begin and end in nanoseconds, name; by begin.
    pub(super) slices: Vec<(String, u64, u64, String)>,
    /// Lane, time, value.
    pub(super) values: Vec<(String, u64, f64)>,
    /// Lane, time, name.
    pub(super) instants: Vec<(String, u64, String)>,
    /// Begin of the first and of the last slice of each arrow.
    pub(super) arrows: Vec<(u64, u64)>,
    /// Annotations of each slice that begins, with their names.
    pub(super) notes: Vec<BTreeMap<String, String>>,
    /// Bytes of each packet with an event.
    pub(super) sizes: Vec<usize>,
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

type Fields<'a> = Vec<(u64, Value<'a>)>;

pub(super) fn read(bytes: &[u8]) -> Shown {
    let (mut reader, mut shown) = (Reader::default(), Shown::default());
    for (field, packet) in fields(bytes) {
        assert_eq!(field, 1, "a Trace consists of packets");
        reader.read(blob(&packet), &mut shown);
    }
    assert!(reader.open.values().all(Option::is_none), "each slice ends");
    shown
}

/// What earlier packets have defined.
#[derive(Debug, Default)]
struct Reader {
    now: u64,
    clocks: Vec<u64>,
    /// By list and iid.
    texts: BTreeMap<(u64, u64), String>,
    /// Paths by uuid.
    tracks: BTreeMap<u64, String>,
    /// The open slice of each track.
    open: BTreeMap<u64, Option<usize>>,
    /// Begin of the slice in which an arrow begins.
    arrows: BTreeMap<u64, u64>,
}

impl Reader {
    fn read(&mut self, bytes: &[u8], shown: &mut Shown) {
        let packet = fields(bytes);
        assert_eq!(number(&packet, 10), Some(1), "all packets are of one sequence");
        for snapshot in messages(&packet, 6) {
            self.clocks = messages(&snapshot, 1).map(|clock| number(&clock, 1).unwrap()).collect();
        }
        for data in messages(&packet, 12) {
            for list in [2, 3, 29] {
                for entry in messages(&data, list) {
                    let key = (list, number(&entry, 1).unwrap());
                    assert!(self.texts.insert(key, text(&entry, 2).unwrap()).is_none());
                }
            }
        }
        for track in messages(&packet, 60) {
            let name = text(&track, 2).unwrap();
            let path = match number(&track, 5) {
                Some(parent) => format!("{}/{name}", self.tracks[&parent]),
                None => name,
            };
            assert!(self.tracks.insert(number(&track, 1).unwrap(), path).is_none());
        }
        for event in messages(&packet, 11) {
            assert_eq!(self.clocks, [6, 64], "the clock is defined");
            self.now += number(&packet, 8).expect("an event has a time");
            // Tag and length of the packet take two bytes.
            shown.sizes.push(bytes.len() + 2);
            self.event(&event, shown);
        }
    }

    fn event(&mut self, event: &Fields<'_>, shown: &mut Shown) {
        let track = number(event, 11).unwrap();
        let lane = self.tracks[&track].clone();
        let name = number(event, 10).map(|iid| self.texts[&(2, iid)].clone());
        let open = self.open.entry(track).or_default();
        match number(event, 9).unwrap() {
            1 => {
                assert_eq!(open.replace(shown.slices.len()), None, "slices overlap on {lane}");
                shown.slices.push((lane, self.now, 0, name.unwrap()));
                shown.notes.push(notes(event, &self.texts));
            }
            2 => shown.slices[open.take().unwrap()].2 = self.now,
            3 => shown.instants.push((lane, self.now, name.unwrap())),
            4 => {
                let whole = number(event, 30).map(|value| value as f64);
                let value = whole.or(number(event, 44).map(f64::from_bits));
                shown.values.push((lane, self.now, value.unwrap()));
            }
            other => panic!("an event of type {other}"),
        }
        for (field, value) in event {
            match (field, value) {
                (47, Value::Number(id)) => {
                    assert_eq!(self.arrows.insert(*id, self.now), None);
                }
                (48, Value::Number(id)) => {
                    shown.arrows.push((self.arrows.remove(id).unwrap(), self.now));
                }
                _ => {}
            }
        }
    }
}

fn notes(event: &Fields<'_>, texts: &BTreeMap<(u64, u64), String>) -> BTreeMap<String, String> {
    let value = |note: &Fields<'_>| {
        let whole = number(note, 3).map(|value| value.to_string());
        let double = number(note, 5).map(|bits| f64::from_bits(bits).to_string());
        whole.or(double).or(number(note, 17).map(|iid| texts[&(29, iid)].clone())).unwrap()
    };
    messages(event, 4)
        .map(|note| (texts[&(3, number(&note, 1).unwrap())].clone(), value(&note)))
        .collect()
}

fn fields(mut bytes: &[u8]) -> Fields<'_> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut bytes)),
            1 => {
                let (word, rest) = bytes.split_at(8);
                bytes = rest;
                Value::Number(u64::from_le_bytes(word.try_into().unwrap()))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (blob, rest) = bytes.split_at(length);
                bytes = rest;
                Value::Bytes(blob)
            }
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (&first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first < 0x80 {
            break;
        }
    }
    value
}

fn blob<'a>(value: &Value<'a>) -> &'a [u8] {
    match value {
        Value::Bytes(bytes) => bytes,
        Value::Number(_) => panic!("a number where a message is expected"),
    }
}

fn number(fields: &Fields<'_>, field: u64) -> Option<u64> {
    fields.iter().find_map(|(number, value)| match value {
        Value::Number(value) if *number == field => Some(*value),
        _ => None,
    })
}

fn text(fields: &Fields<'_>, field: u64) -> Option<String> {
    messages_of(fields, field).next().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
}

fn messages<'a>(message: &Fields<'a>, field: u64) -> impl Iterator<Item = Fields<'a>> {
    messages_of(message, field).map(fields)
}

fn messages_of<'a>(fields: &Fields<'a>, field: u64) -> impl Iterator<Item = &'a [u8]> {
    fields.iter().filter(move |(number, _)| *number == field).map(|(_, value)| blob(value))
}
