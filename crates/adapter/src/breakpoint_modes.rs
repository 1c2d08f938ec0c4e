//! The breakpoint modes (`breakpointModes`). Those of line breakpoints are defined here, those of data breakpoints in `data_breakpoints`.

use crate::data_breakpoints;
use dapple_dap::types::{BreakpointMode, BreakpointModeApplicability};

const PATH: &str = "path";
const FILE: &str = "file";

/// All modes, the default of each kind first.
pub fn all() -> Vec<BreakpointMode> {
    let mode = |name: &str, label: &str, description: &str| {
        BreakpointMode::new(name, label, vec![BreakpointModeApplicability::Source])
            .with_description(description)
    };
    let mut modes = vec![
        mode(PATH, "This file", "Stops in this file only"),
        mode(
            FILE,
            "All copies of this file",
            "Stops in all files of this name with the same content, as copies of a header",
        ),
    ];
    modes.extend(data_breakpoints::modes());
    modes
}

/// Whether a line breakpoint in this mode applies to all copies of its file.
///
/// # Errors
/// A message about an unknown mode.
pub fn is_in_copies(mode: Option<&str>) -> Result<bool, String> {
    match mode {
        None | Some(PATH) => Ok(false),
        Some(FILE) => Ok(true),
        Some(other) => Err(format!(
            "there is no mode `{other}` for breakpoints on lines; there are `{PATH}` and `{FILE}`"
        )),
    }
}
