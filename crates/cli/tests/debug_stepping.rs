//! Steps of every kind, jumps and watched data, as transcripts of `dapple debug --batch` show them.

mod support;

use support::{Run, batch, root};

const PROGRAM: &str = "fixtures/stepping/targets.cpp";

/// Runs the commands behind a stop at the line with two calls in a third.
fn run(commands: &[&str]) -> Run {
    let stop = format!("until {}", line("nested"));
    let mut all = vec!["b main", "run", "d all", &stop];
    all.extend(commands);
    batch(PROGRAM, &all)
}

/// What the last of the commands said.
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

/// Where it says that the program is.
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
            .contains("`statment` is neither nothing nor `statement`"),
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
        listed.contains("a, where it is changed\nvalues[0], where it is read or written\n"),
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
