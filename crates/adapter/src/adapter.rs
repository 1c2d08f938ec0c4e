//! The state of a session: the debuggee, the phase of the session, and what the client's ids and references stand for.

mod calls;
pub mod disassembled;
mod ending;
pub mod events;
pub mod fetched;
mod if_debugged;
pub mod loaded_sources;
pub mod main_stop;

use crate::adapter::disassembled::Disassembled;
use crate::adapter::fetched::Fetched;
use crate::adapter::loaded_sources::LoadedSources;
use crate::adapter::main_stop::MainStop;
use crate::arguments::CallSettings;
use crate::arguments::ShowDisassembly;
use crate::arguments::Shutdown;
use crate::breakpoints::Breakpoints;
use crate::console::say;
use crate::data_breakpoints::DataBreakpoints;
use crate::delayed_messages::DelayedMessages;
use crate::exceptions::Exceptions;
use crate::far_sources::FarSources;
use crate::function_names::FunctionNames;
use crate::handlers::NO_DEBUG;
use crate::handlers::launch::building::Building;
use crate::handlers::start_debugging::Forks;
use crate::kept::{self, KeptReferences};
use crate::output::TextStream;
use crate::serve_options::ServeOptions;
use crate::shown_frame::ShownFrame;
use crate::source_map::SourceMap;
use crate::to_dap;
use crate::to_dap::OrFail;
use crossbeam_channel::{Receiver, Sender};
use dapple_dap::server::Later;
use dapple_dap::server::{Exhausted, Failure, Outbox, Progress, References};
use dapple_dap::transport::Writer;
use dapple_dap::types::{
    LaunchRequestArguments, ProcessEvent, Source, StoppedEvent, TerminatedEvent,
};
use dapple_engine::debug_info::DebugInfoOptions;
use dapple_engine::event::{Stop, StopReason};
use dapple_engine::frame::FrameId;
use dapple_engine::session::breakpoints::WhereDecided;
use dapple_engine::session::stepping::{Callee, SkipList, ThirdParty};
use dapple_engine::session::values::VariableList;
use dapple_engine::session::{Keep, Leave, Waker};
use dapple_engine::untraced::Untraced;
use dapple_engine::values::{NamedValue, Rendered, Value};
use dapple_engine::{Address, Error, Session, ThreadId};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// The phase of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is launched.
    New,
    /// A build is running, or the adapter waits for a terminal or for the process to attach to.
    Starting,
    /// The program is launched or attached to, and is held until the client sends `configurationDone`.
    Held,
    /// All threads run.
    Running,
    /// Some threads run; the others stay stopped.
    PartlyRunning,
    /// All threads are stopped.
    Stopped,
    /// The program or the session has ended, or the start has failed.
    Ended,
}

/// Where text goes that the user types into the debug console for the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypedInto {
    /// Nowhere.
    Nothing,
    /// To the program's standard input, a pipe.
    Pipe,
    /// To the program's own pseudoterminal.
    Terminal,
}

/// A scope of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// The return value of the function that a step has just finished.
    Returned,
    /// The function's parameters.
    Arguments,
    /// The function's locals.
    Locals,
    /// All of the above in one scope, for clients that expand only one.
    All,
    /// The static variables of the function's compilation unit.
    Statics,
    /// The registers.
    Registers,
}

/// What a `variablesReference` stands for.
#[derive(Debug, Clone)]
pub enum Reference {
    /// A scope of a frame.
    Scope(FrameId, ScopeKind),
    /// The parts of a register or register group of a frame. The path has one index for each level below the registers scope.
    Registers(FrameId, Vec<usize>),
    /// A value with children.
    Value {
        /// The value.
        value: Value,
        /// An expression for the value, from which the expressions of its children are made.
        expression: Option<String>,
        /// The frame that the value was found in, if there is one.
        frame: Option<FrameId>,
        /// The numbers of named and indexed children.
        counts: (u64, u64),
    },
}

