//! Stops at C++ exceptions, Rust panics and sanitizers' reports: where their runtimes throw, catch and give up, and what is thrown there.
//!
//! The addresses of interest in the runtimes are called *hooks*. A hook has a site only while a filter that needs the hook is on;
//! LeakSanitizer's hooks always have one. C++'s hooks are `__cxa_throw`, the functions that rethrow, and `__cxa_begin_catch`. Rust's are
//! `rust_panic`, which exists for debuggers, and before it `rust_begin_unwind`, which alone has the panic's source position. Hooks are
//! searched by symbol in every module, so statically linked runtimes work, too; the same symbols tell the client which languages' runtimes
//! there are. At a throw, the stack is searched for a handler as the unwinder's first phase does. With a filter for uncaught exceptions
//! alone, throws cost nothing: such exceptions are seen where the runtime gives up ([`super::uncaught`]).

mod cancelled;
mod sanitizers;

use super::{Owner, uncaught};
use crate::breakpoints::site::Reason;
use crate::event::{ExceptionKind, StopReason};
use crate::{Address, Error, ThreadId};
use dapple_arch::Memory;
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::eval::Parsed;
use dapple_inspect::exceptions::cpp::{Object, Space};
use dapple_inspect::exceptions::handlers::{self, Fate};
use dapple_inspect::exceptions::pattern::{means_text, means_type};
use dapple_inspect::exceptions::sanitizer::Writing;
use dapple_inspect::exceptions::thrown::Thrown;
use dapple_inspect::exceptions::{BreakMode, Exception, ExceptionFilters, Patterns, Runtimes};
use dapple_inspect::exceptions::{panicked, rust};
use dapple_inspect::frame::Frame;
use dapple_inspect::frame::PhysicalFrame;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_inspect::unwind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::sync::Arc;

/// How many frames a panic has at most where it stops: the runtime's, from the one in which it begins.
const PANIC_FRAMES: usize = 16;

/// The function that begins at a hook, by what its call means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hook {
    /// `__cxa_throw(object, type, destructor)`.
    Throw,
    /// `_Unwind_Resume_or_Rethrow(header)`, which `throw;` calls.
    Rethrow,
    /// `std::rethrow_exception(pointer)`.
    RethrowPointer,
    /// `__cxa_begin_catch(header)`.
    Catch,
    /// `std::terminate()`, or the function that it calls to end the program.
    GivesUp,
    /// `rust_begin_unwind(info)`.
    PanicBegins,
    /// `rust_panic(payload)`.
    Panic,
    /// `__sanitizer_on_print(text)`.
    SanitizerWrites,
    /// `__ubsan_on_report()`, which is called before the report is written.
    CheckFailed,
    /// LeakSanitizer's search for leaks.
    LeakCheck,
    /// `drop_in_place(future)`, for a future of the user's.
    FutureDropped,
}

/// The exception filters, and the hooks that they need.
#[derive(Debug, Default)]
pub(super) struct Exceptions {
    pub(super) filters: ExceptionFilters,
    /// Each module's hooks, by module id. A module is searched for hooks only once.
    known: FxHashMap<u64, Vec<(Hook, Address)>>,
    armed: FxHashMap<Address, Hook>,
    drop_glue: cancelled::Glue,
    /// The report that a sanitizer's runtime is writing. One thread at a time writes a report.
    writing: Writing,
    /// Whether `Event::LeaksNotLookedFor` was sent for this program.
    told_of_leaks: bool,
    /// The runtimes in the last `Event::RuntimesKnown`. `None`: none was sent for this program.
    runtimes: Option<Runtimes>,
}

impl Exceptions {
    fn wants(&self, hook: Hook) -> bool {
        let filters = &self.filters;
        match hook {
            Hook::Throw | Hook::Rethrow | Hook::RethrowPointer => {
                filters.cpp_throw.is_some() || filters.cpp_user_unhandled.is_some()
            }
            Hook::GivesUp => filters.cpp_uncaught.is_some(),
            Hook::Catch => filters.cpp_catch.is_some(),
            Hook::PanicBegins | Hook::Panic => {
                filters.rust_panic.is_some() || filters.rust_uncaught.is_some()
            }
            Hook::SanitizerWrites | Hook::CheckFailed => filters.sanitizers.is_some(),
            // LeakSanitizer can't work in a traced program. If it tried, the program would end with an error.
            Hook::LeakCheck => true,
            Hook::FutureDropped => self.wants_drops(),
        }
    }

