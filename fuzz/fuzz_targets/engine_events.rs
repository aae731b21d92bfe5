//! Calls the library's own `fuzzing::engine_events` with whatever libFuzzer makes.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| docker_agent_sandbox::fuzzing::engine_events(input));
