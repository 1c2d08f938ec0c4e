//! Commands for programs that show a session in windows of their own: they fill them by `aside` and `parts`, and pass on what is typed for the
//! program by `input`.

use anyhow::{Context, bail};
use dapple_dap::types::{
    EvaluateArguments, EvaluateArgumentsContext, EvaluateRequest, Variable, VariablesArguments,
    VariablesRequest,
};

use super::{Argument, Command, Flow, number};
use crate::debug::results::{self, Item, Values};
use crate::debug::session::Session;
use crate::debug::value_tree::{self, RAW};

/// How many parts are shown by default, and at most.
const PARTS: i64 = 100;
const MOST_PARTS: i64 = 10_000;

/// The name of the command that leaves no traces.
const ASIDE: &str = "aside";

pub static COMMANDS: &[Command] = &[
    Command {
        name: ASIDE,
        aliases: &[],
        usage: "COMMAND",
        summary: "carry out a command at once, and leave what is repeated and continued as it is",
        details: "For programs with --json that fill windows: it doesn't wait for the program's stop, no empty line repeats it, and `x` and `list` go on where \
                  they were.",
        argument: Argument::Command,
        repeats: false,
        run: aside,
    },
    Command {
        name: "parts",
        aliases: &[],
        usage: "REFERENCE [FROM [COUNT]]",
        summary: "show parts of a value, by its reference in a record",
        details: "For programs with --json: a value's `reference` is valid until the program runs on.",
        argument: Argument::None,
        repeats: false,
        run: parts,
    },
    Command {
        name: "input",
        aliases: &[],
        usage: "TEXT",
        summary: "type a line into the program's own terminal",
        details: "With --json --pty, also while the program runs. `input ^D` ends the program's input, `input ^C` interrupts it.",
        argument: Argument::None,
        repeats: false,
        run: input,
    },
];

/// Whether a line is for [`ASIDE`].
pub fn is_aside(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix(ASIDE);
    rest.is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

fn aside(session: &mut Session, line: &str) -> anyhow::Result<Flow> {
    if line.is_empty() {
        bail!("carry out what? `aside info locals`");
    }
    let examined = session.examined.clone();
    let listed = session.process.listed.clone();
    let outcome = super::run(session, line);
    session.examined = examined;
    session.process.listed = listed;
    outcome
}

fn parts(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    session.stop()?;
    let mut words = argument.split_whitespace();
    let mut next = |what: &str, otherwise: Option<i64>| match (words.next(), otherwise) {
        (Some(word), _) => number(word, what),
        (None, otherwise) => otherwise.context("the parts of what? `parts REFERENCE`"),
    };
    let reference = next("the reference of a value", None)?;
    let from: i64 = next("the number of a part", Some(0))?;
    let count = next("a number of parts", Some(PARTS))?;
    if from < 0 || !(1..=MOST_PARTS).contains(&count) {
        bail!("1 to {MOST_PARTS} parts can be shown, from 0 on");
    }
    let arguments = VariablesArguments::new(reference)
        .with_start(from)
        .with_count(count);
    let all = session.request::<VariablesRequest>(arguments)?.variables;
    let shown = page(&all, usize::try_from(from)?, usize::try_from(count)?);
    let value = |part: &Variable| results::Value {
        raw: part.name == RAW,
        ..value_tree::line(session, &part.name, &value_tree::Value::from(part))
    };
    let values = shown.iter().map(value).collect();
    let what = "parts".to_owned();
    session.screen.show(Item::Values(Values { what, values }));
    Ok(Flow::Go)
}

/// The page that was asked for. Some adapters always give all.
fn page<T>(all: &[T], from: usize, count: usize) -> &[T] {
    match all.len() > count {
        true => &all[from.min(all.len())..from.saturating_add(count).min(all.len())],
        false => all,
    }
}

fn input(session: &mut Session, text: &str) -> anyhow::Result<Flow> {
    if !session.is_own_adapter() {
        bail!("only Dapple's adapter passes on input for the program");
    }
    let mut arguments = EvaluateArguments::new(format!(">{text}"));
    arguments.context = Some(EvaluateArgumentsContext::Repl);
    session.request::<EvaluateRequest>(arguments)?;
    Ok(Flow::Go)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_taken_from_all_where_an_adapter_gives_all() {
        let all = [0, 1, 2, 3, 4];
        assert_eq!(page(&all, 2, 2), [2, 3]);
        assert_eq!(page(&all, 4, 2), [4]);
        assert_eq!(page(&all, 9, 2), [0; 0]);
        // It has given the page.
        assert_eq!(page(&all, 5, 5), all);
    }

    #[test]
    fn aside_is_a_word_with_a_command_behind_it() {
        assert!(is_aside(" aside info locals"));
        assert!(!is_aside("asides x") && !is_aside("aside") && !is_aside("p aside x"));
    }
}
