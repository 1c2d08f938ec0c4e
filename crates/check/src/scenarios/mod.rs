//! What a check does with the adapter: each scenario is a session of its own.

mod asking;
mod bad_input;
mod ends;
mod granularity;
mod looking;
mod memory;
mod moving;
mod plain_client;
mod running;
mod setup;
mod values;

use crate::talk::Talk;

macro_rules! scenarios {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $run:path;)*) => {
        /// A part of a check: a session with the adapter, for one purpose.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Scenario {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl Scenario {
            /// All scenarios, in the order in which they are run.
            pub const ALL: &[Scenario] = &[$(Self::$variant),*];

            /// Its name, as reports have it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            pub(crate) fn run(self, talk: &mut Talk<'_>) {
                match self {
                    $(Self::$variant => $run(talk),)*
                }
            }
        }
    };
}

scenarios! {
    /// Breakpoints, stops, steps, values, and the end of the program.
    WholeSession "a session from start to end" running::whole_session;
    /// Conditions, hit conditions, log points and function breakpoints.
    Conditions "breakpoints with conditions" running::conditions;
    /// Steps by instructions, lines and statements.
    Granularities "steps by their granularity" granularity::steps;
    /// Data breakpoints, `goto`, `restart` and `terminate`.
    Moving "requests that move the program" moving::moves;
    /// Stacks, variables, sources, expressions and memory.
    Looking "looking at a stopped program" looking::stopped;
    /// Requests that depend on capabilities.
    EachRequest "each request that is advertised, and each that is not" asking::each_request;
    /// A client that counts lines from 0 and supports nothing that is optional.
    PlainClient "a client that counts from 0 and supports little" plain_client::session;
    /// Unknown commands, wrong arguments, and bytes that are no message.
    BadInput "bad input" bad_input::bad_input;
    /// Requests before `initialize`, and `initialize` twice.
    WrongTime "requests at the wrong time" bad_input::wrong_time;
    /// `launch` of a program that doesn't exist.
    BadLaunch "a launch that fails" ends::bad_launch;
    /// `disconnect` while the program is stopped.
    Disconnect "an end amid the program" ends::disconnect_while_stopped;
    /// The connection closes while the program is stopped.
    ClientGoesAway "a client that goes away" ends::client_goes_away;
}