    /// Whether a function `rust_panic` begins at an address.
    pub(super) fn is_panic(&self, at: Address) -> bool {
        self.is_hook(Hook::Panic, at)
    }

    /// Whether an address is a hook at which C++'s runtime ends the program.
    pub(super) fn gives_up_at(&self, at: Address) -> bool {
        self.is_hook(Hook::GivesUp, at)
    }

    /// Whether an address is a hook that a sanitizer's runtime calls with each piece of a report.
    pub(super) fn reports_at(&self, at: Address) -> bool {
        self.is_hook(Hook::SanitizerWrites, at)
    }

    /// Whether an address is where a Rust panic begins to unwind, behind its message.
    pub(super) fn panics_at(&self, at: Address) -> bool {
        self.is_hook(Hook::Panic, at)
    }

    fn is_hook(&self, hook: Hook, at: Address) -> bool {
        let mut hooks = self.known.values().flatten();
        hooks.any(|known| *known == (hook, at))
    }
}

/// A module's hooks.
fn hooks_of(module: &LoadedModule, memory: &dyn Memory) -> Vec<(Hook, Address)> {
    /// The hook, the part of its symbol's name to search for, and the end of that name without a version (perhaps the whole name).
    const NAMES: [(Hook, &str, &str); 7] = [
        (Hook::Throw, "__cxa_throw", "__cxa_throw"),
        (
            Hook::Rethrow,
            "_Unwind_Resume_or_Rethrow",
            "_Unwind_Resume_or_Rethrow",
        ),
        (
            Hook::RethrowPointer,
            "rethrow_exception",
            "17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
        ),
        (Hook::Catch, "__cxa_begin_catch", "__cxa_begin_catch"),
        (Hook::GivesUp, "_ZSt9terminatev", "_ZSt9terminatev"),
        (Hook::PanicBegins, "rust_begin_unwind", "rust_begin_unwind"),
        (Hook::Panic, "rust_panic", "rust_panic"),
    ];
    // Searching a large program's symbol table takes long. One name identifies each runtime, and the runtime's other names are searched
    // only in modules that have that name. `_Unwind_Resume_or_Rethrow` may also be in the unwinder's library.
    let has = |name: &str| !module.module.functions_with(name).is_empty();
    let file = module.module.path().file_name().unwrap_or_default();
    let is_unwinder = file.to_string_lossy().starts_with("libgcc_s.")
        || file.to_string_lossy().starts_with("libunwind.");
    // A sanitizer's runtime has a `__cxa_throw` of its own, which calls the real one: `__cxa_begin_catch` identifies the real runtime.
    let (cpp, rust) = (has("__cxa_begin_catch"), has("rust_begin_unwind"));
    let mut hooks = Vec::new();
    for (hook, part, end) in NAMES {
        let searched = match hook {
            Hook::Rethrow => cpp || is_unwinder,
            Hook::Throw | Hook::RethrowPointer | Hook::Catch | Hook::GivesUp => cpp,
            Hook::PanicBegins | Hook::Panic => rust,
            _ => false,
        };
        if !searched {
            continue;
        }
        let symbols = module.module.functions_with(part);
        let places = symbols
            .into_iter()
            .filter(|symbol| {
                symbol
                    .name
                    .split('@')
                    .next()
                    .unwrap_or_default()
                    .ends_with(end)
            })
            // In mangled names a name's length precedes it: this rejects `my_rust_panic`.
            .filter(|symbol| {
                let before = symbol.name.find(end).unwrap_or(0);
                before == 0
                    || end.starts_with("17")
                    || symbol.name[..before].ends_with(&end.len().to_string())
            });
        hooks.extend(places.map(|symbol| {
            let start = module.to_process(symbol.address);
            let at = match hook {
                Hook::GivesUp => uncaught::terminate_target(
                    module.module.instruction_set(symbol.address),
                    start,
                    symbol.size,
                    memory,
                ),
                _ => None,
            };
            (hook, at.unwrap_or(start))
        }));
    }
    hooks.extend(sanitizers::hooks_of(module, memory));
    hooks
}

