//! Stepping into the body of a future that a line spawns, or passes to a function in another way.

use crate::awaits_executors::{begun, fixture, on_executors, place, task};
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;

/// Executors, what the tasks run, the mark of a line, the target to step into, the mark where that ends, and the value of `n` there.
const ROWS: &str = "
multi local | elsewhere | smol spawn | steps::leaf (async) | leaf | 6
smol current | elsewhere | smol spawn block | {async block in steps::elsewhere} | in smol block | -
multi block | elsewhere | pool spawn | steps::leaf (async) | leaf | 7
multi pool | elsewhere | spawn boxed | steps::leaf (async) | leaf | 8
multi local | elsewhere | spawn larger | steps::large (async) | large | 10
smol current | elsewhere | await large | steps::large (async) | large | 11
any | turns | turns leaf | steps::leaf (async) | leaf | 10
tokio | spawning | spawn | steps::leaf (async) | leaf | 5
tokio | spawning | spawn block | {async block in steps::spawning} | in spawned | -
tokio | setting | set spawn two | steps::leaf (async) | leaf | 2
current | staying | spawn local | steps::leaf (async) | leaf | 8
tokio | timing | in time | steps::leaf (async) | leaf | 2
pool block | joining | join | steps::turns (async) | turns | -
smol local | racing | race | steps::leaf (async) | leaf | 4
";

fn targets(session: &Session, stop: &Stopped) -> Vec<StepInTarget> {
    let arguments = StepInTargetsArguments::new(stop.top.id);
    session.ok::<StepInTargetsRequest>(arguments).targets
}

fn step_into(session: &Session, stop: &Stopped, label: &str) -> Stopped {
    let targets = targets(session, stop);
    let labels: Vec<&str> = targets.iter().map(|target| &*target.label).collect();
    let target = targets.iter().find(|target| target.label == label);
    let target = target.unwrap_or_else(|| panic!("no target {label} among {labels:?}"));
    let arguments = StepInArguments::new(stop.thread).with_target_id(target.id);
    session.ok::<StepInRequest>(arguments);
    session.stopped(StoppedEventReason::Step)
}

fn check(fixture: &Fixture, executor: &str, columns: &[&str]) {
    let &[what, mark, label, end, n] = columns else {
        panic!("a row has six columns");
    };
    let name = "b";
    let (session, stop) = begun(fixture, &format!("{executor} {what}"), mark, name);
    let stop = step_into(&session, &stop, label);
    let row = format!("{executor} {what}: {label} at {mark}");
    assert_eq!(place(fixture, &stop), end, "{row}");
    assert_eq!(task(&session, &stop).as_deref(), Some(name), "{row}");
    if n != "-" {
        assert_eq!(session.evaluate(&stop.top, "n"), n, "{row}");
    }
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0, "{row}");
    session.disconnect();
}

#[test]
fn the_body_of_a_spawned_future_is_a_target_and_is_entered_where_that_future_begins() {
    let fixture = fixture(false);
    on_executors(ROWS, |executor, columns| check(&fixture, executor, columns));
}
