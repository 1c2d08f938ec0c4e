//! Coloured values in `dapple debug`: when they are used, and that the program's own escape sequences are escaped.

use crate::support;
use std::path::Path;

use crate::support::terminal::Terminal;
use crate::support::{Run, dapple, scratch};

/// Runs `dapple debug` on the fixture, with its output in a pipe, to the line where the values are set.
fn run(options: &[&str], commands: &[&str]) -> Run {
    let stop = format!("b {}", support::line("styled.cpp", "values"));
    let mut command = dapple();
    command.args(["debug", "--batch", "--natvis", "fixtures/styled.natvis"]);
    command.args(options);
    for line in [&*stop, "run"].iter().chain(commands) {
        command.args(["--ex", line]);
    }
    Run::of(command.arg("fixtures/styled.cpp"))
}

#[test]
fn values_have_colours_where_they_are_wanted() {
    let commands = ["p point", "p sly", "locals", "p/x count", "set count = 43"];
    let coloured = run(&["--color", "always"], &commands);
    assert_eq!(coloured.code, Some(0), "{coloured:#?}");
    for line in [
        "\x1b[1mpoint\x1b[0m = {x = \x1b[36m3\x1b[0m, y = \x1b[36m-1.5\x1b[0m}\n",
        "\x1b[1mname\x1b[0m = \x1b[32m\"Ada\"\x1b[0m\n",
        "\x1b[1mlevel\x1b[0m = \x1b[35mHigh\x1b[0m\n",
        "\x1b[1mlost\x1b[0m = \x1b[2m<cannot read memory at 0x…>\x1b[0m\n",
        "\x1b[1mcount\x1b[0m = \x1b[36m43\x1b[0m\n",
    ] {
        assert!(coloured.stdout.contains(line), "{line:?} in {coloured:#?}");
    }
    // Once for `p`, and once for `locals`.
    let sly = "= \\x1b[\x1b[36m31mred\x1b[0m\\x1b[\x1b[36m0m\x1b[0m\n";
    assert_eq!(coloured.stdout.matches(sly).count(), 2, "{coloured:#?}");
    assert!(
        coloured.stdout.contains("\x1b[33mwarning:\x1b[0m"),
        "{coloured:#?}"
    );

    let plain = run(&["--color", "never"], &commands);
    assert_eq!(plain.code, Some(0), "{plain:#?}");
    let own = plain.stdout.replace("\x1b[1mready\x1b[0m", "");
    assert!(!own.contains('\x1b'), "{plain:#?}");
    assert!(own.contains("point = {x = 3, y = -1.5}\n"), "{plain:#?}");
    assert_eq!(own.matches("sly = ·[31mred·[0m\n").count(), 2, "{plain:#?}");
}

/// Whether `dapple debug` on a terminal asks its adapter for colours, in this environment.
fn asked(name: &str, environment: &[&str], options: &[&str]) -> bool {
    let folder = scratch("colours");
    let log = folder.join(name);
    let _ = std::fs::remove_file(&log);
    let log = log.to_str().expect("a plain name");
    let dapple = env!("CARGO_BIN_EXE_dapple");
    let fixture = Path::new("fixtures/styled.cpp");
    let mut words = vec!["env"];
    words.extend(environment);
    words.extend([dapple, "debug", "--log", log]);
    words.extend(options);
    words.extend(fixture.to_str());
    let mut terminal = Terminal::run_in_workspace(&words);
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{shown}");
    let log = std::fs::read_to_string(log).expect("a log");
    match ["true", "false"].map(|word| log.contains(&format!("\"supportsANSIStyling\":{word}"))) {
        // The adapter itself offers colours.
        [true, is_refused] => !is_refused,
        [false, _] => panic!("{log}"),
    }
}

#[test]
fn a_terminal_asks_for_colours_unless_the_user_has_said_no() {
    assert!(asked("auto", &["-u", "NO_COLOR"], &[]));
    assert!(!asked("no-color", &["NO_COLOR=1"], &[]));
    assert!(!asked("never", &["-u", "NO_COLOR"], &["--color", "never"]));
    assert!(asked("always", &["NO_COLOR=1"], &["--color", "always"]));
}

#[test]
fn source_has_colours_where_values_have_them() {
    let folder = scratch("source-colours");
    let source = folder.join("coloured.c");
    let text = "/* not\n   code */\nint main(void)\n{\n    char c = '\"'; // a \"quote\"\n    return c == 34 ? 0 : 1;\n}\n";
    std::fs::write(&source, text).expect("a source");
    let list = |options: &[&str]| {
        let mut command = dapple();
        command
            .args(["debug", "--batch", "--ex", "list 2,6"])
            .args(options);
        Run::of(command.arg(&source))
    };
    let coloured = list(&["--color", "always"]);
    for line in [
        // The comment has begun before the first line that is shown.
        "\x1b[2m   2\x1b[0m  \x1b[2m   code */\x1b[0m\n",
        "\x1b[2m   3\x1b[0m  \x1b[35mint\x1b[0m main(\x1b[35mvoid\x1b[0m)\n",
        "    \x1b[35mchar\x1b[0m c = \x1b[32m'\"'\x1b[0m; \x1b[2m// a \"quote\"\x1b[0m\n",
        "    \x1b[35mreturn\x1b[0m c == \x1b[36m34\x1b[0m ? \x1b[36m0\x1b[0m : \x1b[36m1\x1b[0m;\n",
    ] {
        assert!(coloured.stdout.contains(line), "{line:?} in {coloured:#?}");
    }
    // The current line has its colours, too, in bold.
    let mut command = dapple();
    command.args([
        "debug", "--batch", "--color", "always", "--ex", "b 6", "--ex", "run",
    ]);
    let stopped = Run::of(command.arg(&source));
    let current = "\x1b[1;33m→    6\x1b[0m      \x1b[1;35mreturn\x1b[0m\x1b[1m c == \x1b[0m\x1b[1;36m34\x1b[0m";
    assert!(stopped.stdout.contains(current), "{stopped:#?}");
    for options in [
        &[][..],
        &["--color", "never"],
        &["--json", "--color", "always"],
    ] {
        let plain = list(options);
        assert_eq!(plain.code, Some(0), "{plain:#?}");
        assert!(
            plain.stdout.contains("return c == 34 ? 0 : 1;"),
            "{plain:#?}"
        );
        assert!(
            !plain.stdout.contains('\x1b') && !plain.stdout.contains("u001b"),
            "{plain:#?}"
        );
    }
}