/// What a `locationReference` stands for.
#[derive(Debug, Clone, Copy)]
pub enum Location {
    /// The declaration of a variable, by its index in a list of variables.
    Declaration {
        /// The frame of the variable.
        frame: FrameId,
        /// The list.
        list: VariableList,
        /// The index.
        index: usize,
    },
    /// Code.
    Code(Address),
}

/// Values with their rendered text.
pub type Listing = Rc<[(NamedValue, Rendered)]>;

/// A session's state. Handlers run one at a time, each with exclusive access to it.
pub struct Adapter {
    pub options: ServeOptions,
    /// The sending end for the engine's events. It moves to the engine at launch, so that the channel disconnects if the engine fails.
    pub engine_events: Option<Sender<dapple_engine::Event>>,
    /// The engine's events. The main loop receives them.
    pub engine: Receiver<dapple_engine::Event>,
    /// Threads that have stopped at a place that the user asked for. Their innermost frame isn't deemphasized, even if it is in a
    /// library.
    pub arrived: Vec<ThreadId>,
    /// The arguments of the latest launch, for `restart`.
    pub launched_with: Option<LaunchRequestArguments>,
    /// Where text behind `>` in the debug console goes.
    pub typed_into: TypedInto,
    /// `initialized` was sent.
    pub sent_initialized: bool,
    /// A `terminate` request has come.
    pub asked_to_end: bool,
    pub shutdown: Shutdown,
    /// Dropping it cancels the timeout after which a program that was asked to end is killed.
    pub patience: Option<Sender<Infallible>>,
    /// The client ends this session to restart it (`restart` in `terminate`).
    pub begun_again: bool,
    pub later: Later<Adapter>,
    /// Dropping it ends the wait for a process or a terminal.
    pub start_wait: Option<Sender<Infallible>>,
    /// The build that runs before the launch.
    pub building: Option<Building>,
    /// Wakes the session's thread while it waits for the debuggee.
    pub waker: Arc<Waker>,
    pub debuggee: Option<Session>,
    /// The program of a session without debugging (`noDebug`), in place of `debuggee`.
    pub untraced: Option<Untraced>,
    pub delayed: DelayedMessages,
    pub phase: Phase,
    pub configured: bool,
    pub stop_on_entry: bool,
    pub main_stop: MainStop,
    /// Patterns of code that steps don't enter.
    pub skip: SkipList,
    /// Patterns of source files that are others' code.
    pub third_party: ThirdParty,
    pub source_map: Arc<SourceMap>,
    /// The files that the client gets by reference, if it is on another machine.
    pub far_sources: Option<Arc<FarSources>>,
    /// The user's Natvis files.
    pub visualizers: Vec<PathBuf>,
    /// `visualizers` were chosen by a request, not by the arguments of `launch` or `attach`: a restart keeps them.
    pub visualizers_requested: bool,
    /// Show only the address of a plain pointer, without its pointee.
    pub addresses_only: bool,
    /// The client is the terminal debugger.
    pub for_terminal: bool,
    /// Settings of inferior calls in expressions.
    pub calls: CallSettings,
    /// Where conditions of breakpoints are decided.
    pub decided: WhereDecided,
    /// Show arguments, locals and the return value as separate scopes.
    pub separate_scopes: bool,
    /// Which frames have a disassembly as their source.
    pub show_disassembly: ShowDisassembly,
    pub function_names: FunctionNames,
    /// Whether tasks of asynchronous executors aren't listed among the threads.
    pub hides_tasks: bool,
    /// Threads whose innermost frame was shown with a disassembly source at this stop. They step by instructions.
    pub in_disassembly: BTreeSet<ThreadId>,
    /// Threads stopped at a sanitizer's report or a panic. The user looks at an outer frame with source, and steps by lines there.
    pub in_runtime: BTreeSet<ThreadId>,
    pub no_debug: bool,
    /// How the next engine session finds debug information.
    pub debug_info: DebugInfoOptions,
    pub leave: Leave,
    pub breakpoints: Breakpoints<Source>,
    pub exceptions: Exceptions,
    pub data: DataBreakpoints,
    pub forks: Forks,
    pub sources: LoadedSources,
    pub disassembled: Disassembled,
    pub fetched: Fetched,
    pub gotos: References<Address>,
    /// Targets of `stepIn`, with their thread.
    pub callees: References<(ThreadId, Callee)>,
    pub frames: References<ShownFrame>,
    pub references: References<Reference>,
    /// References that stay valid when the program runs on.
    pub kept: KeptReferences,
    pub locations: References<Location>,
    /// Parameters and locals by frame, cached because one answer of the engine serves several scopes.
    variables: HashMap<FrameId, Listing>,
    stopped_thread: Option<ThreadId>,
    /// The progress report of the index that is being made.
    indexing: Option<Progress>,
    /// Whether the threads were listed without the tasks of executors, because the program's names weren't indexed yet.
    pub(crate) lacks_tasks: bool,
    stdout: TextStream,
    stderr: TextStream,
}

