//! The exception filters: which ones the client is offered, and which ones it has enabled.
//!
//! Filters may be set before the launch, when there is no engine. So the choice is kept here, and passed to the engine as a whole.

mod options;
pub mod stack_trace;

use dapple_dap::types::{ExceptionBreakMode, ExceptionOptions};
use dapple_engine::exceptions::{ExceptionFilters, Patterns, Runtimes};
use dapple_engine::signals::SignalTable;
use options::{Category, Rule};

/// A filter.
pub struct Filter {
    /// The id in `setExceptionBreakpoints`.
    pub id: &'static str,
    /// The label of the check box.
    pub label: &'static str,
    /// The tooltip.
    pub description: &'static str,
    /// Whether it is enabled by default.
    pub default: bool,
    /// Help about its condition; `None` if it takes none.
    pub condition: Option<&'static str>,
}

/// The ids of [`FILTERS`].
const CPP_THROW: &str = "cpp_throw";
const CPP_CATCH: &str = "cpp_catch";
const CPP_UNCAUGHT: &str = "cpp_uncaught";
const RUST_PANIC: &str = "rust_panic";
const RUST_UNCAUGHT: &str = "rust_uncaught";
const TASK_CANCELLED: &str = "async_cancelled";
const FUTURE_DROPPED: &str = "async_dropped";
const SANITIZERS: &str = "sanitizers";
const FAULTS: &str = "faults";
const SIGNALS: &str = "signals";

/// Help about conditions of the C++ filters.
const TYPES: &str = "std::out_of_range, my::*, !my::Retry; bases count";
/// Help about conditions of the Rust filters.
const PANICS: &str = "index out of bounds, src/parse.rs, !unwrap";

/// Help about conditions of the filters for asynchronous functions.
const FUNCTIONS: &str = "my::worker, fetch*, !timeout_guard";

/// Help about conditions of the sanitizer filter.
const REPORTS: &str = "heap-use-after-free, data race, !UndefinedBehaviorSanitizer";

/// The filters, in the order in which they are shown.
pub const FILTERS: &[Filter] = &[
    Filter {
        id: CPP_THROW,
        label: "C++: on throw",
        description: "Stops where an exception is thrown, whether or not something catches it.",
        default: false,
        condition: Some(TYPES),
    },
    Filter {
        id: CPP_CATCH,
        label: "C++: on catch",
        description: "Stops where an exception is caught.",
        default: false,
        condition: Some(TYPES),
    },
    Filter {
        id: CPP_UNCAUGHT,
        label: "C++: uncaught",
        description: "Stops where an exception is thrown that nothing catches, or that comes to a function that is noexcept.",
        default: true,
        condition: Some(TYPES),
    },
    Filter {
        id: RUST_PANIC,
        label: "Rust: panic",
        description: "Stops at each panic, behind its message.",
        default: true,
        condition: Some(PANICS),
    },
    Filter {
        id: RUST_UNCAUGHT,
        label: "Rust: uncaught panic",
        description: "Stops at a panic that nothing of the program catches: it ends the thread.",
        default: false,
        condition: Some(PANICS),
    },
    Filter {
        id: TASK_CANCELLED,
        label: "Async: task cancelled",
        description: "Stops where a Rust task is dropped before its end: it was aborted, or its executor ends.",
        default: false,
        condition: Some(FUNCTIONS),
    },
    Filter {
        id: FUTURE_DROPPED,
        label: "Async: future dropped",
        description: "Stops where any Rust future of your code is dropped before its end, also in a task that goes on: it has lost in a `select!`, or its time was up.",
        default: false,
        condition: Some(FUNCTIONS),
    },
    Filter {
        id: SANITIZERS,
        label: "Sanitizers: reports",
        description: "Stops where AddressSanitizer, ThreadSanitizer, UndefinedBehaviorSanitizer or their like report an error, behind the report.",
        default: true,
        condition: Some(REPORTS),
    },
    Filter {
        id: FAULTS,
        label: "Signals: faults and aborts",
        description: "Stops at SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT and SIGTRAP. When this is off, only where they end the program: not where it handles them.",
        default: true,
        condition: None,
    },
    Filter {
        id: SIGNALS,
        label: "Signals: others",
        description: "Stops at the signals of the condition; without one, at all but those that come all the time (SIGCHLD, SIGALRM, SIGWINCH …).",
        default: false,
        condition: Some("SIGUSR1, SIGRTMIN+1, SIGCHLD:nopass, SIGTERM:nostop:print"),
    },
];

/// An enabled filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The filter's id.
    pub id: String,
    /// Its condition.
    pub condition: Option<String>,
}

