//! Steps in asynchronous functions on the executors of tokio, smol and futures. The program runs three tasks with the same code at the same
//! time; each step has to stay in its own.

use crate::awaits::at_mark;
use crate::support::fixture::Fixture;
use crate::support::{Session, Stopped, file_of, package};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// Which executors `any` and `tokio` stand for.
pub const ANY: [&str; 6] = ["multi", "current", "smol", "pool", "local", "block"];
pub const TOKIO: [&str; 2] = ["multi", "current"];

/// Sessions: executors, what the tasks run, the mark where the session begins, the task there, steps. `n` steps over, `i` into, `o` out, each
/// with the mark where it has to end; `end`: at no place, the program goes on and ends.
const ROWS: &str = r#"
# One function awaits another, by turns with the other tasks.
any | turns | turns leaf | b | n turns total, n turns for, n turns leaf, n turns total
multi local | turns | turns leaf | a | i leaf, n leaf await, n leaf after, n leaf last, n leaf end, n turns leaf, n turns total
smol block | turns | leaf await | c | n leaf after, o turns leaf, n turns total
current pool | turns | leaf | c | o turns leaf, n turns total
# Timers.
any | sleeping | sleeping | a | n sleeping leaf, n sleeping again, n sleeping last
multi smol | sleeping | sleeping leaf | c | i leaf, n leaf await, n leaf after, o sleeping leaf, n sleeping again, n sleeping last
# The first of two futures; the other is dropped.
any | selecting | select | b | n select quick, n selected
pool block | selecting | leaf await | c | n leaf after
current local | racing | race | a | n race quick, n race end, n raced
multi local | racing | leaf after | b | o race, n race quick
# Several futures at the same time.
smol block | joining | join | c | n joined, n join all, n joined all
current pool | joining | turns leaf | a | n turns total, n turns for, n turns leaf, n turns total
# Channels.
multi smol | messages | messages | b | n messages end
pool block | messages | send | a | n send for, n send
current local | messages | receive | c | n received, n receive, n received
multi local | answered | answer | b | n answered
# Recursion.
smol block | nested | innermost | c | n nested end, n nested, n inner, n nested end, n nested
current pool | nested | nested | a | n inner
multi smol | recursing | recursing | b | n recursed
pool block | recursing | deepest | a | n deepest after, o recursing, n recursed
# Closures and blocks.
current local | closures | closure | a | i in closure, n closure last, o closure, n make block, n block
multi local | closures | block | c | i in block, n block last, o block, n closures end
# Streams.
smol block | streams | stream | a | n streamed, n stream, n streamed
current pool | streams | buffered | c | n behind buffered, n make each, n make for each, n for each
multi smol | streams | for each | a | n fill, n unordered, n of unordered
pool block | streams | for each | b | i each, n each last, n each end, i for each, i each
current local | streams | unordered | c | n of unordered, n unordered, n of unordered
# Methods of traits.
multi local | traits | of boxed | a | n of native, n traits end
smol block | traits | of boxed | b | i make boxed, o of boxed, i async trait, i make boxed, i boxed, n in boxed, n boxed last, n async trait, o of boxed, n of native
current pool | traits | of native | c | i native, n in native, n native last, n native end, n of native, n traits end
multi smol | traits | in native | a | o of native, n traits end
# A function that ends early, by `?` and by a panic.
pool block | failing | refused | c | n question, n refused end, n failing, n failed
current local | failing | failing | a | n failed
multi local | failing | question | b | o failing, n failed
smol block | caught | panicking | a | n no panic
current pool | caught | catch | b | n caught
tokio | timing | timeout | a | n in time, n timed
multi | timing | leaf | c | n leaf await, n leaf after, o in time, n timed
tokio | choosing | choosing | b | n tokio select, n chosen, n chosen two, n chosen three, n tokio select, n chosen, n behind select
current | both | tokio join | a | n tokio joined
tokio | both | turns leaf | c | n turns total
multi | tried | try join | b | n try joined
tokio | spawning | spawn | a | n handle, n spawn block, n handle of block, n spawning end
current | spawning | in spawned | c | n spawned last
tokio | setting | set spawn | b | n set spawn two, n set sum, n join next, n of set, n join next, n of set
multi | aborting | spawn forever | a | n abort nap, n abort, n aborted, n aborting end
tokio | channels | recv | b | n of recv, n recv, n of recv, n recv, n channels handle
current | channels | oneshot | c | n channels end
tokio | channels | tokio send | a | n tokio send for
multi | locking | lock | c | n locked, n nap locked, n unlock, n yield, n locking end
tokio | ticking | tick | a | n ticked, n tick, n ticked
current | staying | local handle | b | n make add, n of apply, n local last
current | staying | of apply | c | n local last
"#;

