//! Makes an assignment's changes in the debuggee: all of them, or none if one is refused.
//!
//! Evaluating an expression changes nothing: for an assignment it gives a list of changes (`values::storing`), which this module writes.
//! Memory is written only where the user may write ([`Owner::writable`]). A register of a frame is written where its value is: in the
//! thread's own register, or in the stack slot in which an inner frame has saved it. The module also evaluates again after each inferior
//! call that an expression needs ([`Owner::with_calls`]).

use super::Owner;
use crate::{Address, Error, ThreadId};
use dapple_arch::registers::named::{FLAGS, SETTABLE, name_of as register_name};
use dapple_arch::registers::state;
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::calls::{CallOptions, CallThreads};
use dapple_inspect::eval::calls::Calls;
use dapple_inspect::eval::{self, Parsed, Statement};
use dapple_inspect::frame::{Frame, FrameId};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::unwind::{SavedAt, saved_at};
use dapple_inspect::values::extract_bits;
use dapple_inspect::values::storing::Change;
use dapple_inspect::values::{NamedValue, Rendered};
use std::ops::Range;

/// The target of an assignment.
#[derive(Debug, Clone)]
pub enum Target {
    /// A value that was shown. Boxed because it is large.
    Value(Box<NamedValue>),
    /// The object or register that an expression in the frame's language names: `$rax`, `$zf`, `$xmm0.f32[1]`.
    Expression(String),
}

/// What an assignment has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// The ranges of memory that were written.
    pub memory: Vec<Range<Address>>,
    /// Whether registers were changed.
    pub registers: bool,
    /// Whether stack frames may have changed, because the thread is at another instruction now or because other threads have run.
    pub moved: bool,
    /// Whether functions were called, which may have written anywhere.
    pub called: bool,
}

/// Where the value of a frame's register is.
enum Home {
    /// In this register of the thread.
    Live(u16),
    /// In memory: an inner frame has saved it.
    Saved(Address),
}

/// The state after all changes, which is collected before any of it is written.
struct NewState {
    registers: UserRegisters,
    extended: Option<Vec<u8>>,
    pieces: Vec<(Address, Vec<u8>)>,
}

fn refused(why: String) -> Error {
    Error::Expression(why)
}

/// Changes the program's own flags in `registers`. The error names another flag that `merge` would change.
fn change_flags(merge: impl Fn(u128) -> u128, registers: &mut UserRegisters) -> Result<(), Error> {
    let before = registers.flags();
    let after = merge(before.into()) as u64;
    let mut others = FLAGS
        .iter()
        .filter(|(bit, _)| ((before ^ after) & !SETTABLE) >> bit & 1 == 1);
    if let Some((_, flag)) = others.next() {
        let why = format!("flag {flag} can't be set: it is not the program's own");
        return Err(refused(why));
    }
    registers.set_flags(before & !SETTABLE | after & SETTABLE);
    Ok(())
}

impl Owner {
    pub(crate) fn assign(
        &mut self,
        target: &Target,
        text: &str,
        frame: Option<FrameId>,
        options: &CallOptions,
    ) -> (Result<(), Error>, Changed) {
        let calls = Calls::default();
        let changes = self.with_calls(frame, options, &calls, |owner, frame| {
            owner.changes_for(target, text, frame, &calls)
        });
        let (changes, thread) = match changes {
            Ok(found) => found,
            Err(error) => return (Err(error), calls_alone(&calls, options)),
        };
        let (written, changed) = self.written(thread, &changes, &calls, options);
        let dropped = self.drop_temporaries(thread, &calls, None, options);
        (written.and(dropped), changed)
    }

    /// The changes that assigning the value of the expression `text` to a target has to make.
    fn changes_for(
        &mut self,
        target: &Target,
        text: &str,
        frame: &Frame,
        calls: &Calls,
    ) -> Result<Vec<Change>, Error> {
        let reader = self.reader_for(frame.id.thread);
        let target = match target {
            Target::Value(named) => {
                let name = named.expression.as_ref().unwrap_or(&named.name);
                eval::Target::Value(&named.value, name)
            }
            Target::Expression(expression) => eval::Target::Expression(expression),
        };
        eval::changes(&target, text, frame, &reader, calls)
    }

