//! Calls functions of the debuggee for expressions (inferior calls).
//!
//! Evaluating an expression changes nothing: an expression that needs a call asks for it, and is evaluated again with its result
//! ([`super::assigning`]). [`dapple_inspect::calls`] lays out the arguments. A stopped thread gets them, and a return address at which there
//! is a site. It runs, alone or with the other threads, until it comes back to that site. Then all its registers, vector and
//! floating-point ones included, are restored. What the function wrote to memory stays.
//!
//! A call that ends otherwise is given up: the thread is put back where it was, and no stop is reported. The thread can't be put back if it
//! or the process has ended, or if the process runs another program (exec); an exec is reported as a stop.
//!
//! No command is served during a call. Stops of other threads are reported only when the program is to go on. `under_way` handles the
//! events of a call.

mod temporaries;
mod under_way;

use super::Owner;
use super::activity::Activity;
use crate::breakpoints::site::Reason;
use crate::event::{Stop, StopReason};
use crate::{Address, Error, ThreadId};
use dapple_arch::InstructionSet;
use dapple_arch::code::decode;
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::calls::{Call, CallOptions, CallThreads, MOST_LEFT, PreparedCall, Returned};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_inspect::values::results;
use dapple_inspect::values::{Contents, Number, Value};
use dapple_symbols::functions::Language;
use dapple_symbols::location::Unavailable;
use dapple_target::process::Resume;
use dapple_target::signal_info::WholeSignal;
use dapple_target::wait_event::What;
use std::sync::Arc;

/// How many stops a thread may make at most on its way to a signal-delivery stop.
const MOST_STOPS: usize = 16;

/// A call under way.
#[derive(Debug)]
pub(super) struct InferiorCall {
    pub(super) thread: ThreadId,
    /// The return address.
    back: Address,
    /// The stack pointer after the return.
    sp: u64,
    /// How the call has ended. `None`: it hasn't.
    end: Option<End>,
    /// The children that the function has forked. They are killed, because they would also return to `back`, where the program can't go on.
    children: Vec<ThreadId>,
    /// If the function has forked: the end of a sentence about the function that describes the first fork. The function runs on, because it
    /// may hold locks: within fork(3) those of the C library, and in its own code perhaps some of the program.
    copied: Option<String>,
}

/// How a call has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Returned,
    /// The function has returned, but has forked before. The text is the end of a sentence about the function.
    Copied(String),
    /// The call was given up. The text is the end of a sentence about the function that says why; empty while the threads are being stopped.
    Failed(String),
    /// The function has called exec, and the thread runs another program.
    Executed,
    ThreadEnded,
}

/// A thread's state before a call, which is restored after the call.
struct Saved {
    registers: UserRegisters,
    extended: Option<Vec<u8>>,
    blocked: Option<u64>,
    signal: i32,
    particulars: Option<WholeSignal>,
    control: super::threads::Control,
}

fn cannot_call(name: &str, why: &str) -> Error {
    Error::Expression(format!("`{name}` can't be called: {why}"))
}

impl Owner {
    /// Calls a function on a thread. Returns its result.
    pub(super) fn call(
        &mut self,
        thread: ThreadId,
        call: &Call,
        options: &CallOptions,
    ) -> Result<Value, Error> {
        let name = &call.name;
        self.require_callable(thread)
            .map_err(|why| cannot_call(name, why))?;
        self.divert_for_call(options)?;
        self.finish_system_call(thread)?;
        let back = self
            .return_address()
            .map_err(|why| cannot_call(name, &why))?;
        let saved = self.save(thread).ok_or(Error::NoSuchThread(thread))?;
        let laid = self
            .lay_out(thread, call, saved.registers.sp(), back)
            .map_err(|why| cannot_call(name, &why))?;
        let end = self.run_call(thread, call.code, &laid, back, &saved, options);
        let end = match end {
            Ok(end) => end,
            Err(error) => {
                self.restore(thread, saved, back, true);
                self.end_call();
                return Err(error);
            }
        };
        if self.is_over() {
            return Err(Error::Expression(format!(
                "`{name}` was called, and the program has ended in it"
            )));
        }
        let value = (end == End::Returned).then(|| self.value_of(thread, call, &laid));
        match end {
            End::Executed | End::ThreadEnded => {}
            End::Returned | End::Copied(_) => self.restore(thread, saved, back, false),
            End::Failed(_) => self.restore(thread, saved, back, true),
        }
        self.end_call();
        self.renew_stacks();
        self.tell_tried();
        match value {
            Some(value) => value,
            None => Err(Error::Expression(self.without_result(thread, name, end))),
        }
    }

