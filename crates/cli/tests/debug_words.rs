//! Commands of other debuggers, misspelt commands, and sources that were moved.

use crate::support;
use crate::support::{Run, batch, dapple, scratch, typed, write};
use std::process::Command;
use std::time::{Duration, Instant};

/// A program with variables to inspect in `add`.
const PROGRAM: &str = "static int add(int a, int b)\n{\n    int sum = a + b;\n    return sum;\n}\n\nint main(void)\n{\n    return add(1, 2);\n}\n";

#[test]
fn commands_of_other_debuggers_do_what_is_expected_of_them() {
    let source = write("words.c", PROGRAM);
    let source = source.to_str().expect("a plain path");
    let lines = [
        "b 4",
        "process launch",
        "locals",
        "args",
        "frame variable a",
        "thread backtrace",
        "i regs",
        "br l",
        "thread step-out",
        "process continue",
    ];
    let run = typed(&[source], &lines);
    for (said, times) in [
        ("sum = 3\n", 1),
        ("a = 1\nb = 2\n", 1),
        ("a = 1\n", 2),
        ("→ #0  add at ", 1),
        ("breakpoint 1 at ", 2),
        ("rip = ", 1),
        ("returned add() = 3\n", 1),
        ("program exited with code 3\n", 1),
    ] {
        assert_eq!(run.stdout.matches(said).count(), times, "{said}: {run:#?}");
    }
    assert_eq!(run.stderr, "", "{run:#?}");
}

#[test]
fn a_long_text_is_printed_whole_where_that_is_asked_for() {
    let text = "x".repeat(3000);
    let program = format!(
        "int main(void)\n{{\n    const char *text = \"{text}\";\n    return text[0];\n}}\n"
    );
    let source = write("long_text.c", &program);
    let source = source.to_str().expect("a plain path");
    let run = typed(&[source], &["b 4", "r", "p text", "p -full text"]);
    assert!(run.stdout.contains("x\"… (len = 3000)\n"), "{run:#?}");
    let whole = format!("text = \"{text}\"\n");
    assert_eq!(run.stdout.matches(&whole).count(), 1, "{run:#?}");
}

#[test]
fn what_there_is_not_is_answered_with_what_there_is() {
    let source = write("unknown_words.c", PROGRAM);
    let source = source.to_str().expect("a plain path");
    let lines = [
        "locls",
        "x/4q $rsp",
        "p/x",
        "breakpoint set",
        "ignore 1 5",
        "tbraek add",
        "info brekpoints",
        "zzz",
    ];
    let run = typed(&[source], &lines);
    let expected = "\
dapple: there is no command `locls`; did you mean `info locals`?
dapple: `x` has no format `q`: formats are x, z, d, u, o, t, a, c, f, s and i, units b, h, w and g
dapple: print what? `p/x flags`
dapple: there is no command `breakpoint set`: `break LINE`, `break FILE:LINE` or `break FUNCTION` sets a breakpoint; the usual options are understood: `breakpoint set -n main`, `-f FILE -l LINE`, `-r REGEX`, `-c CONDITION`, `-o true`
dapple: there is no breakpoint 1
dapple: there is no command `tbraek`; did you mean `tbreak`?
dapple: there is no info about `brekpoints`; did you mean `info breakpoints`?
dapple: there is no command `zzz`; `help` lists them
";
    assert_eq!(run.stderr, expected, "{run:#?}");
}

const SHOP: &str = "#include <map>\n#include <optional>\n#include <string>\n#include <vector>\nstruct Item { std::string name; double price; };\nint main()\n{\n    \
    std::map<int, Item> items{{1, {\"pear\", 2.5}}, {2, {\"a plum that has a long name, so that the line is too long\", 1.5}}};\n    \
    std::vector<int> many(1000, 7); std::optional<std::string> none;\n    return 12;\n}\n";