/// In optimised code. `name` isn't there any more, so no row says the task (`-`), and a row's breakpoint has no condition: the executors are
/// those in which only one thread comes to it. Lines that only move a value have no code, and a line may have its destructors behind the next
/// one: rows with such lines end before them.
const OPTIMISED: &str = r#"
current | turns | turns leaf | - | n turns total, n turns leaf, n turns total
current block | sleeping | sleeping | - | n sleeping leaf, n sleeping again, n sleeping last
current local | selecting | select | - | n selected
local | racing | race | - | n race end, n raced
block | joining | join | - | n joined, n join all
local | nested | nested | - | n inner
current | closures | closure | - | n make block, n block
block | streams | stream | - | n streamed, n stream, n streamed
current | traits | of boxed | - | n of native
block | failing | failing | - | n failed
current | timing | timeout | - | n in time
current | both | tokio join | - | n tokio joined
current | tried | try join | - | n try joined
current | channels | recv | - | n of recv, n recv
current | locking | lock | - | n locked, n nap locked, n unlock, n yield, n locking end
current | ticking | tick | - | n ticked, n tick, n ticked
current | spawning | spawn | - | n handle, n spawn block, n handle of block
current | setting | set spawn | - | n set spawn two, n set sum, n join next, n of set
"#;

pub fn fixture(optimised: bool) -> Fixture {
    Fixture::of_package("steps", &package::built("steps", optimised))
}

/// The task that a thread runs: the value of `name` in the innermost frame that has it.
pub fn task(session: &Session, stop: &Stopped) -> Option<String> {
    let stack = session.stack(stop.thread);
    let own = stack.iter().filter(|frame| frame.name.contains("steps::"));
    let mut names = own.filter_map(|frame| {
        let name = EvaluateArguments::new("name").with_frame_id(frame.id);
        let name = session.request::<EvaluateRequest>(name).ok()?.result;
        Some(name.strip_prefix('"')?.strip_suffix('"')?.to_owned())
    });
    names.next()
}

/// Launches the program with an executor and what it runs, up to the mark where the task is the one of this name. A panic doesn't stop it.
pub fn begun(fixture: &Fixture, arguments: &str, mark: &str, name: &str) -> (Session, Stopped) {
    let session = Session::new();
    session.launch(fixture, json!({"args": [arguments]}));
    let none = SetExceptionBreakpointsArguments::new(Vec::new());
    session.ok::<SetExceptionBreakpointsRequest>(none);
    let condition = match name {
        "-" => name.to_owned(),
        name => format!("name == \"{name}\""),
    };
    at_mark(session, fixture, mark, &condition)
}

/// Makes the steps of each row.
fn check(fixture: &Fixture, rows: &str) {
    on_executors(rows, |executor, columns| {
        make_steps(fixture, executor, columns);
    });
}

/// Where a thread has stopped: the mark or the text of the line in the program's source, or the place elsewhere.
pub fn place(fixture: &Fixture, stop: &Stopped) -> String {
    match file_of(&stop.top) {
        Some(file) if file == fixture.path() => fixture.mark_of(stop.top.line),
        file => format!(
            "{}:{} in {}",
            file.unwrap_or_default(),
            stop.top.line,
            stop.top.name
        ),
    }
}