impl Adapter {
    /// A new session.
    pub fn new(
        options: ServeOptions,
        (engine_events, engine): (Sender<dapple_engine::Event>, Receiver<dapple_engine::Event>),
        later: Later<Adapter>,
        waker: Arc<Waker>,
        outgoing: Writer,
    ) -> Adapter {
        let far_sources = options.is_far.then(Arc::default);
        Adapter {
            waker,
            options,
            engine_events: Some(engine_events),
            engine,
            arrived: Vec::new(),
            launched_with: None,
            typed_into: TypedInto::Nothing,
            sent_initialized: false,
            asked_to_end: false,
            shutdown: Shutdown::default(),
            patience: None,
            begun_again: false,
            later,
            start_wait: None,
            building: None,
            debuggee: None,
            untraced: None,
            delayed: DelayedMessages::new(outgoing),
            phase: Phase::New,
            configured: false,
            stop_on_entry: false,
            main_stop: MainStop::None,
            skip: SkipList::default(),
            third_party: ThirdParty::default(),
            source_map: Arc::default(),
            far_sources,
            visualizers: Vec::new(),
            visualizers_requested: false,
            addresses_only: false,
            for_terminal: false,
            separate_scopes: false,
            show_disassembly: ShowDisassembly::default(),
            function_names: FunctionNames::default(),
            hides_tasks: false,
            in_disassembly: BTreeSet::new(),
            in_runtime: BTreeSet::new(),
            calls: CallSettings::default(),
            decided: WhereDecided::default(),
            no_debug: false,
            debug_info: DebugInfoOptions::default(),
            leave: Leave::Kill,
            breakpoints: Breakpoints::default(),
            exceptions: Exceptions::default(),
            data: DataBreakpoints::default(),
            forks: Forks::default(),
            sources: LoadedSources::default(),
            disassembled: Disassembled::default(),
            fetched: Fetched::default(),
            gotos: References::new(),
            callees: References::new(),
            frames: References::new(),
            references: References::within(1..=kept::FIRST - 1),
            kept: KeptReferences::default(),
            locations: References::new(),
            variables: HashMap::new(),
            stopped_thread: None,
            indexing: None,
            lacks_tasks: false,
            stdout: TextStream::default(),
            stderr: TextStream::default(),
        }
    }

    /// Where the engine runs: on the session's own thread, which is then the tracer of its debuggee.
    pub fn keep(&self) -> Keep {
        Keep::Here(Arc::clone(&self.waker))
    }

    /// Makes a new event channel for the next engine. Returns the events that the old channel still has.
    pub fn renew_engine(&mut self) -> Vec<dapple_engine::Event> {
        let (sender, engine) = crossbeam_channel::unbounded();
        self.engine_events = Some(sender);
        std::mem::replace(&mut self.engine, engine)
            .try_iter()
            .collect()
    }

