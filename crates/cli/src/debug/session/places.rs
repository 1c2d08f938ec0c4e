//! Telling the adapter where to stop.

use std::path::Path;

use anyhow::Context;
use dapple_dap::types::{
    SetBreakpointsArguments, SetBreakpointsRequest, SetFunctionBreakpointsArguments,
    SetFunctionBreakpointsRequest, Source,
};

use super::Session;

impl Session {
    /// Tells the adapter the breakpoints of a file.
    pub fn tell_breakpoints(&mut self, file: &Path) -> anyhow::Result<()> {
        if self.link.is_none() {
            return Ok(());
        }
        let name = file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let mut source = Source::new().with_path(file.to_string_lossy().into_owned());
        source.name = name;
        let arguments =
            SetBreakpointsArguments::new(source).with_breakpoints(self.breakpoints.in_file(file));
        let answer = self.request::<SetBreakpointsRequest>(arguments)?;
        self.breakpoints.answered(Some(file), answer.breakpoints);
        Ok(())
    }

    /// Tells the adapter the breakpoints on functions, if it takes any.
    pub fn tell_function_breakpoints(&mut self) -> anyhow::Result<()> {
        let Some(link) = &self.link else {
            return Ok(());
        };
        if link.capabilities().supports_function_breakpoints != Some(true) {
            return Ok(());
        }
        let arguments = SetFunctionBreakpointsArguments::new(self.breakpoints.functions());
        let answer = self.request::<SetFunctionBreakpointsRequest>(arguments)?;
        self.breakpoints.answered(None, answer.breakpoints);
        Ok(())
    }

    /// Removes a breakpoint, here and in the adapter.
    pub fn delete_breakpoint(&mut self, number: u32) -> anyhow::Result<()> {
        let removed = self
            .breakpoints
            .remove(number)
            .with_context(|| format!("there is no breakpoint {number}"))?;
        match removed.place.file() {
            Some(file) => self.tell_breakpoints(file),
            None => self.tell_function_breakpoints(),
        }
    }
}
