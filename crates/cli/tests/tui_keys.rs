//! The full screen as a user drives it: keys, the mouse, signals, and programs that don't behave.

use rustix::process::Signal;

use crate::support::full_screen::{FullScreen, click, place_of};
use crate::support::{compile, line, scratch, write};

const F5: &str = "\x1b[15~";
const F6: &str = "\x1b[17~";
const F9: &str = "\x1b[20~";
const CTRL_C: &str = "\x03";
const CTRL_Z: &str = "\x1a";

fn program(name: &str) -> String {
    let file = name.split('.').next().unwrap_or(name);
    let folder = scratch(&format!("tui-keys-{:?}", std::thread::current().id()));
    let program = folder.join(file);
    compile(name, &program);
    program.to_str().expect("a plain path").to_owned()
}

#[track_caller]
fn assert_ends_well(screen: FullScreen) {
    let (status, shown) = screen.end();
    assert!(status.success(), "{status}:\n{shown}");
}

#[test]
fn a_breakpoint_is_set_by_a_key_and_by_a_click_and_the_command_is_seen() {
    let tour = program("tour.c");
    let mut screen = FullScreen::start((100, 30), &["--ex", "start", &tour]);
    screen.wait_for(&["stopped at breakpoint 1", "words"]);
    screen.go_to_source();
    screen.type_keys("j");
    screen.type_keys(F9);
    let (here, after) = (line("tour.c", "town"), line("tour.c", "print"));
    screen.wait_for(&["(dapple) b fixtures/tour.c:", "●"]);
    let (row, column) = place_of(&screen, &format!("{here}  "));
    screen.type_keys(&click(column, row));
    screen.wait_for(&[&format!("(dapple) b fixtures/tour.c:{here}")]);
    screen.type_keys(&format!(":b {after}\r"));
    screen.wait_for(&[&format!("breakpoint 4 at fixtures/tour.c:{after}")]);
    // A click in the gutter deletes it again.
    screen.type_keys("\t");
    screen.wait_until("three marks", |it| it.text().matches('●').count() >= 3);
    let (row, column) = place_of(&screen, &format!("{after}  "));
    screen.type_keys(&click(column, row));
    screen.wait_for(&["(dapple) delete 4", "breakpoint 4 deleted"]);
    screen.type_keys("6");
    screen.wait_for(&["[Breaks]"]);
    screen.type_keys(" ");
    screen.wait_for(&["(dapple) disable 2", "○"]);
    screen.type_keys("qq");
    assert_ends_well(screen);
}

#[test]
fn frames_are_selected_by_keys_and_clicks_and_variables_follow() {
    let recursion = program("recursion.c");
    let place = format!("b fixtures/recursion.c:{}", line("recursion.c", "bottom"));
    let mut screen = FullScreen::start((80, 24), &["--ex", &place, "--ex", "run", &recursion]);
    screen.wait_for(&["stopped at breakpoint 1", "n = 1", "fact"]);
    screen.go_to_source();
    screen.type_keys("2");
    screen.wait_for(&["━[Stack]"]);
    screen.type_keys("jj\r");
    screen.wait_for(&["(dapple) frame 2", "n = 3"]);
    let (row, column) = place_of(&screen, " 1 fact");
    screen.type_keys(&click(column + 2, row));
    screen.wait_for(&["(dapple) frame 1", "n = 2"]);
    screen.type_keys("qq");
    assert_ends_well(screen);
}

#[test]
fn ten_thousand_frames_come_as_they_are_looked_at() {
    let recursion = program("recursion.c");
    let place = format!("b fixtures/recursion.c:{}", line("recursion.c", "bottom"));
    let mut screen =
        FullScreen::start((80, 24), &["--ex", &place, "--ex", "run 10000", &recursion]);
    screen.wait_for(&["stopped at breakpoint 1", " 0 fact"]);
    screen.go_to_source();
    screen.type_keys("2");
    screen.wait_for(&["━[Stack]"]);
    // Each time, the last frame that is known is farther out.
    screen.type_until("G", "409 fact");
    screen.type_keys(":frame 9999\r");
    screen.wait_for(&["n = 10000"]);
    screen.type_keys("\tqq");
    assert_ends_well(screen);
}