/// The enabled filters and options.
#[derive(Debug)]
pub struct Exceptions {
    wanted: Vec<Wanted>,
    /// The rules of `exceptionOptions`, in order.
    rules: Vec<Rule>,
    /// The signal handling of the launch arguments.
    launch: SignalTable,
    /// The language runtimes of the program, once known.
    runtimes: Option<Runtimes>,
}

impl Default for Exceptions {
    fn default() -> Exceptions {
        let on = FILTERS.iter().filter(|filter| filter.default);
        Exceptions {
            wanted: on
                .map(|filter| Wanted {
                    id: filter.id.to_owned(),
                    condition: None,
                })
                .collect(),
            rules: Vec::new(),
            launch: SignalTable::default(),
            runtimes: None,
        }
    }
}

impl Exceptions {
    /// Sets the signal handling of the launch arguments.
    pub fn set_launch_signals(&mut self, table: SignalTable) {
        self.launch = table;
    }

    /// Sets the language runtimes of the program. Returns whether that changes the offered filters.
    pub fn set_runtimes(&mut self, runtimes: Runtimes) -> bool {
        let before: Vec<&str> = self.offered().map(|filter| filter.id).collect();
        self.runtimes = Some(runtimes);
        !self.offered().map(|filter| filter.id).eq(before)
    }

    /// The filters that apply to the program; all filters while its runtimes are unknown.
    pub fn offered(&self) -> impl Iterator<Item = &'static Filter> {
        let runtimes = self.runtimes;
        FILTERS
            .iter()
            .filter(move |filter| runtimes.is_none_or(|runtimes| has(runtimes, filter.id)))
    }

    /// Replaces the enabled filters and the options. A filter that isn't offered keeps its state, unless `wanted` has it. Returns a result for
    /// each filter, then for each option; invalid ones have no effect.
    pub fn replace(
        &mut self,
        wanted: Vec<Wanted>,
        options: &[ExceptionOptions],
    ) -> Vec<Result<(), String>> {
        let mut checked: Vec<Result<(), String>> = wanted.iter().map(check).collect();
        let good = wanted.into_iter().zip(&checked);
        let good = good.filter(|(_, checked)| checked.is_ok());
        let mut now: Vec<Wanted> = good.map(|(wanted, _)| wanted).collect();
        let mut unsaid = std::mem::take(&mut self.wanted);
        let is_offered = |id: &str| self.offered().any(|filter| filter.id == id);
        unsaid.retain(|old| !is_offered(&old.id) && !now.iter().any(|new| new.id == old.id));
        now.extend(unsaid);
        self.wanted = now;
        self.rules.clear();
        for option in options {
            checked.push(options::read(option).map(|rules| self.rules.extend(rules)));
        }
        checked
    }

    fn on(&self, id: &str) -> Option<&Wanted> {
        self.wanted.iter().find(|wanted| wanted.id == id)
    }

    /// The exceptions that stop the program, for the engine.
    pub fn filters(&self) -> ExceptionFilters {
        // Errors in conditions were reported when the filters were set.
        let patterns = |id| self.on(id).and_then(|wanted| patterns(wanted).ok());
        let with = |filter, category, modes: &[ExceptionBreakMode]| {
            options::with_rules(filter, &self.rules, category, modes)
        };
        let cpp = |filter, mode| with(filter, Category::Cpp, &[mode]);
        let rust = |filter, modes: &[ExceptionBreakMode]| with(filter, Category::Rust, modes);
        use ExceptionBreakMode::{Always, Unhandled, UserUnhandled};
        ExceptionFilters {
            cpp_throw: cpp(patterns(CPP_THROW), Always),
            cpp_user_unhandled: cpp(None, UserUnhandled),
            cpp_catch: patterns(CPP_CATCH),
            cpp_uncaught: cpp(patterns(CPP_UNCAUGHT), Unhandled),
            rust_panic: rust(patterns(RUST_PANIC), &[Always]),
            // A panic that only the standard library catches, at the end of a thread, is unhandled, also by the user's code.
            rust_uncaught: rust(patterns(RUST_UNCAUGHT), &[Unhandled, UserUnhandled]),
            task_cancelled: patterns(TASK_CANCELLED),
            future_dropped: patterns(FUTURE_DROPPED),
            // A program can't handle a sanitizer report.
            sanitizers: with(
                patterns(SANITIZERS),
                Category::Sanitizers,
                &[Always, Unhandled, UserUnhandled],
            ),
        }
    }

    /// The handling of signals, for the engine.
    pub fn signals(&self) -> SignalTable {
        let mut table = self.launch.clone();
        if self.on(FAULTS).is_none() {
            table.faults_if_fatal();
        }
        for wanted in self.wanted.iter().filter(|wanted| wanted.id == SIGNALS) {
            // Errors were reported when the filter was set.
            let _ = change(&mut table, wanted);
        }
        options::change_signals(&mut table, &self.rules);
        table
    }
}

