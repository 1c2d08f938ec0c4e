//! Input for the program from the debug console.
//!
//! `>text` sends a line, `>` an empty line, `>^D` ends the input, and `>^C` interrupts a program that has a terminal of its own. No
//! expression begins with `>`.

use crate::adapter::{Adapter, TypedInto};
use crate::to_dap::OrFail;
use dapple_dap::server::Failure;
use dapple_dap::types::EvaluateResponse;

/// The interrupt character of a terminal, Ctrl-C (termios(3), `VINTR`).
const INTERRUPT: &[u8] = &[3];

/// Sends what was typed behind the `>` to the program.
///
/// # Errors
/// There is no program, its standard input is not connected to the console, or `^C` has no terminal to go to.
pub fn send(adapter: &mut Adapter, text: &str) -> Result<EvaluateResponse, Failure> {
    if adapter.untraced.is_none() {
        adapter.debuggee()?;
    }
    if adapter.typed_into == TypedInto::Nothing {
        return Err(Failure::new(
            "the program reads nothing from here; launch it with \"stdin\": \"console\", or with \"pty\": true",
        ));
    }
    let bytes = match text {
        "^D" => None,
        "^C" if adapter.typed_into == TypedInto::Terminal => Some(INTERRUPT.to_vec()),
        "^C" => {
            return Err(Failure::new(
                "only a terminal passes an interrupt on; launch the program with \"pty\": true",
            ));
        }
        line => Some(format!("{line}\n").into_bytes()),
    };
    let sent = match &mut adapter.untraced {
        Some(untraced) => untraced.send_input(bytes),
        None => adapter.debuggee()?.send_input(bytes),
    };
    sent.or_fail()?;
    Ok(EvaluateResponse::new("", 0))
}