    /// The debuggee.
    ///
    /// # Errors
    /// There is no debuggee: it isn't started yet, has ended, or runs without debugging (`noDebug`).
    pub fn debuggee(&self) -> Result<&Session, Failure> {
        self.debuggee.as_ref().ok_or_else(|| match self.phase {
            _ if self.untraced.is_some() => Failure::new(NO_DEBUG),
            Phase::Ended => to_dap::failure(&Error::Ended),
            _ if self.building.is_some() => Failure::new("the program is being built"),
            _ => Failure::new("no program is launched yet"),
        })
    }

    /// The debuggee, if all its threads are stopped and the client knows that.
    ///
    /// # Errors
    /// There is no debuggee, its start waits for the client's configuration, or some of its threads run.
    pub fn stopped(&self) -> Result<&Session, Failure> {
        let debuggee = self.debuggee()?;
        match self.phase {
            Phase::Stopped => Ok(debuggee),
            Phase::Held => Err(Failure::new(
                "the program is not started yet; it is once `configurationDone` is sent",
            )),
            _ => Err(to_dap::not_stopped()),
        }
    }

    /// The debuggee, if at least some of its threads are stopped and the client knows that.
    ///
    /// # Errors
    /// There is no debuggee, its start waits for the client's configuration, or all threads run.
    pub fn partly_stopped(&self) -> Result<&Session, Failure> {
        match self.phase {
            Phase::PartlyRunning => self.debuggee(),
            _ => self.stopped(),
        }
    }

    /// Call after the launch or `attach`, and after `configurationDone`. Once both are done, runs the program, or reports its stop at the
    /// entry.
    ///
    /// # Errors
    /// The program has ended, or, without debugging, can't be started.
    pub fn start_when_ready(&mut self, outbox: &Outbox) -> Result<(), Failure> {
        if self.phase != Phase::Held || !self.configured {
            return Ok(());
        }
        if let Some(untraced) = &mut self.untraced {
            untraced.start().or_fail()?;
            self.phase = Phase::Running;
            if let Some(process) = untraced.process() {
                outbox.event::<ProcessEvent>(to_dap::process(process));
            }
            return Ok(());
        }
        let debuggee = self.debuggee()?;
        if debuggee.is_post_mortem() {
            debuggee.tell_end();
            return Ok(());
        }
        if !self.set_main_stop(outbox)? || self.stop_on_entry {
            self.phase = Phase::Stopped;
            let thread = ThreadId(self.debuggee()?.process().pid);
            self.stopped_thread = Some(thread);
            let entry = Stop {
                thread,
                address: Address(0),
                reason: StopReason::Entry,
            };
            outbox.event::<StoppedEvent>(to_dap::stopped(
                &entry,
                true,
                Default::default(),
                self.function_names,
            ));
            return Ok(());
        }
        self.debuggee()?.resume().or_fail()?;
        self.phase = Phase::Running;
        Ok(())
    }

    /// Call when all threads run, or the program has ended. Invalidates the ids and references of the previous stop.
    pub fn resumed(&mut self) {
        if let Some(debuggee) = &self.debuggee {
            self.delayed.resumed(debuggee);
        }
        self.phase = Phase::Running;
        self.stopped_thread = None;
        self.frames.clear_generation();
        self.gotos.clear_generation();
        self.callees.clear_generation();
        self.in_disassembly.clear();
        self.in_runtime.clear();
        self.references.clear_generation();
        self.locations.clear_generation();
        self.variables.clear();
    }

    /// Call when some threads run and others don't. Invalidates references to values. Frames of stopped threads stay valid; the engine
    /// refuses frames of running threads.
    pub fn partly_resumed(&mut self) {
        self.phase = Phase::PartlyRunning;
        self.stopped_thread = None;
        self.references.clear_generation();
        self.locations.clear_generation();
        self.variables.clear();
    }

