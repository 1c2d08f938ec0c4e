//! What is sent to the program's standard input.

use super::Owner;
use crate::Error;

impl Owner {
    pub(crate) fn send_input(&mut self, bytes: Option<Vec<u8>>) -> Result<(), Error> {
        let refuse = |reason: &str| Error::System {
            operation: "nothing can be sent to the program".into(),
            reason: reason.into(),
        };
        let input = self
            .input
            .as_mut()
            .ok_or_else(|| refuse("its standard input is not the debugger's"))?;
        let taken = match bytes {
            Some(bytes) => input.send(bytes),
            None => input.end(),
        };
        match taken {
            true => Ok(()),
            false => Err(refuse("its input has ended")),
        }
    }
}
