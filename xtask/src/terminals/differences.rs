//! What an adapter does in its own way, so that a command shows something else with it than with the others.

use super::peers::Adapter::{Codelldb, Debugpy, Delve, Gdb, Js, Lldb};
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
    /// What is typed instead. An empty text: nothing, the step is left out.
    pub typed: Option<&'static str>,
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
    all(
        Delve,
        "run",
        &["^stopped at breakpoint 3", "order.* at market.go:24"],
        "A breakpoint on a function stops at the line of `func`, not at the first one of its body.",
    ),
    all(
        Delve,
        "bt",
        &["#0 .*order at market.go:24", "#1 .*main.* @first", "goexit"],
        "The frames of Go's runtime are shown, too; delve doesn't say that they are a library's.",
    ),
    all(Delve, "down", &["order at market.go:24"], "As `run`."),
    all(
        Delve,
        "info args",
        &["shows arguments among the locals: `info locals`"],
        "Arguments are among the locals: `info locals`.",
    ),
    all(
        Delve,
        "bt -args",
        &["can't show arguments in the stack; `bt full` lists them below"],
        "The stack has no arguments; `bt full` lists them below each frame.",
    ),
    all(
        Delve,
        "info locals",
        &["^count = 3$", "^price = 7$", "^sum = 7$", "^i = 1$"],
        "delve has one breakpoint a line: `until` at the line of a breakpoint with a condition stops where the condition holds. The locals have the arguments and \
         the value that will be returned (`~r0`).",
    ),
    all(Delve, "display", &["^1: sum = 7$"], "As `info locals`."),
    all(
        Delve,
        "continue to a condition",
        &[
            "^stopped at breakpoint 5",
            "total at @return",
            "^1: sum = 21$",
        ],
        "As `info locals`: the stop at the condition was the one of `until`.",
    ),
    all(Delve, "p/x", &["^sum = 0x15$"], "As `info locals`."),
    all(Delve, "p $", &["= 22$"], "As `info locals`."),
    all(
        Delve,
        "watch",
        &["can't watch data"],
        "Values are not watched; a condition (`b LINE if EXPRESSION`) comes nearest.",
    ),
    without(Delve, "continue to a watchpoint", "As `watch`."),
    all(Delve, "x", &["and no address"], "Memory is not read."),
    all(
        Delve,
        "info registers",
        &["shows no registers"],
        "Registers are not shown.",
    ),
    all(
        Delve,
        "finish",
        &["order at @call", "!returned"],
        "The returned value is not shown.",
    ),
    all(
        Delve,
        "ignore",
        &["no breakpoints with hit counts"],
        "Breakpoints have no hit counts; a condition on a variable of the program comes nearest.",
    ),
    all(
        Delve,
        "catch",
        &["can't stop at exceptions"],
        "A panic that nothing recovers stops the program in any case; others can't be chosen.",
    ),
    typed_in(
        Language::Rust,
        Gdb,
        "b FUNCTION",
        "b market::total",
        &["^breakpoint 1 "],
        "Functions of Rust are named with their paths.",
    ),
    typed_in(
        Language::Rust,
        Gdb,
        "tb",
        "tb market::order",
        &["^temporary breakpoint 3 (on|at) "],
        "As `b FUNCTION`.",
    ),
    without(Gdb, "continue to a watchpoint", "As `watch`."),
    typed(
        Gdb,
        "> TEXT",
        "> p 1 + 1",
        &["2"],
        "The text is a command of gdb's.",
    ),
    without(Debugpy, "continue to a watchpoint", "As `watch`."),
    without(Js, "continue to a watchpoint", "As `watch`."),
];

/// A difference in all of an adapter's languages.
const fn all(
    adapter: Adapter,
    step: &'static str,
    shows: &'static [&'static str],
    what: &'static str,
) -> Difference {
    Difference {
        adapter,
        language: None,
        step,
        typed: None,
        shows,
        what,
    }
}

/// A step that an adapter has nothing for, and that is left out.
const fn without(adapter: Adapter, step: &'static str, what: &'static str) -> Difference {
    Difference {
        typed: Some(""),
        ..all(adapter, step, &[], what)
    }
}

/// Something else is typed.
const fn typed(
    adapter: Adapter,
    step: &'static str,
    typed: &'static str,
    shows: &'static [&'static str],
    what: &'static str,
) -> Difference {
    Difference {
        typed: Some(typed),
        ..all(adapter, step, shows, what)
    }
}

/// The same in one language.
const fn typed_in(
    language: Language,
    adapter: Adapter,
    step: &'static str,
    text: &'static str,
    shows: &'static [&'static str],
    what: &'static str,
) -> Difference {
    Difference {
        language: Some(language),
        ..typed(adapter, step, text, shows, what)
    }
}
