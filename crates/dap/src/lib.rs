//! The Debug Adapter Protocol: everything for writing a debug adapter or a client of one, and nothing of debugging.
//!
//! Messages have types, generated from the protocol's definition. Both ends of a connection keep the protocol's rules and report where
//! the peer breaks them. What a request means, and in which order a debugger is driven, is up to you.
//!
//! # An adapter
//!
//! Handlers are registered by request type; the adapter advertises the capabilities that it has handlers for. The session answers
//! `initialize` by itself, and `cancel` and `disconnect` if they have no handler. Each other request is answered once: by its
//! handler, or with an error if there is no handler or the arguments are malformed. The response that a handler returns is sent
//! before the events and reverse requests that the handler has sent.
//!
//! The least that an editor needs: after `launch`, the event `initialized` asks the client for its breakpoints. The request
//! `configurationDone` says that the client has sent them. Then the program runs, until a `stopped` or `terminated` event.
//!
//! ```
//! use dapple_dap::{Connection, Failure, Server};
//! use dapple_dap::types::*;
//!
//! /// The state of one client's session.
//! #[derive(Default)]
//! struct Program {
//!     path: Option<String>,
//! }
//!
//! #[derive(serde::Deserialize)]
//! struct Launch {
//!     program: String,
//! }
//!
//! fn adapter() -> Server<Program> {
//!     Server::builder()
//!         .on::<LaunchRequest>(|program: &mut Program, arguments, context| {
//!             // The protocol leaves the arguments of `launch` to the adapter.
//!             let launch: Launch = arguments.decode()?;
//!             program.path = Some(launch.program);
//!             context.outbox().event::<InitializedEvent>(Empty);
//!             Ok(Empty)
//!         })
//!         .on::<ConfigurationDoneRequest>(|_, _, context| {
//!             // Here the program would start.
//!             context.outbox().stopped(StoppedEventReason::Entry, 1);
//!             Ok(Empty)
//!         })
//!         .on::<ThreadsRequest>(|program, _, _| {
//!             let name = program.path.clone().ok_or(Failure::new("nothing is launched"))?;
//!             Ok(ThreadsResponse::new(vec![Thread::new(1, name)]))
//!         })
//!         .build()
//! }
//!
//! /// Serves the client at the other end. Editors talk to an adapter over its stdio: `Connection::stdio()`.
//! fn serve(connection: Connection) {
//!     adapter().start(&connection).run(&mut Program::default());
//! }
//! # let (client, server) = Connection::memory();
//! # let thread = std::thread::spawn(move || serve(server));
//! # let client = dapple_dap::testing::TestClient::new(client);
//! # let launch = client.launch(dapple_dap::testing::launch_arguments(
//! #     &std::collections::BTreeMap::from([("program", "/bin/true")])));
//! # client.configured(launch);
//! # assert_eq!(client.wait_for::<StoppedEvent>().thread_id, Some(1));
//! # assert_eq!(client.ok::<ThreadsRequest>(Empty).threads[0].name, "/bin/true");
//! # client.disconnect();
//! # client.assert_no_violations();
//! # thread.join().unwrap();
//! ```
//!
//! With `serve(Connection::stdio())` as its `main` this is a debug adapter that an editor can start. Its standard output then carries
//! the protocol and nothing else: print to standard error instead, and read the crate's own log with a subscriber of [`tracing`].
//!
//! [`Server::serve_stdio`] is such a `main` in one call. [`Session::run`] waits only for the client, [`Session::run_interpreter`] executes
//! the debuggee in between, and an adapter that waits for its debuggee calls [`Session::handle`] from a loop of its own.
//! [`Server::serve`] serves many clients on a port, [`server`] describes what else handlers can do, and [`testing::TestClient::of`] runs
//! an adapter within a test.
//!
//! Editors set breakpoints in all files of the languages that the adapter is registered for, so `setBreakpoints` may name a file that
//! the program does not have: answer with breakpoints that are not verified. Clients may also count lines from 0 or name files by
//! URIs; [`ClientConventions`](server::ClientConventions) convert. The common editors count from 1 and name paths.
//!
//! # Messages as types
//!
//! For a request `x` there are the marker `XRequest`, which names the request in `on::<XRequest>`, its `XArguments` (or
//! `XRequestArguments`, where the protocol calls them that) and its `XResponse`; for an event `x` the marker `XEvent` and its
//! `XEventBody`. [`Empty`](types::Empty) stands for a payload without fields. `new` takes the required fields of a type, and
//! `with_FIELD` sets an optional one; later versions of the protocol may add optional fields. Enumerations that adapters or clients
//! may extend have the variant `Other` for values that the protocol doesn't list.
//!
//! ```
//! use dapple_dap::types::*;
//!
//! let frame = StackFrame::new(1, "main", 12, 1).with_source(Source::new().with_path("/src/a.c"));
//! assert_eq!(frame.presentation_hint, None);
//! assert_eq!(StoppedEventReason::from("signal"), StoppedEventReason::Other("signal".into()));
//! ```
//!
//! # A client
//!
//! Requests are sent by type too. Received events are kept until the program asks for them.
//!
//! ```
//! use std::time::Duration;
//! use dapple_dap::{Client, ClientError, Connection};
//! use dapple_dap::types::*;
//!
//! fn threads_at_first_stop(connection: Connection) -> Result<Vec<Thread>, ClientError> {
//!     let client = Client::new(connection);
//!     client.request::<InitializeRequest>(InitializeRequestArguments::new("any"))?;
//!     let launch = client.start::<LaunchRequest>(LaunchRequestArguments::new())?;
//!     // Here the client would set breakpoints.
//!     client.configured(launch)?;
//!     client.wait_for::<StoppedEvent>(Duration::from_secs(30), |_| true)?;
//!     let threads = client.request::<ThreadsRequest>(Empty)?.threads;
//!     client.request::<DisconnectRequest>(DisconnectArguments::new())?;
//!     Ok(threads)
//! }
//! # use dapple_dap::Server;
//! # let server = Server::<()>::builder()
//! #     .on::<LaunchRequest>(|_, _, context| {
//! #         context.outbox().event::<InitializedEvent>(Empty);
//! #         Ok(Empty)
//! #     })
//! #     .on::<ConfigurationDoneRequest>(|_, _, context| {
//! #         context.outbox().event::<StoppedEvent>(StoppedEventBody::new(StoppedEventReason::Entry));
//! #         Ok(Empty)
//! #     })
//! #     .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(7, "main")])))
//! #     .build();
//! # let (client, adapter) = Connection::memory();
//! # let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
//! # assert_eq!(threads_at_first_stop(client).unwrap()[0].id, 7);
//! # thread.join().unwrap();
//! ```
//!
//! [`Client::spawn`] starts an adapter program, [`Client::connect`] connects to one that listens; see [`client`].
//!
//! # The book and whole programs
//!
//! The pages of the [`book`] start from nothing: an adapter, a client, tests, conformance.
//!
//! The examples are whole programs: `calculator` is an adapter in 100 lines, `stops` a client of any adapter in 60, which prints each
//! stop, and `tiny` a complete adapter, whose programs can be paused while they run. `slides` is an asynchronous adapter. Run one against the other in the project's folder:
//!
//! ```text
//! cargo build -p dapple-dap --examples
//! cd crates/dap/examples
//! ../../../target/debug/examples/stops '{"program":"sum.calc","stopOnEntry":true}' sum.calc:4 -- ../../../target/debug/examples/calculator
//! ```
//!
//! # Features
//!
//! | feature | adds | and compiles |
//! | --- | --- | --- |
//! | none, or `types` | [`types`] and [`message`] | serde, serde_json |
//! | `codec` | [`codec`], [`envelope`], [`any_message`], [`lifecycle`] | itoa, serde_path_to_error, thiserror, wide |
//! | `client` | [`client`], [`transport`], [`cancel`] | crossbeam-channel, tracing; rustix on Unix |
//! | `server` | [`server`], [`transport`], [`cancel`] | the same, and percent-encoding |
//! | `testing` | [`testing`], `client`, `server` | |
//! | `tokio` | `async_client`, `client`; with `server`, `async_server` | tokio |
//!
//! By default, `client`, `server` and `testing` are on. Each feature includes those above that it needs. serde_json is always there: a
//! payload that is not decoded yet, such as the arguments of `launch`, is a [`Raw`], which is serde_json's type for
//! unread JSON. Crates whose types are part of the interface are re-exported: [`serde`], [`serde_json`], [`crossbeam_channel`], [`tracing`], `tokio`.
//!
//! # Modules
//!
//! | module | |
//! | --- | --- |
//! | [`types`], [`message`] | the payloads: a generated type for each definition; how to add requests and events of your own |
//! | [`launch`] | the arguments of `launch` and `attach` as types of the adapter's own |
//! | [`codec`], [`envelope`] | bytes to messages and their payloads, without I/O |
//! | [`any_message`] | any message as one typed value |
//! | [`transport`] | connections over stdio, sockets and memory; who may connect |
//! | [`lifecycle`] | which message may be sent when, as a pure state machine |
//! | [`cancel`] | how a handler learns that its request was cancelled |
//! | [`server`] | handlers, sessions, references, the client's conventions |
//! | [`client`] | requests, events, capabilities; starting an adapter |
//! | `async_client` | the same for asynchronous programs, with the feature `tokio` |
//! | `async_server` | handlers that await, with the features `tokio` and `server` |
//! | [`testing`] | a client for tests of adapters, scripts for either side, recordings and their replay |
//!
//! # Systems
//!
//! The crate is developed and tested on Linux. Each change is compiled for Windows (`x86_64-pc-windows-gnu`), macOS
//! (`aarch64-apple-darwin`) and FreeBSD (`x86_64-unknown-freebsd`) as well, with all its features.
//! What differs from system to system:
//!
//! | | Linux | macOS, FreeBSD | Windows |
//! | --- | --- | --- | --- |
//! | Unix sockets | yes | yes | no |
//! | [which user connects](transport::listen) is checked | Unix sockets, TCP | Unix sockets | never |
//! | [what is killed](Client::spawn) with an adapter | its descendants | its process group | nothing else |
//! | [a loop may read by itself](Connection::take_input) | yes | no | no |
//!
//! # Threads
//!
//! The crate uses threads and channels, and no async runtime unless the feature `tokio` adds the asynchronous client and server.
//! [`codec`], [`envelope`] and [`lifecycle`] do no I/O and work with any runtime.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "codec")]
pub mod any_message;
#[cfg(feature = "tokio")]
pub mod async_client;
#[cfg(all(feature = "tokio", feature = "server"))]
pub mod async_server;
#[cfg(all(feature = "testing", any(doc, doctest)))]
pub mod book;
#[cfg(feature = "transport")]
#[cfg_attr(
    not(feature = "server"),
    expect(dead_code, reason = "only servers handle what can be cancelled")
)]
pub mod cancel;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "codec")]
pub mod codec;
#[cfg(feature = "codec")]
pub mod envelope;
#[cfg(feature = "transport")]
mod failure;
#[cfg(feature = "codec")]
mod json;
pub mod launch;
#[cfg(feature = "codec")]
pub mod lifecycle;
pub mod message;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "transport")]
pub mod transport;
pub mod types;

#[cfg(feature = "codec")]
pub use any_message::AnyMessage;
#[cfg(feature = "transport")]
pub use cancel::CancelToken;
#[cfg(feature = "client")]
pub use client::{Client, ClientError};
#[cfg(feature = "transport")]
pub use failure::Failure;
pub use message::{Event, Raw, Request};
#[cfg(feature = "server")]
pub use server::{Context, Flow, Outbox, Responder, Server, Session};
#[cfg(feature = "transport")]
pub use transport::{Connection, Incoming};

/// The version of the protocol whose messages [`types`] has.
pub const PROTOCOL_VERSION: &str = "1.71";

// Crates whose types are part of the interface, so that users name the same versions.
#[cfg(feature = "transport")]
pub use crossbeam_channel;
pub use serde;
pub use serde_json;
#[cfg(feature = "tokio")]
pub use tokio;
#[cfg(feature = "transport")]
pub use tracing;

#[cfg(all(doctest, feature = "testing"))]
#[doc = include_str!("../README.md")]
struct Readme;
