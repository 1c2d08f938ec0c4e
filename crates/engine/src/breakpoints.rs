//! Breakpoints in three layers: what the user asked for ([`model`], and [`function`] for names), the bytes in memory ([`site`]), and how a thread
//! gets past such a byte without others missing it ([`displaced`]).

pub(crate) mod displaced;
pub(crate) mod function;
pub(crate) mod model;
pub(crate) mod site;
