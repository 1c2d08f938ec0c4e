//! Calls functions of the debuggee for expressions.
//!
//! A stopped thread is given the function's arguments and a return address where a site is, and is let run, it alone or with the
//! others, until it comes back there. Afterwards its registers, the vector and floating-point ones too, are what they were. What the
//! function did to memory stays. Whatever ends a call otherwise is no stop that is told: the call is given up, and
//! the thread is where it was. The time that this takes nothing else is attended to.

use super::Owner;
use crate::breakpoints::displaced::decode;
use crate::breakpoints::site::Reason;
use crate::calls::{Call, CallOptions, CallThreads, Laid, Returned};
use crate::event::{Stop, StopReason};
use crate::exceptions::handlers::{self, Fate};
use crate::frame::{Frame, StackCache};
use crate::inspect::Inspect;
use crate::modules::LoadedModule;
use crate::stops::{Mode, WaitEvent, What};
use crate::target::linux::alarm::Alarm;
use crate::target::linux::ptrace::{self, UserRegisters, WholeSignal};
use crate::target::linux::wait;
use crate::values::results::{self, ResultRegisters};
use crate::values::{Contents, Number, Value};
use crate::{Address, Error, ThreadId, signals, unwind};
use dapple_symbols::functions::Language;
use dapple_symbols::location::Unavailable;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often is looked whether the time is over, or the call was cancelled.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long a process takes at most to end after a thread of it that has ended it.
const LONGEST_END: Duration = Duration::from_secs(60);
/// How long children that were told of may take to show up.
const CHILDREN_PATIENCE: Duration = Duration::from_secs(1);
/// How much of a stack texts and results may take that calls of one stop leave there, in bytes.
const MOST_LEFT: u64 = 1 << 20;
/// How many frames are looked through for one of the user's own.
const MOST_FRAMES: usize = 32;
/// How many stops a thread may make on its way to where it can be given its signal back.
const MOST_STOPS: usize = 16;
/// Where a `jmp_buf` has the stack pointer, in bytes; alike in glibc and musl.
const JUMP_STACK: i64 = 48;
/// The DWARF numbers of the registers with a function's first and second argument (System V ABI for x86-64, §3.2.3).
const RDI: u16 = 5;

/// A call under way.
#[derive(Debug)]
pub(super) struct Calling {
    thread: ThreadId,
    /// Where it returns to, and the stack pointer then.
    back: Address,
    sp: u64,
    end: Option<End>,
    /// Children of it that have a copy of the memory. They would return from the function, too, to nowhere.
    children: Vec<ThreadId>,
    /// What the first of them is told as: the end of a sentence about the function.
    copied: Option<String>,
}

/// How a call has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Returned,
    /// It can't go on: the end of a sentence about the function.
    Failed(String),
    /// The thread runs another program.
    Executed,
    ThreadEnded,
}

/// All there is to a thread that a call must not change.
struct Saved {
    registers: UserRegisters,
    extended: Option<Vec<u8>>,
    blocked: Option<u64>,
    signal: i32,
    particulars: Option<WholeSignal>,
    control: super::Control,
}

