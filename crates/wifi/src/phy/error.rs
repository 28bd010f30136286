//! Error models: the probability that a receiver decodes data bits without error.

mod certain;
mod dsss;

pub(crate) use certain::{Certain, RARE};

use super::Mode;
use kernel::{Bytes, Db};
use std::fmt::Debug;

settings::registry! {
    /// Probability that bits are decoded, as a function of the signal to interference and noise
    /// ratio.
    #[settings(name = "ErrorModel")]
    pub enum ErrorModelSettings: ErrorModel = Table;
    table: Table(AwgnTable),
    nist: Nist(Nist),
    yans: Yans(Yans),
    threshold: Threshold(Threshold),
    #[cfg(feature = "toy")]
    toy: Toy(ToyErrorsConfig),
}

/// Data bits of a frame that are received at constant noise and interference.
#[derive(Clone, Copy, Debug)]
pub struct SinrChunk<'a> {
    /// Their mode.
    pub mode: &'a Mode,
    /// Signal to interference and noise ratio in the bandwidth of the mode, in each stream.
    pub sinr: Db,
    /// The number of bits.
    pub bits: u64,
}

/// An error model.
pub trait ErrorModel: Debug + Send {
    /// Probability that all bits of a chunk are decoded. The probability of a frame is the product
    /// over its chunks.
    fn success(&self, chunk: &SinrChunk) -> f64;
}

impl<E: ErrorModel + ?Sized> ErrorModel for Box<E> {
    fn success(&self, chunk: &SinrChunk) -> f64 {
        (**self).success(chunk)
    }
}

/// The ratio at which a model loses a fraction `loss` of PSDUs of this size, to a millionth of a
/// decibel, between -20 and 80 dB.
pub fn required_snr(model: &dyn ErrorModel, mode: &Mode, psdu: Bytes, loss: f64) -> Db {
    let (mut low, mut high) = (-20.0, 80.0);
    while high - low > 1e-6 {
        let middle = f64::midpoint(low, high);
        let chunk = SinrChunk { mode, sinr: Db(middle), bits: psdu.bits() };
        if model.success(&chunk) < 1.0 - loss {
            low = middle;
        } else {
            high = middle;
        }
    }
    Db(f64::midpoint(low, high))
}

/// Probability that `bits` independent bits, each wrong with probability `error`, are all correct.
fn all_right(error: f64, bits: u64) -> f64 {
    if error >= 1.0 {
        return if bits == 0 { 1.0 } else { 0.0 };
    }
    libm::exp(bits as f64 * libm::log1p(-error.max(0.0)))
}

#[cfg(test)]
mod tests;