impl Owner {
    pub(crate) fn set_exception_filters(&mut self, filters: ExceptionFilters) {
        self.exceptions.filters = filters;
        self.arm_exceptions();
    }

    /// The addresses that uncaught C++ exceptions and all Rust panics pass. An inferior call needs sites there to notice that it was left by
    /// one.
    pub(super) fn exceptions_leave_at(&mut self) -> Vec<Address> {
        self.find_hooks();
        let hooks = self.exceptions.known.values().flatten();
        hooks
            .filter(|(hook, _)| matches!(hook, Hook::GivesUp | Hook::Panic))
            .map(|(_, at)| *at)
            .collect()
    }

    /// Finds the hooks of modules that were loaded, and forgets those of modules that are gone.
    fn find_hooks(&mut self) {
        let mut known = std::mem::take(&mut self.exceptions.known);
        let there: FxHashSet<u64> = self.modules().iter().map(|module| module.id).collect();
        known.retain(|id, _| there.contains(id));
        for module in self.modules().iter() {
            known
                .entry(module.id)
                .or_insert_with(|| hooks_of(module, self.memory()));
        }
        self.exceptions.known = known;
    }

    /// The message of the panic of a thread at `rust_panic`, which has these registers.
    pub(super) fn panic_text(&self, registers: &UserRegisters) -> String {
        let argument = |index| registers.argument(index).map(Address);
        let message = match (argument(0), argument(1)) {
            (Some(data), Some(table)) => rust::message(self.memory(), data, table),
            _ => None,
        };
        message.unwrap_or_else(|| "Box<dyn Any>".to_owned())
    }

