//! The numbers of interfaces and links.

/// A radio: an interface on the air with a queue. The medium numbers its nodes in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RadioId(pub u32);

/// A direction of a link: an interface to a wire with a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireId(pub u32);

/// A link, by its index in `Plan::links`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// The interface by which a packet leaves a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interface {
    /// Over the air.
    Radio(RadioId),
    /// Over a link.
    Wire(WireId),
}
