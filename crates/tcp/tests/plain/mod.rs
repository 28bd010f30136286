//! The settings that these tests build on.

use kernel::{Bytes, Duration};
use tcp::{Config, DelayedAck, FixedAck};

/// Without the timestamps option, and with delayed acknowledgements that wait for 100 ms.
pub(crate) fn plain() -> Config {
    let timer = Duration::from_millis(100);
    Config {
        mss: Some(Bytes(1460)),
        header: Some(Bytes(40)),
        timestamps: false,
        delayed_ack: DelayedAck::Fixed(FixedAck { segments: 2, timer }),
        ..Config::default()
    }
}