    /// Inserts the sites that the filters need, and takes out the others.
    pub(super) fn arm_exceptions(&mut self) {
        self.find_hooks();
        let drops = self.find_drop_glue();
        let exceptions = &mut self.exceptions;
        let hooks = exceptions.known.values().flatten().chain(&drops);
        let mut wanted: FxHashMap<Address, Hook> = hooks
            .filter(|(hook, _)| exceptions.wants(*hook))
            .map(|(hook, at)| (*at, *hook))
            .collect();
        let former = std::mem::take(&mut exceptions.armed);
        for at in former.keys().filter(|at| !wanted.contains_key(at)) {
            self.remove_site(*at, Reason::Exception);
        }
        wanted.retain(|at, _| match self.insert_site(*at, Reason::Exception) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%at, %error, "exceptions can't be seen");
                false
            }
        });
        self.exceptions.armed = wanted;
    }

    /// Does what is to be done for a thread that has come to a hook at `at`, and returns the reason to stop there. `None`: `at` is no hook,
    /// no filter wants a stop, or the hook never stops a thread: some only note something for a later hook, and the leak check's makes the
    /// thread return.
    pub(super) fn exception_met(&mut self, thread: ThreadId, at: Address) -> Option<StopReason> {
        let hook = *self.exceptions.armed.get(&at)?;
        if self.is_vfork_child(thread) {
            return None;
        }
        let registers = self.registers(thread)?;
        let argument = |index| registers.argument(index).map(Address);
        let (kind, exception) = match hook {
            Hook::Throw => {
                let object = Object {
                    at: argument(0)?,
                    type_info: argument(1)?,
                };
                self.thrown(thread, object, ExceptionKind::Throw)?
            }
            Hook::Rethrow => {
                let object = self.space().of_header(argument(0)?)?;
                self.thrown(thread, object, ExceptionKind::Rethrow)?
            }
            Hook::RethrowPointer => {
                let pointer = self.memory().read_address(argument(0)?).ok()?;
                let object = self.space().of_object(Address(pointer))?;
                self.thrown(thread, object, ExceptionKind::Rethrow)?
            }
            Hook::Catch => {
                let object = self.space().of_header(argument(0)?)?;
                self.caught(thread, object)?
            }
            Hook::GivesUp => self.gives_up(thread)?,
            Hook::PanicBegins => {
                let place = rust::location(self.memory(), argument(0)?);
                self.control(thread).panic_place = place;
                return None;
            }
            Hook::Panic => self.panicked(thread, argument(0)?, argument(1)?)?,
            Hook::SanitizerWrites => self.sanitizer_writes(thread, argument(0)?)?,
            Hook::CheckFailed => {
                self.exceptions.writing.check_failed();
                return None;
            }
            Hook::FutureDropped => self.future_dropped(thread, at, argument(0)?)?,
            Hook::LeakCheck => {
                self.leave_out_leak_check(thread);
                return None;
            }
        };
        let description = exception.description.clone();
        self.control(thread).exception = Some(Arc::new(exception));
        Some(StopReason::Exception {
            kind,
            description,
            breakpoints: Vec::new(),
        })
    }

    pub(super) fn space(&self) -> Space<'_> {
        Space {
            memory: self.memory(),
            modules: self.modules(),
        }
    }

    pub(super) fn means(&self, patterns: Option<&Patterns>, object: Object) -> bool {
        let Some(patterns) = patterns else {
            return false;
        };
        // The type's names are read only if a pattern needs them.
        let names = OnceCell::new();
        let names = || names.get_or_init(|| self.space().type_names(object)).iter();
        patterns.selects(|pattern| names().any(|name| means_type(pattern, name)))
    }

    fn thrown(
        &mut self,
        thread: ThreadId,
        object: Object,
        kind: ExceptionKind,
    ) -> Option<(ExceptionKind, Exception)> {
        if kind == ExceptionKind::Rethrow && self.was_reported(thread, Some(object)) {
            // libstdc++'s terminate handler rethrows the exception in order to describe it.
            return None;
        }
        let filters = self.exceptions.filters.clone();
        let mut note = String::new();
        let mut wants = |filter: Option<&Patterns>| {
            self.means(filter, object) && self.holds(thread, filter, &mut note)
        };
        let every = wants(filters.cpp_throw.as_ref());
        let uncaught = wants(filters.cpp_uncaught.as_ref());
        let user_unhandled = wants(filters.cpp_user_unhandled.as_ref());
        if !every && !uncaught && !user_unhandled {
            return None;
        }
        let registers = self.registers(thread)?;
        let first = unwind::innermost(registers.to_dwarf(), self.modules(), self.memory());
        let fate = handlers::of_cpp(first, Some(object), self.space());
        let verb = match kind {
            ExceptionKind::Rethrow => "rethrown",
            _ => "thrown",
        };
        let is_uncaught = matches!(fate, Fate::Uncaught(_));
        let (kind, end) = match fate {
            Fate::Caught { in_library, .. } if !(every || user_unhandled && in_library) => {
                return None;
            }
            Fate::Caught { function, .. } => (kind, format!("{verb}, {function} catches it")),
            Fate::Uncaught(why) => (ExceptionKind::Uncaught, format!("{verb}, {why}")),
        };
        let mode = match every {
            true => BreakMode::Always,
            false if is_uncaught && uncaught => BreakMode::Unhandled,
            false => BreakMode::UserUnhandled,
        };
        let end = end + &note;
        self.throws(thread);
        if kind == ExceptionKind::Uncaught {
            self.set_reported(thread, Some(object));
        }
        Some((
            kind,
            self.space().exception(object, registers.sp(), mode, &end),
        ))
    }

    fn caught(&mut self, thread: ThreadId, object: Object) -> Option<(ExceptionKind, Exception)> {
        /// Functions that catch an exception only to end the program.
        const GIVING_UP: [&str; 6] = [
            "__cxa_throw",
            "__cxa_rethrow",
            "__clang_call_terminate",
            "__cxa_call_terminate",
            "__cxa_call_unexpected",
            "17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
        ];
        let filter = self.exceptions.filters.cpp_catch.clone();
        if !self.means(filter.as_ref(), object) {
            return None;
        }
        let frames = self.physical_frames(thread, 2);
        let caller = frames.get(1).and_then(PhysicalFrame::symbol);
        let caller = caller.unwrap_or_default();
        if GIVING_UP.iter().any(|name| caller.ends_with(name)) {
            return None;
        }
        let mut end = "caught".to_owned();
        if !self.holds(thread, filter.as_ref(), &mut end) {
            return None;
        }
        let sp = self.registers(thread)?.sp();
        let exception = self.space().exception(object, sp, BreakMode::Always, &end);
        Some((ExceptionKind::Catch, exception))
    }

    /// Whether a filter's condition holds in the innermost frame that is the user's code. Also `true` if there is no condition, or if the
    /// condition can't be evaluated; in the latter case `note` gets the reason.
    pub(super) fn holds(
        &mut self,
        thread: ThreadId,
        filter: Option<&Patterns>,
        note: &mut String,
    ) -> bool {
        let Some(expression) = filter.and_then(Patterns::expression) else {
            return true;
        };
        match self.value_of_condition(thread, expression) {
            Ok(holds) => holds,
            Err(error) => {
                *note = format!("; the condition `{expression}` has no value: {error}");
                true
            }
        }
    }

    fn value_of_condition(&mut self, thread: ThreadId, expression: &str) -> Result<bool, Error> {
        /// How many frames are searched at most for one of the user's code.
        const MOST: usize = 100;
        let gone = || Error::NoSuchThread(thread);
        let users = self.frames_now(thread).take(MOST).find(Frame::is_users);
        let frame = users.ok_or_else(gone)?;
        let reader = self.reader();
        let number = Parsed::new(expression, frame.language)?.number(&frame, &reader)?;
        Ok(number.is_true())
    }

    fn place_of_panic(&mut self, thread: ThreadId) -> Option<String> {
        let registers = self.registers(thread)?;
        let (modules, memory) = (self.modules(), self.memory());
        let frames = unwind::frames(registers.to_dwarf(), modules, memory, PANIC_FRAMES);
        panicked::place(&frames, self.space())
    }

    fn panicked(
        &mut self,
        thread: ThreadId,
        data: Address,
        table: Address,
    ) -> Option<(ExceptionKind, Exception)> {
        let place = self.control(thread).panic_place.take();
        // Where the past is run again, only this hook may be in.
        let place = place.or_else(|| self.place_of_panic(thread));
        let message = rust::message(self.memory(), data, table);
        let filters = self.exceptions.filters.clone();
        let texts = [place.as_deref(), message.as_deref()];
        let means = |patterns: &Patterns| {
            patterns.selects(|pattern| {
                let mut texts = texts.iter().flatten();
                texts.any(|text| means_text(pattern, text))
            })
        };
        let mut note = String::new();
        let mut wants = |filter: Option<&Patterns>| {
            filter.is_some_and(means) && self.holds(thread, filter, &mut note)
        };
        let every = wants(filters.rust_panic.as_ref());
        let uncaught = wants(filters.rust_uncaught.as_ref());
        if !every && !uncaught {
            return None;
        }
        let registers = self.registers(thread)?;
        let first = unwind::innermost(registers.to_dwarf(), self.modules(), self.memory());
        let (end, mode) = match handlers::of_panic(first, self.space()) {
            Fate::Caught { .. } if !every => return None,
            Fate::Caught { function, .. } => {
                (format!("\n{function} catches it"), BreakMode::Always)
            }
            Fate::Uncaught(_) => (String::new(), BreakMode::Unhandled),
        };
        let description = panicked::description(message.as_deref(), place.as_deref());
        let description = description + &self.in_task(thread) + &end + &note;
        let exception = Exception {
            id: "panic".to_owned(),
            description,
            mode,
            message,
            thrown: Some(Thrown::Panic { data, table }),
            ..Exception::default()
        };
        Some((ExceptionKind::Panic, exception))
    }
}
