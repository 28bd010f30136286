//! PPDUs of several users that differ in their data only.
//!
//! Resource units, modes and everything before the data are computed once, and each PPDU of a run
//! in a few operations a user.

use super::allocation::{bandwidth_code, user_info_code};
use super::group::{GroupFault, GroupFields, GroupUser, GroupVector, NominalPadding};
use super::load::{DataEnd, Load};
use super::ru::{Ru, RuSize};
use super::sig_b::SigB;
use crate::phy::{Guard, LONGEST_PPDU, Width};
use kernel::{BitRate, Bytes, Duration};
use wire::{CommonInfo, UserInfo};

/// What PPDUs of the same users have in common.
#[derive(Clone, Debug)]
pub struct GroupLayout {
    vector: GroupVector,
    plan: Vec<Ru>,
    loads: Vec<Load>,
    /// The data rate of each user.
    rates: Vec<BitRate>,
    /// Whether the load of each user is that of the one before.
    alike: Vec<bool>,
    /// Whether any user has LDPC.
    has_ldpc: bool,
    /// The fields before the data, and the signal extension.
    around: GroupFields,
}

impl GroupVector {
    /// What PPDUs of these users have in common, whatever the lengths of their PSDUs.
    ///
    /// # Errors
    ///
    /// The parameter that no such PPDU has.
    pub fn layout(&self, users: &[GroupUser]) -> Result<GroupLayout, GroupFault> {
        let short: Vec<_> =
            users.iter().map(|user| GroupUser { psdu: Bytes(1), ..*user }).collect();
        let outline = self.outline(&short)?;
        let symbol = self.symbol();
        let loads = &outline.loads;
        let alike = |nth: usize| nth > 0 && loads[nth] == loads[nth - 1];
        Ok(GroupLayout {
            vector: *self,
            alike: (0..loads.len()).map(alike).collect(),
            has_ldpc: loads.iter().any(Load::is_ldpc),
            plan: outline.plan,
            rates: loads.iter().map(|load| load.bit_rate(symbol)).collect(),
            loads: outline.loads,
            around: outline.fields,
        })
    }
}

impl GroupLayout {
    /// The resource units, in the order of the users.
    pub fn plan(&self) -> &[Ru] {
        &self.plan
    }

    /// The data rate of a user.
    pub fn rate(&self, user: usize) -> BitRate {
        self.rates[user]
    }

    /// Where the data of these PSDUs ends, and the fields of their PPDU.
    pub fn ppdu(&self, psdus: impl Iterator<Item = Bytes>) -> (DataEnd, GroupFields) {
        let latest = self.vector.latest(&self.loads, psdus);
        let end = if self.is_strained(latest) { latest.next() } else { latest };
        (end, self.vector.with_data(self.around, end))
    }

    /// The fields of a PPDU whose data ends here.
    pub fn fields(&self, end: DataEnd) -> GroupFields {
        self.vector.with_data(self.around, end)
    }

    /// `aRxPHYStartDelay`: from the start of the PPDU until HE-SIG-A and HE-SIG-B are decoded, 32
    /// µs of an HE TB PPDU (802.11ax-2021 table 27-54). In ns-3 it is the whole preamble.
    pub fn rx_start_delay(&self) -> Duration {
        let GroupFields { legacy, sig_a, sig_b, .. } = self.around;
        if self.vector.is_ns3() { self.around.preamble() } else { legacy + sig_a + sig_b }
    }

    /// Whole bytes of a user's PSDU and its padding if the data ends here.
    pub fn room(&self, user: usize, end: DataEnd) -> Bytes {
        self.vector.room(&self.loads[user], end)
    }

    /// The same of each user.
    pub fn rooms(&self, end: DataEnd) -> impl Iterator<Item = Bytes> {
        let mut room = Bytes::ZERO;
        self.loads.iter().zip(&self.alike).map(move |(load, &is_alike)| {
            if !is_alike {
                room = self.vector.room(load, end);
            }
            room
        })
    }

