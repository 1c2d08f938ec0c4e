//! Whole sessions of `dapple debug --batch`, as their transcripts show them.

use crate::support;
use std::io::Write;
use std::process::Stdio;

use crate::support::{Run, batch, dapple, normalised, scratch, typed, write};
use dapple_dap::lifecycle::Side;
use dapple_dap::testing::Recording;
use expect_test::expect;

#[test]
fn the_tour_from_its_start_to_its_exit_code() {
    let run = batch(
        "fixtures/tour.rs",
        &[
            "b total",
            "run",
            "bt 2",
            "info args",
            "p items[0]",
            "n",
            "info locals",
            "fin",
            "s",
            "d all",
            "c",
        ],
    );
    expect![[r#"
        (dapple) b total
        breakpoint 1 on total at fixtures/tour.rs:26
        (dapple) run
        stopped at breakpoint 1, thread N "tour"
        tour::total at fixtures/tour.rs:26
            23
            24  /// The price of an order, with the discount taken off.
            25  fn total(items: &[Item], discount: Option<u32>) -> u32 {
        →   26      let mut sum = 0;
            27      for item in items {
            28          sum += item.cents; // stop: sum
            29      }
        (dapple) bt 2
        → #0  tour::total at fixtures/tour.rs:26
          #1  tour::main at fixtures/tour.rs:77
          … `bt 4` shows more
        (dapple) info args
        items = len = 2 [Item { name: "tea", cents: 250 }, Item { name: "scone", cents: 320 }]
        discount = Some(10)
        (dapple) p items[0]
        items[0] = Item { name: "tea", cents: 250 }
        (dapple) n
        tour::total at fixtures/tour.rs:27
            24  /// The price of an order, with the discount taken off.
            25  fn total(items: &[Item], discount: Option<u32>) -> u32 {
            26      let mut sum = 0;
        →   27      for item in items {
            28          sum += item.cents; // stop: sum
            29      }
            30      match discount {
        (dapple) info locals
        sum = 0
        (dapple) fin
        tour::main at fixtures/tour.rs:77
            74
            75      let mut served = 0;
            76      for Order { customer, items, discount, payment } in orders {
        →   77          let price = total(&items, discount); // stop: order
            78          let paid = settle(&payment, price);
            79          let first = items.first().map_or("nothing", |item| &item.name);
            80          println!("{customer}: {first} for {price}, {paid}"); // stop: print
        returned tour::total() = 513
        (dapple) s
        tour::main at fixtures/tour.rs:78
            75      let mut served = 0;
            76      for Order { customer, items, discount, payment } in orders {
            77          let price = total(&items, discount); // stop: order
        →   78          let paid = settle(&payment, price);
            79          let first = items.first().map_or("nothing", |item| &item.name);
            80          println!("{customer}: {first} for {price}, {paid}"); // stop: print
            81          served += 1;
        (dapple) d all
        breakpoint 1 deleted
        (dapple) c
        Ada: tea for 513, 13 coins back
        Grace: coffee for 290, charged to card 4711
        Linus: nothing for 0, voucher HELLO used up
        3 orders served
        program exited with code 3
    "#]]
    .assert_eq(&run.stdout);
    assert_eq!((run.code, run.stderr.as_str()), (Some(3), ""), "{run:#?}");
}

#[test]
fn the_tour_in_c() {
    let run = batch(
        "fixtures/tour.c",
        &["b main", "run", "n", "info locals", "d 1", "c"],
    );
    expect![[r#"
        (dapple) b main
        breakpoint 1 on main at fixtures/tour.c:56
        (dapple) run
        stopped at breakpoint 1, thread N "tour"
        main at fixtures/tour.c:56
            53  int main(void)
            54  {
            55      static const char *const words[] = { "cold", "mild", "hot" };
        →   56      struct town *list = NULL;
            57      list = add(list, "Oslo", -3.5, 1.0, 4.0);
            58      list = add(list, "Rome", 18.0, 22.5, 20.0);
            59      list = add(list, "Cairo", 31.0, 35.5, 29.0);
        (dapple) n
        main at fixtures/tour.c:57
            54  {
            55      static const char *const words[] = { "cold", "mild", "hot" };
            56      struct town *list = NULL;
        →   57      list = add(list, "Oslo", -3.5, 1.0, 4.0);
            58      list = add(list, "Rome", 18.0, 22.5, 20.0);
            59      list = add(list, "Cairo", 31.0, 35.5, 29.0);
            60
        (dapple) info locals
        words = {0x… "cold", 0x… "mild", 0x… "hot"}
        list = 0x…
        (dapple) d 1
        breakpoint 1 deleted
        (dapple) c
        Cairo: 31.8, hot
        Rome: 20.2, mild
        Oslo: 0.5, cold
        3 of 3 towns visited
        program exited with code 3
    "#]]
    .assert_eq(&run.stdout);
    assert_eq!((run.code, run.stderr.as_str()), (Some(3), ""), "{run:#?}");
}

#[test]
fn another_process_with_the_adapter_shows_the_same() {
    let commands = ["b total", "run", "bt 1", "p items[0].name", "d all", "c"];
    let own = batch("fixtures/tour.rs", &commands);
    let mut command = dapple();
    command
        .args(["debug", "--batch"])
        .arg(format!("--adapter={}", crate::support::another_adapter()));
    for line in commands {
        command.args(["--ex", line]);
    }
    let other = Run::of(command.arg("fixtures/tour.rs"));
    assert_eq!(other.code, Some(3), "{other:#?}");
    assert_eq!(
        (own.stdout, own.code),
        (other.stdout, other.code),
        "{}",
        other.stderr
    );
}

#[test]
fn the_log_has_each_run_with_both_its_sides() {
    let own = Vec::new();
    let other = vec![format!("--adapter={}", crate::support::another_adapter())];
    for (name, adapter) in [("own.log", own), ("other.log", other)] {
        let log = scratch("logs").join(name);
        std::fs::remove_file(&log).ok();
        let mut command = dapple();
        command.args(["debug", "--batch", "--log"]).arg(&log);
        command.args(adapter).args(["--ex", "run", "--ex", "run"]);
        let run = Run::of(command.arg("/bin/true"));
        assert_eq!(run.code, Some(0), "{run:#?}");
        let text = std::fs::read_to_string(&log).expect("a log");
        let runs = Recording::parse_all(&text).expect("recordings");
        assert_eq!(runs.len(), 2, "{text}");
        for run in runs {
            let ends = [run.entries.first(), run.entries.last()];
            let ends = ends.map(|entry| entry.expect("an entry"));
            assert_eq!(ends.map(|entry| entry.from), [Side::Client, Side::Adapter]);
            assert!(ends[0].time.is_zero());
            for (entry, command) in ends.iter().zip(["initialize", "disconnect"]) {
                assert!(entry.text.contains(command), "{}", entry.text);
            }
        }
    }
}

#[test]
fn a_function_is_named_as_one_would_write_it() {
    let commands = [
        "b area(int, int)",
        "b Square::area",
        "tb area",
        "b aera",
        "run",
        "c",
        "info b",
        "d all",
        "c",
    ];
    let run = batch("fixtures/functions.cpp", &commands);
    expect![[r#"
        (dapple) b area(int, int)
        breakpoint 1 on area(int, int) at fixtures/functions.cpp:39
        (dapple) b Square::area
        breakpoint 2 on Square::area at fixtures/functions.cpp:28
        (dapple) tb area
        temporary breakpoint 3 on area at fixtures/functions.cpp:34 (4 places: plane::area(int), plane::area(int, int), plane::area(const std::string &), plane::Square::area())
        (dapple) b aera
        breakpoint 4 on aera (pending: no module that is loaded has a function aera; similar names are plane::Square::area, plane::area)
        (dapple) run
        stopped at breakpoint 3, thread N "functions"
        plane::area at fixtures/functions.cpp:34
            31
            32  REAL int area(int side)
            33  {
        →   34      return say("one", side * side); // stop: one
            35  }
            36
            37  REAL int area(int width, int height)
        (dapple) c
        stopped at breakpoint 1, thread N "functions"
        plane::area at fixtures/functions.cpp:39
            36
            37  REAL int area(int width, int height)
            38  {
        →   39      return say("two", width * height); // stop: two
            40  }
            41
            42  REAL int area(const std::string &text)
        (dapple) info b
        breakpoint 1 on area(int, int) at fixtures/functions.cpp:39, hit once
        breakpoint 2 on Square::area at fixtures/functions.cpp:28
        breakpoint 4 on aera (pending: no module that is loaded has a function aera; similar names are plane::Square::area, plane::area)
        (dapple) d all
        breakpoint 1 deleted
        breakpoint 2 deleted
        breakpoint 4 deleted
        (dapple) c
        main
        constructor
        one
        two
        text
        largest
        largest
        twice
        twice
        twice
        hidden
        other main
        method
        plus
        program exited with code 0
    "#]].assert_eq(&run.stdout);
    assert_eq!(run.code, Some(0), "{run:#?}");
}

#[test]
fn a_temporary_breakpoint_stops_once_and_until_goes_there() {
    let source = write(
        "turns.c",
        "int main(void) {\n    int sum = 0;\n    for (int i = 0; i < 3; i++)\n        sum += i;\n    return sum;\n}\n",
    );
    let commands = ["tb 4", "run", "info b", "until 5", "p sum", "info b", "c"];
    let run = batch(source.to_str().expect("plain path"), &commands);
    let shown = run
        .stdout
        .replace(source.to_str().expect("plain path"), "turns.c");
    let shown = shown.replace("target/tmp/sources/", "");
    expect![[r#"
        (dapple) tb 4
        temporary breakpoint 1 at turns.c:4
        (dapple) run
        stopped at breakpoint 1, thread N "turns"
        main at turns.c:4
             1  int main(void) {
             2      int sum = 0;
             3      for (int i = 0; i < 3; i++)
        →    4          sum += i;
             5      return sum;
             6  }
        (dapple) info b
        there are no breakpoints
        (dapple) until 5
        temporary breakpoint 2 at turns.c:5
        stopped at breakpoint 2, thread N "turns"
        main at turns.c:5
             2      int sum = 0;
             3      for (int i = 0; i < 3; i++)
             4          sum += i;
        →    5      return sum;
             6  }
        (dapple) p sum
        sum = 3
        (dapple) info b
        there are no breakpoints
        (dapple) c
        program exited with code 3
    "#]]
    .assert_eq(&shown);
    assert_eq!(run.code, Some(3), "{run:#?}");
}

#[test]
fn run_starts_again_with_the_breakpoints_in_place() {
    let run = batch(
        "fixtures/tour.rs",
        &[
            "b total", "run", "run", "info b", "kill", "info b", "run", "d 1", "c",
        ],
    );
    assert_eq!(
        run.stdout.matches("stopped at breakpoint 1").count(),
        3,
        "{run:#?}"
    );
    assert_eq!(
        run.stdout.matches("program exited with code 3").count(),
        1,
        "{run:#?}"
    );
    assert_eq!(run.code, Some(3), "{run:#?}");
}

#[test]
fn a_failing_command_ends_a_batch() {
    for (command, message) in [
        (
            "frobnicate",
            "dapple: there is no command `frobnicate`; `help` lists them\n",
        ),
        (
            "contniue",
            "dapple: there is no command `contniue`; did you mean `continue`?\n",
        ),
        (
            "continue",
            "dapple: the program has not been started yet; `run` starts it\n",
        ),
        (
            "p x",
            "dapple: the program has not been started yet; `run` starts it\n",
        ),
        ("delete 7", "dapple: there is no breakpoint 7\n"),
        (
            "b nowhere.rs:1",
            "dapple: there is no file nowhere.rs here, nor in the debug information; give its path\n",
        ),
        (
            "next many",
            "dapple: next what? `many` is neither a number nor `statement`\n",
        ),
    ] {
        batch("fixtures/tour.rs", &[command, "help"]).assert_command_fails(message);
    }
}

#[test]
fn a_line_without_code_and_an_unknown_variable_say_so() {
    let run = batch("fixtures/tour.rs", &["b 24"]);
    assert_eq!(run.code, Some(125), "{run:#?}");
    assert!(run.stderr.contains("no code on line 24"), "{run:#?}");
    let run = batch("fixtures/tour.rs", &["b total", "run", "p nonesuch"]);
    assert_eq!(run.code, Some(125), "{run:#?}");
    assert!(run.stderr.contains("nonesuch"), "{run:#?}");
}

#[test]
fn the_programs_arguments_are_its_own() {
    let source = write(
        "arguments.c",
        "#include <stdio.h>\nint main(int argc, char **argv) {\n    for (int i = 1; i < argc; i++) puts(argv[i]);\n}\n",
    );
    let mut command = dapple();
    command
        .args(["debug", "--batch", "--ex", "run"])
        .arg(source)
        .args(["--batch", "a b", "--", "-x"]);
    let run = Run::of(&mut command);
    assert_eq!(
        run.stdout, "(dapple) run\n--batch\na b\n--\n-x\nprogram exited with code 0\n",
        "{run:#?}"
    );
}

#[test]
fn in_a_batch_stdin_is_the_programs() {
    let source = write(
        "doubler.c",
        "#include <stdio.h>\nint main(void) {\n    int n;\n    if (scanf(\"%d\", &n) != 1) return 1;\n    printf(\"%d\\n\", 2 * n);\n    fprintf(stderr, \"done\\n\");\n    return 7;\n}\n",
    );
    let mut command = dapple();
    command
        .args(["debug", "--batch", "--ex", "run"])
        .arg(source);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dapple can be started");
    child
        .stdin
        .take()
        .expect("it was asked for")
        .write_all(b"21\n")
        .expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let stdout = normalised(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(stdout, "(dapple) run\n42\nprogram exited with code 7\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "done\n");
    assert_eq!(
        output.status.code(),
        Some(7),
        "a batch leaves with the program's code"
    );
}

#[test]
fn without_a_terminal_commands_are_lines_of_stdin() {
    let mut command = dapple();
    command.args(["debug", "fixtures/tour.rs"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let typed = b"b total\nfrobnicate\nrun\np items[0].name\n";
    child
        .stdin
        .take()
        .expect("it was asked for")
        .write_all(typed)
        .expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(stdout.contains("items[0].name = \"tea\""), "{stdout}");
    assert!(
        stdout.ends_with("the program was ended\n"),
        "the end of the input leaves: {stdout}"
    );
    // A wrong command is reported, and the session continues.
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no command `frobnicate`"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_crash_is_shown_where_it_happens() {
    let source = write(
        "crash.c",
        "int main(void) {\n    int *nothing = 0;\n    return *nothing;\n}\n",
    );
    let run = batch(
        source.to_str().expect("plain path"),
        &["run", "p nothing", "c"],
    );
    assert!(
        run.stdout
            .contains("stopped by SIGSEGV: read of address 0x…, a null pointer"),
        "{run:#?}"
    );
    assert!(
        run.stdout.contains("→    3      return *nothing;"),
        "{run:#?}"
    );
    assert!(run.stdout.contains("killed by SIGSEGV"), "{run:#?}");
    assert_eq!(run.code, Some(139), "{run:#?}");
}

#[test]
fn a_script_is_no_program() {
    let script = support::scratch("sources").join("script.sh");
    support::script(&script, "#!/bin/sh\ntrue\n");
    let run = batch(script.to_str().expect("plain path"), &["run"]);
    assert_eq!(run.code, Some(126), "{run:#?}");
    assert!(run.stderr.contains("script"), "{run:#?}");
    assert_eq!(run.stderr.lines().count(), 1, "one sentence: {run:#?}");
}

#[test]
fn a_stop_in_the_library_is_shown_where_the_program_called_it() {
    let source = write(
        "gives_up.c",
        "#include <stdlib.h>\nstatic void give_up(void) {\n    abort();\n}\nint main(void) {\n    give_up();\n}\n",
    );
    let run = batch(source.to_str().expect("plain path"), &["run", "c"]);
    assert!(run.stdout.contains("stopped by SIGABRT"), "{run:#?}");
    assert!(run.stdout.contains("→    3      abort();"), "{run:#?}");
    assert!(run.stdout.contains("give_up at "), "{run:#?}");
}

/// The frames below `main` are the C library's.
#[test]
fn up_ends_at_the_programs_outermost_frame_and_bt_shows_a_selected_one_further_out() {
    let lines = ["b mean", "run", "up", "up", "frame 2", "bt", "kill", "quit"];
    let run = typed(&["fixtures/tour.c"], &lines);
    let has = |text: &str| run.stdout.contains(text) || run.stderr.contains(text);
    assert!(
        has("the frames further out are of libraries; `frame N` selects them"),
        "{run:#?}"
    );
    assert!(has("\n  #1  main at"), "{run:#?}");
    assert!(has("\n→ #2  "), "{run:#?}");
}

#[test]
fn a_selected_frame_is_shown_with_its_whole_name_and_path() {
    let lines = ["b later", "run", "d all", "frame", "kill", "quit"];
    let run = typed(&["fixtures/long_names.rs"], &lines);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let path = path.canonicalize().expect("it is there");
    let whole = format!(
        "long_names::Holder<A,B>::later::{{async_fn#0}} at {}/long_names.rs:25",
        path.display()
    );
    let short = "long_names::Holder<A, B>::later (async) at fixtures/long_names.rs:25";
    assert!(run.stdout.contains(short), "{run:#?}");
    assert!(run.stdout.contains(&whole), "{run:#?}");
}
