//! Medium access by DCF and EDCA, frame exchanges and block acknowledgement (clauses 10.3, 10.23,
//! 10.25).

mod aggregation;
mod bandwidth;
mod beacon;
mod block_ack;
mod cipher;
mod config;
mod contention;
mod counting;
mod edcaf;
mod estimate;
mod exchange;
mod full_duplex;
pub mod mu;
mod originator;
mod recipient;
mod rules;
mod spatial_reuse;
mod station;
mod streams;
mod timing;
mod trigger;

pub use aggregation::{
    Aggregation, BLOCK_ACK_REQUEST, DELIMITER, Delivery, MissedBlockAck, QOS_CONTROL, RetryRule,
    ampdu_of, block_ack, mpdus_within, padded,
};
pub(crate) use aggregation::{PsduLimits, ampdu, single};
pub use bandwidth::BandwidthOperation;
pub(crate) use bandwidth::{Won, mode_for_several};
pub use beacon::Beacons;
pub use block_ack::Bitmap;
pub use cipher::Cipher;
pub use config::{Categories, Earlier, MacConfig, NonErp};
pub(crate) use contention::Contention;
pub(crate) use counting::{BusySlot, Counting};
pub(crate) use edcaf::{Edcaf, PeerRate, Response, Txop};
pub use estimate::{AmpduRoom, estimated_overhead_us, kib_duration};
pub(crate) use exchange::ElicitedResponse;
pub use exchange::{Exchange, ExchangeOutcome, Step};
pub use full_duplex::{
    BusyTone, DuplexCounters, FullDuplex, OwnFrame, OwnRts, RtsCts, Secondary, SecondaryRate,
    SecondaryRateRule, Serve,
};
pub(crate) use full_duplex::{SecondaryChoice, SecondaryRequest, header_decoded};
pub use mu::{
    Acknowledgement, AfterBsrp, Contender, Mu, MuCounters, MuEdca, MuEdcaCategory, MuExchange,
    MuProtection, MuRts, MuStep, MuUser, QueueSizes, RandomAccess, RandomAccessCounters,
    RandomAccessTriggers, ReportSettings, Response as TriggeredResponse, ToldIn, TriggerCounters,
    TriggeredExchange, TriggeredUser, Uplink, UserCounters,
};
pub use originator::MsduOutcome;
pub(crate) use originator::{Framing, Mpdu, Originator, Psdu, Settled};
pub(crate) use recipient::{Cache, Recipient};
pub(crate) use rules::Rules;
pub use spatial_reuse::{PowerLimit, ReuseGroup, SpatialReuse};
pub(crate) use station::{Access, Backoff, ContentionParameters};
pub(crate) use timing::{ACK, Deferral, Opening, RTS};
pub use timing::{
    BackoffDraw, Collisions, Countdown, Durations, Eifs, FCS, IdleAccess, Protection, SlotGrid,
    Timing,
};
pub use trigger::{multi_sta_block_ack, trigger_padding};
pub use wire::TriggerKind;

#[cfg(test)]
pub(crate) use contention::Wait;