    /// Whole bytes of a user's PSDU with which the data of all ends here, an extra segment of LDPC
    /// included: where codewords would need one more, the PSDUs end a quarter earlier.
    pub fn room_before_extra(&self, user: usize, end: DataEnd) -> Bytes {
        self.room(user, if self.is_strained(end) { end.previous() } else { end })
    }

    /// Whether an extra segment of LDPC is a part of data that ends here.
    fn is_strained(&self, end: DataEnd) -> bool {
        self.has_ldpc
            && !self.vector.is_ns3()
            && self.loads.iter().any(|load| load.is_strained(end))
    }

    /// The latest end of the data with which the PPDU lasts no longer than `within` and than
    /// [`LONGEST_PPDU`]; `None` if there is no such PPDU.
    pub fn last_end(&self, within: Duration) -> Option<DataEnd> {
        let longest_extension = NominalPadding::extension(self.vector.padding, 4);
        let around = self.around.preamble() + self.around.signal_extension + longest_extension;
        let room = within.min(LONGEST_PPDU).0.checked_sub(around.0)?;
        let end = DataEnd { symbols: room / self.vector.symbol().0, quarters: 4 };
        // Where LDPC needs an extra segment, the data ends a symbol earlier.
        let spare = u64::from(self.has_ldpc && !self.vector.is_ns3());
        let symbols = end.symbols.checked_sub(spare).filter(|&symbols| symbols > 0)?;
        Some(DataEnd { symbols, ..end })
    }

    /// What a Trigger frame says of HE TB PPDUs whose data ends here (802.11ax-2021 clause
    /// 9.3.1.22.1).
    pub fn common_info(&self, end: DataEnd) -> CommonInfo {
        let GroupVector { guard, width, band, .. } = self.vector;
        let fields = self.fields(end);
        let length = self.vector.he_format().length(fields.total(), band);
        let told = self.vector.he_format().announced(length, band);
        let rest = fields.packet_extension + told.saturating_sub(fields.total());
        CommonInfo {
            length,
            bandwidth: bandwidth_code(width),
            // 2x with 1.6 µs is 1, 4x with 3.2 µs is 2.
            guard_ltf: if guard == Guard::Ns3200 { 2 } else { 1 },
            // One, two, four, six and eight symbols are 0 to 4.
            ltfs: (self.ltfs() / 2) as u8,
            ldpc_extra: self.is_strained(end),
            pre_fec: end.quarters % 4,
            pe_disambiguity: rest >= self.vector.symbol(),
        }
    }

    /// What HE MU PPDUs say to all users; `None` of HE TB PPDUs.
    pub fn sig_b(&self) -> Option<wire::SigB> {
        let SigB { mode, allocation, symbols } = self.vector.sig_b(&self.plan).ok()??;
        let codes = allocation.map(|allocation| {
            let mut codes = [0; 8];
            codes[..allocation.codes.len()].copy_from_slice(&allocation.codes);
            codes
        });
        let width = self.vector.width;
        let middle = |upper: u32| {
            let mut between = self.plan.iter().filter(|ru| ru.is_between(width));
            between.any(|ru| ru.index / RuSize::Tones26.number_in(Width::Mhz80) == upper)
        };
        Some(wire::SigB {
            mcs: mode.mcs,
            dual_carrier: mode.dual_carrier,
            symbols: symbols as u8,
            codes,
            middle: [middle(0), middle(1)],
        })
    }

    /// The number of HE-LTF symbols.
    fn ltfs(&self) -> u64 {
        let one = self.vector.training().map_or(Duration::ZERO, |ltf| ltf);
        self.around.ltf.0 / one.0.max(1)
    }

    /// What a Trigger frame says to one of the users, at this MCS with so many streams.
    pub fn user_info(&self, user: usize, aid: u32, mcs: u8, streams: u8) -> UserInfo {
        let (ru, ldpc) = (user_info_code(self.plan[user]), self.loads[user].is_ldpc());
        UserInfo { aid: aid as u16, ru, ldpc, mcs, streams, random: 0, start: 0 }
    }

