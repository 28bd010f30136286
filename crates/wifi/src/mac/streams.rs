//! What an originator stores for each receiver while no MSDU for it is in service.

/// The sequence numbers of one receiver, or of all receivers together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream {
    to: u32,
    /// The next sequence number.
    pub(super) next: u16,
    /// A BlockAckReq to this receiver was postponed and is due.
    pub(super) owed: bool,
}

/// The streams of all receivers so far, one of which is in service.
#[derive(Debug)]
pub(super) struct Streams {
    /// Whether each receiver has its own sequence numbers.
    apart: bool,
    /// Sorted by receiver.
    all: Vec<Stream>,
    /// The index of the stream in service.
    place: usize,
}

impl Streams {
    /// Creates streams with sequence numbers for each receiver `apart`, or for all together (clause
    /// 10.3.2.14.2).
    pub(super) fn new(apart: bool) -> Self {
        let all = if apart { Vec::new() } else { vec![Stream::default()] };
        Self { apart, all, place: 0 }
    }

    /// Selects the stream of a receiver for service.
    pub(super) fn turn_to(&mut self, to: u32) -> &mut Stream {
        if self.apart {
            let found = self.all.binary_search_by_key(&to, |stream| stream.to);
            self.place = found.unwrap_or_else(|at| {
                self.all.insert(at, Stream { to, ..Stream::default() });
                at
            });
        }
        self.present()
    }

    /// The stream in service.
    pub(super) fn present(&mut self) -> &mut Stream {
        &mut self.all[self.place]
    }
}
