//! The fuzz target `script`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simoom_fuzz::script(data));
