//! The parts of the screen.

/// A part of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pane {
    /// The source text.
    Source,
    /// Who called whom.
    Stack,
    /// The variables of the selected frame.
    Locals,
    /// What is shown at each stop.
    Watches,
    /// The threads.
    Threads,
    /// The breakpoints.
    Breakpoints,
    /// Instructions.
    Disassembly,
    /// Registers.
    Registers,
    /// Memory.
    Memory,
    /// At which exceptions the program stops.
    Exceptions,
    /// The prompt, and what was answered.
    Prompt,
    /// What the program writes and reads.
    Output,
}

impl Pane {
    /// All of them.
    pub const ALL: [Pane; 12] = [
        Pane::Source,
        Pane::Stack,
        Pane::Locals,
        Pane::Watches,
        Pane::Threads,
        Pane::Breakpoints,
        Pane::Disassembly,
        Pane::Registers,
        Pane::Memory,
        Pane::Exceptions,
        Pane::Prompt,
        Pane::Output,
    ];

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Pane::Source => "Source",
            Pane::Stack => "Stack",
            Pane::Locals => "Locals",
            Pane::Watches => "Watches",
            Pane::Threads => "Threads",
            Pane::Breakpoints => "Breaks",
            Pane::Disassembly => "Code",
            Pane::Registers => "Regs",
            Pane::Memory => "Memory",
            Pane::Exceptions => "Exceptions",
            Pane::Prompt => "Prompt",
            Pane::Output => "Output",
        }
    }

    /// Whether letters are typed into it.
    pub fn takes_text(self) -> bool {
        matches!(self, Pane::Prompt | Pane::Output)
    }
}
