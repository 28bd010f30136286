//! The rows of the tables, little-endian and of fixed size; a file has them packed.

/// There is no such radio, flow or number.
pub(super) const NONE: u32 = u32::MAX;

/// Bits of [`FrameRow::flags`].
pub(super) mod flag {
    /// One of its MPDUs is a retransmission.
    pub(in crate::air) const RETRY: u8 = 1;
    /// It is an A-MPDU.
    pub(in crate::air) const AGGREGATE: u8 = 2;
}

/// The tables of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Frames,
    Mpdus,
    Waits,
    Packets,
    Segments,
    Points,
    Routes,
    Named,
}

impl Table {
    pub(super) const ALL: [Self; 8] = [
        Self::Frames,
        Self::Mpdus,
        Self::Waits,
        Self::Packets,
        Self::Segments,
        Self::Points,
        Self::Routes,
        Self::Named,
    ];

    /// Bytes of each column.
    pub(super) const fn widths(self) -> &'static [usize] {
        match self {
            Self::Frames => FrameRow::WIDTHS,
            Self::Mpdus => MpduRow::WIDTHS,
            Self::Waits => WaitRow::WIDTHS,
            Self::Packets => PacketRow::WIDTHS,
            Self::Segments => SegmentRow::WIDTHS,
            Self::Points => PointRow::WIDTHS,
            Self::Routes => RouteRow::WIDTHS,
            Self::Named => NamedRow::WIDTHS,
        }
    }
}

/// A row of a table.
pub(super) trait Row: Sized {
    const TABLE: Table;
    const SIZE: usize;
    const WIDTHS: &'static [usize];

    fn put(&self, out: &mut Vec<u8>);