impl Owner {
    /// Calls a function on a thread; what it gave back.
    pub(super) fn call(
        &mut self,
        thread: ThreadId,
        call: &Call,
        options: &CallOptions,
    ) -> Result<Value, Error> {
        let name = &call.name;
        let refuse = |why: &str| Error::Expression(format!("`{name}` can't be called: {why}"));
        if self.stops.mode() != Mode::Stopped {
            return Err(refuse(
                "other threads run; a function is called while all are stopped",
            ));
        }
        if self.stops.has_lent(thread) {
            return Err(refuse(
                "the thread waits for its child (vfork), which has its memory",
            ));
        }
        if self.stops.is_group_stopped() {
            return Err(refuse("a stop signal holds the program"));
        }
        self.finish_system_call(thread)?;
        let back = self.return_address().map_err(|why| refuse(&why))?;
        let saved = self.save(thread).ok_or(Error::NoSuchThread(thread))?;
        let from = saved.registers.sp();
        let left = self
            .left_on_stack
            .filter(|(of, at)| *of == thread && *at < from);
        let top = left.map_or(from, |(_, at)| at);
        let laid = call.arguments.lay(top, back).map_err(|why| refuse(&why))?;
        for (address, bytes) in &laid.writes {
            if self.memory.write(*address, bytes).is_err() {
                return Err(refuse("the thread has no room left on its stack"));
            }
        }
        if laid.floor != u64::MAX {
            let has_room = from.saturating_sub(laid.floor) < MOST_LEFT;
            self.left_on_stack = has_room.then_some((thread, laid.floor));
        }
        let end = self.run_call(thread, call.code, &laid, back, &saved, options);
        let end = match end {
            Ok(end) => end,
            Err(error) => {
                self.restore(thread, saved, back, true);
                self.end_call();
                return Err(error);
            }
        };
        if self.over {
            return Err(Error::Expression(format!(
                "`{name}` was called, and the program has ended in it"
            )));
        }
        let value = (end == End::Returned).then(|| self.value_of(thread, call));
        match end {
            End::Executed | End::ThreadEnded => {}
            End::Returned => self.restore(thread, saved, back, false),
            End::Failed(_) => self.restore(thread, saved, back, true),
        }
        self.end_call();
        self.renew_stacks();
        match (end, value) {
            (End::Returned, Some(value)) => value,
            (End::Failed(why), _) => Err(Error::Expression(format!(
                "`{name}` {why}; the call was given up, and all is as before but for what it has written to memory"
            ))),
            (End::Executed, _) => {
                let address = self.registers(thread).map(|r| r.pc()).unwrap_or_default();
                let reason = StopReason::Pause;
                self.tell_stops(vec![Stop {
                    thread,
                    address,
                    reason,
                }]);
                Err(Error::Expression(format!(
                    "`{name}` was called, and has replaced the program by another"
                )))
            }
            _ => Err(Error::Expression(format!(
                "`{name}` was called, and has ended its thread"
            ))),
        }
    }

    fn end_call(&mut self) {
        self.memory.remove_everywhere(Reason::Call);
        self.call = None;
        // What has come meanwhile waits to be looked at.
        self.waker.wake();
    }

    /// A thread that is within fork(2), clone(2) or execve(2) gets to the end of it, as the kernel has yet to write the result.
    fn finish_system_call(&mut self, thread: ThreadId) -> Result<(), Error> {
        let event = ptrace::signal_info(thread).map(|info| info.code >> 8);
        let is_within = matches!(
            event,
            Ok(libc::PTRACE_EVENT_FORK
                | libc::PTRACE_EVENT_VFORK
                | libc::PTRACE_EVENT_CLONE
                | libc::PTRACE_EVENT_EXEC
                | libc::PTRACE_EVENT_VFORK_DONE)
        );
        if !is_within {
            return Ok(());
        }
        self.write_back(thread);
        self.control(thread).registers = None;
        let stop = ptrace::to_system_call(thread, 0)
            .ok()
            .and_then(|()| wait::next_of(thread));
        match stop {
            Some(event) if event.what == What::Calling => Ok(()),
            Some(event) => {
                self.stops.handle(event, &mut self.actions);
                self.perform();
                Err(Error::NotStopped)
            }
            None => Err(Error::NoSuchThread(thread)),
        }
    }

    /// Where calls return to: behind the first instruction of the program, where nobody else comes, and where the stack ends for who
    /// unwinds it.
    fn return_address(&self) -> Result<Address, String> {
        let program = self.modules.iter().find(|module| {
            let entry = module.module.entry();
            entry.0 != 0 && module.module.interpreter().is_some()
        });
        let program = program.or_else(|| self.modules.iter().next());
        let program = program.ok_or("the program's entry point is not known")?;
        let entry = program.to_process(program.module.entry());
        let mut code = [0; 16];
        let length = self.memory.read_some(entry, &mut code);
        let first = decode(entry, &code[..length]);
        let first = first.ok_or("the program's entry point can't be read")?;
        Ok(entry.offset(first.len() as i64))
    }

    fn save(&mut self, thread: ThreadId) -> Option<Saved> {
        self.write_back(thread);
        let registers = self.registers(thread)?;
        let control = std::mem::take(self.control(thread));
        // How it has run lately is nothing of the stop's.
        self.control(thread).watched = control.watched;
        self.control(thread).registers = Some(registers);
        let signal = control.signal;
        Some(Saved {
            registers,
            extended: ptrace::extended_state(thread).ok(),
            blocked: ptrace::signal_mask(thread).ok(),
            signal,
            particulars: (signal != 0)
                .then(|| ptrace::whole_signal(thread).ok())
                .flatten(),
            control,
        })
    }