/// Makes the steps of a row on one executor.
fn make_steps(fixture: &Fixture, executor: &str, columns: &[&str]) {
    let &[what, mark, name, steps] = columns else {
        panic!("a row has five columns, not {}", columns.len() + 1);
    };
    let (session, mut stop) = begun(fixture, &format!("{executor} {what}"), mark, name);
    let mut made = Vec::new();
    for step in steps.split(", ") {
        let (kind, _) = step.split_once(' ').expect("a mark");
        match kind {
            "n" => drop(session.ok::<NextRequest>(NextArguments::new(stop.thread))),
            "i" => drop(session.ok::<StepInRequest>(StepInArguments::new(stop.thread))),
            "o" => drop(session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread))),
            _ => panic!("{step}"),
        }
        assert!(session.ends_or_stops(), "{made:?}, then the program ended");
        stop = session.stopped(StoppedEventReason::Step);
        made.push(format!("{kind} {}", place(fixture, &stop)));
        assert_eq!(
            made.last().map(String::as_str),
            Some(step),
            "{}",
            made.join(", ")
        );
        if name != "-" {
            let task = task(&session, &stop);
            assert_eq!(task.as_deref(), Some(name), "the task at {step}");
        }
    }
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

/// Does something for each row of a table on each executor of its first column, several at the same time. Rows that fail are reported
/// together.
pub fn on_executors(rows: &str, check: impl Fn(&str, &[&str]) + Sync) {
    let mut queue = VecDeque::new();
    for row in rows.lines().filter(|line| line.contains('|')) {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let (executors, columns) = columns.split_first().expect("columns");
        let executors = match *executors {
            "any" => ANY.to_vec(),
            "tokio" => TOKIO.to_vec(),
            named => named.split(' ').collect(),
        };
        let of_row = executors.into_iter();
        queue.extend(of_row.map(|executor| (executor, columns.to_vec(), row)));
    }
    assert!(!queue.is_empty());
    let queue = Mutex::new(queue);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let next = queue
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .pop_front();
                    let Some((executor, columns, row)) = next else {
                        break;
                    };
                    let made = AssertUnwindSafe(|| check(executor, &columns));
                    if let Err(panic) = catch_unwind(made) {
                        let text = panic.downcast_ref::<String>().cloned();
                        let text = format!("{executor}: {row}\n    {}", text.unwrap_or_default());
                        failed
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(text);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(
        failed.is_empty(),
        "{} rows:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// The text of a stop at the end of a step whose future is dropped.
fn dropped(fixture: &Fixture, function: &str, mark: &str) -> String {
    let line = fixture.line(mark);
    format!("`steps::{function} (async)` was suspended at main.rs:{line} and is dropped here")
}

#[test]
fn a_step_whose_runtime_shuts_down_ends_with_the_reason() {
    let fixture = fixture(false);
    for executor in TOKIO {
        let (session, stop) = begun(
            &fixture,
            &format!("{executor} shutting_down"),
            "forever",
            "b",
        );
        session.ok::<NextRequest>(NextArguments::new(stop.thread));
        let stop = session.stopped(StoppedEventReason::Step);
        assert_eq!(
            stop.event.text,
            Some(dropped(&fixture, "forever", "forever"))
        );
        // In a worker's thread, nothing of the user's drops it.
        if executor == "current" {
            assert_eq!(place(&fixture, &stop), "dropped runtime");
            session.next(&stop, &fixture, "behind dropped");
        }
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
    }
}

#[test]
fn a_step_over_the_end_of_a_task_ends_where_the_executor_was_called() {
    let fixture = fixture(false);
    // Where the user's code has called the executor, the step ends behind that call.
    let called = [
        ("multi", None),
        ("smol", Some("smol worker")),
        ("current", Some("block on tokio")),
    ];
    for (executor, end) in called {
        let (session, stop) = begun(&fixture, &format!("{executor} turns"), "turns last", "c");
        let stop = session.next(&stop, &fixture, "turns end");
        session.ok::<NextRequest>(NextArguments::new(stop.thread));
        if let Some(end) = end {
            let stop = session.stopped_at(&fixture, end, StoppedEventReason::Step);
            session.resume(stop.thread);
        }
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
    }
}

#[test]
fn a_step_stays_in_its_task_on_each_executor() {
    check(&fixture(false), ROWS);
}

#[test]
fn a_step_in_optimised_code_stays_in_its_task_too() {
    check(&fixture(true), OPTIMISED);
}