    /// Makes an assignment's changes. The answer includes what the inferior calls that evaluating it took may have changed.
    fn written(
        &mut self,
        thread: ThreadId,
        changes: &[Change],
        calls: &Calls,
        options: &CallOptions,
    ) -> (Result<(), Error>, Changed) {
        let called = calls_alone(calls, options);
        self.move_temporaries(calls, changes);
        let allowed = match changes {
            [] => Ok(()),
            _ => self.will_change(),
        };
        match allowed.and_then(|()| self.write(thread, changes)) {
            Ok(changed) => {
                let changed = Changed {
                    moved: changed.moved || called.moved,
                    called: called.called,
                    ..changed
                };
                (Ok(()), changed)
            }
            Err(error) => (Err(error), called),
        }
    }

    /// Runs `evaluate` in a frame (`None`: the innermost frame of the thread that stopped). Each time `evaluate` wants a function called,
    /// calls the function and runs `evaluate` again. Returns the result and the frame's thread. The caller then runs the destructors of the
    /// calls' temporaries ([`Owner::drop_temporaries`]); after an error they have been run already.
    pub(super) fn with_calls<T>(
        &mut self,
        frame: Option<FrameId>,
        options: &CallOptions,
        calls: &Calls,
        mut evaluate: impl FnMut(&mut Owner, &Frame) -> Result<T, Error>,
    ) -> Result<(T, ThreadId), Error> {
        loop {
            let here = self.frame_or_current(frame)?;
            let thread = self.thread_for(Some(here.id.thread));
            let found = evaluate(self, &here);
            let Some(call) = calls.wanted() else {
                if found.is_err() {
                    let _ = self.drop_temporaries(thread, calls, None, options);
                }
                return found.map(|found| (found, thread));
            };
            calls.begins();
            match self.call(thread, &call, options) {
                Ok(value) => calls.made(value),
                Err(error) => {
                    let _ = self.drop_temporaries(thread, calls, None, options);
                    return Err(error);
                }
            }
        }
    }

    /// As [`Inspect::evaluate`], but the expression may call functions of the program. Also returns what the calls may have changed.
    pub(crate) fn evaluate_calling(
        &mut self,
        text: &str,
        frame: Option<FrameId>,
        options: &CallOptions,
    ) -> (Result<(NamedValue, Rendered), Error>, Changed) {
        let options = &CallOptions {
            in_copy: true,
            ..options.clone()
        };
        let calls = Calls::default();
        let found = self.with_calls(frame, options, &calls, |owner, frame| {
            let parsed = Parsed::calling(text, frame.language)?;
            let reader = owner.reader_for(frame.id.thread);
            parsed.value_with(frame, &reader, Some(&calls))
        });
        let shown = found.and_then(|(named, thread)| {
            let rendered = self.reader().render(&named.value);
            self.drop_temporaries(thread, &calls, Some(&named.value), options)?;
            Ok((named, rendered))
        });
        (shown, calls_alone(&calls, options))
    }

    pub(crate) fn execute(
        &mut self,
        text: &str,
        frame: Option<FrameId>,
        options: &CallOptions,
    ) -> (Result<(NamedValue, Rendered), Error>, Changed) {
        let calls = Calls::default();
        let found = self.with_calls(frame, options, &calls, |owner, frame| {
            let reader = owner.reader_for(frame.id.thread);
            Ok(match Statement::new(text, frame.language)? {
                Statement::Value(parsed) => {
                    Done::Value(parsed.value_with(frame, &reader, Some(&calls))?)
                }
                Statement::Assignment(assignment) => {
                    let changes = assignment.changes(frame, &reader, &calls)?;
                    Done::Assignment(assignment.assigned(), changes)
                }
            })
        });
        let (done, thread) = match found {
            Ok(found) => found,
            Err(error) => return (Err(error), calls_alone(&calls, options)),
        };
        let (target, changes) = match done {
            Done::Value(named) => {
                let rendered = self.reader().render(&named.value);
                let dropped = self.drop_temporaries(thread, &calls, Some(&named.value), options);
                let shown = dropped.map(|()| (named, rendered));
                return (shown, calls_alone(&calls, options));
            }
            Done::Assignment(target, changes) => (target, changes),
        };
        let (written, changed) = self.written(thread, &changes, &calls, options);
        let shown = written.and_then(|()| {
            let here = self.frame_or_current(frame)?;
            let reader = self.reader_for(here.id.thread);
            let named = target.value_with(&here, &reader, Some(&calls))?;
            let rendered = self.reader().render(&named.value);
            Ok((named, rendered))
        });
        let dropped = self.drop_temporaries(thread, &calls, None, options);
        (shown.and_then(|shown| dropped.map(|()| shown)), changed)
    }

