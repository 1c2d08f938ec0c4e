//! Recorded sessions of the Debug Adapter Protocol, understood.
//!
//! | module | |
//! | --- | --- |
//! | [`input`] | reads recordings and plain logs |
//! | [`session`] | joins requests with their responses, and checks each message |
//! | [`mod@line`], [`summary`], [`filter`] | messages as readable lines |
//! | [`forward`], [`backlog`] | passes on the bytes between an editor and an adapter, and makes messages of a copy |
//! | [`play`] | plays a side of a recording to an editor or an adapter |
//! | [`mod@diff`] | how two sessions differ in meaning |
//! | [`mod@minimize`] | the shortest session that still shows a violation |
//! | [`html`] | a session as a page for browsers |
//! | [`rules`] | what is wrong with a message, and the names of the rules |
//!
//! ```
//! use dapple_trace::{Session, input, line};
//!
//! let log = r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"any"}}
//! {"seq":1,"type":"event","event":"initialized"}"#;
//! let mut session = Session::new();
//! let mut shown = Vec::new();
//! for item in &input::read(log)?[0].items {
//!     let message = session.item(item);
//!     shown.push(line::text(&message));
//!     shown.extend(message.findings.iter().map(|finding| finding.rule.clone()));
//! }
//! assert_eq!(
//!     shown,
//!     [
//!         "    0.000 →   1 initialize an unnamed client for any",
//!         "    0.000 ←     initialized",
//!         "before-initialize-response",
//!     ]
//! );
//! # Ok::<(), input::InputError>(())
//! ```
//!
//! It is made for tools: it does no I/O but through the readers, writers and connections that it is given.

pub mod backlog;
mod causes;
pub mod diff;
pub mod filter;
pub mod forward;
pub mod html;
pub mod input;
pub mod line;
pub mod minimize;
mod numbers;
pub mod play;
pub mod rules;
pub mod session;
pub mod summary;
mod words;

pub use input::{Item, Recorded};
pub use rules::Finding;
pub use session::{Content, Message, Session};
