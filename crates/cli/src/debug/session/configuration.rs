//! Sends breakpoints, exception filters and stepping options to the adapter.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dapple_adapter::{
    ReadVisualizersArguments, ReadVisualizersRequest, SetSkipArguments, SetSkipRequest,
};
use dapple_dap::types::{
    FunctionBreakpoint, SetExceptionBreakpointsArguments, SetExceptionBreakpointsRequest,
    SetFunctionBreakpointsArguments, SetFunctionBreakpointsRequest,
};

use super::{Session, State};

impl Session {
    /// Sends the breakpoints of a file to the adapter of each process.
    pub fn send_breakpoints(&mut self, file: &Path) -> anyhow::Result<()> {
        self.in_each_process(|session| session.send_breakpoints_here(file))
    }

    /// Sends the function breakpoints to the adapter of each process, if it supports them.
    pub fn send_function_breakpoints(&mut self) -> anyhow::Result<()> {
        self.in_each_process(Self::send_function_breakpoints_here)
    }

    /// The file with the main function of a program that has not started yet, found by the adapter: a breakpoint is set there for a moment.
    pub fn file_of_main(&mut self) -> Option<PathBuf> {
        if !matches!(self.process.state, State::Ready) {
            return None;
        }
        let mut wanted = self.breakpoints.functions();
        wanted.push(FunctionBreakpoint::new("main"));
        let arguments = SetFunctionBreakpointsArguments::new(wanted);
        let answer = self.request::<SetFunctionBreakpointsRequest>(arguments);
        self.send_function_breakpoints_here().ok()?;
        let main = answer.ok()?.breakpoints.pop()?;
        Some(PathBuf::from(main.source?.path?))
    }

    /// Sends the exception and signal filters to the adapter of each process, if it has any.
    ///
    /// # Errors
    /// The adapter's message about a filter that it refuses.
    pub fn send_exceptions(&mut self) -> anyhow::Result<()> {
        self.in_each_process(Self::send_exceptions_here)
    }

    pub(super) fn send_breakpoints_here(&mut self, file: &Path) -> anyhow::Result<()> {
        self.send_set_here(Some(file))
    }

    pub(super) fn send_function_breakpoints_here(&mut self) -> anyhow::Result<()> {
        self.send_set_here(None)
    }

    fn send_set_here(&mut self, file: Option<&Path>) -> anyhow::Result<()> {
        let Some(link) = &self.process.link else {
            return Ok(());
        };
        if let Some(update) = self.breakpoints.update(file, &link.capabilities()) {
            let answers = link.update(&update)?;
            self.breakpoints.placed.answered(&update, answers);
        }
        Ok(())
    }

    pub(super) fn send_exceptions_here(&mut self) -> anyhow::Result<()> {
        let Some(link) = &self.process.link else {
            return Ok(());
        };
        let capabilities = link.capabilities();
        let filters = capabilities.exception_breakpoint_filters.as_ref();
        if filters.is_none_or(Vec::is_empty) {
            return Ok(());
        }
        self.exceptions.note_offered(&capabilities);
        let options = self.exceptions.to_send();
        let arguments = match capabilities.supports_exception_filter_options {
            Some(true) => {
                SetExceptionBreakpointsArguments::new(Vec::new()).with_filter_options(options)
            }
            _ => {
                let ids = options.into_iter().map(|option| option.filter_id);
                SetExceptionBreakpointsArguments::new(ids.collect())
            }
        };
        let answer = self.request::<SetExceptionBreakpointsRequest>(arguments)?;
        let refused = answer.breakpoints.into_iter().flatten();
        let mut refused = refused.filter(|answer| !answer.verified);
        if let Some(message) = refused.find_map(|answer| answer.message) {
            bail!("{message}");
        }
        Ok(())
    }

    /// Sends the patterns of code that steps don't enter to Dapple's adapter of each process.
    pub fn send_skip(&mut self) -> anyhow::Result<()> {
        self.in_each_process(Self::send_skip_here)
    }

    pub(super) fn send_skip_here(&mut self) -> anyhow::Result<()> {
        if self.process.link.is_some() {
            let skip = self.skip.clone();
            self.request::<SetSkipRequest>(SetSkipArguments { skip })?;
        }
        Ok(())
    }

    /// Makes Dapple's adapter of each process read the Natvis files.
    pub fn send_visualizers(&mut self) -> anyhow::Result<()> {
        self.in_each_process(|session| {
            if session.process.link.is_some() {
                let files = Some(session.program.visualizers.clone());
                session.request::<ReadVisualizersRequest>(ReadVisualizersArguments { files })?;
            }
            Ok(())
        })
    }

    /// Removes a breakpoint, here and in the adapter of each process.
    pub fn delete_breakpoint(&mut self, number: u32) -> anyhow::Result<()> {
        let removed = self
            .breakpoints
            .remove(number)
            .with_context(|| format!("there is no breakpoint {number}"))?;
        match removed.place.file() {
            Some(file) => self.send_breakpoints(file),
            None => self.send_function_breakpoints(),
        }
    }
}
