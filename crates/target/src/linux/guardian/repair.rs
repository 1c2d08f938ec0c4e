//! The guardian's work: it sleeps until the debugger ends, and then restores the process.
//!
//! This code runs in the forked child of a multi-threaded process: no allocation, no lock but the mutex that it shares with the debugger,
//! nothing of the standard library that isn't a system call. It does the most urgent work first. Trampolines are made to decide nothing, and
//! breakpoint bytes that are still inserted are replaced by the original bytes. As soon as the kernel has detached the debugger, all threads
//! are seized and stopped; a thread that has hit a breakpoint or is in a copy of an instruction is moved back to the program's own code. If
//! all could be stopped, jumps and copies are removed. If not, a child of vfork(2) may be in the memory: jumps are left until all can be.

use super::{Copied, Deciding, Inserted, Kept, MOST_BYTES, MOST_COPIES, MOST_TRAMPOLINES, Shared};
use crate::linux::inherited::stand_alone;
use crate::linux::{debug_registers, injected, ptrace, wait};
use crate::{Address, ThreadId};
use dapple_arch::displaced::ROOM;
use dapple_arch::jump_site::JUMP;
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::signal_frame;
use dapple_arch::trap::{NOP, TRAP};
use dapple_arch::trap_handler;
use std::ffi::CStr;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most threads that can be restored.
const MOST_THREADS: usize = 1 << 16;
/// How long the dying debugger may take to end, and then how long the threads may take to stop, in milliseconds. A thread in an
/// uninterruptible sleep takes longer, but the others must not stay stopped for that long.
const PATIENCE: i64 = 10_000;
const PATIENCE_WITH_THREADS: i64 = 500;
/// How long threads may take to stop while jumps or the handler are left, in milliseconds. The others run meanwhile.
const PATIENCE_WITH_JUMPS: i64 = 600_000;
/// How many attempts to seize the threads are made without sleeping in between. While the guardian sleeps, a thread may run into a trap.
const EAGER: u32 = 2_000;
/// How often in a row seizing a thread is tried before the CPU is yielded.
const AT_ONCE: u32 = 200;
/// How much of a thread's stack is searched for the frames of signal handlers, in bytes.
const SEARCHED_STACK: usize = 1 << 18;
/// The `si_code`s of SIGTRAP after an executed `int3`, after a single step over a system call, after any other step, and after a debug
/// register's trap.
const SI_KERNEL: i32 = 0x80;
const TRAP_BRKPT: i32 = 1;
const TRAP_TRACE: i32 = 2;
const TRAP_HWBKPT: i32 = 4;
/// The `si_code` of a stop that is no signal: the kernel has begun a signal handler in a thread that makes a single step, and tells so.
const BEGINS_HANDLER: i32 = libc::SIGTRAP;

/// The signals that a lent thread may leave unblocked: SIGTRAP, and those that can't be blocked.
const UNBLOCKED: u64 =
    1 << (libc::SIGTRAP - 1) | 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);

/// A thread that was seized.
#[derive(Clone, Copy)]
struct Held {
    thread: ThreadId,
    stopped: bool,
    /// Delivered at detach; 0 for none.
    signal: i32,
}

