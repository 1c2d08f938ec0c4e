//! Sends data to the program's standard input.

use super::Owner;
use crate::Error;
use dapple_target::linux::input::Input;

impl Owner {
    pub(crate) fn send_input(&mut self, bytes: Option<Vec<u8>>) -> Result<(), Error> {
        Input::take(self.link.input.as_mut(), bytes)
    }
}
