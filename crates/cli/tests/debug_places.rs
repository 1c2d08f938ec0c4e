//! Places for `break`, `until` and `finish`, and the errors for invalid places.

use crate::support::{Run, root, scratch, typed};
use std::process::Command;

/// Types the lines after a stop in `main`. Returns the output.
fn behind_main(program: &str, lines: &[&str]) -> Run {
    let mut all = vec!["start"];
    all.extend(lines);
    typed(&[program], &all)
}

/// The number of a marked line.
fn line(program: &str, name: &str) -> usize {
    let text = std::fs::read_to_string(root().join(program)).expect("the source");
    let mark = format!("// stop: {name}");
    let line = text
        .lines()
        .position(|line| line.trim_end().ends_with(&mark));
    line.expect("the line is marked") + 1
}

#[test]
fn what_is_no_place_is_a_mistake_and_no_breakpoint_that_waits() {
    let lines = [
        "b 23 if",
        "b fork.c",
        "b 105 often",
        "b 0",
        "b 12 thread x",
        "info breakpoints",
    ];
    let run = behind_main("fixtures/step.c", &lines);
    let expected = [
        "`if` what? `b 12 if n > 3` stops only where that holds",
        "`fork.c` is a file; which line of it? `b fork.c:12`",
        "`105 often` is neither a line nor a function's name",
        "lines are counted from 1",
        "`x` is not a thread's number",
    ];
    for message in expected {
        assert!(run.stderr.contains(message), "{message}: {run:#?}");
    }
    assert!(!run.stdout.contains("pending"), "{run:#?}");
}

