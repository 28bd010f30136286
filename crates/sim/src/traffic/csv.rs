//! Traffic from a file.

use super::{Command, DatagramSize, Event, Origin, Pace, Source, TrafficModel, Transport};
use kernel::{Bytes, Duration, Instant};
use settings::{Choice, Settings, number, shown};
use std::sync::Arc;

/// Writes or datagrams from a file of comma-separated values, whose first line names the columns
/// `time_s` and `size_bytes`. Times count from the start of the flow and do not descend. Flows that
/// replay one file are in step unless `start_spread_s` is more than 0.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct CsvTraffic {
    /// The file, relative to the folder of the scenario.
    #[setting(required = "as \"traffic.csv\"")]
    pub file: String,
    /// What carries the data.
    #[setting(default = Carrier::Udp)]
    pub transport: Carrier,
    /// UDP and IP headers of each datagram.
    #[setting(key = "header_bytes", default = 28, range = 0..=200)]
    pub header: Bytes,
    /// A datagram that takes longer than this, or does not arrive, is late.
    #[setting(key = "deadline_ms", default = 150.0, range = 0.001..=1e6)]
    pub deadline: Duration,
    /// The content of the file, in the order of time.
    #[setting(skip)]
    pub rows: Arc<[(Duration, Bytes)]>,
}

/// The transport of traffic from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Carrier {
    /// A datagram for each row.
    Udp,
    /// A write for each row, over one connection.
    Tcp,
}

/// The columns.
const COLUMNS: [&str; 2] = ["time_s", "size_bytes"];
/// The largest datagram or write.
const LARGEST: f64 = 1e9;
/// The latest time.
const LATEST_S: f64 = 1e6;

impl CsvTraffic {
    /// Reads the content of the file.
    ///
    /// # Errors
    /// The first fault, with its line.
    pub fn read(&mut self, text: &str) -> Result<(), String> {
        let mut lines = (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim));
        let lines = lines.by_ref().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let mut lines = lines.peekable();
        let header = lines.next().map_or("", |(_, line)| line);
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let place = |column| names.iter().position(|name| *name == column);
        let [Some(time), Some(size)] = COLUMNS.map(place) else {
            return Err("the first line must name the columns time_s,size_bytes".to_owned());
        };
        let mut rows: Vec<(Duration, Bytes)> = Vec::new();
        for (line, row) in lines {
            let fields: Vec<&str> = row.split(',').map(str::trim).collect();
            let field = |place: usize, least: f64, most: f64| {
                let written = fields.get(place).copied().unwrap_or_default();
                let value = written.parse::<f64>().ok();
                value.filter(|value| (least..=most).contains(value)).ok_or_else(|| {
                    let (name, is) = (names[place], shown(written));
                    let (least, most) = (number(least), number(most));
                    format!("line {line}: {name} must be from {least} to {most}, is {is}")
                })
            };
            let at = Duration::from_secs_f64(field(time, 0.0, LATEST_S)?);
            let size = Bytes(field(size, 1.0, LARGEST)? as u64);
            if let Some((before, _)) = rows.last().filter(|(before, _)| *before > at) {
                let [at, before] = [at, *before].map(|time| number(time.as_secs_f64()));
                return Err(format!("line {line}: {at} s is before the line above, {before} s"));
            }
            rows.push((at, size));
        }
        if rows.is_empty() {
            return Err("there is no row, so that nothing would be sent".to_owned());
        }
        self.rows = rows.into();
        Ok(())
    }
}

impl TrafficModel for CsvTraffic {
    fn transport(&self) -> Transport {
        if self.transport == Carrier::Tcp {
            return Transport::Tcp;
        }
        let largest = self.rows.iter().map(|&(_, size)| size).max();
        let payload = largest.unwrap_or(Bytes(1));
        let size = DatagramSize { payload, header: self.header, deadline: self.deadline };
        let lasts = self.rows.last().map_or(0.0, |(last, _)| last.as_secs_f64());
        Transport::Udp(size, Pace::PerSecond(self.rows.len() as f64 / lasts.max(1.0)))
    }

    fn source(&self, _: &Origin<'_>) -> Box<dyn Source> {
        let over_tcp = self.transport == Carrier::Tcp;
        let rows = Arc::clone(&self.rows);
        Box::new(Replay { rows, over_tcp, start: Instant::ZERO, next: 0 })
    }
}

#[derive(Debug)]
struct Replay {
    rows: Arc<[(Duration, Bytes)]>,
    over_tcp: bool,
    start: Instant,
    next: usize,
}

impl Source for Replay {
    fn on_event(&mut self, now: Instant, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::Begin { start, .. } => {
                self.start = start;
                let first = self.rows.first().map_or(Duration::ZERO, |&(at, _)| at);
                out.push(Command::Wake(start + first));
            }
            Event::Timer => {
                if self.over_tcp && self.next == 0 {
                    out.push(Command::Open);
                }
                while let Some(&(at, size)) = self.rows.get(self.next) {
                    let at = self.start + at;
                    if at > now {
                        return out.push(Command::Wake(at));
                    }
                    self.next += 1;
                    out.push(if self.over_tcp {
                        Command::Write(size)
                    } else {
                        Command::Send(size)
                    });
                }
                if self.over_tcp {
                    out.push(Command::Close);
                }
            }
            Event::Stop if self.over_tcp => out.push(Command::Abandon),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::{asked, source};

    fn csv(text: &str) -> Result<CsvTraffic, String> {
        let mut csv = CsvTraffic::default();
        csv.read(text).map(|()| csv)
    }

    #[test]
    fn rows_are_sent_at_their_times() {
        let csv = csv("size_bytes, time_s\n# two at once\n100, 0\n200, 0\n300, 0.5\n");
        let mut source = source(&csv.expect("the file has no fault"));
        let (start, late) = (Instant(5), Instant(5) + Duration::from_millis(500));
        let begin = Event::Begin { start, stop: None };
        assert_eq!(
            asked(&mut *source, &[(Instant(0), begin), (start, Event::Timer)]),
            [
                Command::Wake(start),
                Command::Send(Bytes(100)),
                Command::Send(Bytes(200)),
                Command::Wake(late)
            ]
        );
        assert_eq!(asked(&mut *source, &[(late, Event::Timer)]), [Command::Send(Bytes(300))]);
    }

    #[test]
    fn a_fault_has_its_line() {
        let faults = [
            ("time_s,size_bytes\n1,10\n0.5,10\n", "line 3: 0.5 s is before the line above, 1 s"),
            ("time_s,size_bytes\n1,x\n", "line 2: size_bytes must be from 1 to 1e9, is x"),
            ("time_s,bytes\n", "the first line must name the columns time_s,size_bytes"),
            ("time_s,size_bytes\n", "there is no row, so that nothing would be sent"),
        ];
        for (text, message) in faults {
            assert_eq!(csv(text), Err(message.to_owned()));
        }
    }
}
