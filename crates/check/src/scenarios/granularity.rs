//! Steps by instructions, lines and statements.

use serde_json::{Value, json};

use super::memory::address;
use super::setup::{Stop, at_stop, disconnect, resume_with, stopped};
use crate::rules;
use crate::talk::{Failed, Talk};

/// How many instructions are looked at for where a step may lead.
const INSTRUCTIONS: usize = 16;
/// No instruction of a processor is longer, in bytes.
const LONGEST: u64 = 16;

/// Steps with each granularity, if they are advertised; else with one that has to be ignored.
pub(super) fn steps(talk: &mut Talk<'_>) {
    if let Some(stop) = at_stop(talk) {
        match talk.has("supportsSteppingGranularity") {
            true => advertised(talk, stop),
            false => ignored(talk, &stop),
        };
    }
    disconnect(talk);
}

fn advertised(talk: &mut Talk<'_>, mut stop: Stop) -> Option<()> {
    for command in ["next", "stepIn"] {
        stop = instruction(talk, command, &stop)?;
    }
    stop = line(talk, &stop)?;
    statement(talk, &stop)
}

fn step(talk: &mut Talk<'_>, command: &str, granularity: &str, stop: &Stop) -> Option<Stop> {
    let arguments = json!({"threadId": stop.thread, "granularity": granularity});
    resume_with(talk, command, arguments)?;
    let what = format!("after `{command}` with the granularity `{granularity}`");
    let stop = stopped(talk, &what)?;
    talk.expects(rules::STEP_REASON, stop.reason == "step", || {
        format!("a stop {what} has the reason {:?}", stop.reason)
    });
    Some(stop)
}

fn pointer(stop: &Stop) -> Option<&str> {
    stop.frame["instructionPointerReference"].as_str()
}

/// A step of one instruction.
fn instruction(talk: &mut Talk<'_>, command: &str, stop: &Stop) -> Option<Stop> {
    let following = pointer(stop).map(|pointer| following(talk, pointer));
    let now = step(talk, command, "instruction", stop)?;
    let (Some(old), Some(new)) = (pointer(stop), pointer(&now)) else {
        return Some(now);
    };
    talk.expects(rules::INSTRUCTION_STEP, old != new, || {
        format!(
            "`{command}` with the granularity `instruction` left the instruction pointer at {old}"
        )
    });
    // A jump may lead far away, and one instruction to another line; a jump to another line is not at the line marked `stop`.
    let is_far = is_far(old, new, &following.unwrap_or_default());
    // The instruction may be a call.
    let is_call = command == "stepIn" && stop.frame["name"] != now.frame["name"];
    talk.expects(
        rules::INSTRUCTION_STEP,
        !is_far || is_call || now.line() == stop.line(),
        || {
            format!(
                "`{command}` with the granularity `instruction` led from {old} on line {} to {new} on line {}, which is more than an instruction away",
                stop.line(),
                now.line()
            )
        },
    );
    Some(now)
}

/// The addresses of the instruction at a reference and those after it; empty if the adapter doesn't say.
fn following(talk: &mut Talk<'_>, reference: &str) -> Vec<u64> {
    if !talk.has("supportsDisassembleRequest") {
        return Vec::new();
    }
    let arguments = json!({"memoryReference": reference, "instructionCount": INSTRUCTIONS});
    let body = talk.ask("disassemble", arguments).unwrap_or_default();
    let all = body["instructions"].as_array().into_iter().flatten();
    all.filter_map(|one: &Value| address(&one["address"]))
        .collect()
}

/// Whether more than one instruction lies between two addresses.
fn is_far(old: &str, new: &str, following: &[u64]) -> bool {
    let (Some(from), Some(to)) = (address(&json!(old)), address(&json!(new))) else {
        return false;
    };
    let skipped = following.iter().position(|address| *address == to);
    match skipped {
        Some(index) => index > 1,
        None => from.abs_diff(to) > LONGEST,
    }
}

/// A step by a line, which leads from the line marked `stop` to that marked `next`.
fn line(talk: &mut Talk<'_>, stop: &Stop) -> Option<Stop> {
    let now = step(talk, "next", "line", stop)?;
    let (from, to) = (stop.line(), now.line());
    let next = { talk.options.marks.line("next") }
        .filter(|_| talk.options.marks.line("stop") == Some(from));
    let is_right = next.map_or(from != to, |next| next == to);
    talk.expects(rules::LINE_STEP, is_right, || {
        format!("`next` with the granularity `line` led from line {from} to line {to}")
    });
    Some(now)
}

/// A step by a statement, which may be a line or a part of one: the adapter determines it.
fn statement(talk: &mut Talk<'_>, stop: &Stop) -> Option<()> {
    let now = step(talk, "next", "statement", stop)?;
    let place = ["name", "line", "column", "instructionPointerReference"];
    let has_moved = place
        .iter()
        .any(|field| stop.frame[field] != now.frame[field]);
    talk.expects(rules::LINE_STEP, has_moved, || {
        format!(
            "`next` with the granularity `statement` left the program on line {}",
            now.line()
        )
    });
    Some(())
}

/// A granularity that the adapter doesn't advertise.
fn ignored(talk: &mut Talk<'_>, stop: &Stop) -> Option<()> {
    let arguments = json!({"threadId": stop.thread, "granularity": "instruction"});
    talk.forget_events();
    match talk.ask("next", arguments) {
        Ok(_) => {}
        Err(Failed::Error(reason)) => {
            talk.finds(
                rules::GRANULARITY_NOT_IGNORED,
                format!("`next` with a `granularity` failed: {reason}"),
            );
            return None;
        }
        Err(_) => return None,
    }
    let now = stopped(talk, "after `next` with a `granularity`")?;
    talk.expects(
        rules::GRANULARITY_NOT_IGNORED,
        now.line() != stop.line(),
        || {
            format!(
                "`next` with the granularity `instruction`, which is not advertised, stayed on line {}",
                stop.line()
            )
        },
    );
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_after_the_next_instruction_is_far() {
        let following = [0x10, 0x13, 0x16];
        assert!(!is_far("0x10", "0x13", &following));
        assert!(is_far("0x10", "0x16", &following));
        assert!(!is_far("0x10", "0x20", &[]));
        assert!(is_far("0x10", "0x21", &[]));
        assert!(!is_far("here", "there", &[]));
    }
}