#[test]
fn of_files_with_one_name_the_users_own_comes_before_those_of_dependencies() {
    let folder = scratch("own_and_vendored");
    let util = |name: &str| format!("int {name}(void) {{\n    return 1;\n}}\n");
    let main = "int own(void);\nint theirs(void);\nint main(void) {\n    return own() + theirs() - 2;\n}\n";
    for (path, text) in [
        ("start/main.c", main.to_owned()),
        ("src/util.c", util("own")),
        ("vendor/dependency/util.c", util("theirs")),
        // `cargo vendor` puts it beside the sources of each package.
        ("vendor/dependency/.cargo-checksum.json", "{}".to_owned()),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let sources = ["start/main.c", "src/util.c", "vendor/dependency/util.c"];
    let program = folder.join("program");
    let compiled = Command::new("gcc")
        .args(["-g", "-o"])
        .arg(&program)
        .args(sources.map(|source| folder.join(source)))
        .status();
    assert!(compiled.expect("gcc").success());
    let run = behind_main(&program.to_string_lossy(), &["b util.c:2", "c"]);
    assert!(run.stdout.contains("\nown at "), "{run:#?}");
    assert!(!run.stderr.contains("could be"), "{run:#?}");
}

#[test]
fn lines_further_on_and_columns_are_places() {
    let start = line("fixtures/step.c", "start");
    let arguments = line("fixtures/step.c", "arguments");
    let on = format!("b +{}", arguments - start);
    let column = format!("b {arguments}:5");
    let run = behind_main("fixtures/step.c", &[&on, &column, "c"]);
    let at = format!("at fixtures/step.c:{arguments}");
    assert!(
        run.stdout.contains(&format!("breakpoint 2 {at}")),
        "{run:#?}"
    );
    assert!(
        run.stdout.contains(&format!("breakpoint 3 {at}")),
        "{run:#?}"
    );
    assert!(run.stdout.contains(&format!("main {at}")), "{run:#?}");
}

#[test]
fn all_copies_of_a_file_are_for_lines() {
    let start = line("fixtures/step.c", "arguments");
    let lines = [&format!("b {start} copies"), "b main copies", "c"];
    let run = behind_main("fixtures/step.c", &lines);
    let at = format!("at fixtures/step.c:{start}");
    let set = format!("breakpoint 2 {at} and in copies of the file");
    assert!(run.stdout.contains(&set), "{run:#?}");
    assert!(run.stdout.contains(&format!("main {at}")), "{run:#?}");
    let refused = "`copies` is for lines, and `main` is none; use FILE:LINE";
    assert!(run.stderr.contains(refused), "{run:#?}");
}

#[test]
fn functions_are_named_by_a_regular_expression_too() {
    let lines = ["b /re ^(mean|class.*)$", "b /re (", "c"];
    let run = behind_main("fixtures/tour.c", &lines);
    let set = "breakpoint 2 on /re ^(mean|class.*)$ at fixtures/tour.c:";
    assert!(run.stdout.contains(set), "{run:#?}");
    let places = "2 places: mean(const double *, int), classify(double)";
    assert!(run.stdout.contains(places), "{run:#?}");
    let refused = "no breakpoint set: the regular expression `(` can't be read: unclosed group, at character 1";
    assert!(run.stderr.contains(refused), "{run:#?}");
    assert!(run.stdout.contains("stopped at breakpoint 2"), "{run:#?}");
}

#[test]
fn a_breakpoint_passes_where_a_function_is_a_caller() {
    let leaf = line("fixtures/callers.c", "leaf");
    let lines = [
        &format!("b {leaf} not from quiet if n > 1"),
        "b leaf not from",
        "info breakpoints",
        "c",
        "p n",
        "bt",
    ];
    let run = behind_main("fixtures/callers.c", &lines);
    let set = format!("breakpoint 2 at fixtures/callers.c:{leaf} not from quiet if n > 1");
    assert!(run.stdout.contains(&set), "{run:#?}");
    assert!(run.stdout.contains("n = 3"), "{run:#?}");
    assert!(run.stdout.contains("wrapped at"), "{run:#?}");
    assert!(run.stderr.contains("not from what?"), "{run:#?}");
}

#[test]
fn a_breakpoint_for_one_thread_stops_no_other() {
    let program = "fixtures/threads.c";
    let hit = line(program, "hit");
    // No thread has this number, so every stop is at the other breakpoint.
    let run = behind_main(
        program,
        &[
            &format!("b {hit} thread 1"),
            &format!("b {}", line(program, "end")),
            "c",
            "p $thread > 1",
        ],
    );
    assert!(
        run.stdout
            .contains(&format!("breakpoint 2 at {program}:{hit} in thread N")),
        "{run:#?}"
    );
    assert!(run.stdout.contains("stopped at breakpoint 3"), "{run:#?}");
    assert!(!run.stdout.contains("stopped at breakpoint 2"), "{run:#?}");
    assert!(run.stdout.contains("$thread > 1 = true"), "{run:#?}");
}

#[test]
fn what_until_has_set_is_gone_wherever_the_program_stops() {
    let program = "fixtures/step.c";
    let (twice, end) = (line(program, "twice"), line(program, "end"));
    let lines = [
        format!("b {twice}"),
        format!("until {end}"),
        "info breakpoints".to_owned(),
        "d 2".to_owned(),
        "c".to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let run = behind_main(program, &lines);
    assert!(run.stdout.contains("stopped at breakpoint 2"), "{run:#?}");
    // Set twice, by `start` and `until`, and never listed.
    let set = run.stdout.matches("temporary").count();
    assert_eq!(set, 2, "{run:#?}");
    assert!(run.stdout.contains("hit once\n"), "{run:#?}");
    assert!(run.stdout.contains("program exited with code"), "{run:#?}");
}

#[test]
fn finish_is_of_the_frame_that_is_selected() {
    let program = "fixtures/recursion.c";
    let bottom = format!("b {}", line(program, "bottom"));
    let fact = line(program, "fact");
    let stack = |commands: &[&str]| {
        let mut lines = vec![bottom.as_str(), "c"];
        lines.extend(commands);
        lines.push("bt");
        let run = behind_main(program, &lines);
        let place = format!("fact at {program}:{fact}");
        let returned = run.stdout.matches("returned fact() = ").count();
        (run.stdout.matches(&place).count(), returned, run)
    };
    let (all, returned, run) = stack(&[]);
    assert!(all == 4 && returned == 0, "{run:#?}");
    // Finishes the innermost frame, and the frame two levels further out. Each level leaves one frame less.
    for selected in [0, 2] {
        let up = format!("frame {selected}");
        let (shown, returned, run) = stack(&[&up, "finish"]);
        assert_eq!(returned, 1, "{run:#?}");
        // `frame` shows the whole path.
        assert_eq!(shown, all - selected + 1, "{selected}: {run:#?}");
    }
}

#[test]
fn threads_that_stop_at_once_are_all_counted_and_told_alike() {
    let program = "fixtures/threads.c";
    let stop = format!("b {}", line(program, "hit"));
    let run = behind_main(program, &[&stop, "c", "info breakpoints"]);
    let also = run.stdout.matches("also at breakpoint 2\n").count();
    assert!(!run.stdout.contains("also at a breakpoint"), "{run:#?}");
    let counted = match also {
        0 => "hit once\n".to_owned(),
        also => format!("hit {} times\n", also + 1),
    };
    assert!(run.stdout.contains(&counted), "{run:#?}");
}
