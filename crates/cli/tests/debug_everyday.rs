//! What is typed all day: steps with counts, breakpoints that are switched off or pass some hits, and values shown at each stop.

use crate::support::{Run, dapple, scratch, typed, write};

/// `add` is called with 0 to 9: line 4 has the sum, line 10 the call.
const TEXT: &str = "static int sum;
static void add(int n)
{
    sum += n;
}

int main(void)
{
    for (int i = 0; i < 10; i++) {
        add(i);
    }
    return sum == 45 ? 0 : 1;
}
";

fn run(name: &str, lines: &[&str]) -> Run {
    let source = write(name, TEXT);
    typed(&[source.to_str().expect("a plain path")], lines)
}

/// The values that were shown of an expression, in order.
fn values<'r>(run: &'r Run, name: &str) -> Vec<&'r str> {
    let start = format!("{name} = ");
    let lines = run.stdout.lines();
    lines.filter_map(|line| line.strip_prefix(&start)).collect()
}

#[test]
fn steps_are_done_as_often_as_asked_unless_something_stops_them() {
    let lines = [
        "b 10", "run", "p i", "n 3", "p i", "d 1", "n 4", "p i", "s 2", "bt 1", "b 4", "n 9",
        "p n", "si 3", "n 0", "n -1", "n many",
    ];
    let run = run("everyday-steps.c", &lines);
    // The breakpoint ends `n 3` after two steps; four more go around the loop twice.
    assert_eq!(values(&run, "i"), ["0", "1", "3"], "{run:#?}");
    assert!(run.stdout.contains("#0  add at "), "{run:#?}");
    let errors: Vec<&str> = run.stderr.lines().collect();
    let expected = [
        "dapple: 0 steps lead nowhere",
        "dapple: `-1` is not a number of steps",
        "dapple: next what? `many` is neither a number nor `statement`",
    ];
    assert_eq!(errors, expected, "{run:#?}");
}

#[test]
fn the_places_between_counted_steps_are_not_shown() {
    let run = run("everyday-shown.c", &["b main", "run", "n 3", "q"]);
    let places = run.stdout.lines().filter(|it| it.starts_with("main at "));
    assert_eq!(places.count(), 2, "{run:#?}");
}

#[test]
fn breakpoints_are_switched_off_and_on_and_pass_hits() {
    let lines = [
        "b 4",
        "b 12",
        "disable 1",
        "info b",
        "run",
        "info b",
        "enable 1",
        "run",
        "p n",
        "ignore 1 3",
        "c",
        "p n",
        "ignore 1 0",
        "c",
        "p n",
        "dis",
        "c",
        "ignore 1",
        "disable 7",
    ];
    let run = run("everyday-switched.c", &lines);
    assert_eq!(values(&run, "n"), ["0", "4", "5"], "{run:#?}");
    assert!(run.stdout.contains("stopped at breakpoint 2"), "{run:#?}");
    assert_eq!(run.stdout.matches("disabled").count(), 5, "{run:#?}");
    assert!(
        run.stdout.contains("program exited with code 0"),
        "{run:#?}"
    );
    let errors: Vec<&str> = run.stderr.lines().collect();
    let expected = [
        "dapple: `ignore` how many hits of which breakpoint? `ignore 1 5`",
        "dapple: there is no breakpoint 7",
    ];
    assert_eq!(errors, expected, "{run:#?}");
}

#[test]
fn breakpoints_of_a_place_are_cleared() {
    let lines = [
        "b 4", "b add", "b 12", "run", "clear", "info b", "clear 4", "clear 12", "c",
    ];
    let run = run("everyday-cleared.c", &lines);
    assert!(
        run.stdout.contains("program exited with code 0"),
        "{run:#?}"
    );
    let deleted = run.stdout.matches("deleted").count();
    assert_eq!(deleted, 3, "{run:#?}");
    assert_eq!(
        run.stderr, "dapple: there is no breakpoint there; `info breakpoints` lists them\n",
        "{run:#?}"
    );
}

