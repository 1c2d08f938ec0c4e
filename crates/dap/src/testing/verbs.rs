//! What tests of adapters do and expect, beyond the steps of [`TestClient`] itself: places by line, column or text, steps that lead somewhere,
//! variables by their path.

use std::path::{Path, PathBuf};

use super::client::{TestClient, expect};
use crate::client::Pending;
use crate::message::Request;
use crate::types::{
    AttachRequest, AttachRequestArguments, Breakpoint, ContinueArguments, ContinueRequest,
    InitializedEvent, LaunchRequestArguments, NextArguments, NextRequest, SetBreakpointsArguments,
    SetBreakpointsRequest, Source, SourceBreakpoint, StackFrame, StepBackArguments,
    StepBackRequest, StepInArguments, StepInRequest, StepOutArguments, StepOutRequest,
    StoppedEvent, StoppedEventBody, Variable,
};

/// A place in a source, where a breakpoint is to be or a stop is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    line: i64,
    column: Option<i64>,
}

impl Place {
    /// A line of a source, counted from 1. A relative path matches any path that ends with it; a breakpoint needs an absolute one.
    pub fn line(path: impl AsRef<Path>, line: i64) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            line,
            column: None,
        }
    }

    /// The only line of a source file that has `text`, so that tests needn't count lines.
    ///
    /// # Panics
    /// The file can't be read, or not exactly one line has the text.
    #[track_caller]
    pub fn text(path: impl AsRef<Path>, text: &str) -> Self {
        let path = path.as_ref();
        let source = match std::fs::read_to_string(path) {
            Ok(source) => source,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        let lines: Vec<i64> = { (1..).zip(source.lines()) }
            .filter(|(_, line)| line.contains(text))
            .map(|(number, _)| number)
            .collect();
        match lines[..] {
            [line] => Self::line(path, line),
            _ => panic!("{} has {text:?} in the lines {lines:?}", path.display()),
        }
    }

    /// At this column, counted from 1.
    #[must_use]
    pub fn column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// A breakpoint here.
    pub fn breakpoint(&self) -> SourceBreakpoint {
        let breakpoint = SourceBreakpoint::new(self.line);
        match self.column {
            Some(column) => breakpoint.with_column(column),
            None => breakpoint,
        }
    }

    fn is_at(&self, path: &Path, line: i64, column: i64) -> bool {
        let is_path = match self.path.is_absolute() {
            true => path == self.path,
            false => path.ends_with(&self.path),
        };
        is_path && line == self.line && self.column.is_none_or(|wanted| wanted == column)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// A request that resumes a thread: `next`, `stepIn`, `stepOut`, `stepBack` or `continue`.
pub trait Resume: Request {
    /// Its arguments for a thread.
    fn of_thread(thread: i64) -> Self::Arguments;
}

macro_rules! resumes {
    ($($request:ident $arguments:ident;)*) => {
        $(
            impl Resume for $request {
                fn of_thread(thread: i64) -> $arguments {
                    $arguments::new(thread)
                }
            }
        )*
    };
}

resumes! {
    NextRequest NextArguments;
    StepInRequest StepInArguments;
    StepOutRequest StepOutArguments;
    StepBackRequest StepBackArguments;
    ContinueRequest ContinueArguments;
}

impl TestClient {
    /// Starts a session with `attach` up to the point where breakpoints can be set; as [`launch`](Self::launch).
    #[track_caller]
    pub fn attach(&self, arguments: AttachRequestArguments) -> Pending<AttachRequest> {
        self.initialize();
        let attach = expect("attach", self.send::<AttachRequest>(arguments));
        self.initialized_during(&attach);
        attach
    }

    /// Waits for `initialized`, and answers it with the end of the configuration: no breakpoints. For sessions whose `launch` or `attach` the test has
    /// sent itself.
    #[track_caller]
    pub fn configuration_sequence(&self) {
        self.wait_for::<InitializedEvent>();
        self.configuration_done();
    }

    /// Sets the breakpoints of one source, with conditions, columns and the like. Answers each, in order.
    #[track_caller]
    pub fn set_source_breakpoints(
        &self,
        path: impl AsRef<Path>,
        breakpoints: Vec<SourceBreakpoint>,
    ) -> Vec<Breakpoint> {
        let source = Source::new().with_path(path.as_ref().to_string_lossy());
        let count = breakpoints.len();
        let arguments = SetBreakpointsArguments::new(source).with_breakpoints(breakpoints);
        let answers = self.ok::<SetBreakpointsRequest>(arguments).breakpoints;
        assert_eq!(
            answers.len(),
            count,
            "one breakpoint is answered for each asked for"
        );
        answers
    }

    /// Launches a program and stops at a breakpoint. Where the adapter is expected to move the breakpoint, `expected` differs from `breakpoint`.
    ///
    /// # Panics
    /// The breakpoint isn't verified, or not at the expected place, or the program stops elsewhere or not at all.
    #[track_caller]
    pub fn hit_source_breakpoint(
        &self,
        arguments: LaunchRequestArguments,
        path: impl AsRef<Path>,
        breakpoint: SourceBreakpoint,
        expected: &Place,
    ) -> StoppedEventBody {
        let launch = self.launch(arguments);
        let answers = self.set_source_breakpoints(path, vec![breakpoint]);
        let answer = &answers[0];
        assert!(
            answer.verified,
            "no breakpoint at {expected}: {:?}",
            answer.message
        );
        let is_there = answer.line.is_none_or(|line| line == expected.line)
            && (expected.column.is_none()
                || answer.column.is_none_or(|it| Some(it) == expected.column));
        assert!(
            is_there,
            "the breakpoint is at {:?}:{:?}, not at {expected}",
            answer.line, answer.column
        );
        self.configured(launch);
        self.assert_stopped("breakpoint", expected).0
    }

    /// Waits for the next stop and checks its reason and place. Returns it with the innermost frame.
    #[track_caller]
    pub fn assert_stopped(&self, reason: &str, place: &Place) -> (StoppedEventBody, StackFrame) {
        let stopped = self.wait_for::<StoppedEvent>();
        assert_eq!(stopped.reason.as_str(), reason, "the reason of {stopped:?}");
        let thread = stopped
            .thread_id
            .unwrap_or_else(|| panic!("a stop of no thread: {stopped:?}"));
        let frame = self.top_frame(thread);
        let path = frame
            .source
            .as_ref()
            .and_then(|source| source.path.as_deref());
        let path = Path::new(path.unwrap_or_default());
        // The column counts only where the place has one.
        let found = Place {
            path: path.to_owned(),
            line: frame.line,
            column: place.column.and(Some(frame.column)),
        };
        assert!(
            place.is_at(path, frame.line, frame.column),
            "stopped at {found} in {}, not at {place}",
            frame.name
        );
        (stopped, frame)
    }

    /// Resumes a thread, and checks where it stops next.
    ///
    /// ```no_run
    /// # use dapple_dap::testing::{Place, TestClient};
    /// # use dapple_dap::types::*;
    /// # fn test(client: &TestClient) {
    /// let frame = client.resume_to::<StepInRequest>(1, "step", &Place::text("/src/a.c", "int sum ="));
    /// assert_eq!(client.variable(frame.id, "points[2].x").value, "3");
    /// # }
    /// ```
    #[track_caller]
    pub fn resume_to<R: Resume>(&self, thread: i64, reason: &str, place: &Place) -> StackFrame {
        self.ok::<R>(R::of_thread(thread));
        self.assert_stopped(reason, place).1
    }

    /// A variable of a frame by its path: names joined by dots, and indices in brackets, such as `points[2].x`. An index is the child with that
    /// name, or with the name in brackets. The scopes that are expensive are looked into last.
    ///
    /// # Panics
    /// There is no such variable; the message lists the names that there are instead.
    #[track_caller]
    pub fn variable(&self, frame: i64, path: &str) -> Variable {
        let mut names = parts(path);
        let first = names.next().unwrap_or_default();
        let mut scopes = self.scopes(frame);
        scopes.sort_by_key(|scope| scope.expensive);
        let mut seen = Vec::new();
        let found = scopes.iter().find_map(|scope| {
            let all = self.variables(scope.variables_reference);
            seen.extend(all.iter().map(|variable| variable.name.clone()));
            all.into_iter().find(|variable| variable.name == first)
        });
        let mut found =
            found.unwrap_or_else(|| panic!("no scope has `{first}`; there are {seen:?}"));
        for name in names {
            let all = match found.variables_reference {
                0 => Vec::new(),
                reference => self.variables(reference),
            };
            let seen: Vec<_> = all.iter().map(|child| child.name.clone()).collect();
            let is_it = |child: &Variable| {
                let short = child.name.trim_start_matches('[').trim_end_matches(']');
                child.name == name || short == name
            };
            found = all
                .into_iter()
                .find(is_it)
                .unwrap_or_else(|| panic!("`{}` has no `{name}`; there are {seen:?}", found.name));
        }
        found
    }
}

/// `a.b[2]` as `a`, `b`, `2`.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|part| !part.is_empty())
}

/// Arguments of `attach` with the given fields: any struct or map. As [`AttachRequestArguments::of`], which returns errors.
///
/// # Panics
/// The fields do not make a JSON object.
#[track_caller]
pub fn attach_arguments(fields: &impl serde::Serialize) -> AttachRequestArguments {
    expect("attach", AttachRequestArguments::of(fields))
}