#[test]
fn values_are_opened_up_with_their_raw_form_last_and_numbers_and_types_as_gdb_has_them() {
    let source = write("opened.cpp", SHOP);
    let source = source.to_str().expect("a plain path");
    let lines = [
        "b 10",
        "run",
        "p items",
        "p many",
        "p/x many[3]",
        "p/t 5",
        "p none",
        "ptype items[1]",
        "whatis many",
    ];
    let run = typed(&[source], &lines);
    for said in [
        "items = len = 2\n  [1] = {name = \"pear\", price = 2.5}\n  [2] = {name = \"a plum",
        "price = 1.5}\n  [raw] = {_M_t = {",
        "many = len = 1000\n  [0] = 7\n",
        "  [63] = 7\n  … 936 more\n  [raw] = {",
        "many[3] = 0x…\n",
        "5 = 0b101\n",
        "none = nullopt\nItem\n  name: std::string\n  price: double\n",
        "std::vector<int>\n",
    ] {
        assert_eq!(run.stdout.matches(said).count(), 1, "{said}: {run:#?}");
    }
    assert_eq!(run.stderr, "", "{run:#?}");
}

#[test]
fn sources_that_were_elsewhere_are_shown_and_broken_at_where_they_are() {
    let root = scratch("source_map").join(std::process::id().to_string());
    let (built, now) = (root.join("built"), root.join("now"));
    // An earlier run of the tests may have had the same process id.
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&built).expect("a folder");
    std::fs::write(built.join("sum.c"), PROGRAM).expect("a source");
    let program = root.join("program");
    let compiled = Command::new("cc")
        .args(["-g", "sum.c", "-o"])
        .arg(&program)
        .current_dir(&built)
        .status();
    assert!(compiled.expect("the compiler runs").success());
    std::fs::rename(&built, &now).expect("the folder can be moved");

    let at = format!("b {}:4", now.join("sum.c").display());
    let map = format!("{}={}", built.display(), now.display());
    let run = |map: &[&str]| {
        let mut command = dapple();
        command.args(["debug", "--batch", "--ex", &at, "--ex", "run"]);
        command.args(["--ex", "c"]).args(map).arg(&program);
        Run::of(&mut command)
    };
    let mapped = run(&["--source-map", "/else=/usr", "--source-map", &map]);
    assert!(
        mapped.stdout.contains("→    4      return sum;"),
        "{mapped:#?}"
    );
    assert_eq!(mapped.code, Some(3), "{mapped:#?}");
    let unmapped = run(&[]);
    assert!(!unmapped.stdout.contains("→    4"), "{unmapped:#?}");
    // Invalid mappings, and mappings to missing folders, are refused immediately.
    for (wrong, said) in [
        (
            "/build",
            "it takes two folders, as in /build=/home/me/project",
        ),
        ("=/usr", "a folder has a name"),
        (
            "/build=/no/such/folder",
            "there is no folder /no/such/folder here",
        ),
    ] {
        let run = run(&["--source-map", wrong]);
        assert_eq!(run.code, Some(1), "{run:#?}");
        assert!(run.stderr.contains(said), "{run:#?}");
    }
}

#[test]
fn values_are_shown_as_a_natvis_file_says() {
    let root = scratch("natvis").join(std::process::id().to_string());
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).expect("a folder");
    let source = "struct point { int x, y; };
int main(void)
{
    struct point p = {3, 4};
    return p.x;
}
";
    std::fs::write(root.join("point.c"), source).expect("a source");
    let natvis = "<AutoVisualizer><Type Name='point'><DisplayString>{x} over {y}</DisplayString>
        <Expand><Item Name='[sum]'>x + y</Item></Expand></Type></AutoVisualizer>";
    std::fs::write(root.join("point.natvis"), natvis).expect("a file");
    let mut command = dapple();
    command.args([
        "debug",
        "--batch",
        "--natvis",
        "point.natvis",
        "--ex",
        "b point.c:5",
    ]);
    command.args(["--ex", "run", "--ex", "p p", "--ex", "c"]);
    command.arg("point.c").current_dir(&root);
    let run = Run::of(&mut command);
    assert!(run.stdout.contains("3 over 4"), "{run:#?}");
}

