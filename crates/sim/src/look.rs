//! How a run is advanced: what the handling of an event results in, and why the caller reads the
//! state.

/// Why the caller reads the state of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Look {
    /// Probes are read.
    Probes,
    /// The warm-up or a batch ends.
    Batch,
    /// A step of the caller ends.
    Step,
}

/// The result of handling an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// The world has handled it.
    Event,
    /// The caller is to read the state now.
    Look(Look),
    /// The run has ended.
    End,
}
