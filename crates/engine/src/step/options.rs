//! What a step is asked to do.

use crate::Address;
use dapple_symbols::functions::SourcePosition;

/// What a step ends at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// The next line of this frame, or its caller's when it returns.
    Over,
    /// The next line, or the first of a function with source that the line calls.
    Into,
    /// After this frame has returned, in its caller.
    Out,
    /// One machine instruction, into calls.
    Instruction,
    /// One machine instruction, over what it calls.
    OverInstruction,
}

impl StepKind {
    /// Whether it goes by lines of the source, and not by instructions.
    pub(crate) fn is_by_line(self) -> bool {
        matches!(self, StepKind::Over | StepKind::Into | StepKind::Out)
    }
}

/// What a step over or into goes to the next of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepUnit {
    /// The next line.
    #[default]
    Line,
    /// The next statement, on the same line too: told by the columns of the line table, and by what stands between them in the
    /// source. Without columns, as far as the next line.
    Statement,
}

/// How the code of a step is run. It makes no difference to where the step ends, which tests compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// Up to the next jump at once; from the places where a line that takes long, a loop, may be left.
    #[default]
    Usual,
    /// With a stop at each instruction.
    EachInstruction,
    /// Up to the places where the line may be left at once, however short it is.
    ToExits,
}

/// How a step is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepOptions {
    /// The other threads are held, as by [`Session::resume_only`](crate::Session::resume_only).
    pub alone: bool,
    /// How the code of a step over, into or out is run.
    pub pace: Pace,
    /// How far a step over or into goes.
    pub unit: StepUnit,
    /// Of a step into: the one call to go into, whoever's it is, by [`Session::step_targets`](crate::Session::step_targets). A step that doesn't come to it
    /// ends as a step over.
    pub target: Option<Callee>,
}

/// What a line calls, as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepTarget {
    /// For [`StepOptions::target`], as long as the thread stands where it was asked.
    pub into: Callee,
    /// The function's short name; of a call through a pointer, what is written: `(*pointer)()`.
    pub name: String,
    /// Where the call is written.
    pub position: Option<SourcePosition>,
    /// Behind the call's closing parenthesis, where the source shows that what is written there is this call.
    pub end: Option<SourcePosition>,
}

/// One of the calls of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Callee {
    /// What this instruction calls, or jumps to in place of a call.
    Called {
        /// The instruction.
        from: Address,
    },
    /// A call whose code stands in the caller's.
    Inlined {
        /// Where its code begins.
        start: Address,
        /// In how many inlined calls it is itself.
        depth: usize,
    },
}
