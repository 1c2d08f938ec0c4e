//! What a step is asked to do.

use crate::Address;
use dapple_symbols::functions::SourcePosition;

/// What a step ends at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// The next line of this frame, or the nearest caller with user source when the frame returns.
    Over,
    /// The next line, or the first line of a function with user source that the line calls.
    Into,
    /// After this frame has returned, in its nearest caller with user source.
    Out,
    /// One machine instruction, into calls.
    Instruction,
    /// One machine instruction; if it is a call, until the callee has returned.
    OverInstruction,
}

impl StepKind {
    /// Whether it goes by source lines rather than by instructions.
    pub(crate) fn is_by_line(self) -> bool {
        matches!(self, StepKind::Over | StepKind::Into | StepKind::Out)
    }
}

/// The unit by which a step over or into advances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepUnit {
    /// The next line.
    #[default]
    Line,
    /// The next statement, perhaps on the same line. Statements are told apart by the columns of the line table and the source text
    /// between them. Without columns, it is the next line.
    Statement,
}

/// How the code of a step is run. The step ends at the same place with each, which tests check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// Up to the next jump at once. On a line that takes long, such as a loop, up to the places where it may be left.
    #[default]
    Usual,
    /// With a stop at each instruction.
    EachInstruction,
    /// Always up to the places where the line may be left, however short it is.
    ToExits,
}

/// How a step is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepOptions {
    /// The other threads stay stopped, as with [`Session::resume_only`](crate::Session::resume_only).
    pub alone: bool,
    /// How the code of a step over, into or out is run.
    pub pace: Pace,
    /// How far a step over or into goes.
    pub unit: StepUnit,
    /// For a step into: the only call to step into, from [`Session::step_targets`](crate::Session::step_targets), whether it is user
    /// code or not. If the step doesn't reach that call, it ends like a step over.
    pub target: Option<Callee>,
}

/// A call that a line makes, as shown to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepTarget {
    /// For [`StepOptions::target`]; valid until the thread moves.
    pub into: Callee,
    /// The function's short name; for a call through a pointer, its source text: `(*pointer)()`.
    pub name: String,
    /// Where the call is written.
    pub position: Option<SourcePosition>,
    /// Just after the call's closing parenthesis, if the source text is recognizably this call.
    pub end: Option<SourcePosition>,
}

/// One of the calls of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Callee {
    /// The target of this instruction: a call, or a jump in place of a call.
    Called {
        /// The instruction.
        from: Address,
    },
    /// The body of a future that this instruction, a call, passes to the callee.
    Future {
        /// The instruction.
        from: Address,
        /// The number of the parameter by which the future is passed.
        parameter: usize,
    },
    /// An inlined call.
    Inlined {
        /// Where its code begins.
        start: Address,
        /// How many inlined calls are around it.
        depth: usize,
    },
}
