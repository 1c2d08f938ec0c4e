//! A server session fed with any messages.
#![no_main]

#[path = "../../tests/properties/session.rs"]
mod session;

libfuzzer_sys::fuzz_target!(|lines: &str| session::each_request_has_one_response(lines));
