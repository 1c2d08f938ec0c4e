//! What the symbols say about an address, as far as stepping needs it, with a cache.

use super::SkipList;
use super::coroutines::is_behind_transfer;
use crate::Address;
use dapple_inspect::modules::{LoadedModule, Modules};
use dapple_inspect::values::coroutines::may_be_body;
use dapple_symbols::FileAddress;
use dapple_symbols::cpp_coroutines::{CoroutinePart, CppCoroutine};
use dapple_symbols::functions::{Function, FunctionId, InlinedCall, Language, SourcePosition};
use dapple_symbols::lines::LineRow;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How many addresses are remembered, and how many files.
const REMEMBERED: usize = 1 << 16;

/// An address with what the symbols say about it.
#[derive(Debug)]
pub(super) struct Position {
    pub module: Arc<LoadedModule>,
    pub address: FileAddress,
    /// The line row there; `None` if there is none, or it has line 0.
    pub row: Option<LineRow>,
    pub function: Option<Arc<Function>>,
    /// The inlined calls there, outermost first.
    pub inlined: Vec<InlinedCall>,
    /// The code at the address is the user's own: its source file exists, and neither the file nor the function is skipped.
    pub users: bool,
    /// The function, or an inlined one around the address, is the user's own.
    pub in_users: bool,
    /// As `in_users`, without the sources of dependencies.
    pub own: bool,
    /// As `users`, without the sources of dependencies: macros of these leave their lines in the user's functions.
    pub own_line: bool,
    /// The C++ coroutine that the function is of.
    pub coroutine: Option<Arc<CppCoroutine>>,
    /// The code was made for C++ coroutines, or the language calls it for them: it isn't the user's, whatever its source.
    pub serves: bool,
}

/// Whose a source file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The user's own.
    Own,
    /// A dependency's, which isn't skipped.
    Dependency,
    /// It is skipped, or isn't here.
    Others,
}

/// A cache of positions. It is emptied when the modules change.
#[derive(Debug, Default)]
pub struct Places {
    positions: RefCell<FxHashMap<Address, Arc<Position>>>,
    /// Whose each source file is, by the address of its path in memory. Keeping the `Arc` prevents another path from getting that address.
    files: RefCell<FxHashMap<usize, (Arc<Path>, Whose)>>,
    version: Cell<u64>,
    skip: SkipList,
}

impl Places {
    /// Sets which code isn't counted as the user's.
    pub fn skip(&mut self, list: SkipList) {
        *self = Places {
            skip: list,
            ..Places::default()
        };
    }

    pub(super) fn at(&self, address: Address, modules: &Modules) -> Option<Arc<Position>> {
        if self.version.replace(modules.version()) != modules.version() {
            self.positions.borrow_mut().clear();
            self.files.borrow_mut().clear();
        }
        if let Some(known) = self.positions.borrow().get(&address) {
            return Some(Arc::clone(known));
        }
        let position = Arc::new(self.look_up(modules.at(address)?, address));
        let mut positions = self.positions.borrow_mut();
        if positions.len() >= REMEMBERED {
            positions.clear();
        }
        positions.insert(address, Arc::clone(&position));
        Some(position)
    }

