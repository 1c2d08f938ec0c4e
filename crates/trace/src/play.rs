//! Plays a side of a recorded session: the adapter, so that an editor gets what was said then, or the client, to see whether an adapter
//! still says the same.

mod adapter;
mod breakpoints;
mod client;
mod stack;

pub use adapter::{AdapterPlay, serve};
pub use client::{ClientPlay, Played};
