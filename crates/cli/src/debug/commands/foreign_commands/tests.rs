//! The tables against what gdb and lldb list themselves, and what is made of typed lines.

use super::*;

fn listed(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// Whether a table has a word: its own entry, or one that stands for all that begin with it.
fn is_answered(name: &str) -> bool {
    find(name).is_some_and(|found| found.rest.is_empty() || !matches!(found.meaning, Ours))
}

#[test]
fn all_words_of_gdb_and_lldb_are_in_the_tables() {
    let gdb = listed(include_str!("tests/gdb.txt"));
    let lldb = listed(include_str!("tests/lldb.txt"));
    let missing: Vec<&str> = gdb.chain(lldb).filter(|name| !is_answered(name)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Delve's own, which a command of ours or an entry has to answer; delve's meaning, where it isn't gdb's.
#[test]
fn all_commands_of_delve_are_answered() {
    let delve = listed(include_str!("tests/delve.txt"));
    let is_ours = |name: &str| super::super::find(name).is_ok();
    let missing: Vec<&str> = { delve }
        .filter(|name| !is_answered(name) && !is_ours(name))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    for (typed, ours) in [
        ("goroutine 4", "thread 4"),
        ("tr 3", "thread 3"),
        ("vars", "info variables"),
        ("stack 5", "backtrace 5"),
        ("target switch 2", "process 2"),
    ] {
        assert_eq!(translate(typed).ok().as_deref(), Some(ours), "{typed}");
    }
}

#[test]
fn all_keys_of_nnd_have_a_row() {
    let rows = || others::NND.iter().flat_map(|row| row.actions.split(", "));
    let missing: Vec<&str> = listed(include_str!("tests/nnd.txt"))
        .filter(|action| !rows().any(|row| row == *action))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let known: Vec<&str> = listed(include_str!("tests/nnd.txt")).collect();
    let unknown: Vec<&str> = { rows() }
        .filter(|row| !row.is_empty() && !known.contains(row))
        .collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn what_is_said_names_commands_that_there_are() {
    let is_there = |command: &str| match command.strip_prefix("info ") {
        Some(topic) => super::super::data::topics(topic).len() == 1,
        None => super::super::find(command.split(' ').next().unwrap_or_default()).is_ok(),
    };
    let mut wrong = Vec::new();
    for (prefix, name, meaning) in names() {
        let ours = match meaning {
            Ours | Meaning::Differs(_) => format!("{prefix}{name}"),
            Same(command) => command.to_owned(),
            Advice(_) | Missing(_) => continue,
        };
        if !is_there(&ours) {
            wrong.push(format!("{prefix}{name}: {meaning:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_command_of_ours_is_translated_to_no_other_one() {
    let changed = super::super::all().filter_map(|command| {
        let line = translate(command.name).unwrap_or_else(|error| error.to_string());
        (line != command.name).then_some(line)
    });
    assert_eq!(changed.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn what_follows_the_words_follows_the_command() {
    let translated = |line| translate(line).map_err(|error| error.to_string());
    for (line, ours) in [
        ("locals", "info locals"),
        ("frame variable a.b", "print a.b"),
        ("frame 2", "frame 2"),
        ("thread backtrace all", "backtrace all"),
        ("xyz", "xyz"),
        ("x/4xw p", "x/4xw p"),
        ("memory read p", "x p"),
        ("call f()", "print f()"),
        ("set printed = 3", "set printed = 3"),
        ("set width = 3", "set width = 3"),
        ("set language.name = 3", "set language.name = 3"),
        ("i sharedlibrary", "info modules"),
        ("rbreak ^parse_", "break /re ^parse_"),
    ] {
        assert_eq!(translated(line).as_deref(), Ok(ours), "{line}");
    }
    for (line, shown) in [
        ("signal 9", "there is no command `signal`: "),
        ("set width 3", "there is no command `set width`: "),
        (
            "show print pretty",
            "there is no command `show print pretty`: ",
        ),
        ("| bt", "there is no command `|`: "),
    ] {
        let error = translated(line).expect_err("no such command");
        assert!(error.starts_with(shown), "{error}");
    }
}

#[test]
fn words_can_be_shortened_as_long_as_they_are_clear() {
    let translated = |line| translate(line).map_err(|error| error.to_string());
    for (line, ours) in [
        ("th b", "backtrace"),
        ("fr v total", "print total"),
        ("fr s 1", "frame 1"),
        ("wa l", "watch"),
        ("im li", "info modules"),
        ("re r rax", "registers rax"),
        ("info sh", "info modules"),
        ("info lo", "info lo"),
        ("i sig", "handle"),
        ("thread apply all bt", "thread apply all bt"),
        ("thread 4711", "thread 4711"),
        ("type lent", "type lent"),
        ("me rea/4x p", "x /4x p"),
    ] {
        assert_eq!(translated(line).as_deref(), Ok(ours), "{line}");
    }
}

#[test]
fn options_of_breakpoint_set_say_where_and_when() {
    let translated = |line| translate(line).map_err(|error| error.to_string());
    for (line, ours) in [
        ("breakpoint set --name main", "break main"),
        (
            "br s -f list.c -l 12 -c 'n > 3'",
            "break list.c:12 if n > 3",
        ),
        (
            "breakpoint set --func-regex=^parse_ -o true",
            "tbreak /re ^parse_",
        ),
        ("breakpoint set -E c++", "catch cpp_throw"),
    ] {
        assert_eq!(translated(line).as_deref(), Ok(ours), "{line}");
    }
    for (line, why) in [
        (
            "breakpoint set -X 3",
            "`-X` of `breakpoint set` means nothing here; `help break` says what there is",
        ),
        ("breakpoint set -n", "`-n` lacks a value"),
        (
            "breakpoint set -f list.c",
            "break where? `breakpoint set -n NAME` or `breakpoint set -f FILE -l LINE`",
        ),
    ] {
        assert_eq!(translated(line), Err(why.to_owned()), "{line}");
    }
}

#[test]
fn the_start_of_a_command_of_ours_is_no_other_ones_name() {
    let others = names().filter_map(|(prefix, name, meaning)| {
        let command = super::super::find(name)
            .ok()
            .filter(|_| prefix.is_empty())?;
        let is_ours = |line: &str| line.split(' ').next() == Some(command.name);
        let same = match meaning {
            Ours | Meaning::Differs(_) => true,
            Same(line) => is_ours(line),
            Advice(_) | Missing(_) => false,
        };
        (!same && find(name)?.meaning == meaning).then(|| format!("{name}: {}", command.name))
    });
    // Whole words of others, whose users mean something else.
    let meant = ["restart: restart-frame", "target: targets"];
    assert_eq!(others.collect::<Vec<_>>(), meant);
}
