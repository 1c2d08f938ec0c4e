//! Sending the program input, and ending it.

use super::Session;
use crate::Error;
use crate::owner::Owner;

impl Session {
    /// Sends bytes to the program's standard input, if that is [`Stdin::Sent`](dapple_target::launch::Stdin::Sent) or a terminal of its
    /// own; `None` ends the input. Does not wait for the program to read.
    ///
    /// # Errors
    /// [`Error::System`] if nothing reads the input, [`Error::Ended`].
    pub fn send_input(&self, bytes: Option<Vec<u8>>) -> Result<(), Error> {
        self.ask(move |owner| owner.send_input(bytes))?
    }

    /// Kills the program, running or stopped; its end comes as an event.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn kill(&self) -> Result<(), Error> {
        self.ask(|owner: &mut Owner| owner.kill())?
    }
}