    /// Lets the thread run through the function.
    fn run_call(
        &mut self,
        thread: ThreadId,
        code: Address,
        laid: &Laid,
        back: Address,
        saved: &Saved,
        options: &CallOptions,
    ) -> Result<End, Error> {
        let system = |error: std::io::Error| Error::System {
            operation: "calling a function of the program".to_owned(),
            reason: error.to_string(),
        };
        self.memory.insert(back, Reason::Call).map_err(system)?;
        self.watch_ways_out();
        if !laid.vectors.is_empty() {
            let mut vectors = ptrace::vectors(thread).map_err(system)?;
            for (place, value) in vectors.iter_mut().zip(&laid.vectors) {
                *place = *value;
            }
            ptrace::set_vectors(thread, &vectors).map_err(system)?;
        }
        let mut registers = saved.registers;
        let vectors = laid.vectors.len() as u64;
        registers.begin_function(code, laid.sp, &laid.integers, vectors);
        self.set_registers(thread, registers);
        self.call = Some(Calling {
            thread,
            back,
            sp: laid.sp + 8,
            end: None,
            children: Vec::new(),
            copied: None,
        });
        let follow = self.stops.follow_now();
        self.stops.follow(crate::forks::FollowForks::Parent);
        match options.threads {
            CallThreads::One => {
                self.stops.hold_all_but(Some(thread));
                self.stops.set_running();
                self.release(thread);
            }
            CallThreads::All => {
                self.refresh_watched();
                self.stops.hold_all_but(None);
                self.stops.set_running();
                for thread in self.stops.all_stopped() {
                    self.release(thread);
                }
            }
        }
        self.perform();
        self.attend_call(options);
        self.stops.follow(follow);
        let Some(call) = &mut self.call else {
            return Ok(End::ThreadEnded);
        };
        Ok(match (call.end.take(), call.copied.take()) {
            // It was quicker than whoever gave it up.
            (Some(End::Returned), Some(copied)) => End::Failed(copied),
            (end, _) => end.unwrap_or(End::ThreadEnded),
        })
    }

    /// Whether a thread is left that isn't on its way out with the whole process.
    fn has_held_thread(&self) -> bool {
        let mut live = self.stops.live().peekable();
        live.peek().is_some() && live.all(ptrace::is_held)
    }

    fn attend_call(&mut self, options: &CallOptions) {
        let begun = Instant::now();
        let mut ended = begun;
        let mut alarm = Alarm::default();
        let every = options
            .time_limit
            .clamp(Duration::from_millis(1), LOOK_EVERY);
        alarm.ring_every(every);
        while !self.over {
            let Some(call) = &self.call else { break };
            let thread = call.thread;
            if call.end.is_none() {
                ended = Instant::now();
            }
            let is_over = call.end.is_some();
            let has_settled = match call.end {
                Some(End::ThreadEnded) => begun.elapsed() >= LONGEST_END || self.has_held_thread(),
                _ => true,
            };
            if is_over
                && has_settled
                && self.stops.mode() == Mode::Stopped
                && (!self.stops.awaits_children() || ended.elapsed() >= CHILDREN_PATIENCE)
            {
                break;
            }
            if !is_over {
                let cancelled = || options.cancelled.as_ref().is_some_and(|asked| asked());
                if begun.elapsed() >= options.time_limit {
                    let limit = seconds(options.time_limit);
                    let held = match options.threads {
                        CallThreads::One if self.stops.live().count() > 1 => {
                            ", while the other threads were held"
                        }
                        _ => "",
                    };
                    self.give_up(|owner| {
                        let place = owner.place_of(thread);
                        format!("has not returned within {limit}{held}{place}")
                    });
                } else if cancelled() {
                    self.give_up(|_| "was cancelled".to_owned());
                } else if let Some(copied) = self.call.as_ref().and_then(|c| c.copied.clone()) {
                    self.give_up(|_| copied);
                }
            }
            if !self.attend() {
                break;
            }
        }
        alarm.end();
    }

