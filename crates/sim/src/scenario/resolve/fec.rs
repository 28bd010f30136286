//! Forward error correction: how the data of a flow is coded.

use super::check::{Check, number};
use crate::scenario::fec::{Fec, Parity};
use tcp::fec::{self, Granularity};

/// The code of a flow whose full segments hold `mss` bytes.
pub(super) fn fec(path: &str, keys: &Fec, mss: u64, check: &mut Check) -> fec::Fec {
    let smallest_path = format!("{path}.unit_min_bytes");
    if keys.unit_min_bytes > mss {
        let smallest = keys.unit_min_bytes;
        let message = format!("{smallest} is more than a full segment holds, {mss}");
        check.fault(&smallest_path, message);
    }
    let units_path = format!("{path}.units");
    let most = u64::from(fec::MOST_FIRST);
    fec::Fec {
        parity: parity(&format!("{path}.parity"), &keys.parity, check),
        weight: check.fraction(format!("{path}.weight"), keys.weight),
        granularity: Granularity {
            units: check.whole(units_path, keys.units, 2, most),
            smallest: check.bytes(smallest_path, keys.unit_min_bytes, 1, 1_000_000).0,
            largest: mss,
            step: check.bytes(format!("{path}.unit_step_bytes"), keys.unit_step_bytes, 1, 10_000).0,
        },
        reactive: keys.reactive,
        header: check.bytes(format!("{path}.header_bytes"), keys.header_bytes, 0, 100),
        verify: keys.verify,
    }
}

fn parity(path: &str, parity: &Parity, check: &mut Check) -> fec::Parity {
    match parity {
        Parity::None => fec::Parity::None,
        Parity::Normal(keys) => {
            let margin = check.real(format!("{path}.normal.margin"), keys.margin, 0.0, 10.0);
            fec::Parity::Normal { margin }
        }
        Parity::Binomial(keys) => {
            let coverage = keys.coverage;
            if !(coverage > 0.0 && coverage < 1.0) {
                let message = format!("must be in (0, 1), is {}", number(coverage));
                check.fault(format!("{path}.binomial.coverage"), message);
            }
            fec::Parity::Binomial { coverage }
        }
    }
}
