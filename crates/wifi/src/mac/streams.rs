//! What an originator keeps of its receivers while nothing is in service for them.

/// A stream of frames: to one receiver, or to all together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream {
    to: u32,
    /// The next sequence number.
    pub(super) next: u16,
    /// A request is due to the receiver that has been put off.
    pub(super) owed: bool,
}

/// The streams of the receivers that there were so far, one of them in service.
#[derive(Debug)]
pub(super) struct Streams {
    /// Frames are numbered for each receiver apart.
    apart: bool,
    /// By receiver.
    all: Vec<Stream>,
    /// The place of the one in service.
    place: usize,
}

impl Streams {
    /// Those of each receiver `apart`, or the one of all together (clause 10.3.2.14.2).
    pub(super) fn new(apart: bool) -> Self {
        let all = if apart { Vec::new() } else { vec![Stream::default()] };
        Self { apart, all, place: 0 }
    }

    /// That of a receiver, from now on in service.
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

    /// The one in service.
    pub(super) fn present(&mut self) -> &mut Stream {
        &mut self.all[self.place]
    }
}
