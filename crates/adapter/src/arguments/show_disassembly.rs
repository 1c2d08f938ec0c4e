//! What `launch` or `attach` says of frames' disassemblies.

use crate::argument_values::string;
use serde_json::Value;

/// For which frames the client is told a disassembly as their source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShowDisassembly {
    /// For none.
    Never,
    /// For those without a source that can be opened here.
    #[default]
    Auto,
    /// For all.
    Always,
}

impl ShowDisassembly {
    /// Reads `"never"`, `"auto"` or `"always"`.
    ///
    /// # Errors
    /// It is no text.
    pub fn read(name: &str, value: &Value) -> Result<ShowDisassembly, String> {
        Ok(match string(name, value)? {
            "never" => ShowDisassembly::Never,
            "always" => ShowDisassembly::Always,
            _ => ShowDisassembly::Auto,
        })
    }
}
