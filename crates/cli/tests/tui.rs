//! The full screen, compared with stored screens at three sizes, and with the pages that show them.
//!
//! `DAPPLE_DOCS=write cargo test -p dapple-cli --test it -- tui` writes the screens, and then those in the pages.

use std::path::PathBuf;

use crate::support::full_screen::{FullScreen, click, normalised, place_of};
use crate::support::{compile, line, root, scratch};

/// The sizes: a terminal's usual one, one on a laptop, and a whole large display.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (300, 100)];

fn is_to_be_written() -> bool {
    std::env::var_os("DAPPLE_DOCS").is_some()
}

fn stored(name: &str) -> PathBuf {
    root()
        .join("crates/cli/tests/screens")
        .join(format!("{name}.txt"))
}

/// Compares a screen with the stored one, once it is as that.
#[track_caller]
fn compare(screen: &mut FullScreen, name: &str) {
    let path = stored(name);
    if is_to_be_written() {
        screen.settle();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        std::fs::write(&path, normalised(&screen.text())).expect("the folder is there");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    screen.wait_until(
        &format!("as in {}:\n{expected}\nbut", path.display()),
        |it| normalised(&it.text()) == expected,
    );
}

/// `fixtures/NAME`, compiled for the tests of this file.
fn program(name: &str) -> String {
    let file = name.split('.').next().unwrap_or(name);
    let folder = scratch(&format!("tui-{:?}", std::thread::current().id()));
    let program = folder.join(file);
    compile(name, &program);
    program.to_str().expect("a plain path").to_owned()
}

#[test]
fn a_stop_is_shown_at_three_sizes() {
    let tour = program("tour.c");
    for (columns, rows) in SIZES {
        let mut screen = FullScreen::start(
            (columns, rows),
            &["--ex", "b classify", "--ex", "run", &tour],
        );
        screen.wait_for(&["stopped at breakpoint 1", "celsius = 31.8", "main"]);
        screen.go_to_source();
        screen.type_keys("\x1b[21~");
        screen.wait_for(&["(dapple) next", "31 "]);
        screen.type_keys("f");
        screen.wait_for(&["(dapple) finish", "returned classify", "average = 31.8"]);
        compare(&mut screen, &format!("stop-{columns}x{rows}"));
    }
}

#[test]
fn values_open_and_what_has_changed_is_marked() {
    let tour = program("tour.c");
    let place = format!("b fixtures/tour.c:{}", line("tour.c", "print"));
    let mut screen = FullScreen::start((100, 32), &["--ex", &place, "--ex", "run", &tour]);
    screen.wait_for(&["stopped at breakpoint 1", "average = 31.8"]);
    // The first click selects, the second one opens.
    let (row, column) = place_of(&screen, "town = ");
    screen.type_keys(&click(column, row));
    screen.wait_for(&["━[Locals]"]);
    screen.type_keys(&click(column, row));
    screen.wait_for(&["▾ town", "celsius", "weather = HOT"]);
    screen.type_keys("c");
    screen.wait_for(&["*  average = 20", "weather = MILD"]);
    compare(&mut screen, "values-100x32");
    // The other panes of the group are one key away.
    screen.type_keys("]");
    screen.wait_for(&["[Watches]", "`display EXPRESSION`"]);
    screen.type_keys(":display visits * 10\r");
    screen.wait_for(&["visits * 10 = 10"]);
    screen.type_keys("\tc");
    screen.wait_for(&["*  visits * 10 = 20"]);
    screen.type_keys("qq");
    let (status, _) = screen.end();
    assert!(status.success(), "{status}");
}

#[test]
fn all_keys_are_shown_at_a_question_mark() {
    let tour = program("tour.c");
    let mut screen = FullScreen::start((80, 24), &[&tour]);
    screen.wait_for(&["not started"]);
    screen.go_to_source();
    screen.type_keys("?");
    screen.wait_for(&["any other key closes this"]);
    compare(&mut screen, "help-80x24");
    screen.type_keys("\x1b[6~");
    screen.wait_for(&["F10 n"]);
    screen.type_keys("x");
    screen.wait_without("any other key");
    screen.type_keys("q");
    let (status, _) = screen.end();
    assert!(status.success(), "{status}");
}

/// The pages show the stored screens: each behind a comment with its name.
#[test]
fn pages_show_the_screens_as_they_are() {
    let mut shown = 0;
    for page in ["README.md", "docs/tui.md"] {
        let path = root().join(page);
        let text = std::fs::read_to_string(&path).expect("a page");
        let mut parts = text.split("<!-- screen: ");
        let mut written = parts.next().unwrap_or_default().to_owned();
        let mut wrong = Vec::new();
        for part in parts {
            let (name, rest) = part.split_once(" -->\n").expect("a comment is closed");
            let (before, rest) = rest.split_once("```text\n").expect("a screen follows");
            let (block, rest) = rest.split_once("```").expect("a block is closed");
            let screen = std::fs::read_to_string(stored(name)).expect("a stored screen");
            if block != screen {
                wrong.push(format!(
                    "{page} shows {name} as\n{block}but it is\n{screen}"
                ));
            }
            written += &format!("<!-- screen: {name} -->\n{before}```text\n{screen}```{rest}");
            shown += 1;
        }
        match is_to_be_written() {
            true => std::fs::write(&path, written).expect("a page can be written"),
            false => assert!(wrong.is_empty(), "{}", wrong.join("\n")),
        }
    }
    assert!(shown >= 3, "{shown} screens were found");
}
