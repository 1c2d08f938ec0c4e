//! All kinds of steps, jumps and data breakpoints, as transcripts of `dapple debug --batch`.

use crate::support::{Run, batch, root};

const PROGRAM: &str = "fixtures/stepping/targets.cpp";

/// Runs the commands after a stop at the line that has two calls as arguments of a third.
fn run(commands: &[&str]) -> Run {
    let stop = format!("until {}", line("nested"));
    let mut all = vec!["b main", "run", "d all", &stop];
    all.extend(commands);
    batch(PROGRAM, &all)
}

/// The output of the last command.
fn said(commands: &[&str]) -> String {
    let run = run(commands);
    assert_eq!(run.stderr, "", "{}", run.stdout);
    let parts: Vec<&str> = run.stdout.split("(dapple) ").collect();
    let last = commands.last().expect("a command");
    let at = parts.iter().rposition(|part| part.starts_with(last));
    parts[at.unwrap_or_else(|| panic!("{}", run.stdout))].to_owned()
}

/// The number of a marked line.
fn line(name: &str) -> String {
    let text = std::fs::read_to_string(root().join(PROGRAM)).expect("the source");
    let mark = format!("// stop: {name}");
    let line = text.lines().position(|line| line.ends_with(&mark));
    (line.expect("the line is marked") + 1).to_string()
}

/// The output that names the program's position.
fn at(function: &str, name: &str) -> String {
    format!("{function} at {PROGRAM}:{}", line(name))
}

#[test]
fn a_step_goes_into_the_call_that_is_named_and_finish_shows_what_it_returned() {
    let targets = said(&["targets"]);
    assert!(
        targets.contains("numbers::two\nnumbers::one\nnumbers::sum<int>\n"),
        "{targets}"
    );
    let step = said(&["step sum"]);
    assert!(
        step.contains(":25\n") || step.contains(&line("sum")),
        "{step}"
    );
    assert!(step.contains("numbers::sum"), "{step}");
    let finish = said(&["step sum", "finish"]);
    assert!(
        finish.contains("returned numbers::sum<int>() = 6\n"),
        "{finish}"
    );
}

#[test]
fn a_name_that_the_line_does_not_call_is_told_with_those_that_it_does() {
    let run = run(&["step tow"]);
    assert!(
        run.stderr.contains(
            "this line doesn't call `tow`, but numbers::two, numbers::one, numbers::sum<int>"
        ),
        "{run:?}"
    );
    let run = batch(PROGRAM, &["b main", "run", "next statment"]);
    assert!(
        run.stderr
            .contains("`statment` is neither a number nor `statement`"),
        "{run:?}"
    );
}

#[test]
fn it_goes_on_from_another_line_and_begins_a_frame_again() {
    let jump = format!("jump {}", line("start"));
    let jumped = said(&[&jump]);
    assert!(jumped.contains(&at("main", "start")), "{jumped}");
    let again = said(&["step one", "n", "again"]);
    assert!(again.contains(&at("numbers::one", "one")), "{again}");
    let run = run(&["jump one"]);
    assert!(run.stderr.contains("`one` is not a line"), "{run:?}");
}

#[test]
fn watched_data_stops_where_it_changes_until_it_is_watched_no_more() {
    let changed = said(&["watch sink", "c"]);
    assert!(changed.contains("sink"), "{changed}");
    assert!(
        changed.contains("at fixtures/stepping/targets.cpp:2"),
        "{changed}"
    );
    let listed = said(&["watch a", "awatch values[0]", "watch"]);
    assert!(
        listed.contains(
            "watch 3: a, where it is changed\nwatch 4: values[0], where it is read or written\n"
        ),
        "{listed}"
    );
    let run = run(&["watch sink", "unwatch sink", "c"]);
    assert!(
        run.stdout.contains("exit code 0") || run.code == Some(0),
        "{run:?}"
    );
    let run = self::run(&["watch nonsense"]);
    assert!(run.stderr.contains("nonsense"), "{run:?}");
    let run = self::run(&["unwatch sink"]);
    assert!(run.stderr.contains("`sink` is not watched"), "{run:?}");
}

#[test]
fn what_is_skipped_is_listed_changed_and_kept_for_the_next_run() {
    assert_eq!(said(&["skip"]), "skip\nskipped: std\n");
    let entered = said(&["skip one two", "step"]);
    assert!(
        entered.contains(&at("numbers::sum<int>", "sum")),
        "{entered}"
    );
    let entered = said(&["skip one two", "skip delete one", "step"]);
    assert!(entered.contains(&at("numbers::one", "one")), "{entered}");
    assert_eq!(said(&["skip delete"]), "skip delete\nnothing is skipped\n");
    let run = run(&["skip delete one"]);
    assert!(
        run.stderr.contains("`one` is not skipped; skipped: std"),
        "{run:?}"
    );
    let run = self::run(&["skip a(b"]);
    assert!(run.stderr.contains("`a(b` is neither a path"), "{run:?}");
    let stop = format!("until {}", line("nested"));
    let run = batch(
        PROGRAM,
        &["skip one two", "b main", "run", "run", &stop, "step"],
    );
    assert!(
        run.stdout.contains(&at("numbers::sum<int>", "sum")),
        "{run:?}"
    );
}

#[test]
fn watches_are_listed_and_deleted_with_the_breakpoints() {
    let listed = said(&["b two", "watch sink", "rwatch a", "info breakpoints"]);
    assert!(
        listed.ends_with("watch 4: sink, where it is changed\nwatch 5: a, where it is read\n"),
        "{listed}"
    );
    assert!(listed.contains("breakpoint 3 on two at "), "{listed}");
    let listed = said(&["watch sink", "watch a", "delete 3", "info breakpoints"]);
    assert_eq!(
        listed,
        "info breakpoints\nwatch 4: a, where it is changed\n"
    );
    let run = run(&[
        "b two",
        "watch sink",
        "d all",
        "info breakpoints",
        "watch",
        "c",
    ]);
    assert!(
        run.stdout
            .contains("breakpoint 3 deleted\nwatch 4 deleted\n"),
        "{run:?}"
    );
    assert!(run.stdout.contains("there are no breakpoints\n"), "{run:?}");
    assert!(run.stdout.contains("nothing is watched\n"), "{run:?}");
    assert_eq!(run.code, Some(0), "{run:?}");
}
