//! What the tools take. The descriptions are what a model reads of them.

use std::collections::BTreeMap;

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

/// What `start` takes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The program: an executable, a .c, .cpp or .rs file that is compiled first, or a folder with a Cargo.toml. Relative to `cwd`. With another adapter, what that takes, such as a script.
    pub program: Option<String>,
    /// The program's arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// In place of `program`: arguments for cargo, such as ["test", "--lib", "name_of_the_test"] or ["run", "--bin", "server"].
    #[serde(default)]
    pub cargo: Vec<String>,
    /// In place of `program`: the id of a process that runs. It is stopped, and goes on at the end of the session.
    pub attach: Option<u32>,
    /// In place of `program`, or beside it: a core file, which a program that has crashed left.
    pub core: Option<String>,
    /// The folder in which the program runs, and to which paths are relative. Without, the first folder of the server's.
    pub cwd: Option<String>,
    /// Variables to add to the program's environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The text that the program reads from its standard input. Without, it is empty.
    pub stdin: Option<String>,
    /// Where to stop. Without any, the program runs until it crashes or ends.
    #[serde(default)]
    pub breakpoints: Vec<Breakpoint>,
    /// Stop at the beginning of its main function.
    #[serde(default)]
    pub stop_in_main: bool,
    /// Record what the program does, so that `who_wrote` and steps backwards work. It is slower, and its threads run one at a time.
    #[serde(default)]
    pub record: bool,
    /// Another debug adapter: lldb, gdb, codelldb, debugpy (Python), delve (Go) or js (JavaScript). Without, Dapple's own, for C, C++ and Rust.
    pub adapter: Option<String>,
    /// A name for the session, if there are to be several.
    pub session: Option<String>,
    /// After how many seconds to return while the program runs (default 30).
    pub within: Option<u32>,
}

/// A place where the program is to stop.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Breakpoint {
    /// The source file, with `text` or `line`.
    pub file: Option<String>,
    /// Text of the line in `file`. This is better than a line's number: it is looked for again when the program is run again, so that it survives edits. Spaces don't count.
    pub text: Option<String>,
    /// The number of the line in `file`, from 1. Beside `text`, it chooses the nearest of several such lines.
    pub line: Option<u32>,
    /// In place of `file`: a function, such as `Library::lend`, or `/re REGEX` for all that match.
    pub function: Option<String>,
    /// In place of `file`: stop where the value of this expression is written. Only while the program is stopped where the expression means something.
    pub written: Option<String>,
    /// In place of `file`: stop at exceptions of this kind, such as `cpp_throw` or `rust_panic`. Uncaught ones and signals that kill always stop.
    pub exception: Option<String>,
    /// Stop only where this expression holds.
    pub condition: Option<String>,
    /// Stop only at hit counts such as `5`, `> 100` or `% 10`.
    pub hits: Option<String>,
    /// Don't stop, but write this message to the answer, with values of expressions in braces: `i is {i}`.
    pub log: Option<String>,
    /// Stop only once.
    #[serde(default)]
    pub once: bool,
}

/// What `breakpoints` takes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Breakpoints {
    /// Those to set.
    #[serde(default)]
    pub add: Vec<Breakpoint>,
    /// The numbers of those to remove.
    #[serde(default)]
    pub remove: Vec<u32>,
    /// Remove all before others are added.
    #[serde(default)]
    pub remove_all: bool,
    /// The session, if there are several.
    pub session: Option<String>,
}

/// What `run` takes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Also stop at this place, once.
    pub until: Option<Place>,
    /// Run backwards, in a recorded session.
    #[serde(default)]
    pub backwards: bool,
    /// Run the program again from its beginning, such as after it was built anew. Breakpoints by text move with their lines.
    #[serde(default)]
    pub restart: bool,
    /// After how many seconds to return while the program runs (default 30).
    pub within: Option<u32>,
    /// The session, if there are several.
    pub session: Option<String>,
}

/// A place in the source.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The source file, with `text` or `line`.
    pub file: Option<String>,
    /// Text of the line in `file`.
    pub text: Option<String>,
    /// The number of the line, from 1.
    pub line: Option<u32>,
    /// In place of `file`: a function.
    pub function: Option<String>,
}

