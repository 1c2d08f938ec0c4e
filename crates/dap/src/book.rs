//! The book: short pages for a start.
//!
//! The pages are in the documentation only; their code is compiled and run by the tests.

#[doc = include_str!("../book/adapter.md")]
pub mod adapter {}

#[doc = include_str!("../book/client.md")]
pub mod client {}

#[doc = include_str!("../book/testing.md")]
pub mod testing {}

#[doc = include_str!("../book/conformance.md")]
pub mod conformance {}
