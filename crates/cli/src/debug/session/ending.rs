//! What becomes of the program when a session with an adapter ends.

use super::Session;
use crate::debug::link::Attach;

impl Session {
    /// Whether the adapter is to end the program, or to let it run on. `None`: it knows better, because only the stub tells who has started a program
    /// behind one.
    pub(super) fn ends_program(&self) -> Option<bool> {
        match &self.program.attach {
            _ if self.detaching => Some(false),
            None => Some(true),
            Some(Attach::Stub { .. }) if self.is_own_adapter() => None,
            Some(_) => Some(false),
        }
    }

    /// Prints whether the program was killed or detached; prints nothing after a core file.
    pub fn report_end(&mut self) {
        self.screen
            .print(match (&self.program.attach, self.detaching) {
                // There was no process.
                (Some(Attach::Core { .. }), _) => return,
                (Some(Attach::Stub { .. }), false) if self.is_own_adapter() => "left the stub",
                (Some(Attach::Process { .. } | Attach::Stub { .. } | Attach::Given), _)
                | (None, true) => "detached from the program",
                (None, false) => "the program was ended",
            });
    }

    /// Detaches the program.
    pub fn detach(&mut self) -> anyhow::Result<()> {
        self.detaching = true;
        let outcome = self.disconnect();
        self.report_end();
        self.detaching = false;
        outcome
    }
}