    /// Ends the call from outside: the thread is stopped, with all others that run. Why is said once it is.
    fn give_up(&mut self, why: impl FnOnce(&mut Owner) -> String) {
        self.stops.stop_all(&mut self.actions);
        if let Some(call) = &mut self.call {
            call.end = Some(End::Failed(String::new()));
        }
        self.perform();
        while !self.over && self.stops.mode() != Mode::Stopped {
            if !self.attend() {
                break;
            }
        }
        let has_end = |call: &Calling| call.end != Some(End::Failed(String::new()));
        if self.over || self.call.as_ref().is_some_and(has_end) {
            return;
        }
        let why = why(self);
        if let Some(call) = &mut self.call {
            call.end = Some(End::Failed(why));
        }
    }

    /// Whether a thread is calling a function for the user.
    pub(super) fn is_calling(&self, thread: ThreadId) -> bool {
        self.call.as_ref().is_some_and(|call| call.thread == thread)
    }

    /// Something is told of a thread while a function is called.
    pub(super) fn noticed_in_call(&mut self, event: WaitEvent) {
        let What::NewProcess {
            child,
            shares_memory: false,
        } = event.what
        else {
            return;
        };
        if !self.is_calling(event.thread) {
            return;
        }
        let place = self.place_of(event.thread);
        if let Some(call) = &mut self.call {
            call.children.push(child);
            let why = || format!("has made a copy of the process (fork){place}");
            call.copied.get_or_insert_with(why);
        }
    }

    /// Whether a child is one that a called function has made: it is not to run.
    pub(super) fn is_calls_child(&self, child: ThreadId) -> bool {
        let call = self.call.as_ref();
        call.is_some_and(|call| call.children.contains(&child))
    }

    /// The call has come to its end by itself.
    fn call_ended(&mut self, end: End) {
        if let Some(call) = &mut self.call
            && (call.end.is_none() || call.end == Some(End::Failed(String::new())))
        {
            call.end = Some(end);
        }
        self.stops.stop_all(&mut self.actions);
    }

    /// The calling thread has run into a site.
    pub(super) fn met_in_call(&mut self, thread: ThreadId, at: Address) {
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let Some(call) = &self.call else {
            return self.release(thread);
        };
        if at == call.back && registers.sp() == call.sp {
            return self.call_ended(End::Returned);
        }
        if let Some(why) = self.leaves_call(thread, at, &registers) {
            return self.call_ended(End::Failed(why));
        }
        self.release(thread);
    }

    /// Why the calling thread is about to leave the function, if it is.
    fn leaves_call(
        &mut self,
        thread: ThreadId,
        at: Address,
        registers: &UserRegisters,
    ) -> Option<String> {
        let jumps = |module: &Arc<LoadedModule>| module.jump_hooks().contains(&at);
        if self.modules.iter().any(jumps) {
            let sp = self.call.as_ref()?.sp;
            let buffer = Address(registers.to_dwarf().get(RDI)?);
            let targets = self.jump_values(registers, buffer.offset(JUMP_STACK));
            let here = Address(registers.sp());
            let mut targets = targets.into_iter().flatten();
            let leaves = targets.any(|to| to.0 > sp && self.is_one_stack(here, to));
            let place = self.place_of(thread);
            return leaves.then(|| format!("has jumped out (longjmp){place}"));
        }
        if self.exceptions.is_panic(at) {
            let first = unwind::innermost(registers.to_dwarf(), &self.modules, &self.memory);
            return match handlers::of_panic(first, self.space()) {
                Fate::Caught(_) => None,
                Fate::Uncaught(_) => {
                    let said = self.panic_text(registers);
                    let place = self.place_of(thread);
                    Some(format!("has panicked{place}: {said}"))
                }
            };
        }
        if self.exceptions.gives_up_at(at) {
            let place = self.place_of(thread);
            return Some(match self.given_up_for(thread) {
                Some(thrown) => format!("has thrown {thrown}{place}, which nothing in it catches"),
                None => format!("has called std::terminate{place}"),
            });
        }
        None
    }

    /// Sites where called functions are left otherwise than by returning.
    fn watch_ways_out(&mut self) {
        let mut ways = self.exceptions_leave_at();
        for module in self.modules.iter() {
            ways.extend(module.jump_hooks());
        }
        for way in ways {
            if let Err(error) = self.memory.insert(way, Reason::Call) {
                tracing::warn!(%way, %error, "a call can't see exceptions and jumps");
            }
        }
    }