    /// The thread that the present stop is about; `None` before the first stop and while any thread runs.
    pub fn stopped_thread(&self) -> Option<ThreadId> {
        self.stopped_thread
    }

    /// Parameters and locals of a frame.
    ///
    /// # Errors
    /// The engine's.
    pub fn variables(&mut self, frame: FrameId) -> Result<Listing, Failure> {
        if let Some(listing) = self.variables.get(&frame) {
            return Ok(listing.clone());
        }
        let mut listing = self.debuggee()?.variables(frame).or_fail()?;
        to_dap::mark_shadowed(listing.iter_mut().map(|(named, _)| named));
        let listing: Listing = listing.into();
        self.variables.insert(frame, listing.clone());
        Ok(listing)
    }

    /// Clears the cached parameters and locals.
    pub fn forget_variables(&mut self) {
        self.variables.clear();
    }

    /// The `variablesReference` of a value; 0 for one without children.
    ///
    /// # Errors
    /// The session has used up its numbers.
    pub fn reference(
        &mut self,
        named: NamedValue,
        rendered: &Rendered,
        frame: Option<FrameId>,
    ) -> Result<i64, Exhausted> {
        if rendered.named == 0 && rendered.indexed == 0 {
            return Ok(0);
        }
        self.references.insert(Reference::Value {
            value: named.value,
            expression: named.expression,
            frame,
            counts: (rendered.named, rendered.indexed),
        })
    }

    /// As [`Adapter::reference`], but the reference stays valid when the program runs on.
    ///
    /// # Errors
    /// The session has used up its numbers, or an error of the engine.
    pub fn lasting_reference(
        &mut self,
        named: NamedValue,
        rendered: Rendered,
        frame: Option<FrameId>,
    ) -> Result<i64, Failure> {
        if rendered.named == 0 && rendered.indexed == 0 {
            return Ok(0);
        }
        let debuggee = self.debuggee()?;
        let kept = debuggee.keep(named, rendered, frame);
        match kept.or_fail()? {
            Some(kept) => Ok(self.kept.insert(kept)?),
            None => Ok(0),
        }
    }

    /// The `locationReference` of the code that a value points to; `None` if it points to no code.
    ///
    /// # Errors
    /// The session has used up its numbers.
    pub fn code_reference(&mut self, rendered: &Rendered) -> Result<Option<i64>, Exhausted> {
        let location = rendered.code.map(Location::Code);
        location
            .map(|location| self.locations.insert(location))
            .transpose()
    }

    /// The engine has failed: its channel is disconnected. Ends the session.
    pub fn lost_engine(&mut self, outbox: &Outbox) {
        if self.phase == Phase::Ended {
            return;
        }
        say(outbox, "the debugger's engine has failed; the session ends");
        self.resumed();
        self.phase = Phase::Ended;
        self.debuggee = None;
        outbox.event::<TerminatedEvent>(Default::default());
    }

    /// Call when a signal asks the adapter's process to end. Tells the client that the session ends, if one has begun and not ended.
    pub fn ends_with_the_process(&self, outbox: &Outbox) {
        if !matches!(self.phase, Phase::New | Phase::Ended) {
            say(outbox, "the debug adapter was asked to end");
            outbox.event::<TerminatedEvent>(Default::default());
        }
    }

    /// Ends the session, and kills the debuggee or detaches from it, as `leave` says.
    pub fn end(&mut self) {
        self.engine_events = None;
        self.start_wait = None;
        self.patience = None;
        // Cancels a build and waits until its processes are gone.
        self.building = None;
        self.fetched.progress = None;
        self.forks.end();
        if let Some(debuggee) = self.debuggee.take() {
            debuggee.leave(self.leave);
        }
        if let Some(untraced) = self.untraced.take() {
            untraced.leave(self.leave);
        }
        self.phase = Phase::Ended;
    }
}