#[test]
fn values_are_shown_at_each_stop_where_they_mean_something() {
    let lines = [
        "display sum",
        "b 4",
        "run",
        "display n",
        "display/x n + 30",
        "c",
        "finish",
        "undisplay 1",
        "display",
        "undisplay",
        "c",
        "display nonesuch",
        "undisplay 9",
    ];
    let run = run("everyday-displayed.c", &lines);
    // At both stops in `add` and behind it; then none.
    assert_eq!(values(&run, "1: sum"), ["0", "0", "1"], "{run:#?}");
    assert_eq!(values(&run, "2: n"), ["0", "1"], "{run:#?}");
    assert_eq!(values(&run, "3: n + 30"), ["0x…", "0x…"], "{run:#?}");
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{run:#?}");
    assert!(errors[0].contains("nonesuch"), "{run:#?}");
    assert_eq!(
        errors[1], "dapple: nothing is displayed as number 9; `display` shows what is",
        "{run:#?}"
    );
}

#[test]
fn a_breakpoint_runs_its_commands_and_goes_on() {
    let lines = [
        "b 4 if n % 4 == 1",
        "commands 1",
        "p n",
        "c",
        "p sum",
        "end",
        "b 12",
        "commands 2 p sum",
        "run",
        "commands 2",
        "end",
        "commands 9",
    ];
    let run = run("everyday-commands.c", &lines);
    // What is behind `c` isn't run, at this stop or a later one.
    assert_eq!(values(&run, "n"), ["1", "5", "9"], "{run:#?}");
    assert_eq!(values(&run, "sum"), ["45"], "{run:#?}");
    assert_eq!(run.stderr, "dapple: there is no breakpoint 9\n", "{run:#?}");
}

#[test]
fn a_temporary_breakpoint_runs_its_commands_once() {
    let lines = ["tb 4", "commands 1 p n + 5", "run", "b 4", "c", "q"];
    let run = run("everyday-once.c", &lines);
    assert_eq!(values(&run, "n + 5"), ["5"], "{run:#?}");
    assert_eq!(run.stderr, "", "{run:#?}");
}

#[test]
fn an_empty_line_repeats_what_another_name_stands_for() {
    let lines = [
        "b 10",
        "run",
        "d 1",
        "alias over = next 2",
        "over",
        "",
        "p i",
    ];
    let run = run("everyday-repeated.c", &lines);
    assert_eq!(values(&run, "i"), ["2"], "{run:#?}");
}

#[test]
fn commands_come_from_files_and_the_first_that_fails_ends_them() {
    let script = write(
        "everyday.dapple",
        "# two lines of a comment\n  # and an empty line\n\nb 4\nrun\np n + 40\np nonesuch\np n\n",
    );
    let source = format!("source {}", script.display());
    let run = run(
        "everyday-source.c",
        &[&source, "p n + 1", "source no-such-file"],
    );
    assert_eq!(values(&run, "n + 40"), ["40"], "{run:#?}");
    assert_eq!(values(&run, "n + 1"), ["1"], "{run:#?}");
    assert!(values(&run, "n").is_empty(), "{run:#?}");
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{run:#?}");
    let place = format!("{}:7: ", script.display());
    assert!(
        errors[0].contains(&place) && errors[0].contains("nonesuch"),
        "{run:#?}"
    );
    assert!(errors[1].contains("can't read no-such-file: "), "{run:#?}");
}

#[test]
fn own_commands_take_arguments_and_have_other_names() {
    let lines = [
        "define both",
        "p $arg0 + 1",
        "p $arg1",
        "end",
        "define twice",
        "both $arg0 $arg0",
        "end",
        "b 4",
        "run",
        "twice n",
        "alias plus = p sum +",
        "plus 7",
        "alias",
        "alias plus =",
        "plus 7",
        "define print",
        "define forever",
        "forever",
        "end",
        "forever",
        "echo still here",
    ];
    let run = run("everyday-defined.c", &lines);
    assert_eq!(values(&run, "n + 1"), ["1"], "{run:#?}");
    assert_eq!(values(&run, "n"), ["0"], "{run:#?}");
    assert_eq!(values(&run, "sum + 7"), ["7"], "{run:#?}");
    assert!(run.stdout.contains("\nplus = p sum +\n"), "{run:#?}");
    assert!(run.stdout.contains("\nstill here\n"), "{run:#?}");
    let errors: Vec<&str> = run.stderr.lines().collect();
    let expected = [
        "dapple: there is no command `plus`; `help` lists them",
        "dapple: `print` is the command `print` already",
        "dapple: scripts are nested 100 times; does one call itself?",
    ];
    assert_eq!(errors, expected, "{run:#?}");
}

#[test]
fn the_users_own_commands_are_run_at_the_start() {
    let folder = scratch("config-of-user").join("dapple");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("init"), "alias away = run\necho ready\n").expect("a file");
    let source = write("everyday-init.c", TEXT);
    let run = |options: &[&str]| {
        let mut command = dapple();
        command.args(["debug", "--batch"]).args(options);
        command.env("XDG_CONFIG_HOME", scratch("config-of-user"));
        Run::of(command.args(["--ex", "away"]).arg(&source))
    };
    let with = run(&[]);
    assert!(with.stdout.starts_with("ready\n"), "{with:#?}");
    assert!(
        with.stdout.contains("program exited with code 0"),
        "{with:#?}"
    );
    let without = run(&["--no-init"]);
    assert!(without.stderr.contains("`away`"), "{without:#?}");
}

#[test]
fn a_block_that_lacks_its_end_is_told_at_the_end_of_its_file() {
    let folder = scratch("unended");
    let file = folder.join("commands");
    std::fs::write(
        &file,
        "echo first\ndefine inner\necho one\nend\n\ndefine outer\necho two\nb 4\n",
    )
    .expect("a file");
    let file = file.to_str().expect("a plain path");
    let source_it = format!("source {file}");
    let told = format!("dapple: {file}:6: `define outer` has no `end`\n");

    let lines = [&*source_it, "inner", "outer"];
    let run = run("everyday-unended.c", &lines);
    assert!(run.stdout.contains("first\none\n"), "{run:#?}");
    assert_eq!(
        run.stderr,
        format!("{told}dapple: there is no command `outer`; `help` lists them\n"),
        "{run:#?}"
    );

    let source = write("everyday-unended.c", TEXT);
    let batch = |options: &[&str]| {
        let mut command = dapple();
        command.args(["debug", "--batch"]).args(options);
        Run::of(command.arg(&source))
    };
    let script = batch(&["--script", file]);
    assert_eq!(
        (script.code, &*script.stderr),
        (Some(125), &*told),
        "{script:#?}"
    );
    let going = batch(&["--keep-going", "--ex", &source_it, "--ex", "inner"]);
    assert_eq!(
        (going.code, &*going.stderr),
        (Some(125), &*told),
        "{going:#?}"
    );
    assert!(going.stdout.ends_with("inner\none\n"), "{going:#?}");
    let option = batch(&["--ex", "b 4", "--ex", "commands 1", "--ex", "p n"]);
    assert_eq!(
        (option.code, &*option.stderr),
        (Some(125), "dapple: `commands 1` has no `end`\n"),
        "{option:#?}"
    );

    let of_user = folder.join("dapple");
    std::fs::create_dir_all(&of_user).expect("a folder");
    std::fs::copy(file, of_user.join("init")).expect("a copy");
    let mut command = dapple();
    command.args(["debug", "--batch", "--keep-going", "--ex", "inner"]);
    let initial = Run::of(command.env("XDG_CONFIG_HOME", &folder).arg(&source));
    let place = of_user.join("init");
    let told = format!(
        "dapple: {}:6: `define outer` has no `end`\n",
        place.display()
    );
    assert_eq!(initial.stderr, told, "{initial:#?}");
    assert!(initial.stdout.ends_with("inner\none\n"), "{initial:#?}");
}