    pub(crate) fn forbid_calls(&mut self, forbidden: bool) {
        self.debuggee.forbids_calls = forbidden;
    }

    /// Checks that a function can be called on a thread now. The error is the end of a sentence that says why not.
    fn require_callable(&self, thread: ThreadId) -> Result<(), &'static str> {
        if self.debuggee.forbids_calls {
            return Err(
                "this session calls no functions of the program (\"callThreads\": \"none\")",
            );
        }
        if !self.is_stopped() {
            return Err("other threads run; a function is called while all are stopped");
        }
        if self.waits_for_vfork_child(thread) {
            return Err("the thread waits for its child (vfork), which has its memory");
        }
        if self.is_group_stopped() {
            return Err("a stop signal holds the program");
        }
        Ok(())
    }

    /// Writes a call's arguments onto the stack of a thread whose stack pointer is `sp`: below `sp`, and below the results that earlier calls
    /// at this stop have left there. `back` is the return address. The error is the end of a sentence.
    fn lay_out(
        &mut self,
        thread: ThreadId,
        call: &Call,
        sp: u64,
        back: Address,
    ) -> Result<PreparedCall, String> {
        let left = self.stack_left(thread).filter(|at| *at < sp);
        let laid = call.arguments.place(left.unwrap_or(sp), back)?;
        for (address, bytes) in &laid.writes {
            if self.write_bytes(*address, bytes).is_err() {
                return Err("the thread has no room left on its stack".to_owned());
            }
        }
        if laid.lasting_start != u64::MAX {
            let has_room = sp.saturating_sub(laid.lasting_start) < MOST_LEFT;
            if call.drops && !has_room {
                return Err("what it returns would have no room beside what other calls of this stop have left".to_owned());
            }
            let lowest = has_room.then_some(laid.lasting_start);
            self.set_stack_left(thread, lowest);
        }
        Ok(laid)
    }

    /// Describes a call that has ended without a result. If the thread runs another program now, also reports the thread's stop there.
    fn without_result(&mut self, thread: ThreadId, name: &str, end: End) -> String {
        match end {
            End::Failed(why) => format!(
                "`{name}` {why}; the call was aborted: registers and stack are as before, what it has written to memory stays"
            ),
            End::Copied(how) => format!(
                "`{name}` {how}; the copy was killed: registers and stack are as before, what the function has written to memory stays"
            ),
            End::Executed => {
                let address = self.registers(thread).map(|r| r.pc()).unwrap_or_default();
                let reason = StopReason::Pause;
                self.tell_stops(vec![Stop {
                    thread,
                    address,
                    reason,
                }]);
                format!("`{name}` was called, and has replaced the program by another")
            }
            End::Returned | End::ThreadEnded => {
                format!("`{name}` was called, and has ended its thread")
            }
        }
    }

    fn end_call(&mut self) {
        self.remove_sites(Reason::Call);
        self.activity = Activity::Free;
        // Commands that have come during the call were not served.
        self.link.waker.wake();
    }

    /// Lets a thread that is stopped inside fork(2), vfork(2), clone(2) or execve(2) run to the end of the system call, because the kernel
    /// has yet to write the result.
    pub(super) fn finish_system_call(&mut self, thread: ThreadId) -> Result<(), Error> {
        if !self.process().is_within_system_call(thread) {
            return Ok(());
        }
        self.write_back(thread);
        self.control(thread).registers = None;
        let stop = self
            .process()
            .resume(thread, Resume::UntilSystemCall, 0)
            .ok()
            .and_then(|()| self.next_of(thread));
        match stop {
            Some(event) if event.what == What::SystemCall => Ok(()),
            Some(event) => {
                self.handle_stop(event);
                self.perform();
                Err(Error::NotStopped)
            }
            None => Err(Error::NoSuchThread(thread)),
        }
    }

    /// The return address of calls: the program's second instruction. The program doesn't come there again after its start, and unwinding
    /// ends there.
    fn return_address(&self) -> Result<Address, String> {
        let program = self.modules().iter().find(|module| {
            let entry = module.module.entry();
            entry.0 != 0 && module.module.interpreter().is_some()
        });
        let program = program.or_else(|| self.modules().iter().next());
        let program = program.ok_or("the program's entry point is not known")?;
        let entry = program.to_process(program.module.entry());
        let mut code = [0; 16];
        let length = self.memory().read_some(entry, &mut code);
        let first = decode(
            self.modules().instruction_set(entry),
            &code[..length],
            entry,
        );
        let first = first.ok_or("the program's entry point can't be read")?;
        Ok(first.next())
    }

    fn save(&mut self, thread: ThreadId) -> Option<Saved> {
        self.write_back(thread);
        let registers = self.registers(thread)?;
        let control = std::mem::take(self.control(thread));
        // The thread's debug registers stay as they are set, so what is known about them stays, too.
        self.control(thread).watched = control.watched;
        self.control(thread).registers = Some(registers);
        let signal = control.signal;
        Some(Saved {
            registers,
            extended: self.process().extended_state(thread).ok(),
            blocked: self.process().signal_mask(thread).ok(),
            signal,
            particulars: (signal != 0)
                .then(|| self.process().whole_signal(thread).ok())
                .flatten(),
            control,
        })
    }

    /// Runs the function on the thread, and waits until the call has ended.
    fn run_call(
        &mut self,
        thread: ThreadId,
        code: Address,
        laid: &PreparedCall,
        back: Address,
        saved: &Saved,
        options: &CallOptions,
    ) -> Result<End, Error> {
        let system = |error: std::io::Error| Error::System {
            operation: "calling a function of the program".to_owned(),
            reason: error.to_string(),
        };
        self.insert_site(back, Reason::Call).map_err(system)?;
        self.watch_ways_out();
        self.stop_counting();
        if !laid.vectors.is_empty() {
            let mut vectors = self.process().vectors(thread).map_err(system)?;
            let first = self.process().machine().first_float();
            for (place, value) in vectors.iter_mut().skip(first).zip(&laid.vectors) {
                *place = *value;
            }
            self.process()
                .set_vectors(thread, &vectors)
                .map_err(system)?;
        }
        let mut registers = saved.registers;
        let vectors = laid.vectors.len() as u64;
        let machine = registers.machine();
        let code = machine.code_address(code.0);
        registers.begin_function(code, laid.sp, &laid.integers, vectors);
        registers.set_instruction_set(self.modules().instruction_set(code));
        // A return goes to the instruction set that the lowest bit says.
        let returns_to = match self.modules().instruction_set(back) {
            InstructionSet::Thumb => back.offset(1),
            _ => back,
        };
        registers.set_return_to(returns_to, laid.room);
        self.set_registers(thread, registers);
        self.activity = Activity::Call(InferiorCall {
            thread,
            back,
            sp: laid.sp + registers.machine().pushed_by_call(),
            end: None,
            children: Vec::new(),
            copied: None,
        });
        let follow = self.stops.follow_now();
        self.stops
            .follow(dapple_target::follow_forks::FollowForks::Parent);
        match options.threads {
            CallThreads::One => {
                self.set_running(Some(thread));
                self.release(thread);
            }
            CallThreads::All => {
                self.refresh_watched();
                self.set_running(None);
                for thread in self.stopped_threads() {
                    self.release(thread);
                }
            }
        }
        self.perform();
        self.attend_call(options);
        self.stops.follow(follow);
        let Some(call) = self.activity.call_mut() else {
            return Ok(End::ThreadEnded);
        };
        Ok(match (call.end.take(), call.copied.take()) {
            (Some(End::Returned), Some(copied)) => End::Copied(copied),
            (end, _) => end.unwrap_or(End::ThreadEnded),
        })
    }

    /// Restores a thread's state from before a call. The signal mask is restored only if the call was `given_up`: a function that has
    /// returned may have changed the mask on purpose.
    fn restore(&mut self, thread: ThreadId, saved: Saved, back: Address, given_up: bool) {
        if !self.is_live(thread) {
            return;
        }
        if saved.signal != 0 {
            self.reach_signal_stop(thread, back);
            if let Some(particulars) = &saved.particulars {
                let _ = self.process().set_whole_signal(thread, particulars);
            }
        }
        let mut registers = saved.registers;
        let was_within = self
            .registers(thread)
            .is_some_and(|now| now.goes_on_with_system_call());
        if was_within {
            // During the call, the thread was in another system call. The kernel has lost the state for continuing the one from before, so
            // that one is restarted.
            registers.restart_anew();
        }
        if let Some(extended) = &saved.extended {
            let _ = self.process().set_extended_state(thread, extended);
        }
        if let Some(blocked) = saved.blocked.filter(|_| given_up) {
            let _ = self.process().set_signal_mask(thread, blocked);
        }
        let control = self.control(thread);
        let (watched, pace) = (control.watched, std::mem::take(&mut control.pace));
        *control = saved.control;
        control.watched = watched;
        control.pace = pace;
        self.set_registers(thread, registers);
    }

    /// Brings a thread into a signal-delivery stop at `back`, the call's return site. The signal that the thread was about to get before the
    /// call can be delivered only from such a stop.
    fn reach_signal_stop(&mut self, thread: ThreadId, back: Address) {
        if self.process().is_before_signal(thread) {
            return;
        }
        let Some(mut registers) = self.registers(thread) else {
            return;
        };
        registers.forget_system_call();
        registers.set_pc(back);
        self.set_registers(thread, registers);
        for _ in 0..MOST_STOPS {
            let stop = self
                .process()
                .resume(thread, Resume::Continue, 0)
                .ok()
                .and_then(|()| self.next_of(thread));
            self.control(thread).registers = None;
            match stop.map(|event| event.what) {
                Some(What::Signal(libc::SIGTRAP)) | None => return,
                Some(What::Signal(signal)) => {
                    self.process().hand_back_signal(thread, signal);
                }
                Some(_) => {}
            }
        }
    }

    /// The result of the function that has just returned.
    fn value_of(
        &mut self,
        thread: ThreadId,
        call: &Call,
        laid: &PreparedCall,
    ) -> Result<Value, Error> {
        let kept = laid.kept;
        let registers = self.result_registers(thread);
        let mut registers = registers.ok_or(Error::NoSuchThread(thread))?;
        registers.room = laid.room;
        let result = registers
            .general
            .get(registers.general.machine().results()[0])
            .unwrap_or(0);
        let own = || {
            let module = self.modules().iter().next().cloned();
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
                let contents = contents.map(|contents| match (contents, kept) {
                    // The value's destructor is called later, with the value's address, so the value is written to memory.
                    (Contents::Bytes(bytes), Some(at)) => match self.write_bytes(at, &bytes) {
                        Ok(()) => Contents::Memory(at),
                        Err(_) => Contents::Bytes(bytes),
                    },
                    (contents, _) if call.drops => contents,
                    (contents, _) => self.kept(module, *id, contents),
                });
                results::value(module, *id, language, contents)
            }
            Returned::Pointer(module, target) => {
                let (address, target) = (result, *target);
                number(Arc::clone(module), Number::Pointer { address, target })
            }
            Returned::Float(size) => {
                let low = {
                    let first = registers.general.machine().first_float();
                    registers.vectors.map_or(0, |all| all[first] as u64)
                };
                let value = match size {
                    4 => f64::from(f32::from_bits(low as u32)),
                    _ => f64::from_bits(low),
                };
                number(own()?, Number::Float { value, size: *size })
            }
            Returned::Integer(size, signed) => {
                number(own()?, Number::integer(result.into(), *size, *signed))
            }
        })
    }

    /// The contents with which a result is shown. A result in memory is copied. The exception is a C++ object that may contain its own
    /// address: that one is shown where it is, on the thread's stack, until the thread runs.
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
}
