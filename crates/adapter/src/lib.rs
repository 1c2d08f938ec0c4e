//! Translates between the engine and the Debug Adapter Protocol.
//!
//! [`serve`] runs one session on a connection: it owns an engine session, turns requests into its commands and its
//! events into the protocol's. Nothing is decided here about debugging, and nothing about wires: handlers look up what an
//! id stands for, call the engine, and put its answer into the protocol's words. The one trick is in the order of
//! things: what the engine has already told goes out before the next request is looked at, so a client never gets the
//! answer to a later question before the news.

mod adapter;
mod argument_values;
pub mod arguments;
mod breakpoint_modes;
mod breakpoints;
pub mod building;
mod changed;
mod clients;
mod console;
mod data_breakpoints;
mod exceptions;
mod from_dap;
mod gathering;
mod handlers;
mod kept;
mod logged;
mod main_loop;
mod output;
mod serve_options;
mod shown_frame;
mod source_files;
mod source_map;
pub mod styling;
mod to_dap;
mod told_breakpoints;

pub use dapple_engine::allocator;
pub use dapple_engine::apart;
pub use dapple_engine::debug_info::IndexCache;
pub use dapple_engine::launch::ProcessGroup;
pub use dapple_engine::launcher;
pub use dapple_engine::private_folder;
pub use dapple_engine::probe;
pub use handlers::read_visualizers::{ReadVisualizersArguments, ReadVisualizersRequest};
pub use handlers::set_skip::{SetSkipArguments, SetSkipRequest};
pub use main_loop::serve;
pub use serve_options::{OwnStdin, ServeOptions};
