//! The numbers of interfaces and links.

kernel::id! {
    /// A radio: an interface on the air with a queue. The medium numbers its nodes in the same way.
    pub RadioId
}

kernel::id! {
    /// A direction of a link: an interface to a wire with a queue.
    pub WireId
}

kernel::id! {
    /// A link, by its index in `Plan::links`.
    pub LinkId
}

/// The interface by which a packet leaves a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interface {
    /// Over the air.
    Radio(RadioId),
    /// Over a link.
    Wire(WireId),
}