    /// When a PPDU that lasts so long ends for those who know its LENGTH only.
    pub fn announced(&self, lasts: Duration) -> Duration {
        if self.vector.is_ns3() {
            return lasts;
        }
        let (format, band) = (self.vector.he_format(), self.vector.band);
        format.announced(format.length(lasts, band), band)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::he::{GroupFormat, SigBMode};
    use crate::phy::{Band, PpduTiming, Punctured};

    fn vector(timing: PpduTiming) -> GroupVector {
        GroupVector {
            format: GroupFormat::Mu(SigBMode::for_slowest(7)),
            band: Band::Ghz5,
            width: Width::Mhz20,
            punctured: Punctured::NONE,
            guard: Guard::Ns800,
            ltf: None,
            padding: NominalPadding::Us16,
            small_1024_qam: false,
            timing,
        }
    }

    /// The layout and the PPDU as a whole agree, and the room is used to the last byte.
    #[test]
    fn a_layout_is_what_its_ppdus_have_in_common() {
        for timing in [PpduTiming::Standard, PpduTiming::Ns3] {
            for coding in [None, Some(crate::phy::Coding::Ldpc)] {
                let user = |(size, mcs), psdu| GroupUser {
                    size,
                    mcs,
                    streams: 1,
                    coding,
                    psdu: Bytes(psdu),
                };
                let modes = [(RuSize::Tones106, 7), (RuSize::Tones52, 3), (RuSize::Tones52, 5)];
                let users = |psdu| modes.map(|mode| user(mode, psdu));
                let layout = vector(timing).layout(&users(1)).unwrap();
                for psdu in (1..3000).step_by(37) {
                    let whole = vector(timing).ppdu(&users(psdu)).unwrap();
                    let (end, fields) = layout.ppdu([Bytes(psdu); 3].into_iter());
                    assert_eq!((end, fields), (whole.end, whole.fields), "{psdu} bytes");
                    assert_eq!(layout.announced(fields.total()), whole.announced);
                    for (nth, part) in whole.users.iter().enumerate() {
                        assert_eq!(layout.plan()[nth], part.ru);
                        assert_eq!(layout.rate(nth), part.rate);
                        assert_eq!(layout.room(nth, end), Bytes(psdu) + part.padding);
                    }
                }
                let within = Duration::from_micros(3000);
                let last = layout.last_end(within).unwrap();
                let full = [0, 1, 2].map(|nth| layout.room(nth, last));
                let lasts = layout.ppdu(full.into_iter()).1.total();
                assert!(lasts <= within && within - lasts <= Duration(32_000), "{lasts}");
                let more = full.map(|bytes| bytes + Bytes(100));
                assert!(layout.ppdu(more.into_iter()).1.total() > within);
            }
        }
    }

    /// A Trigger frame tells an extra segment where answers leave room for one, and only there.
    #[test]
    fn a_trigger_frame_tells_the_extra_segment() {
        let vector = GroupVector {
            format: GroupFormat::Tb,
            guard: Guard::Ns1600,
            ..vector(PpduTiming::Standard)
        };
        for (coding, some) in [(None, false), (Some(crate::phy::Coding::Ldpc), true)] {
            let user =
                GroupUser { size: RuSize::Tones106, mcs: 5, streams: 1, coding, psdu: Bytes(1) };
            let layout = vector.layout(&[user; 2]).unwrap();
            let mut told = [0, 0];
            for psdu in 1..400 {
                let (end, _) = layout.ppdu([Bytes(psdu); 2].into_iter());
                let is_told = layout.common_info(end).ldpc_extra;
                assert_eq!(is_told, layout.room_before_extra(0, end) < layout.room(0, end));
                assert!(layout.room_before_extra(0, end) >= Bytes(psdu), "{psdu}");
                told[usize::from(is_told)] += 1;
            }
            assert!(told[0] > 0 && (told[1] > 0) == some, "{told:?}");
        }
    }
}