    fn look_up(&self, module: &Arc<LoadedModule>, address: Address) -> Position {
        let address = module.to_file(address);
        let function = module.module.function_at(address);
        let row = module.module.row_at(address);
        let inlined = module.module.inlined_at(address);
        let innermost = match inlined.last() {
            Some(call) => Some(call.name.as_str()),
            None => function.as_ref().map(|function| function.name.as_str()),
        };
        let users = row.as_ref().is_some_and(|row| self.is_users(&row.file))
            && !innermost.is_some_and(|name| is_glue(name) || self.skip.has_function(name));
        let is_users = |file: &Arc<Path>| self.is_users(file);
        let in_users = users || self.has(function.as_deref(), &inlined, is_users);
        let is_own = |file: &Arc<Path>| self.is_own(file);
        let own_line = users && row.as_ref().is_some_and(|row| is_own(&row.file));
        let own = own_line || self.has(function.as_deref(), &inlined, is_own);
        let is_cpp = function
            .as_ref()
            .is_some_and(|f| f.language == Language::Cpp);
        let is_cpp = is_cpp && in_users;
        let coroutine = is_cpp
            .then(|| module.module.cpp_coroutine_at(address))
            .flatten();
        let is_inlined = !inlined.is_empty();
        let is_body = coroutine
            .as_ref()
            .is_some_and(|it| it.part == CoroutinePart::Body);
        let is_made = is_cpp
            && match &coroutine {
                Some(coroutine) if !is_inlined => is_made(coroutine, address, row.as_ref()),
                Some(coroutine) if coroutine.part != CoroutinePart::Body => {
                    // A start may have the body inlined.
                    coroutine.part != CoroutinePart::Start
                        || row.as_ref().is_none_or(|row| coroutine.is_brace(row.line))
                }
                _ => module.module.serves_coroutines_at(address),
            };
        let is_left = is_body && is_behind_transfer(module, address);
        // The body itself is the user's function, also where its code is the compiler's.
        let serves = is_made && !is_body && (!is_inlined || coroutine.is_some());
        let users = users && !is_made && !is_left;
        let in_users = in_users && !serves && !is_left;
        Position {
            coroutine,
            serves,
            own: own && in_users,
            own_line: own_line && users,
            row: row.filter(|row| row.line != 0),
            address,
            function,
            inlined,
            users,
            in_users,
            module: Arc::clone(module),
        }
    }

    /// Whether a function, or one that is inlined into it around the innermost call, is the user's own.
    fn has(
        &self,
        function: Option<&Function>,
        inlined: &[InlinedCall],
        is_wanted: impl Fn(&Arc<Path>) -> bool,
    ) -> bool {
        let declared = function.and_then(|f| Some((f.name.as_str(), f.declaration.as_ref()?)));
        // A call site names the file of the code around the call.
        let around = function
            .map(|f| f.name.as_str())
            .into_iter()
            .chain(inlined.iter().map(|call| call.name.as_str()));
        let sites = around
            .zip(inlined)
            .filter_map(|(name, call)| Some((name, call.call_site.as_ref()?)));
        declared.into_iter().chain(sites).any(|(name, at)| {
            is_wanted(&at.file) && !is_glue(name) && !self.skip.has_function(name)
        })
    }

    /// Whether a source exists and isn't skipped.
    pub(super) fn is_users(&self, file: &Arc<Path>) -> bool {
        self.whose(file) != Whose::Others
    }

    /// Whether a source is the user's own, and not a dependency's.
    pub(super) fn is_own(&self, file: &Arc<Path>) -> bool {
        self.whose(file) == Whose::Own
    }

    fn whose(&self, file: &Arc<Path>) -> Whose {
        let place = file.as_ptr_usize();
        if let Some((_, known)) = self.files.borrow().get(&place) {
            return *known;
        }
        let whose = match self.skip.has_file(file) || !file.is_file() {
            true => Whose::Others,
            false if self.skip.is_dependency(file) => Whose::Dependency,
            false => Whose::Own,
        };
        let mut files = self.files.borrow_mut();
        if files.len() >= REMEMBERED {
            files.clear();
        }
        files.insert(place, (Arc::clone(file), whose));
        whose
    }
}

/// Whether code of a coroutine's function isn't the source's.
fn is_made(coroutine: &CppCoroutine, address: FileAddress, row: Option<&LineRow>) -> bool {
    let line = row.map(|row| row.line).filter(|line| *line != 0);
    let opening = coroutine.opening.as_ref();
    if let (Some(row), Some(opening)) = (row, opening)
        && row.file != opening.file
        && coroutine.has_body()
    {
        return false;
    }
    match coroutine.part {
        CoroutinePart::Body => coroutine.is_made(line),
        CoroutinePart::Start => {
            !coroutine.has_body()
                || coroutine.begin.is_none()
                || coroutine.is_made(line)
                || coroutine.is_dispatch(address)
        }
        CoroutinePart::Destroyer | CoroutinePart::Wrapper => true,
    }
}