    /// A thread has a reason to stop while a function is called.
    pub(super) fn stopped_in_call(&mut self, thread: ThreadId, reason: StopReason) {
        if !self.is_calling(thread) {
            let address = self.registers(thread).map(|r| r.pc()).unwrap_or_default();
            self.reports.retain(|report| report.thread != thread);
            self.reports.push(Stop {
                thread,
                address,
                reason,
            });
            return;
        }
        let what = match reason {
            StopReason::Signal {
                number,
                description,
                ..
            } => {
                if !signals::is_fault(number) {
                    // It was meant for the program, and is for later.
                    ptrace::hand_back_signal(self.process, thread, number);
                }
                format!("ran into {description}")
            }
            StopReason::Trap => "ran into a trap instruction of its own".to_owned(),
            StopReason::Pause => "was interrupted".to_owned(),
            _ => return self.release(thread),
        };
        let place = self.place_of(thread);
        self.call_ended(End::Failed(format!("{what}{place}")));
    }

    /// All threads are stopped while a function is called: for its end, or since one has to get past a site alone.
    pub(super) fn gathered_in_call(&mut self) {
        let alone = std::mem::take(&mut self.alone);
        match &mut self.call {
            Some(call) if call.end.is_none() && !self.stops.none_may_run() => {
                self.run_alone(&alone);
            }
            Some(call) => {
                call.end.get_or_insert(End::ThreadEnded);
            }
            None => {}
        }
    }

    /// The calling thread is gone.
    pub(super) fn thread_ended_in_call(&mut self, thread: ThreadId) {
        if self.is_calling(thread) {
            self.call_ended(End::ThreadEnded);
        }
    }

    /// The process runs another program. True: that was a called function.
    pub(super) fn executed_in_call(&mut self, thread: ThreadId) -> bool {
        let Some(call) = &mut self.call else {
            return false;
        };
        call.thread = thread;
        self.call_ended(End::Executed);
        true
    }

    /// Where a thread is, for the end of a sentence: ` at crash.c:12 in `f``.
    fn place_of(&mut self, thread: ThreadId) -> String {
        let Some(registers) = self.registers(thread) else {
            return String::new();
        };
        let mut stack = StackCache::new(thread, 0, registers.to_dwarf());
        let frames = (0..MOST_FRAMES).map_while(|at| stack.frame(&self.modules, &self.memory, at));
        let frames: Vec<Frame> = frames.collect();
        let users = frames.iter().find(|frame| frame.is_users());
        let Some(frame) = users.or(frames.first()) else {
            return String::new();
        };
        let mut place = String::new();
        if let Some(at) = &frame.position {
            let file = at.file.file_name().unwrap_or_default();
            place = format!(" at {}:{}", file.to_string_lossy(), at.line);
        }
        if let Some(function) = &frame.function {
            place.push_str(&format!(" in `{function}`"));
        }
        place
    }

    /// Makes of a thread what it was before a call.
    fn restore(&mut self, thread: ThreadId, saved: Saved, back: Address, given_up: bool) {
        if !self.stops.is_live(thread) {
            return;
        }
        if saved.signal != 0 {
            self.reach_signal_stop(thread, back);
            if let Some(particulars) = &saved.particulars {
                let _ = ptrace::set_whole_signal(thread, particulars);
            }
        }
        let mut registers = saved.registers;
        let was_within = self
            .registers(thread)
            .is_some_and(|now| now.goes_on_with_system_call());
        if was_within {
            // The kernel has forgotten how to go on with the other call.
            registers.restart_anew();
        }
        if let Some(extended) = &saved.extended {
            let _ = ptrace::set_extended_state(thread, extended);
        }
        if let Some(blocked) = saved.blocked.filter(|_| given_up) {
            let _ = ptrace::set_signal_mask(thread, blocked);
        }
        let control = self.control(thread);
        let (watched, pace) = (control.watched, std::mem::take(&mut control.pace));
        *control = saved.control;
        control.watched = watched;
        control.pace = pace;
        self.set_registers(thread, registers);
    }

