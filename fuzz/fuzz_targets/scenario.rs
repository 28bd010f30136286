//! The fuzz target `scenario`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simoom_fuzz::scenario(data));
