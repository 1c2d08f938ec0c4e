//! The command for code that steps don't enter.

use anyhow::bail;

use super::{Argument, Command, Flow};
use crate::debug::session::Session;

/// The word before patterns to be removed.
const DELETE: &str = "delete";

pub static COMMANDS: &[Command] = &[Command {
    name: "skip",
    aliases: &[],
    usage: "[PATTERN… | delete [PATTERN…]]",
    summary: "have steps not enter code, or list which they don't",
    details: "`skip order::*` means functions, `skip generated/*.cpp` files, by their path or the end of it; `std` the standard libraries and \
        the system's headers, which are skipped from the start, `dependencies` the packages that cargo has fetched or vendored. `skip delete std` has them entered again, `skip delete` all. What \
        skipped code calls of other code is entered.",
    argument: Argument::Topic(&["std", "dependencies", DELETE]),
    repeats: false,
    run: skip,
}];

fn skip(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let mut words = argument.split_whitespace().peekable();
    let mut patterns = session.skip.clone();
    if words.next_if_eq(&DELETE).is_none() {
        for word in words {
            if !patterns.iter().any(|known| known == word) {
                patterns.push(word.to_owned());
            }
        }
    } else if words.peek().is_none() {
        patterns.clear();
    } else {
        for word in words {
            let Some(index) = patterns.iter().position(|known| known == word) else {
                bail!("`{word}` is not skipped; {}", listed(&patterns));
            };
            patterns.remove(index);
        }
    }
    if patterns != session.skip {
        if !session.is_own_adapter() {
            bail!("this adapter has no option for functions that steps skip");
        }
        let before = std::mem::replace(&mut session.skip, patterns);
        if let Err(error) = session.send_skip() {
            session.skip = before;
            return Err(error);
        }
    }
    let text = listed(&session.skip);
    session.screen.print(&text);
    Ok(Flow::Go)
}

fn listed(patterns: &[String]) -> String {
    match patterns {
        [] => "nothing is skipped".to_owned(),
        _ => format!("skipped: {}", patterns.join(", ")),
    }
}