    /// Has a thread stop as for a signal, which it can be given only then: at the site of the return.
    fn reach_signal_stop(&mut self, thread: ThreadId, back: Address) {
        let in_signal_stop = ptrace::signal_info(thread)
            .is_ok_and(|info| info.code >> 8 == 0 || info.code <= 0 || info.code == 0x80);
        if in_signal_stop {
            return;
        }
        let Some(mut registers) = self.registers(thread) else {
            return;
        };
        registers.forget_system_call();
        registers.set_pc(back);
        self.set_registers(thread, registers);
        for _ in 0..MOST_STOPS {
            let stop = ptrace::cont(thread, 0)
                .ok()
                .and_then(|()| wait::next_of(thread));
            self.control(thread).registers = None;
            match stop.map(|event| event.what) {
                Some(What::Signal(libc::SIGTRAP)) | None => return,
                Some(What::Signal(signal)) => {
                    ptrace::hand_back_signal(self.process, thread, signal);
                }
                Some(_) => {}
            }
        }
    }

    /// What the function that has just returned gave back.
    fn value_of(&mut self, thread: ThreadId, call: &Call) -> Result<Value, Error> {
        let registers = self.registers(thread).ok_or(Error::NoSuchThread(thread))?;
        let general = registers.to_dwarf();
        let registers = ResultRegisters {
            general,
            vectors: ptrace::vectors(thread).ok().map(|all| [all[0], all[1]]),
            x87: ptrace::x87_top(thread).ok(),
        };
        let rax = general.get(0).unwrap_or(0);
        let own = || {
            let module = self.modules.iter().next().cloned();
            module.ok_or(Error::NoSuchThread(thread))
        };
        let number = |module: Arc<LoadedModule>, number: Number| {
            let language = Language::C;
            Value::new(module, None, language, Contents::Number(number))
        };
        Ok(match &call.result {
            Returned::Nothing => {
                let nothing = Unavailable::Unsupported("it returns nothing".to_owned());
                Value::new(own()?, None, Language::C, Contents::Unavailable(nothing))
            }
            Returned::Value(module, id) => {
                let type_ = module.module.type_of(*id);
                let language = type_.map_or(Language::C, |type_| type_.language);
                let contents = results::contents(module, *id, language, &registers);
                let contents = contents.unwrap_or_else(|| Ok(Contents::Bytes([].into())));
                let contents = contents.map(|contents| self.kept(module, *id, contents));
                results::value(module, *id, language, contents)
            }
            Returned::Pointer(module, target) => {
                let (address, target) = (rax, *target);
                number(Arc::clone(module), Number::Pointer { address, target })
            }
            Returned::Float(size) => {
                let low = registers.vectors.map_or(0, |[first, _]| first as u64);
                let value = match size {
                    4 => f64::from(f32::from_bits(low as u32)),
                    _ => f64::from_bits(low),
                };
                number(own()?, Number::Float { value, size: *size })
            }
            Returned::Integer(size, signed) => {
                number(own()?, Number::integer(rax.into(), *size, *signed))
            }
        })
    }

    /// A result in memory: its bytes, but for an object that may hold its own address. That stays where it is for as long as the
    /// thread does.
    fn kept(
        &self,
        module: &LoadedModule,
        id: dapple_symbols::types::TypeId,
        contents: Contents,
    ) -> Contents {
        let Contents::Memory(_) = &contents else {
            return contents;
        };
        let type_ = module.module.strip_aliases(id).ok().flatten();
        let Some(type_) = type_ else { return contents };
        if type_.language == Language::Cpp && module.module.is_passed_by_reference(type_.id) {
            return contents;
        }
        let size = type_.size.unwrap_or(0);
        match self.reader().bytes(&contents, size) {
            Ok(bytes) => Contents::Bytes(bytes.into()),
            Err(_) => contents,
        }
    }

    /// Stops that other threads have come to while a function was called: they are told when the program is to go on. True: there
    /// are some, and it stays.
    pub(super) fn tell_put_off(&mut self) -> bool {
        let mut stops = std::mem::take(&mut self.reports);
        stops.retain(|stop| self.stops.is_live(stop.thread));
        let Some(first) = stops.first() else {
            return false;
        };
        self.current = first.thread;
        for stop in stops.iter().filter(|stop| !stop.reason.is_about_data()) {
            self.control(stop.thread).passed = Some(stop.address);
        }
        self.tell_stops(stops);
        true
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        1.0 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}