    /// Reads [`Self::SIZE`] bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! row {
    ($(#[$of:meta])* $view:vis $name:ident in $table:ident {
        $($(#[$about:meta])* $field:ident: $kind:ty,)+
    }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $view struct $name {
            $($(#[$about])* $view $field: $kind,)+
        }

        impl Row for $name {
            const TABLE: Table = Table::$table;
            const SIZE: usize = 0 $(+ size_of::<$kind>())+;
            const WIDTHS: &'static [usize] = &[$(size_of::<$kind>()),+];

            fn put(&self, out: &mut Vec<u8>) {
                $(out.extend_from_slice(&self.$field.to_le_bytes());)+
            }

            fn get(mut bytes: &[u8]) -> Self {
                $(
                    let (own, rest) = bytes.split_at(size_of::<$kind>());
                    let $field = <$kind>::from_le_bytes(own.try_into().expect("as long"));
                    bytes = rest;
                )+
                debug_assert!(bytes.is_empty());
                Self { $($field,)+ }
            }
        }
    };
}

row! {
    /// A PPDU.
    pub FrameRow in Frames {
        /// When it begins, in nanoseconds.
        start: u64,
        /// How long it lasts.
        lasting: u32,
        /// How long its preamble and PHY header last.
        preamble: u32,
        /// Its number.
        number: u32,
        /// The number of its exchange.
        exchange: u32,
        /// The radio that transmits.
        from: u32,
        /// The radio that it addresses; the greatest number if none.
        to: u32,
        /// A radio whose transmission caused the loss; the greatest number if none.
        lost_to: u32,
        /// Its kind, as in the tables for Python.
        kind: u8,
        /// Its access category.
        class: u8,
        /// Its outcome.
        outcome: u8,
        /// Retransmission 1, A-MPDU 2.
        flags: u8,
        /// Its MCS; 255 if none.
        mcs: u8,
        /// Its spatial streams.
        streams: u8,
        /// Its bandwidth.
        width_mhz: u16,
        /// How many MPDUs it has.
        mpdus: u16,
        /// How many of them are retransmissions.
        retried: u16,
        /// How many of them were received.
        received: u16,
        /// Bytes of its PSDU.
        psdu: u32,
        /// Its Duration field in nanoseconds.
        nav: u32,
        /// Its rate.
        rate_mbps: f32,
        /// The received power at the addressed node; NaN if there is none.
        signal_dbm: f32,
        /// Bytes with which a user of a PPDU of several pads up to the common end.
        padding: u32,
        /// Tones of its resource unit; 0 if it has none.
        tones: u16,
        /// The place of that unit among those of its size.
        ru_index: u16,
        /// A bit for each 20 MHz subchannel that is punctured.
        punctured: u16,
        /// How many resource units for random access a Trigger frame has.
        random_units: u8,
        /// The type of a Trigger frame; 255 if it is none.
        trigger: u8,
    }
}

row! {
    /// A station that a Trigger frame asks, or that a Multi-STA BlockAck acknowledges.
    pub(in crate::air) NamedRow in Named {
        /// The number of the frame.
        frame: u32,
        /// The radio of the station.
        radio: u32,
    }
}

impl FrameRow {
    /// When it ends.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.lasting)
    }

    /// Whether the addressed node did not receive it.
    pub fn is_lost(&self) -> bool {
        crate::columns::codes::is_lost(u32::from(self.outcome))
    }
}

row! {
    /// A packet in a data frame.
    pub MpduRow in Mpdus {
        /// The number of its frame.
        frame: u32,
        /// The number of the packet.
        packet: u32,
        /// The flow; the greatest number if none.
        flow: u32,
        /// Bytes with MAC header and FCS.
        bytes: u32,
        /// 802.11 sequence number.
        sequence: u16,
        /// Whether it is a retransmission.
        retry: u8,
        /// Whether it was received.
        received: u8,
    }
}

row! {
    /// A wait.
    pub(in crate::air) WaitRow in Waits {
        /// When it begins.
        start: u64,
        /// When it ends.
        end: u64,
        /// The radio.
        radio: u32,
        /// Slots at its begin.
        before: u32,
        /// Slots at its end.
        after: u32,
        /// Its kind.
        kind: u8,
        /// Its access category.
        class: u8,
    }
}

row! {
    /// A step of a packet.
    pub PacketRow in Packets {
        /// When.
        at: u64,
        /// The number of the packet.
        packet: u32,
        /// Its flow; the greatest number if none.
        flow: u32,
        /// The node, radio or link direction.
        place: u32,
        /// How many packets waited; the greatest number if it is not known.
        waiting: u32,
        /// Bytes.
        size: u32,
        /// Node 0, radio 1, link direction 2.
        place_kind: u8,
        /// The step.
        step: u8,
        /// Why it was dropped; 255 if it was not.
        cause: u8,
    }
}

row! {
    /// A segment at an end of its connection.
    pub SegmentRow in Segments {
        /// When.
        at: u64,
        /// Its first byte.
        seq: u64,
        /// Its acknowledgement number.
        ack: u64,
        /// The number of its packet.
        packet: u32,
        /// Its flow.
        flow: u32,
        /// The number of the connection in the flow.
        connection: u32,
        /// Bytes of data.
        length: u32,
        /// The congestion window in bytes; NaN if it is not known.
        cwnd: f32,
        /// Bytes in flight; NaN if it is not known.
        in_flight: f32,
        /// Its flags.
        flags: u16,
        /// Whether it arrives.
        received: u8,
        /// Whether it goes from the receiver of the data to their sender.
        reverse: u8,
        /// Whether it repeats data.
        retransmission: u8,
        /// The number of the sender's state; 255 if it is not known.
        state: u8,
    }
}

row! {
    /// An event of a router.
    pub(in crate::air) RouteRow in Routes {
        /// When.
        at: u64,
        /// The node.
        node: u32,
        /// The destination, or the neighbour whose link has failed.
        destination: u32,
        /// Hops of the route from now on; the greatest number if there is no route or no change.
        hops: u32,
        /// What happens, by its number.
        step: u8,
    }
}

row! {
    /// A point of a line.
    pub(in crate::air) PointRow in Points {
        /// When.
        at: u64,
        /// The number of the line.
        series: u32,
        /// The value.
        value: f32,
    }
}