/// Whether a filter applies to a program with these runtimes.
fn has(runtimes: Runtimes, id: &str) -> bool {
    match id {
        CPP_THROW | CPP_CATCH | CPP_UNCAUGHT => runtimes.cpp,
        RUST_PANIC | RUST_UNCAUGHT | TASK_CANCELLED | FUTURE_DROPPED => runtimes.rust,
        SANITIZERS => runtimes.sanitizers,
        _ => true,
    }
}

fn change(table: &mut SignalTable, wanted: &Wanted) -> Result<(), String> {
    match condition(wanted) {
        Some(list) => table.change(list),
        None => {
            table.stop_at_most();
            Ok(())
        }
    }
}

fn patterns(wanted: &Wanted) -> Result<Patterns, String> {
    Patterns::parse(condition(wanted).unwrap_or_default())
}

/// The condition; an empty one counts as none.
fn condition(wanted: &Wanted) -> Option<&str> {
    let condition = wanted.condition.as_deref().map(str::trim);
    condition.filter(|condition| !condition.is_empty())
}

fn check(wanted: &Wanted) -> Result<(), String> {
    let Some(filter) = FILTERS.iter().find(|filter| filter.id == wanted.id) else {
        let known: Vec<&str> = FILTERS.iter().map(|filter| filter.id).collect();
        return Err(format!(
            "there is no exception filter `{}`; there are {}",
            wanted.id,
            known.join(", ")
        ));
    };
    match (filter.id, condition(wanted)) {
        (_, Some(_)) if filter.condition.is_none() => Err(format!(
            "the exception filter `{}` takes no condition",
            filter.id
        )),
        (SIGNALS, _) => change(&mut SignalTable::default(), wanted),
        (FAULTS, _) => Ok(()),
        (TASK_CANCELLED | FUTURE_DROPPED, _) => match patterns(wanted)?.expression() {
            Some(expression) => Err(format!(
                "the exception filter `{}` takes names of functions, no condition `if {expression}`",
                filter.id
            )),
            None => Ok(()),
        },
        _ => patterns(wanted).map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dapple_engine::signals::When;

    fn wanted(id: &str, condition: Option<&str>) -> Wanted {
        Wanted {
            id: id.to_owned(),
            condition: condition.map(str::to_owned),
        }
    }

    #[test]
    fn faults_stop_until_the_client_says_otherwise_and_then_where_they_are_fatal() {
        const SIGSEGV: i32 = 11;
        let mut exceptions = Exceptions::default();
        assert_eq!(exceptions.signals(), SignalTable::default());
        exceptions.replace(Vec::new(), &[]);
        assert_eq!(exceptions.signals().of(SIGSEGV).stop, When::Fatal);
    }

    #[test]
    fn what_is_not_offered_stays_as_it_is_until_something_is_said_of_it() {
        let mut exceptions = Exceptions::default();
        let cpp = Runtimes {
            cpp: true,
            ..Runtimes::default()
        };
        assert!(exceptions.set_runtimes(cpp));
        assert!(!exceptions.set_runtimes(cpp), "nothing has changed");
        exceptions.replace(Vec::new(), &[]);
        assert_eq!(exceptions.filters().cpp_uncaught, None);
        assert!(exceptions.filters().rust_panic.is_some());
        let answers = exceptions.replace(vec![wanted("rust_panic", Some("overflow"))], &[]);
        assert_eq!(answers, [Ok(())]);
        let overflow = Patterns::parse("overflow").expect("valid");
        assert_eq!(exceptions.filters().rust_panic, Some(overflow));
    }

    #[test]
    fn what_is_wrong_with_a_filter_is_said_and_the_others_hold() {
        const SIGUSR1: i32 = 10;
        let mut exceptions = Exceptions::default();
        let checked = exceptions.replace(
            vec![
                wanted("every", None),
                wanted("signals", Some("SIGFOO")),
                wanted("faults", Some("x")),
                wanted("signals", Some("SIGUSR1")),
            ],
            &[],
        );
        let sentences: Vec<&str> = checked
            .iter()
            .filter_map(|checked| checked.as_ref().err().map(String::as_str))
            .collect();
        assert_eq!(sentences.len(), 3);
        assert!(sentences[0].contains("no exception filter `every`"));
        assert!(sentences[1].contains("SIGFOO"));
        assert!(sentences[2].contains("takes no condition"));
        assert_eq!(exceptions.signals().of(SIGUSR1).stop, When::Always);
    }
}
