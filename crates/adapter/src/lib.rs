//! Translates between the engine and the Debug Adapter Protocol.
//!
//! [`serve`] runs one session on a connection: it owns an engine session, turns requests into commands of the engine, and events of the
//! engine into events of the protocol. Handlers look up what an id stands for, call the engine, and translate its answer. Decisions about
//! debugging are the engine's, transport is `dapple_dap`'s.
//!
//! The one trick is the order: events that the engine has sent go to the client before the next request is handled, so no response tells of
//! a newer state than an event that follows it. Exceptions: while events come without end, or too much output waits for the client,
//! requests are handled first (`main_loop`).

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
mod delayed_messages;
mod exceptions;
mod far_sources;
mod from_dap;
mod function_names;
mod handlers;
mod kept;
mod logged;
mod main_loop;
mod output;
mod serve_options;
mod shown_breakpoints;
mod shown_frame;
mod source_files;
mod source_map;
mod source_words;
pub mod styling;
mod to_dap;

pub use argument_values::words::{next_shell_word, shell_word_at};
pub use dapple_engine::allocator;
pub use dapple_engine::apart;
pub use dapple_engine::debug_info::IndexCache;
pub use dapple_engine::launch::ProcessGroup;
pub use dapple_engine::launcher;
pub use dapple_engine::private_folder;
pub use dapple_engine::probe;
pub use handlers::back::{Further, StepBackFurtherArguments, StepBackFurtherRequest};
pub use handlers::decided::{DecidedBreakpoint, DecidedRequest, DecidedResponse};
pub use handlers::last_write::{
    ShownWrite, ShownWriteFrame, WhoArguments, WhoRequest, WhoResponse,
};
pub use handlers::locks::{LocksRequest, LocksResponse, ShownHolder, ShownThreadWait};
pub use handlers::modules::{ListedModule, ListedModules, ModulesRequest};
pub use handlers::moments::{
    BookmarkNumber, GoToMomentArguments, GoToMomentRequest, Moment, NamedMoment,
    RemoveBookmarkRequest, SetBookmarkArguments, SetBookmarkRequest, ShownBookmark, WhenRequest,
    WhenResponse,
};
pub use handlers::read_visualizers::{ReadVisualizersArguments, ReadVisualizersRequest};
pub use handlers::record::RecordRequest;
pub use handlers::set_skip::{SetSkipArguments, SetSkipRequest};
pub use handlers::symbols::{
    ShownSymbol, SymbolKind, SymbolsArguments, SymbolsRequest, SymbolsResponse,
};
pub use handlers::tasks::{ShownTask, ShownWait, TasksArguments, TasksRequest, TasksResponse};
pub use handlers::write_core::{WriteCoreArguments, WriteCoreRequest};
pub use main_loop::serve;
pub use serve_options::{OwnStdin, ServeOptions};