    /// Makes the changes: all, or none if one is refused. Registers among them are those of frames of `thread`.
    fn write(&mut self, thread: ThreadId, changes: &[Change]) -> Result<Changed, Error> {
        let now = self.registers(thread).ok_or(Error::NoSuchThread(thread))?;
        let mut new = NewState {
            registers: now,
            extended: None,
            pieces: Vec::new(),
        };
        let machine = self.process().machine();
        for change in changes {
            match change {
                Change::Memory { address, bytes } => new.pieces.push((*address, bytes.clone())),
                Change::Register {
                    number,
                    level,
                    skip,
                    count,
                    value,
                } => {
                    let home = self.home(thread, *number, *level);
                    let home = home.map_err(Error::Expression)?;
                    let merge = |before| merged(before, *skip, *count, *value);
                    match home {
                        Home::Live(number) if state::has(machine, number) => {
                            self.change_extended(thread, number, merge, &mut new)?;
                        }
                        Home::Live(number) if state::is_flags(machine, number) => {
                            change_flags(merge, &mut new.registers)?
                        }
                        Home::Live(number) => {
                            let before = new.registers.to_dwarf().get(number).unwrap_or(0);
                            let after = merge(before.into()) as u64;
                            if skip + count > 64 || !new.registers.set(number, after) {
                                let name = register_name(self.process().machine(), number);
                                return Err(refused(format!("register {name} can't be set")));
                            }
                        }
                        Home::Saved(address) => {
                            self.change_saved(address, merge, &mut new.pieces)?
                        }
                    }
                }
            }
        }
        self.apply(thread, &now, new)
    }

    /// Changes a register of the floating-point and vector units in `new`.
    fn change_extended(
        &self,
        thread: ThreadId,
        number: u16,
        merge: impl Fn(u128) -> u128,
        new: &mut NewState,
    ) -> Result<(), Error> {
        let state = match &mut new.extended {
            Some(state) => state,
            none => none.insert(self.process().extended_state(thread).map_err(system)?),
        };
        let name = register_name(self.process().machine(), number);
        let unfit = |why| refused(format!("register {name} {why}"));
        let machine = self.process().machine();
        let before = state::bits(machine, state, number).map_err(unfit)?;
        state::set_bits(machine, state, number, merge(before)).map_err(unfit)
    }

    /// Adds to `pieces` the change of a register that an inner frame has saved at `address`.
    fn change_saved(
        &self,
        address: Address,
        merge: impl Fn(u128) -> u128,
        pieces: &mut Vec<(Address, Vec<u8>)>,
    ) -> Result<(), Error> {
        // An earlier change may set another part of the same slot.
        let pending = pieces.iter().rposition(|(at, _)| *at == address);
        let before = match pending.map(|index| pieces.remove(index).1) {
            Some(bytes) => extract_bits(&bytes, 0, 64) as u64,
            None => self.memory().read_address(address).map_err(no_memory)?,
        };
        let after = merge(before.into()) as u64;
        let size = self.memory().address_size() as usize;
        pieces.push((address, after.to_le_bytes()[..size].to_vec()));
        Ok(())
    }

    /// Writes the changed state of a thread and of memory. `now` has the thread's registers before the change.
    fn apply(
        &mut self,
        thread: ThreadId,
        now: &UserRegisters,
        new: NewState,
    ) -> Result<Changed, Error> {
        let NewState {
            registers,
            extended,
            pieces,
        } = new;
        let before = now.to_dwarf();
        let after = registers.to_dwarf();
        let moved = before.pc() != after.pc();
        let is_other = before != after || now.flags() != registers.flags();
        if moved {
            self.require_code(registers.pc())?;
        }
        self.write_all(&pieces)?;
        if let Some(state) = &extended {
            self.process()
                .set_extended_state(thread, state)
                .map_err(system)?;
        }
        if moved {
            self.place(thread, registers);
        } else if is_other {
            self.set_registers(thread, registers);
        }
        for (address, bytes) in &pieces {
            self.memory_changed(*address, bytes.len());
        }
        self.renew_stacks();
        let range = |(address, bytes): (Address, Vec<u8>)| {
            address..Address(address.0.saturating_add(bytes.len() as u64))
        };
        Ok(Changed {
            memory: pieces.into_iter().map(range).collect(),
            registers: extended.is_some() || is_other,
            moved,
            called: false,
        })
    }

