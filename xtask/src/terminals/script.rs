//! What is typed, and what a user is to see, whatever the adapter and the language.
//!
//! `@add` is the file and line of the program that the comment `add` marks. A pattern that begins with `!` is not to be seen.

/// What ends a step.
#[derive(Debug, Clone, Copy)]
pub enum Then {
    /// The prompt.
    Prompt,
    /// This output of the program, which runs.
    Runs(&'static str),
    /// Ctrl-C is pressed in place of a command; the prompt ends it.
    Stops,
    /// This is what the Tab key makes of the line. It is entered.
    Completes(&'static str),
    /// The session ends.
    Ends,
}

/// A command.
#[derive(Debug)]
pub struct Step {
    /// Its name in the list of differences and on the page.
    pub id: &'static str,
    /// What is typed.
    pub typed: &'static str,
    pub then: Then,
    /// What is seen, as regular expressions.
    pub shows: &'static [&'static str],
}

const fn prompt(id: &'static str, typed: &'static str, shows: &'static [&'static str]) -> Step {
    Step {
        id,
        typed,
        then: Then::Prompt,
        shows,
    }
}

const fn step(
    id: &'static str,
    typed: &'static str,
    then: Then,
    shows: &'static [&'static str],
) -> Step {
    Step {
        id,
        typed,
        then,
        shows,
    }
}

/// The script.
pub const STEPS: &[Step] = &[
    prompt("b FUNCTION", "b total", &["^breakpoint 1 "]),
    prompt(
        "b FILE:LINE if",
        "b @add if i == 1",
        &["^breakpoint 2 at @add.*if i == 1"],
    ),
    prompt("tb", "tb order", &["^temporary breakpoint 3 (on|at) "]),
    prompt(
        "log",
        "log @print due is {due}",
        &["^breakpoint 4 at @print"],
    ),
    prompt("b FILE:LINE", "b @return", &["^breakpoint 5 at @return"]),
    prompt(
        "info breakpoints",
        "info breakpoints",
        &[
            "^breakpoint 1 .*(total|market)",
            "^breakpoint 2 .*@add.*if i == 1",
            "^temporary breakpoint 3 ",
            "^breakpoint 4 .*due is",
            "^breakpoint 5 .*@return",
        ],
    ),
    prompt(
        "run",
        "run 3 'a b'",
        &[
            "^stopped at breakpoint 3",
            "order.* at @call",
            "→ .*total\\(count, price\\)",
        ],
    ),
    prompt("info args", "info args", &["^count = 3$", "^price = 7$"]),
    prompt("bt", "bt", &["#0 .*order.* @call", "#1 .*main.* @first"]),
    prompt(
        "bt -args",
        "bt -args",
        &["#0 .*order.*3.*7.* @call", "#1 .*main"],
    ),
    prompt("bt full", "bt full 1", &["#0 .*order", "price = 7"]),
    prompt("up", "up", &["main.* at @first", "→ .*order\\(count, 7\\)"]),
    prompt("p", "p count + 1", &["^4$|= 4$"]),
    prompt("info frame", "info frame", &["main", "@first"]),
    prompt(
        "down",
        "down",
        &["order.* at @call", "→ .*total\\(count, price\\)"],
    ),
    prompt(
        "continue",
        "c",
        &["^stopped at breakpoint 1", "total.* at market"],
    ),
    prompt("next", "n", &["total.* at market"]),
    prompt("until", "until @add", &["total.* at @add"]),
    prompt("info locals", "info locals", &["^sum = 0$", "^i = 0$"]),
    prompt("display", "display sum", &["sum = 0"]),
    prompt(
        "continue to a condition",
        "c",
        &["^stopped at breakpoint 2", "total.* at @add", "sum = 7$"],
    ),
    prompt("p/x", "p/x sum", &["0x0*7\\b"]),
    prompt("p $", "p $ + 1", &["^8$|= 8$"]),
    prompt("whatis", "whatis sum", &["int|i32|number"]),
    prompt("set", "set sum = 100", &["100"]),
    prompt("undisplay", "undisplay 1", &["!\\S"]),
    prompt("watch", "watch sum", &["watch.*sum"]),
    prompt(
        "continue to a watchpoint",
        "c",
        &[
            "^stopped .*sum|^stopped .*watchpoint|^stopped at breakpoint 6",
            "total.* at market",
            "107|sum",
        ],
    ),
    prompt("unwatch", "unwatch all", &["!capab"]),
    prompt("disable", "disable 2", &["2.*(off|disabled)"]),
    prompt("step COUNT", "n 2", &["total.* at market"]),
    prompt("x", "x/1dw &sum", &["\\b107|\\b114", "!no address"]),
    prompt("disassemble", "disassemble", &["→.*0x"]),
    prompt("info registers", "info registers", &["rip.*0x"]),
    prompt("info threads", "info threads", &["→ .*total"]),
    prompt(
        "thread apply all",
        "thread apply all bt",
        &["#0 .*total", "#1 .*order"],
    ),
    prompt("info source", "info source", &["market"]),
    prompt("list FUNCTION", "list order", &["total\\(count, price\\)"]),
    prompt(
        "finish at a breakpoint",
        "finish",
        &["at breakpoint 5", "at @return", "sum"],
    ),
    prompt(
        "finish",
        "finish",
        &[
            "order.* at @call|order.* at @print",
            "(returned|return).*1[12][147]",
        ],
    ),
    prompt("delete", "delete 1", &["1"]),
    prompt("clear", "clear @return", &["5|@return"]),
    prompt("ignore", "ignore 2 2", &["2.*> 2"]),
    prompt("catch", "catch", &["^\\S+: (on|off) "]),
    prompt("enable", "enable 2", &["2"]),
    step("tab", "p pri\t", Then::Completes("p price"), &["price = 7"]),
    prompt("> TEXT", "> 1 + 1", &["2"]),
    prompt(
        "typing mistake",
        "pritn due",
        &["no command `pritn`; did you mean `print`"],
    ),
    prompt("commands", "commands 4 p due", &["!."]),
    prompt(
        "advance",
        "advance @refused",
        &[
            "due is (1[12][147]|45)",
            // Some stop where the exception is thrown, of themselves.
            "(main|attempt|closure|func).* at @refused|at a panic|cxa_throw",
        ],
    ),
    step(
        "continue",
        "c",
        Then::Runs("waiting"),
        &["refused: too much", "waiting"],
    ),
    step(
        "Ctrl-C",
        "Ctrl-C",
        Then::Stops,
        &["^stopped", "idle.* at market|idle.*market"],
    ),
    prompt("print after Ctrl-C", "p turns > 0", &["true|True|1"]),
    prompt("ignore 0", "ignore 2 0", &["!hit"]),
    prompt(
        "run again",
        "run",
        &["^stopped at breakpoint", "total.* at @add"],
    ),
    prompt("kill", "kill", &["program was ended"]),
    prompt(
        "after kill",
        "info locals",
        &["program is not running; `run` starts it"],
    ),
    step("quit", "quit", Then::Ends, &["exit status: 0"]),
];
