//! Every controller with its usual settings.
#![allow(dead_code, reason = "each test binary uses a part")]

use tcp::control::{
    Afw, AfwConfig, Average, Bbr, Bbr3, Bbr3Config, BbrConfig, Counting, CrossLayer, Cubic,
    CubicConfig, Few, Lt, LtConfig, NewReno, Throughputs, Vegas, VegasConfig, Westwood,
};
use tcp::{Config, Control};

pub(crate) type Make = fn(&Config) -> Box<dyn Control>;

const BYTES: Counting = Counting::Bytes { limit: 2 };

/// Name and maker of each.
pub(crate) const ALL: [(&str, Make); 12] = [
    ("new_reno", |c| Box::new(NewReno::from(c))),
    ("new_reno, counting acks", |c| Box::new(NewReno::from(c).counting(Counting::Acks))),
    ("new_reno, hystart", |c| Box::new(NewReno::from(c).hystart())),
    ("cubic", |c| Box::new(Cubic::new(c, CubicConfig::default()))),
    ("westwood", |c| Box::new(Westwood::new(c, Westwood::MEMORY))),
    ("vegas", |c| Box::new(Vegas::new(c, VegasConfig::default()))),
    ("few", |c| Box::new(Few::new(c, Few::ALPHA, BYTES))),
    ("afw", |c| Box::new(Afw::new(c, AfwConfig::default(), BYTES))),
    ("lt", |c| Box::new(Lt::new(c, LtConfig::default()))),
    ("bbr", |c| Box::new(Bbr::new(c, BbrConfig::default()))),
    ("bbr3", |c| Box::new(Bbr3::new(c, Bbr3Config::default()))),
    ("cross_layer", |c| {
        let inner = Box::new(Cubic::new(c, CubicConfig::default()));
        let table = Throughputs::dot11ac_20mhz();
        Box::new(CrossLayer::new(inner, table, Average::Samples(10), c.mss))
    }),
];