    /// Where the value of a register of the frame at `level` is (0: the innermost). The error is a sentence that says why it can't be set.
    fn home(&mut self, thread: ThreadId, number: u16, level: usize) -> Result<Home, String> {
        let lost = || {
            let name = register_name(self.process().machine(), number);
            format!(
                "register {name} can't be set in this frame: a call further in has not saved it"
            )
        };
        let machine = self.process().machine();
        if level > 0 && [machine.pc(), machine.sp()].contains(&number) {
            let name = register_name(self.process().machine(), number);
            return Err(format!(
                "register {name} can be set in the innermost frame only"
            ));
        }
        let mut number = number;
        let stack = self.unwound_stack(thread).ok_or_else(lost)?;
        for frame in stack.physical().get(..level).ok_or_else(lost)?.iter().rev() {
            match saved_at(frame, number, self.modules(), self.memory()) {
                SavedAt::Register(other) => number = other,
                SavedAt::Memory(address) => return Ok(Home::Saved(address)),
                SavedAt::Nowhere => return Err(lost()),
            }
        }
        Ok(Home::Live(number))
    }

    fn require_code(&self, address: Address) -> Result<(), Error> {
        let mappings = self.process().mappings();
        let is_code = mappings
            .iter()
            .any(|m| m.execute && (m.start..m.end).contains(&address.0));
        let is_code = is_code || mappings.is_empty() && self.can_be_read(address);
        match is_code {
            true => Ok(()),
            false => Err(Error::Expression(format!("there is no code at {address}"))),
        }
    }

    /// Writes all pieces. If one can't be written or isn't [`Owner::writable`], memory stays or becomes again as it was.
    fn write_all(&mut self, pieces: &[(Address, Vec<u8>)]) -> Result<(), Error> {
        let mut before = Vec::with_capacity(pieces.len());
        for (address, bytes) in pieces {
            if let (_, Some(why)) = self.writable(*address, bytes.len()) {
                return Err(Error::Expression(why));
            }
            let mut there = vec![0; bytes.len()];
            self.memory()
                .read(*address, &mut there)
                .map_err(no_memory)?;
            before.push((*address, there));
        }
        for (address, bytes) in pieces {
            if let Err((_, error)) = self.write_pages(*address, bytes) {
                for (address, bytes) in before.iter().rev() {
                    let _ = self.write_pages(*address, bytes);
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

/// What a statement evaluates to before anything is written.
enum Done {
    Value(NamedValue),
    Assignment(Parsed, Vec<Change>),
}

/// The changes to report if nothing was assigned: those that the inferior calls may have made.
fn calls_alone(calls: &Calls, options: &CallOptions) -> Changed {
    let called = calls.were_made();
    Changed {
        called,
        moved: called && options.threads == CallThreads::All,
        ..Changed::default()
    }
}

fn no_memory(at: Address) -> Error {
    Error::Expression(format!("there is no memory at {at}"))
}

fn system(error: std::io::Error) -> Error {
    Error::System {
        operation: "writing to the program".to_owned(),
        reason: error.to_string(),
    }
}

/// `before` with `count` bits from bit `skip` on replaced by `value`.
fn merged(before: u128, skip: u64, count: u64, value: u128) -> u128 {
    if skip >= 128 || count == 0 {
        return before;
    }
    let mask = (u128::MAX >> (128 - count.min(128))) << skip;
    before & !mask | value << skip & mask
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn the_bits_around_those_that_are_set_stay() {
        assert_eq!(merged(0xffff, 4, 8, 0), 0xf00f);
        assert_eq!(merged(0, 64, 64, u128::MAX), u128::MAX << 64);
        assert_eq!(merged(7, 0, 128, 1), 1);
        assert_eq!(merged(7, 128, 8, 1), 7);
    }
}
