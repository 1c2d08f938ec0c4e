//! Variables, values and expressions, and how values are shown.

use super::{Session, SourcePosition};
use crate::{Address, Error};
use dapple_arch::registers::shown::ShownRegister;
use dapple_inspect::eval::Completions;
use dapple_inspect::frame::FrameId;
use dapple_inspect::inspect::declarations;
pub use dapple_inspect::inspect::declarations::VariableList;
use dapple_inspect::inspect::kept::Keeping;
pub use dapple_inspect::inspect::kept::{KeptValue, Opened};
use dapple_inspect::values::{Format, NamedValue, Rendered, Value};
use std::ops::Range;
use std::path::PathBuf;

impl Session {
    /// Parameters and locals of a frame.
    ///
    /// # Errors
    /// [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn variables(&self, frame: FrameId) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        self.look(move |threads| threads.variables(frame))?
    }

    /// The parameters of a frame's function, in a format.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn parameters(
        &self,
        frame: FrameId,
        format: Format,
    ) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        self.look(move |threads| threads.parameters(frame, format))?
    }

    /// Static variables of the frame's compilation unit.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn statics(&self, frame: FrameId) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        self.look(move |threads| threads.statics(frame))?
    }

    /// The frame's registers in groups.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn registers(&self, frame: FrameId) -> Result<Vec<ShownRegister>, Error> {
        self.look(move |threads| threads.frame_registers(frame))?
    }

    /// Children of a value, by position: named first, then indexed. `expression` is the value's own, from which the children's are made.
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::Ended`].
    pub fn children(
        &self,
        value: &Value,
        expression: Option<&str>,
        range: Range<u64>,
    ) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        let value = value.clone();
        let expression = expression.map(str::to_owned);
        self.look(move |threads| threads.children(value, expression.as_deref(), range))?
    }

    /// Renders values with their numbers, nested ones too, in `format`. A value that has a format already keeps it.
    ///
    /// # Errors
    /// As [`Session::children`].
    pub fn shown_as(
        &self,
        values: Vec<NamedValue>,
        format: Format,
    ) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        self.look(move |threads| threads.shown_as(values, format))?
    }

    /// Evaluates an expression; without a frame, in the innermost frame of the thread that stopped.
    ///
    /// # Errors
    /// [`Error::Expression`] and as [`Session::variables`].
    pub fn evaluate(
        &self,
        text: &str,
        frame: Option<FrameId>,
    ) -> Result<(NamedValue, Rendered), Error> {
        let text = text.to_owned();
        self.look(move |threads| threads.evaluate(&text, frame))?
    }

    /// Describes a name that is no variable: a type with its parts (`struct Point {int x; int y;} (8 bytes)`), or a function with its
    /// parameters. `None` if it is neither.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn described(&self, name: &str, frame: Option<FrameId>) -> Result<Option<String>, Error> {
        let name = name.to_owned();
        self.look(move |threads| threads.described(&name, frame))?
    }

    /// The completions of the word at the end of `line`: members, variables, types, registers. Names are those of the frame; without
    /// one, as in [`Session::evaluate`].
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn completions(&self, line: &str, frame: Option<FrameId>) -> Result<Completions, Error> {
        let line = line.to_owned();
        self.look(move |threads| threads.completions(&line, frame))?
    }

    /// Keeps a value beyond the stop that it was found in; `None`: it has no children. Without a frame, the kept value belongs to the
    /// innermost frame of the thread that stopped.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn keep(
        &self,
        named: NamedValue,
        rendered: Rendered,
        frame: Option<FrameId>,
    ) -> Result<Option<KeptValue>, Error> {
        self.look(move |threads| threads.keep(named, rendered, frame))?
    }

    /// Children of a kept value by position, as [`Session::children`], in `format` unless the value has a format. At a later stop the
    /// children are read anew.
    ///
    /// # Errors
    /// [`Error::Refused`] if the value is gone, with a sentence that says why; and as [`Session::variables`].
    pub fn open_kept(
        &self,
        kept: &KeptValue,
        range: Range<u64>,
        format: Option<Format>,
    ) -> Result<Opened, Error> {
        let kept = kept.clone();
        self.look(move |threads| threads.open_kept(&kept, range, format))?
    }

    /// Where the variable at `index` of a frame's `list` is declared; `None` where the debug information doesn't say.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn declaration(
        &self,
        frame: FrameId,
        list: VariableList,
        index: usize,
    ) -> Result<Option<SourcePosition>, Error> {
        self.look(move |threads| declarations::declaration(threads, frame, list, index))?
    }

    /// The declaration of the function that has code at an address; if that is unknown, the line of the code. `None` where no debug
    /// information says either. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn code_position(&self, address: Address) -> Result<Option<SourcePosition>, Error> {
        self.look(move |threads| declarations::code_position(threads, address))
    }

    /// Shows values as these Natvis files say, in place of the files given before. If several entries are for one type, the one in the
    /// first file is used. The files are read now. Their problems are reported
    /// ([`Event::PresentationWarnings`](crate::Event::PresentationWarnings)), and the rest is used.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_presentation(&self, files: Vec<PathBuf>) -> Result<(), Error> {
        self.look(move |inspect| inspect.known().presentation().load(&files))
    }

    /// Sets whether a plain pointer's address is followed by what it points to. At first it is not.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn show_pointees(&self, shown: bool) -> Result<(), Error> {
        self.look(move |inspect| inspect.known().presentation().show_pointees(shown))
    }
}