/// What `step` takes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// How.
    #[serde(default)]
    pub how: How,
    /// How often (default 1).
    pub count: Option<u32>,
    /// With `into`: the function to step into, where a line calls several.
    pub function: Option<String>,
    /// Backwards, in a recorded session.
    #[serde(default)]
    pub backwards: bool,
    /// After how many seconds to return while the program runs (default 30).
    pub within: Option<u32>,
    /// The session, if there are several.
    pub session: Option<String>,
}

/// Kinds of steps.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// To the next line of the function; what it calls is run.
    #[default]
    Over,
    /// Into the function that the line calls.
    Into,
    /// To the function's caller.
    Out,
    /// One instruction.
    Instruction,
}

/// What `inspect` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inspect {
    /// What to look at.
    pub what: What,
    /// Of what: an address or expression for `memory`, `disassembly` and `mappings`; a function, FILE:LINE or FIRST,LAST for `source`; a regular expression for `functions`, `types` and `globals`; an expression for `type`; names for `registers` and `modules`.
    pub of: Option<String>,
    /// The frame, from 0, the innermost. Without, the one of the stop.
    pub frame: Option<u32>,
    /// The thread's id. Without, the one that has stopped.
    pub thread: Option<i64>,
    /// How many: frames of the stack, bytes of memory, instructions.
    pub count: Option<u32>,
    /// The session, if there are several.
    pub session: Option<String>,
}

/// What can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The variables of the frame.
    Variables,
    /// The frames of the thread, with their arguments.
    Stack,
    /// The threads, and where each is.
    Threads,
    /// The stacks of all threads, equal ones once.
    AllStacks,
    /// Source text around the frame, or of `of`.
    Source,
    /// The breakpoints, and how often each was hit.
    Breakpoints,
    /// Registers.
    Registers,
    /// Instructions around the frame's, or from `of` on.
    Disassembly,
    /// Bytes of memory at `of`.
    Memory,
    /// The memory map, or what the address `of` is in.
    Mappings,
    /// The program and its libraries.
    Modules,
    /// Functions of the program whose names match `of`.
    Functions,
    /// Types of the program whose names match `of`.
    Types,
    /// Global variables whose names match `of`.
    Globals,
    /// The type of the expression `of`.
    Type,
    /// Who holds and who waits for locks; deadlocks are marked.
    Locks,
    /// Tasks of asynchronous Rust, as a tree.
    Tasks,
    /// Where this is in a recorded run.
    History,
    /// The sessions there are.
    Sessions,
}

/// What `evaluate` takes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaluate {
    /// The expression, in the program's language: `order.items[0]`, `*node->next`, `map["key"]`, `numbers@8` in C for eight elements.
    pub expression: String,
    /// Give it this value.
    pub set: Option<String>,
    /// Letters for how numbers are shown: `x` hexadecimal, `d` decimal, `t` binary, `c` characters, `s` as text.
    pub format: Option<String>,
    /// Show the whole value, however long, in pieces.
    #[serde(default)]
    pub whole: bool,
    /// The frame, from 0, the innermost. Without, the one of the stop.
    pub frame: Option<u32>,
    /// The thread's id. Without, the one that has stopped.
    pub thread: Option<i64>,
    /// The session, if there are several.
    pub session: Option<String>,
}

/// What `output` takes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Show all that is kept, not only what is new since the last time.
    #[serde(default)]
    pub all: bool,
    /// The session, if there are several.
    pub session: Option<String>,
}

/// What `where_is_it_stuck` takes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stuck {
    /// The session, if there are several.
    pub session: Option<String>,
}

/// What `why_did_it_crash` takes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crashed {
    /// A core file to look at, in a session of its own. Without, it is the session that has stopped.
    pub core: Option<String>,
    /// With `core`: the program, if it is elsewhere now.
    pub program: Option<String>,
    /// The session, if there are several.
    pub session: Option<String>,
}

/// What `who_wrote` takes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wrote {
    /// The variable, field or element, such as `settings.limit` or `*0x7fff1234`.
    pub expression: String,
    /// All writes, the last one first.
    #[serde(default)]
    pub all: bool,
    /// Go back to before the write, so that its cause can be looked at.
    #[serde(default)]
    pub go_there: bool,
    /// The frame, from 0, the innermost. Without, the one of the stop.
    pub frame: Option<u32>,
    /// The session, if there are several.
    pub session: Option<String>,
}

/// What `more` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct More {
    /// The cursor that was told where an answer was cut.
    pub cursor: String,
}

/// What `end` takes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The session, if there are several.
    pub session: Option<String>,
}
