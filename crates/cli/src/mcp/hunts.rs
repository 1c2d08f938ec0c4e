//! Prompts for the usual hunts: which tools to use in which order, as somebody who knows debuggers would.

/// What goes before each hunt.
const BEGINNING: &str = "Find the cause with Dapple's tools, and not by reading alone: say what you have seen, where (file, line, values), and which line is to be changed. \
                         Don't change the program's data unless that tests an idea.\n";

/// A program that crashes.
pub fn crash(how: &str) -> String {
    format!(
        "{BEGINNING}\
A program crashes: {how}\n\
1. `start` it, without breakpoints and with `record`: it runs until it crashes. (For a core file, `why_did_it_crash` with `core`.)\n\
2. `why_did_it_crash` says the reason, the stack with arguments, and the variables. Find the value that is wrong: a pointer, an index, a size.\n\
3. `who_wrote` with that variable says which line has written it last; with `go_there`, look at the variables from which it was computed. Again for those, until a value is made \
wrong from right ones.\n\
4. Without a recording: `breakpoints` with `text` on the line that computes it, `run` with `restart`, `step`, `evaluate`.\n"
    )
}

/// A program that hangs.
pub fn hang(how: &str) -> String {
    format!(
        "{BEGINNING}\
A program hangs: {how}\n\
1. `start` it with `within` somewhat longer than it should take, or with `attach` where it hangs already.\n\
2. `where_is_it_stuck` stops it, and shows all stacks, and who waits for which lock. Threads that wait for each other's locks are a deadlock: the order in which each takes them is the bug.\n\
3. If a thread computes: `step` with `out` until the loop's function is shown, `inspect` variables, `step` over some rounds. Which variable should change and doesn't, or never meets the condition?\n\
4. `who_wrote` (in a session with `record`) or a breakpoint with `written` shows who changes it.\n"
    )
}

/// A wrong value.
pub fn wrong_value(how: &str) -> String {
    format!(
        "{BEGINNING}\
A program computes something wrong: {how}\n\
1. `start` it with `record` and a breakpoint by `text` where the value is printed or returned.\n\
2. `evaluate` the value there. `who_wrote` says which line has written it last, with what was there before; `go_there` leads to the state before. Where that line's inputs are right, the line is \
wrong; otherwise go on with the wrong input.\n\
3. Where many writes make the value: `who_wrote` with `all`, or a breakpoint with `log`, shows the first one that is wrong.\n"
    )
}

/// A core file.
pub fn core(how: &str) -> String {
    format!(
        "{BEGINNING}\
A core file was left: {how}\n\
1. `why_did_it_crash` with `core` (and `program`, if it was moved).\n\
2. `inspect` with `frame` for the variables of the callers, `all_stacks` for the other threads, `mappings` and `memory` for a pointer that is wrong: freed, overwritten by text, off by some bytes?\n\
3. If the program can be started again, go on as with a crash; otherwise say which values are wrong, which code could have written them, and what would prove it.\n"
    )
}

/// A test that fails.
pub fn test(how: &str) -> String {
    format!(
        "{BEGINNING}\
A test fails: {how}\n\
1. `start` with `cargo` such as [\"test\", \"--lib\", \"name_of_the_test\"], or the test's program with the arguments for this one test; with `record`. A failed assertion of Rust is a panic, where it stops.\n\
2. The stop shows the values that were compared. `who_wrote` with the one that is wrong, `go_there`, and again, until the line that makes it wrong.\n\
3. A test that fails at times: `record`, `run` with `restart` until it fails; then the same run can be gone through backwards.\n"
    )
}
