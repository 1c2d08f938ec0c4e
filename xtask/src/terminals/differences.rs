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
    /// What it does and why, for users. Empty: it is so only because another step differs.
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

/// What several adapters lack.
const NO_ARGUMENTS_SCOPE: &[&str] = &["shows arguments among the locals: `info locals`"];
const AMONG_LOCALS: &str = "Arguments are among the locals: `info locals`.";
const NO_ARGUMENTS_IN_STACK: &str =
    "The stack has no arguments; `bt full` lists them below each frame.";
const NO_WATCH: &[&str] = &["can't watch data"];
const NOT_WATCHED: &str =
    "Values are not watched; a condition (`b LINE if EXPRESSION`) comes nearest.";
const AS_WATCH: &str = "As `watch`.";
const ONE_LIMIT: &str = "A breakpoint has a condition or hits, not both.";
const NO_MEMORY: &str = "Memory is not read.";
const NO_INSTRUCTIONS: &str = "There are no instructions.";
const NO_REGISTERS: &str = "Registers are not shown.";
const NO_RESULT: &str = "The returned value is not shown.";

/// All of them.
pub const DIFFERENCES: &[Difference] = &[
    all(Lldb, "info args", NO_ARGUMENTS_SCOPE, AMONG_LOCALS),
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
    all(Gdb, "watch", NO_WATCH, NOT_WATCHED),
    without(Gdb, "continue to a watchpoint", AS_WATCH),
    typed(
        Gdb,
        "> TEXT",
        "> p 1 + 1",
        &["2"],
        "The text is a command of gdb's.",
    ),
    all(Codelldb, "info args", NO_ARGUMENTS_SCOPE, AMONG_LOCALS),
    all(
        Codelldb,
        "bt -args",
        &["can't show arguments in the stack; `bt full` lists them below"],
        NO_ARGUMENTS_IN_STACK,
    ),
    typed(
        Codelldb,
        "> TEXT",
        "> p 1 + 1",
        &["2"],
        "The text is a command of lldb's.",
    ),
    all(
        Debugpy,
        "run",
        &["^stopped at breakpoint 3", "order at market.py:17"],
        "A breakpoint on a function stops at the line of `def`, not at the first one of its body.",
    ),
    all(Debugpy, "info args", NO_ARGUMENTS_SCOPE, AMONG_LOCALS),
    all(
        Debugpy,
        "bt",
        &["#0 .*order at market.py:17", "#1 .*main.* @first"],
        "As `run`.",
    ),
    all(
        Debugpy,
        "bt -args",
        &["#0 .*order at market.py:17"],
        NO_ARGUMENTS_IN_STACK,
    ),
    all(Debugpy, "down", &["order at market.py:17"], "As `run`."),
    all(Debugpy, "watch", NO_WATCH, NOT_WATCHED),
    without(Debugpy, "continue to a watchpoint", AS_WATCH),
    all(Debugpy, "x", &["invalid syntax"], NO_MEMORY),
    all(
        Debugpy,
        "disassemble",
        &["does not report the frame's instruction address"],
        NO_INSTRUCTIONS,
    ),
    all(
        Debugpy,
        "info registers",
        &["shows no registers"],
        NO_REGISTERS,
    ),
    all(
        Debugpy,
        "ignore",
        &["takes a condition or hits for a breakpoint, not both"],
        ONE_LIMIT,
    ),
    without(Debugpy, "enable", ""),
    typed(Debugpy, "ignore 0", "enable 2", &["^breakpoint 2 "], ""),
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
    all(Delve, "info args", NO_ARGUMENTS_SCOPE, AMONG_LOCALS),
    all(
        Delve,
        "bt -args",
        &["can't show arguments in the stack; `bt full` lists them below"],
        NO_ARGUMENTS_IN_STACK,
    ),
    all(Delve, "watch", NO_WATCH, NOT_WATCHED),
    without(Delve, "continue to a watchpoint", AS_WATCH),
    all(Delve, "x", &["and no address"], NO_MEMORY),
    all(
        Delve,
        "info registers",
        &["shows no registers"],
        NO_REGISTERS,
    ),
    all(Delve, "finish", &["order at @call", "!returned"], NO_RESULT),
    all(
        Delve,
        "ignore",
        &["no breakpoints with hit counts"],
        "Breakpoints have no hit counts; a condition on a variable of the program comes nearest.",
    ),
    without(Delve, "enable", ""),
    typed(Delve, "ignore 0", "enable 2", &["^breakpoint 2 "], ""),
    all(
        Delve,
        "catch",
        &["can't stop at exceptions"],
        "A panic that nothing recovers stops the program in any case; others can't be chosen.",
    ),
    all(Js, "info args", NO_ARGUMENTS_SCOPE, AMONG_LOCALS),
    all(
        Js,
        "bt -args",
        &["#0 .*order at @call"],
        NO_ARGUMENTS_IN_STACK,
    ),
    all(Js, "watch", NO_WATCH, NOT_WATCHED),
    without(Js, "continue to a watchpoint", AS_WATCH),
    all(Js, "x", &["SyntaxError"], NO_MEMORY),
    all(
        Js,
        "disassemble",
        &["does not report the frame's instruction address"],
        NO_INSTRUCTIONS,
    ),
    all(Js, "info registers", &["shows no registers"], NO_REGISTERS),
    all(
        Js,
        "ignore",
        &["takes a condition or hits for a breakpoint, not both"],
        ONE_LIMIT,
    ),
    without(Js, "enable", ""),
    typed(Js, "ignore 0", "enable 2", &["^breakpoint 2 "], ""),
    all(Js, "finish", &["order at @print", "!returned"], NO_RESULT),
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