#[test]
fn a_program_is_started_stepped_by_instructions_and_let_go() {
    let source = write(
        "leaves_word.c",
        "#include <stdio.h>\nint main(int argc, char **argv)\n{\n    FILE *file = argc > 1 ? fopen(argv[1], \"w\") : NULL;\n    if (!file)\n        return 1;\n    fputs(\"done\", file);\n    return fclose(file);\n}\n",
    );
    let word = scratch("words").join(format!("word-{}", std::process::id()));
    let _ = std::fs::remove_file(&word);
    let names = [&source, &word].map(|path| path.to_str().expect("a plain path"));
    let lines = ["start", "ni", "p argc", "detach", "detach", "info locals"];
    let run = typed(&names, &lines);
    for said in [
        "temporary breakpoint 1 on main at ",
        "argc = 2\n",
        "detached from the program\n",
    ] {
        assert!(run.stdout.contains(said), "{said}: {run:#?}");
    }
    assert!(
        run.stderr.starts_with("dapple: the program is not running"),
        "{run:#?}"
    );
    // The program runs without the debugger now.
    let start = Instant::now();
    while std::fs::read_to_string(&word).unwrap_or_default() != "done" {
        assert!(start.elapsed() < Duration::from_secs(60), "{run:#?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_source_of_the_program_needs_no_path_wherever_it_is() {
    let program = scratch("words").join(format!("forks-{}", std::process::id()));
    support::compile("forks.c", &program);
    let at = format!("b forks.c:{}", support::line("forks.c", "program"));
    let program = program.to_str().expect("a plain path");
    let run = typed(&[program, "work"], &[&at, "b stdio.c:3", "run", "c"]);
    assert!(
        run.stdout.contains("breakpoint 1 at fixtures/forks.c:"),
        "{run:#?}"
    );
    assert!(run.stdout.contains("stopped at breakpoint 1"), "{run:#?}");
    let none =
        "dapple: there is no file stdio.c here, nor in the debug information; give its path\n";
    assert_eq!(run.stderr, none, "{run:#?}");
}

#[test]
fn a_line_without_a_file_is_in_the_one_with_the_main_function_before_the_program_runs() {
    let program = scratch("words").join(format!("line-{}", std::process::id()));
    support::compile("forks.c", &program);
    let at = format!("b {}", support::line("forks.c", "program"));
    let program = program.to_str().expect("a plain path");
    let run = typed(&[program, "work"], &[&at, "info b", "run", "c"]);
    let said = "breakpoint 1 at fixtures/forks.c:";
    assert!(run.stdout.contains(said), "{run:#?}");
    assert!(run.stdout.contains("stopped at breakpoint 1"), "{run:#?}");
    // The temporary breakpoint on `main` is gone: otherwise it would stop first, or be listed.
    assert_eq!(run.stdout.matches("stopped").count(), 1, "{run:#?}");
    assert_eq!(run.stdout.matches("breakpoint 1 at").count(), 2, "{run:#?}");
}

#[test]
fn variables_are_set_and_printed_with_what_they_are_then() {
    let run = batch(
        "fixtures/assigned.c",
        &[
            "b inner",
            "run",
            "finish",
            "next",
            "set point.x = 1 << 4",
            "set var little *= -2",
            "p numbers[1] = 20",
            "set name = \"a = b\"",
            "p little == 3",
            "c",
        ],
    );
    for said in [
        "(dapple) set point.x = 1 << 4\npoint.x = 16\n",
        "(dapple) set var little *= -2\nlittle = -6\n",
        "(dapple) p numbers[1] = 20\nnumbers[1] = 20\n",
        "(dapple) p little == 3\nlittle == 3 = false\n",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    assert!(run.stdout.contains("\nname = "), "{}", run.stdout);
    for written in [
        "little -6 ",
        "point 16 2 ",
        "numbers 1 20 3 4 ",
        "name a = b ",
    ] {
        assert!(run.stdout.contains(written), "{written}: {}", run.stdout);
    }
    for (refused, why) in [
        ("set little", "set what? `set order.count = 3`"),
        (
            "set little = 70000",
            "70000 does not fit a `short`, which holds -32768 to 32767",
        ),
    ] {
        let run = batch(
            "fixtures/assigned.c",
            &["b inner", "run", "finish", refused],
        );
        assert!(run.stderr.contains(why), "{refused}: {}", run.stderr);
    }
}

#[test]
fn what_people_try_first_does_what_they_mean_or_says_what_does() {
    let stop = format!("b {}", support::line("called.c", "ready"));
    let line = support::line("called.c", "crash");
    let listed = format!("list {line},{line}");
    let lines = [
        "help",
        &stop,
        "run",
        "p numbers[1]@2",
        "p *argv@argc",
        "p/x count",
        "call add(1, 2)",
        &listed,
        "l 5,3",
        "bt full",
        "!ls",
        "info functions",
        "set print pretty on",
        "layout src",
    ];
    let run = typed(&["fixtures/called.c"], &lines);
    for said in [
        "  again, restart-frame   begin the selected frame's function again\n",
        "  k, kill                end the program",
        "numbers[1]@2 = {1, 4}\n",
        "*argv@argc = {…}\n  [0] = 0x… \"",
        "count = 0x…\n",
        "add(1, 2) = 3\n",
        &*format!("\n{line:>6}      return *where; // stop: crash\n"),
    ] {
        assert!(run.stdout.contains(said), "{said}: {run:#?}");
    }
    assert!(!run.stdout.contains("static int spin"), "{run:#?}");
    let errors = [
        "`list 5,3` would end before it begins",
        "there is no command `!`: it runs no other programs; Ctrl-Z puts it aside",
        "there is no command `set print pretty`: values are opened up",
        "there is no command `layout`: ",
    ];
    let said: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(said.len(), errors.len(), "{run:#?}");
    for (said, expected) in said.iter().zip(errors) {
        let said = said.strip_prefix("dapple: ").unwrap_or_default();
        assert!(said.starts_with(expected), "{expected}: {said}");
    }
}

#[test]
fn natvis_files_are_read_again_and_others_added() {
    let file = scratch("natvis").join(format!("own-{}.natvis", std::process::id()));
    let text = |shown: &str| {
        format!(
            "<AutoVisualizer><Type Name='own::Point'><DisplayString>{shown}</DisplayString></Type></AutoVisualizer>"
        )
    };
    std::fs::write(&file, text("first {x}")).expect("a file");
    let path = file.to_str().expect("a plain path");
    let stop = format!("b {}", support::line("styled.cpp", "values"));
    let add = format!("natvis {path}");
    let lines = [
        "natvis",
        &stop,
        "run",
        "p point",
        &add,
        "p point",
        "natvis reload",
        "natvis no-such",
    ];
    let run = typed(&["fixtures/styled.cpp"], &lines);
    let said = [
        "no Natvis file was given; `natvis FILE` reads one\n",
        "point = {x = 3, y = -1.5}\n",
        &*format!("/own-{}.natvis\n", std::process::id()),
        "point = first 3\n",
    ];
    for said in said {
        assert!(run.stdout.contains(said), "{said}: {run:#?}");
    }
    assert_eq!(run.stderr, "dapple: there is no file no-such\n", "{run:#?}");
    std::fs::remove_file(&file).expect("removed");
}

#[test]
fn the_page_of_other_debuggers_commands_is_made_of_the_list_that_the_program_has() {
    let file = support::root().join("docs/terminal-commands.md");
    let printed = dapple().args(["debug", "--command-table"]).output();
    let printed = String::from_utf8(printed.expect("dapple runs").stdout).expect("text");
    if std::env::var_os("DAPPLE_DOCS").is_some() {
        std::fs::write(&file, &printed).expect("the page can be written");
    }
    let page = std::fs::read_to_string(&file).expect("the page");
    let mut lines = page.lines().zip(printed.lines());
    let differing = lines.find(|(shown, printed)| shown != printed);
    assert_eq!(differing, None, "`DAPPLE_DOCS=write` writes the page");
    assert_eq!(
        page.len(),
        printed.len(),
        "`DAPPLE_DOCS=write` writes the page"
    );
    let is_whole = |line: &str| {
        let cells: Vec<&str> = line.split(" | ").collect();
        // Keys come before what they do, which may have none.
        matches!(cells.len(), 2 | 3) && { cells.iter().rev() }
            .take(2)
            .all(|cell| cell.trim_matches(['|', ' ']).len() > 2)
    };
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 200, "{}", rows.len());
    for row in rows {
        assert!(is_whole(row), "{row}");
    }
}

#[test]
fn help_explains_the_commands_of_other_debuggers_and_finds_words() {
    let source = write("help_words.c", PROGRAM);
    let source = source.to_str().expect("a plain path");
    let lines = [
        "help info sharedlibrary",
        "help tfind",
        "help info locals",
        "apropos core file",
        "apropos frobnicate",
        "info tasks",
    ];
    let run = typed(&[source], &lines);
    for said in [
        "`info sharedlibrary` is `info modules` here\ninfo SUBJECT: ",
        "there is no command `tfind`: tracepoints are not supported; ",
        "  gcore  write a core file of the program as it is now\n",
    ] {
        assert_eq!(run.stdout.matches(said).count(), 1, "{said}: {run:#?}");
    }
    assert_eq!(run.stdout.matches("info SUBJECT: ").count(), 2, "{run:#?}");
    let expected = "\
dapple: no command's help has `frobnicate`; `help` lists them all
dapple: the program has not been started yet; `run` starts it
";
    assert_eq!(run.stderr, expected, "{run:#?}");
}

#[test]
fn breakpoints_that_are_saved_are_set_again_by_source() {
    let source = write("saved.c", PROGRAM);
    let source = source.to_str().expect("a plain path");
    let file = scratch("saved").join("breakpoints");
    let file = file.to_str().expect("a plain path");
    let save = format!("save breakpoints {file}");
    let lines = [
        "b 3 if a == 1",
        "log 4 sum is {sum}",
        "condition $bpnum sum > 2",
        "b add",
        "disable 3",
        "tb main",
        "commands",
        "echo in main",
        "end",
        "hits 1 1",
        &save,
    ];
    let run = typed(&[source], &lines);
    assert_eq!(run.stderr, "", "{run:#?}");
    assert!(run.stdout.contains("4 breakpoints written to "), "{run:#?}");
    let text = std::fs::read_to_string(file).expect("the breakpoints");
    let expected = format!(
        "break {source}:3 if a == 1\nhits $bpnum 1\nlog {source}:4 sum is {{sum}}\ncondition $bpnum sum > 2\nbreak add\ndisable $bpnum\n\
         tbreak main\ncommands $bpnum\necho in main\nend\n"
    );
    assert_eq!(text, expected);

    let again = format!("source {file}");
    let run = typed(&[source], &[&again, "run", "c", "c", &save]);
    assert_eq!(run.stderr, "", "{run:#?}");
    for said in ["in main\n", "sum is 3\n", "stopped at breakpoint 1"] {
        assert_eq!(run.stdout.matches(said).count(), 1, "{said}: {run:#?}");
    }
    // The one for the first stop in `main` is gone.
    let kept = std::fs::read_to_string(file).expect("the breakpoints");
    assert_eq!(Some(&*kept), text.split("tbreak").next());
}

#[test]
fn breakpoint_set_of_lldb_takes_its_usual_options() {
    let source = write("breakpoint_set.c", PROGRAM);
    let source = source.to_str().expect("a plain path");
    let lines = [
        "breakpoint set --file breakpoint_set.c --line 4 --condition 'sum == 3'",
        "br s -n main -o true",
        "run",
        "c",
        "fr v sum",
        "th b",
        "re r rip",
        "memory region $rsp",
        "info mappings 3",
    ];
    let run = typed(&[source], &lines);
    assert_eq!(run.stderr, "dapple: nothing is mapped at 0x…\n", "{run:#?}");
    for said in ["\nsum = 3\n", "→ #0  add at ", "rip = 0x", "[stack]"] {
        assert_eq!(run.stdout.matches(said).count(), 1, "{said}: {run:#?}");
    }
}

#[test]
fn printf_puts_values_into_a_text() {
    let text = "int main(void)\n{\n    const char *name = \"a pear\";\n    unsigned count = 31;\n    char c = 'Z';\n    return 0;\n}\n";
    let source = write("printf.c", text);
    let source = source.to_str().expect("a plain path");
    let lines = [
        "b 6",
        "run",
        r#"printf "%s: %u %04x %c 100%%\n", name, count + 1, count, c"#,
        r#"printf "%d""#,
        r#"printf "none", count"#,
        r#"printf "%d", nonesuch"#,
    ];
    let run = typed(&[source], &lines);
    assert!(
        run.stdout.contains("\na pear: 32 001f Z 100%\n"),
        "{run:#?}"
    );
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 3, "{run:#?}");
    assert_eq!(errors[0], "dapple: a value for `%d` is missing");
    assert_eq!(errors[1], "dapple: there is no directive for `count`");
    assert!(errors[2].contains("no variable `nonesuch`"), "{run:#?}");
}