/// The guardian's main function.
pub(super) fn guard(shared: *mut Shared, kept: Kept) -> ! {
    // SAFETY: system calls on this process alone; the mapping stays as long as it lives.
    unsafe {
        stand_alone(c"debug guardian", kept.memory, kept.folder);
        // The table of threads; its pages are allocated only if it is used.
        let threads = libc::mmap(
            std::ptr::null_mut(),
            size_of::<[Held; MOST_THREADS]>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        let ended = libc::pthread_mutex_lock((*shared).alive.get());
        if ended == libc::EOWNERDEAD && threads != libc::MAP_FAILED {
            let threads = std::slice::from_raw_parts_mut(threads.cast::<Held>(), MOST_THREADS);
            Repair {
                shared: &*shared,
                kept,
                threads,
                count: 0,
                deadline: now() + PATIENCE,
            }
            .run();
        }
        libc::_exit(0)
    }
}

/// Milliseconds of the monotonic clock.
fn now() -> i64 {
    // SAFETY: the kernel fills the structure.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}

/// Yields the CPU: at first by `sched_yield`, after [`EAGER`] times by a short sleep.
fn rest(times: u32) {
    // SAFETY: the calls read no memory but the constant.
    unsafe {
        if times < EAGER {
            libc::sched_yield();
        } else {
            let while_ = libc::timespec {
                tv_sec: 0,
                tv_nsec: 500_000,
            };
            libc::nanosleep(&while_, std::ptr::null_mut());
        }
    }
}

struct Repair<'a> {
    shared: &'a Shared,
    kept: Kept,
    threads: &'a mut [Held],
    /// How many entries of `threads` are in use.
    count: usize,
    deadline: i64,
}

impl Repair<'_> {
    fn run(&mut self) {
        self.repair();
        self.disarm();
    }

    fn repair(&mut self) {
        self.decide_nothing();
        self.restore_bytes();
        let end = now() + PATIENCE_WITH_JUMPS;
        // If the threads can't be traced, what is left is harmless: copies of instructions end with a jump back, and so do trampolines.
        while self.hold_threads() {
            // Again, now that the threads have stopped, as far as they did in time: a program that writes its own code may have written a
            // breakpoint byte back meanwhile.
            self.restore_bytes();
            for index in 0..self.count {
                if self.threads[index].stopped {
                    self.put_right(self.threads[index].thread);
                }
            }
            let all_stopped = self.all_stopped();
            if all_stopped {
                self.restore_jumps();
                self.restore_copies();
            }
            self.let_stopped_go();
            let waits = self.has_jumps() || self.handler().is_some();
            if all_stopped || !waits || !self.await_another(end) {
                return;
            }
        }
        if self.handler().is_some() {
            // Somebody else traces it, or nobody may. Threads that had a stop which nobody has taken get its SIGTRAP by now.
            self.wait_a_moment();
        }
    }

    fn wait_a_moment(&self) {
        let end = now() + PATIENCE_WITH_THREADS;
        while now() < end {
            rest(EAGER);
        }
    }

    /// The memory of the handler of SIGTRAP.
    fn handler(&self) -> Option<u64> {
        Some(self.shared.handler.load(Ordering::Acquire)).filter(|page| *page != 0)
    }

    /// Detaches from the threads that are stopped. Those that are still to stop stay seized, and those that were killed in their stop: their
    /// ends have to be waited for, else the process stays a zombie.
    fn let_stopped_go(&mut self) {
        let mut left = 0;
        for index in 0..self.count {
            let held = self.threads[index];
            if !held.stopped || ptrace::detach(held.thread, held.signal).is_err() {
                self.threads[left] = Held {
                    stopped: false,
                    ..held
                };
                left += 1;
            }
        }
        self.count = left;
    }

    /// Waits until a thread stops or ends that didn't stop in time. `false`: none does.
    fn await_another(&mut self, end: i64) -> bool {
        let before = self.count;
        while self.count == before && !self.threads[..self.count].iter().any(|held| held.stopped) {
            if now() > end {
                return false;
            }
            rest(EAGER);
            self.take_stops();
        }
        self.deadline = now() + PATIENCE_WITH_THREADS;
        true
    }

    /// Makes all threads go on that come to a trampoline, or are in one.
    fn decide_nothing(&self) {
        let used = self.shared.trampolines.load(Ordering::Acquire) as usize;
        for Deciding { switch, ask } in &self.shared.deciding[..used.min(MOST_TRAMPOLINES)] {
            let (switch, ask) = (switch.load(Ordering::Acquire), ask.load(Ordering::Acquire));
            if switch == 0 {
                continue;
            }
            self.write(switch, &[0]);
            if self.byte(ask) == Some(TRAP) {
                self.write(ask, &[NOP]);
            }
        }
    }

    fn inserted(&self) -> impl Iterator<Item = (u64, &Inserted)> {
        let used = self.shared.bytes.load(Ordering::Acquire) as usize;
        let entries = self.shared.inserted[..used.min(MOST_BYTES)].iter();
        let known = entries.map(|entry| (entry.address.load(Ordering::Acquire), entry));
        known.filter(|(address, _)| *address != 0)
    }

    fn restore_bytes(&self) {
        for (address, entry) in self.inserted() {
            if self.byte(address) != Some(TRAP) {
                continue;
            }
            let original = bytes_of(&entry.original);
            if entry.jump.load(Ordering::Acquire) != 0 {
                // The jump was being written or removed under the `int3`: a part of it may be there.
                self.write(address + 1, &original[1..]);
            }
            self.write(address, &original[..1]);
        }
    }

    fn has_jumps(&self) -> bool {
        self.inserted()
            .any(|(_, entry)| entry.jump.load(Ordering::Acquire) != 0)
    }

    /// Replaces jumps by the original bytes. No thread may run: none is at the bytes, but it could come there meanwhile.
    fn restore_jumps(&self) {
        for (address, entry) in self.inserted() {
            let mut now = [0; JUMP];
            let is_jump = entry.jump.load(Ordering::Acquire) != 0
                && self.read(address, &mut now)
                && now == bytes_of(&entry.jump);
            if is_jump {
                self.write(address, &bytes_of(&entry.original));
            }
        }
    }

    fn byte(&self, address: u64) -> Option<u8> {
        let mut byte = [0];
        self.read(address, &mut byte).then_some(byte[0])
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.read_some(address, buffer) == buffer.len()
    }

    /// Reads up to where the memory ends. Returns how many bytes were read.
    fn read_some(&self, address: u64, buffer: &mut [u8]) -> usize {
        let offset = address.cast_signed();
        // SAFETY: reads into the buffer, no more than it has.
        let read = unsafe {
            libc::pread64(
                self.kept.memory,
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                offset,
            )
        };
        usize::try_from(read).unwrap_or(0)
    }

    fn write(&self, address: u64, bytes: &[u8]) {
        let offset = address.cast_signed();
        // SAFETY: writes from the slice to the process's memory. A refused write means that the memory is unmapped.
        unsafe { libc::pwrite64(self.kept.memory, bytes.as_ptr().cast(), bytes.len(), offset) };
    }

    /// Seizes and stops all threads, including those created meanwhile. Returns `false` if the kernel refuses; `true` also if some threads
    /// haven't stopped in time.
    fn hold_threads(&mut self) -> bool {
        let mut left_alone = false;
        let mut times = 0;
        loop {
            let found = self.seize_new();
            if found == Found::Refused {
                // Gives up only if the process was already untraced before this attempt. If it is untraced only now, the debugger may have
                // ended after the attempt was refused, so one more attempt follows.
                if left_alone || now() > self.deadline {
                    return false;
                }
                left_alone = !self.is_traced();
            } else {
                if found == Found::Nothing && self.all_stopped() {
                    return true;
                }
                self.take_stops();
                if now() > self.deadline {
                    return true;
                }
            }
            rest(times);
            times += 1;
        }
    }

    fn all_stopped(&self) -> bool {
        self.threads[..self.count].iter().all(|held| held.stopped)
    }

    /// Whether the process is still traced, by the debugger, which is about to end.
    fn is_traced(&self) -> bool {
        let mut text = [0u8; 2048];
        let Some(length) = self.read_file(c"status", &mut text) else {
            return false;
        };
        const FIELD: &[u8] = b"TracerPid:\t";
        let text = &text[..length];
        let field = text.windows(FIELD.len()).position(|part| part == FIELD);
        field.is_some_and(|at| {
            text.get(at + FIELD.len())
                .is_some_and(|digit| *digit != b'0')
        })
    }

    fn read_file(&self, name: &CStr, buffer: &mut [u8]) -> Option<usize> {
        // SAFETY: opens, reads no more than the buffer has, and closes.
        unsafe {
            let file = libc::openat(self.kept.folder, name.as_ptr(), libc::O_RDONLY);
            if file == -1 {
                return None;
            }
            let length = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
            libc::close(file);
            usize::try_from(length).ok()
        }
    }

    /// Seizes the threads that aren't seized yet.
    fn seize_new(&mut self) -> Found {
        // SAFETY: opens the directory of the guarded process; fails if that has ended.
        let folder = unsafe {
            libc::openat(
                self.kept.folder,
                c"task".as_ptr(),
                libc::O_RDONLY | libc::O_DIRECTORY,
            )
        };
        if folder == -1 {
            return Found::Nothing;
        }
        let found = self.seize_listed(folder);
        // SAFETY: opened above.
        unsafe { libc::close(folder) };
        found
    }

    fn seize_listed(&mut self, folder: RawFd) -> Found {
        let mut found = Found::Nothing;
        let mut entries = [0u8; 4096];
        loop {
            // SAFETY: the kernel writes entries of no more than the buffer's length.
            let length = unsafe {
                libc::syscall(
                    libc::SYS_getdents64,
                    folder,
                    entries.as_mut_ptr(),
                    entries.len(),
                )
            };
            let Some(mut rest) = usize::try_from(length)
                .ok()
                .and_then(|length| entries.get(..length))
                .filter(|rest| !rest.is_empty())
            else {
                return found;
            };
            while let Some(thread) = next_entry(&mut rest) {
                let Some(thread) = thread else { continue };
                if self.threads[..self.count]
                    .iter()
                    .any(|h| h.thread == thread)
                {
                    continue;
                }
                match self.seize(thread) {
                    Found::Refused => return Found::Refused,
                    Found::New => found = Found::New,
                    Found::Nothing => {}
                }
            }
        }
    }

    fn seize(&mut self, thread: ThreadId) -> Found {
        let Some(place) = self.threads.get_mut(self.count) else {
            return Found::Nothing;
        };
        // The kernel detaches all of a dead tracer's threads at once, so repeating matters only until the first seize succeeds.
        for _ in 0..AT_ONCE {
            match ptrace::seize(thread, 0) {
                Ok(()) => {
                    let _ = ptrace::interrupt(thread);
                    *place = Held {
                        thread,
                        stopped: false,
                        signal: 0,
                    };
                    if self.count == 0 {
                        self.deadline = now() + PATIENCE_WITH_THREADS;
                    }
                    self.count += 1;
                    return Found::New;
                }
                Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
                Err(_) => return Found::Nothing,
            }
        }
        match self.has_ended(thread) {
            true => Found::Nothing,
            false => Found::Refused,
        }
    }

    /// Whether a thread has ended, or its state can't be read. A main thread stays listed as a zombie until the others have ended, too.
    fn has_ended(&self, thread: ThreadId) -> bool {
        let mut name = *b"task/0000000000/stat\0";
        let (mut number, mut at) = (thread.0, 15);
        while at > 5 {
            at -= 1;
            name[at] = b'0' + (number % 10).unsigned_abs() as u8;
            number /= 10;
        }
        // `/proc` has no entries with leading zeros.
        let zeros = name[5..15]
            .iter()
            .take_while(|digit| **digit == b'0')
            .count();
        name.copy_within(5 + zeros.., 5);
        let Ok(name) = CStr::from_bytes_until_nul(&name) else {
            return true;
        };
        let mut text = [0u8; 256];
        let Some(length) = self.read_file(name, &mut text) else {
            return true;
        };
        // `id (name) state`, proc_pid_stat(5); the name may contain parentheses.
        let text = &text[..length];
        let behind = text.iter().rposition(|byte| *byte == b')');
        let state = behind.and_then(|at| text.get(at + 2));
        matches!(state, None | Some(b'Z' | b'X'))
    }

    /// Records which threads have stopped, and forgets those that have ended.
    fn take_stops(&mut self) {
        let mut index = 0;
        while index < self.count {
            let held = self.threads[index];
            index += 1;
            if held.stopped {
                continue;
            }
            let Some(status) = wait::status_now(held.thread) else {
                continue;
            };
            if !libc::WIFSTOPPED(status) {
                index -= 1;
                self.count -= 1;
                self.threads[index] = self.threads[self.count];
                continue;
            }
            let signal = self.stopped(held.thread, status);
            let Some(signal) = signal else { continue };
            let stopped = !self.leaves_handler(held.thread);
            let held = &mut self.threads[index - 1];
            held.stopped = stopped;
            if signal != 0 {
                held.signal = signal;
            }
        }
    }

    /// The signal to deliver to a stopped thread at detach, 0 for none. `None`: the thread was continued, and its next stop decides. Moves a
    /// thread that has hit a breakpoint of the debugger back to the breakpoint's address.
    fn stopped(&self, thread: ThreadId, status: i32) -> Option<i32> {
        if status >> 16 == libc::PTRACE_EVENT_STOP {
            if libc::WSTOPSIG(status) == libc::SIGTRAP && ptrace::trap_pending(thread) {
                let _ = ptrace::cont(thread, 0);
                return None;
            }
            return Some(0);
        }
        let signal = libc::WSTOPSIG(status);
        if signal != libc::SIGTRAP {
            return Some(signal);
        }
        let Ok(info) = ptrace::signal_info(thread) else {
            return Some(0);
        };
        match info.code {
            // The debugger's single step or watchpoint, or a step of this guardian.
            TRAP_BRKPT | TRAP_TRACE | TRAP_HWBKPT | BEGINS_HANDLER => Some(0),
            SI_KERNEL => {
                let Ok(mut registers) = ptrace::registers(thread) else {
                    return Some(0);
                };
                let at = registers.pc().offset(-1);
                if self.byte(at.0) == Some(TRAP) {
                    // An `int3` of the program's own.
                    return Some(signal);
                }
                registers.set_pc(at);
                let _ = ptrace::set_registers(thread, &registers);
                Some(0)
            }
            _ => Some(signal),
        }
    }

    /// Whether a stopped thread is in the handler of SIGTRAP, and was made to take one more step out of it. The handler returns to where the thread
    /// has trapped, which may be in a copy of an instruction: only there it can be put right.
    fn leaves_handler(&self, thread: ThreadId) -> bool {
        let Some(page) = self.handler() else {
            return false;
        };
        let is_inside = |pc: Address| pc.0.wrapping_sub(page) < trap_handler::PAGE;
        ptrace::registers(thread).is_ok_and(|registers| is_inside(registers.pc()))
            && ptrace::step(thread, 0).is_ok()
    }

    /// Lets SIGTRAP do what it does by default: no thread runs into a breakpoint any more.
    fn disarm(&self) {
        if let Some(page) = self.handler() {
            self.write(page + trap_handler::DISARMED, &[1]);
        }
    }

    /// Clears a stopped thread's debug registers, gives it back what it had before it was lent, and moves it out of a copy of an instruction.
    fn put_right(&self, thread: ThreadId) {
        self.give_back(thread);
        self.untrap_time(thread);
        if debug_registers::are_in_use(thread) {
            let _ = debug_registers::set(thread, &[None; _]);
        }
        let Ok(mut registers) = ptrace::registers(thread) else {
            return;
        };
        self.put_frames_right(registers.sp());
        let Some(right) = self.left_copy(registers.pc()) else {
            return;
        };
        registers.set_pc(right);
        let _ = ptrace::set_registers(thread, &registers);
    }

    /// A signal may have come to a thread in a copy after the debugger's end, and its handler runs now: corrects where that returns to.
    fn put_frames_right(&self, sp: u64) {
        const PART: usize = 4096;
        let starts = || { self.copies() }.map(|entry| entry.start.load(Ordering::Acquire));
        let (Some(first), Some(last)) = (starts().filter(|at| *at != 0).min(), starts().max())
        else {
            return;
        };
        let all = first..last.saturating_add(ROOM as u64);
        let mut part = [0; PART];
        let begin = sp & !7;
        for offset in (0..SEARCHED_STACK).step_by(PART) {
            let at = begin.wrapping_add(offset as u64);
            // The stack may end within the part, soon behind the frame.
            let count = self.read_some(at, &mut part);
            for (place, word) in (at..).step_by(8).zip(part[..count].as_chunks().0) {
                let word = u64::from_le_bytes(*word);
                if all.contains(&word)
                    && let Some(right) = self.left_copy(Address(word))
                    && self.is_return_of_handler(place)
                {
                    self.write(place, &right.0.to_le_bytes());
                }
            }
            if count < PART {
                return;
            }
        }
    }

    /// Whether a word on the stack is the instruction pointer to which a signal handler returns, by what is around it.
    fn is_return_of_handler(&self, place: u64) -> bool {
        let mut frame = [0; signal_frame::UP_TO_SEGMENTS];
        let begin = place.wrapping_sub(signal_frame::SAVED_PC);
        self.read(begin, &mut frame) && signal_frame::is_signal_frame(&frame)
    }

    fn give_back(&self, thread: ThreadId) {
        let lent = &self.shared.lent;
        if lent.thread.load(Ordering::Acquire) != u64::from(thread.0.unsigned_abs()) {
            return;
        }
        let calls_at = lent.calls_at.load(Ordering::Acquire);
        let calls = |registers: UserRegisters| {
            calls_at != 0 && registers.pc().0.wrapping_sub(calls_at) < ROOM as u64
        };
        if ptrace::registers(thread).is_ok_and(calls) {
            let words = std::array::from_fn(|index| lent.registers[index].load(Ordering::Acquire));
            let _ = ptrace::set_registers(thread, &UserRegisters::from_words(words));
        }
        let blocks_all = |mask: u64| mask | UNBLOCKED == u64::MAX;
        if ptrace::signal_mask(thread).is_ok_and(blocks_all) {
            let _ = ptrace::set_signal_mask(thread, lent.mask.load(Ordering::Acquire));
        }
        // Later stops of the thread are its own.
        lent.thread.store(0, Ordering::Release);
    }

    /// Lets instructions of a stopped thread read the processor's time.
    fn untrap_time(&self, thread: ThreadId) {
        let site = self.shared.untraps_time.load(Ordering::Acquire);
        if site != 0 {
            let arguments = [libc::PR_SET_TSC, libc::PR_TSC_ENABLE, 0, 0, 0, 0];
            let arguments = arguments.map(|number| number as u64);
            let _ = injected::call_from(thread, libc::SYS_prctl, arguments, Address(site));
        }
    }

    /// The address in the program's own code that corresponds to a `pc` inside a copy of an instruction; `None` if `pc` is in no copy.
    fn left_copy(&self, pc: Address) -> Option<Address> {
        self.copies().find_map(|entry| {
            let start = entry.start.load(Ordering::Acquire);
            let original = entry.original.load(Ordering::Acquire);
            let inside = pc.0.checked_sub(start)?;
            if start == 0 || original == 0 || inside >= ROOM as u64 {
                return None;
            }
            let lengths = entry.lengths.load(Ordering::Acquire);
            let (copied, length) = (lengths & 0xffff_ffff, lengths >> 32);
            Some(Address(if inside < copied {
                original
            } else {
                original.wrapping_add(length)
            }))
        })
    }

    fn copies(&self) -> impl Iterator<Item = &Copied> {
        let used = self.shared.copies.load(Ordering::Acquire) as usize;
        self.shared.copied[..used.min(MOST_COPIES)].iter()
    }

    fn restore_copies(&self) {
        for entry in self.copies() {
            let start = entry.start.load(Ordering::Acquire);
            let mut now = [0; ROOM];
            if start != 0 && self.read(start, &mut now) && now == load(&entry.written) {
                self.write(start, &load(&entry.before));
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    New,
    Nothing,
    /// The kernel refused: the debugger still traces the thread, or tracing is not permitted.
    Refused,
}

/// The bytes of a number, the lowest first.
fn bytes_of(word: &AtomicU64) -> [u8; JUMP] {
    let [a, b, c, d, e, ..] = word.load(Ordering::Acquire).to_le_bytes();
    [a, b, c, d, e]
}

fn load(words: &[AtomicU64; ROOM / 8]) -> [u8; ROOM] {
    let mut bytes = [0; ROOM];
    for (part, word) in bytes.chunks_exact_mut(8).zip(words) {
        part.copy_from_slice(&word.load(Ordering::Acquire).to_le_bytes());
    }
    bytes
}

/// Takes one entry of getdents64(2) off `rest`: `Some(None)` if its name is no number, `None` at the end.
fn next_entry(rest: &mut &[u8]) -> Option<Option<ThreadId>> {
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let length = u16::from_le_bytes([*rest.get(LENGTH)?, *rest.get(LENGTH + 1)?]);
    let (entry, behind) = rest.split_at_checked(usize::from(length))?;
    if length == 0 {
        return None;
    }
    *rest = behind;
    let name = entry.get(NAME..)?.split(|byte| *byte == 0).next()?;
    let number = name.iter().try_fold(0i32, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| i32::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    });
    Some(number.filter(|number| *number > 0).map(ThreadId))
}