#[test]
fn the_program_reads_what_is_typed_in_its_pane() {
    let source = write(
        "tui_reader.c",
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n    char name[32];\n    printf(\"tty %d\\nwho are you? \", isatty(0));\n    fflush(stdout);\n    if (scanf(\"%31s\", name) != 1) return 1;\n    printf(\"hello %s\\n\", name);\n    return 5;\n}\n",
    );
    let source = source.to_str().expect("a plain path");
    let mut screen = FullScreen::start((80, 24), &["--ex", "run", source]);
    screen.wait_for(&["tty 1", "who are you?"]);
    screen.go_to_source();
    screen.type_keys("o");
    screen.wait_for(&["━━", "[Output]", "input>"]);
    screen.type_keys("Ada\r");
    screen.wait_for(&["hello Ada", "exited with code 5"]);
    screen.type_keys("\tq");
    assert_ends_well(screen);
}

#[test]
fn keys_work_while_the_program_writes_without_end() {
    let flood = program("flood.c");
    let mut screen = FullScreen::start((80, 24), &["--ex", "run", &flood]);
    let last = |screen: &FullScreen| {
        let text = screen.text();
        let numbers = text.lines().filter_map(|line| {
            let (number, _) = line.split_once(": a line")?;
            number.parse::<u64>().ok()
        });
        numbers.max().unwrap_or(0)
    };
    screen.wait_until("many lines", |it| last(it) > 10_000);
    screen.go_to_source();
    let before = last(&screen);
    screen.type_keys("?");
    screen.wait_for(&["any other key closes this"]);
    screen.type_keys(" x");
    screen.wait_until("more lines", |it| last(it) > before);
    screen.type_keys(F6);
    screen.wait_for(&["stopped by a pause"]);
    screen.type_keys("qq");
    assert_ends_well(screen);
}

#[test]
fn what_a_hostile_program_writes_stays_in_its_pane() {
    let source = write(
        "tui_hostile.c",
        "#include <stdio.h>\nint main(void) {\n    char text[] = \"\\x1b[2J\\x1b]0;owned\\x07\\xff\\xfe\\x1b[?1049l\";\n    printf(\"\\x1b[2J\\x1b[Hgone\\x1b]0;owned\\x07\\x1b[?1049l\\x1b[3;1Hthere\\n\");\n    printf(\"wide \\xe6\\x97\\xa5\\xe6\\x9c\\xac \\xe2\\x80\\xae!gnihton\\n\");\n    printf(\"invalid \\xff\\xfe\\x80 end\\n\");\n    return text[0] == 0;\n}\n",
    );
    let source = source.to_str().expect("a plain path");
    let mut screen = FullScreen::start((100, 40), &["--ex", "b 7", "--ex", "run", source]);
    screen.wait_for(&["stopped at breakpoint 1", "invalid", "text = "]);
    screen.go_to_source();
    let text = screen.text();
    assert!(text.contains("━[Source]"), "{text}");
    assert!(text.contains("wide 日本 ·!gnihton"), "{text}");
    assert!(text.contains("·[2J"), "{text}");
    assert!(
        screen.screen().alternate_screen(),
        "it is on its own screen"
    );
    screen.type_keys("qq");
    assert_ends_well(screen);
}

#[test]
fn the_terminal_is_given_back_at_signals_and_a_suspended_screen_comes_back() {
    let tour = program("tour.c");
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut screen = FullScreen::start((80, 24), &["--ex", "start", &tour]);
        screen.wait_for(&["stopped at breakpoint 1"]);
        assert!(!screen.is_for_lines());
        screen.type_keys(CTRL_Z);
        screen.wait_until("the shell's screen", |it| {
            !it.screen().alternate_screen() && it.is_for_lines() && it.is_stopped()
        });
        screen.signal(Signal::CONT);
        screen.wait_for(&["━[Prompt]", "stopped at breakpoint 1"]);
        assert!(screen.screen().alternate_screen() && !screen.is_for_lines());
        screen.signal(signal);
        screen.wait_until("the end", |it| !it.screen().alternate_screen());
        let (status, _) = screen.end();
        assert_eq!(status.code(), Some(code));
    }
}

#[test]
fn any_size_is_taken_and_one_that_is_too_small_says_so() {
    let tour = program("tour.c");
    let mut screen = FullScreen::start((80, 24), &["--ex", "start", &tour]);
    screen.wait_for(&["stopped at breakpoint 1"]);
    screen.go_to_source();
    screen.resize(20, 5);
    screen.wait_for(&["20×5 is too"]);
    // After three layouts, it is the first again.
    for (columns, rows) in [(1, 1), (40, 10), (200, 12)] {
        screen.resize(columns, rows);
        screen.type_keys("zzL");
    }
    screen.resize(120, 40);
    screen.wait_for(&["[Source]", "[Prompt]", "words"]);
    screen.type_keys("qq");
    assert_ends_well(screen);
}

