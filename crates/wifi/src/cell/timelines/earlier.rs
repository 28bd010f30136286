//! A station of 802.11ac in a cell of 802.11ax: STA2. The others send HE PPDUs of MCS 7 at 20 MHz.
//!
//! An AIFS is 43 µs. EIFS less DIFS is a SIFS and an Ack at 6 Mb/s: 16 + 44 µs. Times are in 100
//! ns.

use super::groups::frames;
use super::stage::{AP, STA1, STA2, STA3, Script};
use crate::mac::{Acknowledgement, Earlier, Mu};
use crate::phy::{DOT11AC, DOT11AX, ModeClass, TxVector};

const EIFS: u64 = 600 + 430;

fn script(stations: usize) -> Script {
    let mut script = Script::high(&DOT11AX, stations);
    let mcs7 = |vector: Option<TxVector>| TxVector { mcs: 7, ..vector.unwrap() }.mode().unwrap();
    script.links.iter_mut().for_each(|link| link.mode = mcs7(DOT11AX.tx_vector()));
    script.links[1].mode = mcs7(DOT11AC.tx_vector());
    script.with(|config| config.earlier = vec![Earlier { node: STA2, latest: ModeClass::Vht }])
}

fn grouped(stations: usize, how: Acknowledgement) -> Script {
    script(stations)
        .in_cell_only("OFDMA is of cells")
        .with(|config| config.mu = Some(Mu { acknowledgement: how, ..Mu::default() }))
}

/// The three packets of 1536 bytes: two stations share the PPDU, and the third gets a VHT PPDU of
/// its own. It has a bitmap of 64 bits: a BlockAck of 32 bytes at 24 Mb/s lasts 32 µs, where that
/// between HE stations has 56 bytes and 40 µs.
#[test]
fn it_is_no_user_of_a_ppdu_of_several() {
    let three = [STA1, STA2, STA3].into_iter();
    let all = three.fold(grouped(3, Acknowledgement::BarChain), |all, to| all.down(0, to).of(1536));
    let record = all.down(0, STA2).of(1536).draws(AP, [0, 0]).play(10);
    let seen = frames(&record);
    assert_eq!(seen[0].3, "data 1 | 3");
    let (single, ack) = (seen[seen.len() - 2], seen[seen.len() - 1]);
    assert_eq!((single.3, ack.3), ("data 2 4", "ba"));
    assert_eq!(ack.1 - ack.0, 320);
    assert_eq!(record.delivered.len(), 4);
}

/// HE TB PPDUs end the exchange, which it does not know: it waits for an EIFS. A chain ends with a
/// BlockAck in OFDM.
#[test]
fn it_defers_for_an_eifs_after_block_acks_in_he_tb_ppdus() {
    let first = |how| {
        let both = [STA1, STA3].into_iter();
        let group = both.fold(grouped(3, how), |all, to| all.down(0, to).of(1536));
        let record = group.up(100, STA2).draws(STA2, [0]).play(10);
        let seen = frames(&record);
        let nth = seen.iter().position(|it| it.2 == STA2).expect("its frame");
        seen[nth].0 - seen[nth - 1].1
    };
    // The end of HE TB PPDUs is announced in steps of 4 µs: 3.2 µs later.
    assert_eq!(first(Acknowledgement::MuBar), 32 + EIFS);
    assert_eq!(first(Acknowledgement::AggregatedMuBar), 32 + EIFS);
    assert_eq!(first(Acknowledgement::BarChain), 430);
}

/// The data of a station of 802.11ax are lost. Others know from its header when the BlockAck would
/// have ended, and it does not.
#[test]
fn it_defers_for_an_eifs_after_a_lost_ppdu_that_it_does_not_know() {
    let gap = |station| {
        let lost = script(3).up(0, STA1).of(1536).data_noise(STA1, 0..100).draws(STA1, [30]);
        let record = lost.up(50, station).draws(station, [0]).play(10);
        let seen = frames(&record);
        assert_eq!(seen[1].2, station);
        seen[1].0 - seen[0].1
    };
    assert_eq!(gap(STA2), EIFS);
    // SIFS, and an Ack at 24 Mb/s.
    assert_eq!(gap(STA3), 160 + 280 + 430);
}

/// It knows the PPDUs of its own standard, and so do the others.
#[test]
fn its_own_ppdus_are_known_to_all() {
    let lost = script(3).up(0, STA2).of(1536).data_noise(STA2, 0..100).draws(STA2, [30]);
    let record = lost.up(50, STA1).draws(STA1, [0]).play(10);
    let seen = frames(&record);
    assert_eq!((seen[1].2, seen[1].0 - seen[0].1), (STA1, 160 + 280 + 430));
}
