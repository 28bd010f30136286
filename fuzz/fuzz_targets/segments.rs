//! The fuzz target `segments`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simoom_fuzz::segments(data));