/// Whether the compiler has made a function to run the destructors of a value. It gives it the line of the `async fn` whose state that is.
pub(super) fn is_glue(name: &str) -> bool {
    name.contains("drop_in_place<")
}

/// The address of a shared path in memory.
trait InMemory {
    fn as_ptr_usize(&self) -> usize;
}

impl InMemory for Arc<Path> {
    fn as_ptr_usize(&self) -> usize {
        Arc::as_ptr(self).cast::<u8>() as usize
    }
}

impl Position {
    /// The function's id.
    pub fn function_id(&self) -> Option<FunctionId> {
        self.function.as_ref().map(|function| function.id)
    }

    /// Whether the address is its function's entry.
    pub fn is_entry(&self) -> bool {
        self.function
            .as_ref()
            .is_some_and(|f| f.entry == self.address)
    }

    /// The names of the function and of the inlined calls, outermost first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let function = self.function.iter().map(|function| function.name.as_str());
        function.chain(self.inlined.iter().map(|call| call.name.as_str()))
    }

    /// Whether the function is the body of a Rust `async fn`, async block or async closure.
    pub fn is_coroutine(&self) -> bool {
        let function = self.function.as_ref();
        function.is_some_and(|function| {
            may_be_body(&function.name)
                && (self.module.module.coroutine_argument_at(function.entry, 0)).is_some()
        })
    }

    /// Whether the function is the body of a C++ coroutine.
    pub fn is_cpp_body(&self) -> bool {
        let coroutine = self.coroutine.as_ref();
        coroutine.is_some_and(|coroutine| coroutine.part == CoroutinePart::Body)
    }

    /// Whether code on a line of the function was made for a C++ coroutine.
    pub fn is_made_line(&self, line: u32) -> bool {
        let coroutine = self.coroutine.as_ref();
        coroutine.is_some_and(|coroutine| coroutine.has_body() && coroutine.is_made(Some(line)))
    }

    /// Whether the address is in the code by which the body of a C++ coroutine begins.
    pub fn is_dispatch(&self) -> bool {
        let coroutine = self.coroutine.as_ref();
        coroutine.is_some_and(|coroutine| coroutine.is_dispatch(self.address))
    }

    /// Whether the address is on the line of `opening`, or on none.
    pub fn is_on_line(&self, opening: Option<&SourcePosition>) -> bool {
        match (&self.row, opening) {
            (Some(row), Some(opening)) => row.line == opening.line && row.file == opening.file,
            (row, _) => row.is_none(),
        }
    }

    /// The row that a thread stopped here is shown at: code of line 0 belongs to the line before.
    pub fn shown_row(&self) -> Option<LineRow> {
        let row = self.row.clone();
        row.or_else(|| self.module.module.row_with_line(self.address))
    }

    /// Whether this is the first address of a row that begins a statement.
    pub fn begins_statement(&self) -> bool {
        self.row
            .as_ref()
            .is_some_and(|row| row.is_stmt && row.range.start == self.address)
    }

    /// Whether an exception that lands here only runs destructors, and unwinds further.
    pub fn is_cleanup(&self) -> bool {
        use dapple_symbols::lsda::Action;
        let table = self.module.module.exception_table(self.address);
        let Ok(Some(table)) = table else {
            return false;
        };
        let mut pads = table.call_sites.iter().filter_map(|site| {
            let pad = site.landing_pad.as_ref()?;
            (pad.address == self.address).then_some(&pad.actions)
        });
        // Call sites with the same landing pad may have different actions.
        let cleans = |actions: &Arc<[Action]>| actions.iter().all(|a| *a == Action::Cleanup);
        pads.clone().next().is_some() && pads.all(cleans)
    }

    /// A row's range as process addresses.
    pub fn range(&self, range: &Range<FileAddress>) -> Range<u64> {
        self.module.to_process(range.start).0..self.module.to_process(range.end).0
    }
}
