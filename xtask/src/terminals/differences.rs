//! What an adapter does in its own way, so that a command shows something else with it than with the others.

use super::peers::{Adapter, Language, Peer};
use super::script::Step;

/// A difference.
#[derive(Debug)]
pub struct Difference {
    pub adapter: Adapter,
    /// The language in which it is seen. `None`: in all of the adapter's.
    pub language: Option<Language>,
    /// The step's name.
    pub step: &'static str,
    /// What is seen in place of what the step has, as regular expressions.
    pub shows: &'static [&'static str],
    /// What it does and why, for users.
    pub what: &'static str,
}

impl Difference {
    pub fn is_of(&self, peer: &Peer, step: &Step) -> bool {
        self.step == step.id
            && self.adapter == peer.adapter
            && self
                .language
                .is_none_or(|language| language == peer.language)
    }
}

/// All of them.
pub const DIFFERENCES: &[Difference] = &[
    delve(
        "run",
        &["^stopped at breakpoint 3", "order.* at market.go:24"],
        "A breakpoint on a function stops at the line of `func`, not at the first one of its body.",
    ),
    delve(
        "bt",
        &["#0 .*order at market.go:24", "#1 .*main.* @first", "goexit"],
        "The frames of Go's runtime are shown, too; delve doesn't say that they are a library's.",
    ),
    delve("down", &["order at market.go:24"], "As `run`."),
    delve(
        "info args",
        &["shows arguments among the locals: `info locals`"],
        "Arguments are among the locals: `info locals`.",
    ),
    delve(
        "bt -args",
        &["can't show arguments in the stack; `bt full` lists them below"],
        "The stack has no arguments; `bt full` lists them below each frame.",
    ),
    delve(
        "info locals",
        &["^count = 3$", "^price = 7$", "^sum = 7$", "^i = 1$"],
        "delve has one breakpoint a line: `until` at the line of a breakpoint with a condition stops where the condition holds. The locals have the arguments and \
         the value that will be returned (`~r0`).",
    ),
    delve("display", &["^1: sum = 7$"], "As `info locals`."),
    delve(
        "continue to a condition",
        &[
            "^stopped at breakpoint 5",
            "total at @return",
            "^1: sum = 21$",
        ],
        "As `info locals`: the stop at the condition was the one of `until`.",
    ),
    delve("p/x", &["^sum = 0x15$"], "As `info locals`."),
    delve("p $", &["= 22$"], "As `info locals`."),
    delve(
        "watch",
        &["can't watch data"],
        "Values are not watched; a condition (`b LINE if EXPRESSION`) comes nearest.",
    ),
    delve(
        "continue to a watchpoint",
        &["> .Go 1.: due is 100", "^stopped at breakpoint 1"],
        "There is no watchpoint. A log message begins with the goroutine.",
    ),
    delve("x", &["and no address"], "Memory is not read."),
    delve(
        "info registers",
        &["shows no registers"],
        "Registers are not shown.",
    ),
    delve(
        "finish",
        &["order at @call", "!returned"],
        "The returned value is not shown.",
    ),
    delve(
        "ignore",
        &["no breakpoints with hit counts"],
        "Breakpoints have no hit counts; a condition on a variable of the program comes nearest.",
    ),
    delve(
        "catch",
        &["can't stop at exceptions"],
        "A panic that nothing recovers stops the program in any case; others can't be chosen.",
    ),
];

const fn delve(
    step: &'static str,
    shows: &'static [&'static str],
    what: &'static str,
) -> Difference {
    Difference {
        adapter: Adapter::Delve,
        language: None,
        step,
        shows,
        what,
    }
}
