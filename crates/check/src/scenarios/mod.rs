//! What a check does with the adapter: each scenario is a session of its own.

mod asking;
mod bad_input;
mod ends;
mod looking;
mod memory;
mod running;
mod setup;
mod values;

use crate::talk::Talk;

/// A scenario: its name, and what it does.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&mut Talk<'_>),
}

/// All scenarios, in the order in which they are run.
pub(crate) const ALL: &[Scenario] = &[
    Scenario {
        name: "a session from start to end",
        run: running::whole_session,
    },
    Scenario {
        name: "breakpoints with conditions",
        run: running::conditions,
    },
    Scenario {
        name: "looking at a stopped program",
        run: looking::stopped,
    },
    Scenario {
        name: "each request that is advertised, and each that is not",
        run: asking::each_request,
    },
    Scenario {
        name: "bad input",
        run: bad_input::bad_input,
    },
    Scenario {
        name: "requests at the wrong time",
        run: bad_input::wrong_time,
    },
    Scenario {
        name: "a launch that fails",
        run: ends::bad_launch,
    },
    Scenario {
        name: "an end amid the program",
        run: ends::disconnect_while_stopped,
    },
    Scenario {
        name: "a client that goes away",
        run: ends::client_goes_away,
    },
];
