//! The argument `showDisassembly`.

use crate::argument_values::string;
use serde_json::Value;

/// Which frames have a disassembly as their source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShowDisassembly {
    /// No frames.
    Never,
    /// Frames without a source file on this machine.
    #[default]
    Auto,
    /// All frames.
    Always,
}

impl ShowDisassembly {
    /// Reads `"never"`, `"auto"` or `"always"`.
    ///
    /// # Errors
    /// The value is no string.
    pub fn read(name: &str, value: &Value) -> Result<ShowDisassembly, String> {
        Ok(match string(name, value)? {
            "never" => ShowDisassembly::Never,
            "always" => ShowDisassembly::Always,
            _ => ShowDisassembly::Auto,
        })
    }
}