#[test]
fn a_program_that_is_not_there_is_told_on_the_terminal_itself() {
    let screen = FullScreen::start((80, 24), &["no/such/program"]);
    let (status, shown) = screen.end();
    assert_eq!(status.code(), Some(126), "{shown}");
    assert!(
        shown.contains("dapple: can't debug no/such/program"),
        "{shown}"
    );
}

#[test]
fn the_program_is_started_stepped_and_stopped_by_keys() {
    let source = write(
        "tui_endless.c",
        "int main(void) {\n    volatile unsigned long turns = 1;\n    for (;;) {\n        turns++;\n        turns += 2;\n    }\n}\n",
    );
    let source = source.to_str().expect("a plain path");
    let mut screen = FullScreen::start((80, 24), &[source]);
    screen.wait_for(&["not started", "turns++"]);
    screen.type_keys(F5);
    screen.wait_for(&["running"]);
    screen.type_keys(CTRL_C);
    screen.wait_for(&["(dapple) interrupt", "stopped by a pause", "→"]);
    screen.go_to_source();
    screen.type_keys("n");
    screen.wait_for(&["(dapple) next"]);
    screen.type_keys(":p turns > 0\r");
    screen.wait_for(&["turns > 0 = "]);
    // What is typed stays in the history.
    screen.type_keys("\x1b[A");
    screen.wait_until("the last line again", |it| {
        it.text()
            .lines()
            .any(|line| line.trim_end() == "(dapple) p turns > 0")
    });
    screen.type_keys("\x15");
    screen.type_keys("quit\r");
    assert_ends_well(screen);
}

#[test]
fn a_session_at_the_prompt_is_shown_on_the_full_screen_and_comes_back() {
    let tour = program("tour.c");
    let mut screen = FullScreen::at_prompt((100, 40), &["--no-init", "--ex", "b classify", &tour]);
    screen.wait_for(&["breakpoint 1 on classify"]);
    screen.type_keys("run\rtui\r");
    // Where it was stopped before is shown there.
    screen.wait_for(&[
        "tour  stopped at breakpoint 1",
        "━[Prompt]",
        "celsius = 31.8",
        "main()",
    ]);
    assert!(!screen.is_for_lines());
    screen.type_keys("display visits\r");
    screen.wait_for(&["visits = 0"]);
    // A program that has this terminal itself may write anywhere: that is gone at its next stop.
    screen.type_keys(F5);
    screen.wait_for(&["celsius = 20.1", "visits = 1"]);
    screen.wait_without("Cairo: 31.8");
    screen.go_to_source();
    screen.type_keys("q");
    screen.wait_until("the prompt", |it| {
        !it.screen().alternate_screen() && it.text().contains("(dapple) tui\nclassify at ")
    });
    // All of the session is still there.
    screen.type_keys("c\r");
    screen.wait_for(&["(dapple) c\n", "stopped at breakpoint 1", "visits = 2"]);
    // A program that is started on the full screen has a terminal of its own there.
    screen.type_keys("tui\r");
    screen.wait_for(&["━[Prompt]"]);
    screen.type_keys("run\r");
    screen.wait_for(&["(dapple) run", "celsius = 31.8", "visits = 0"]);
    screen.type_keys("c\r");
    screen.wait_for(&["Cairo: 31.8, hot", "celsius = 20.1"]);
    screen.type_keys("quit\r");
    let (status, shown) = screen.end();
    assert!(status.success(), "{status}");
    assert!(
        shown.contains("visits = 2"),
        "its own screen is back:\n{shown}"
    );
}

#[test]
fn a_full_screen_that_is_killed_leaves_the_prompt() {
    let tour = program("tour.c");
    let mut screen = FullScreen::at_prompt((100, 40), &["--no-init", "--ex", "start", &tour]);
    screen.wait_for(&["stopped at breakpoint 1", "(dapple)"]);
    screen.type_keys("tui\r");
    screen.wait_for(&["━[Prompt]", "words"]);
    screen.kill_child("tui");
    screen.wait_until("the prompt", |it| {
        !it.screen().alternate_screen() && it.text().contains("(dapple) tui\nmain at ")
    });
    screen.type_keys("p visits\r");
    screen.wait_for(&["visits = 0"]);
    screen.type_keys("quit\r");
    assert_ends_well(screen);
}
