//! Runs code with given registers, and watches what it does to them, by signal handlers in this process.

use dapple_arch::decision::{Saved, State, Trampoline, with_flags};
use dapple_arch::{Address, Memory};
use std::arch::naked_asm;
use std::ffi::c_void;
use std::mem::offset_of;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, Once};

/// CF, PF, AF, ZF, SF and OF.
pub(crate) const STATUS_FLAGS: u64 = 0x8d5;
const TRAP_FLAG: u64 = 0x100;
const REGION: usize = 8 << 30;
const CODE_ROOM: usize = 1 << 20;

/// Registers of a thread, the general ones by DWARF number.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Registers {
    pub(crate) general: [u64; 16],
    pub(crate) flags: u64,
    pub(crate) sse: [u128; 16],
    pub(crate) mxcsr: u32,
}

/// What [`enter`] and [`exit`] work on.
#[repr(C)]
struct Context {
    before: Registers,
    after: Registers,
    target: u64,
    host: u64,
}

static mut CONTEXT: Context = Context {
    before: NONE,
    after: NONE,
    target: 0,
    host: 0,
};

const NONE: Registers = Registers {
    general: [0; 16],
    flags: 0,
    sse: [0; 16],
    mxcsr: 0x1f80,
};

/// The run that the signal handler watches.
static RUN: AtomicPtr<Run> = AtomicPtr::new(std::ptr::null_mut());

struct Run {
    trampoline: Trampoline,
    at: u64,
    before: Registers,
    keeps_flags: bool,
    seen: Seen,
}

/// What was seen of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Whether the `int3` was executed.
    pub(crate) asked: bool,
    /// The word in the hit's slot then.
    pub(crate) why: Option<u64>,
    /// Whether an access to memory failed while the thread decided.
    pub(crate) faulted: bool,
    /// Where the thread's registers weren't what the state says.
    pub(crate) wrong: Vec<String>,
    /// How many instructions of the trampoline were looked at.
    pub(crate) steps: u32,
}

/// Memory that the tests have for themselves: code, data amidst unreadable memory, and a stack.
pub(crate) struct Room {
    pub(crate) code: u64,
    /// 4096 bytes with nothing around them.
    pub(crate) data: u64,
    /// The middle of a stack.
    pub(crate) stack: u64,
    pipe: [i32; 2],
    _alone: MutexGuard<'static, ()>,
}

/// A stack's size in each direction.
pub(crate) const STACK: usize = 2048;

static ALONE: Mutex<()> = Mutex::new(());

impl Room {
    /// The only one at a time.
    pub(crate) fn new() -> Room {
        static HANDLERS: Once = Once::new();
        let alone = ALONE.lock().unwrap_or_else(|error| error.into_inner());
        HANDLERS.call_once(|| {
            for signal in [libc::SIGTRAP, libc::SIGSEGV, libc::SIGBUS] {
                // SAFETY: `handle` is a handler of this kind.
                unsafe {
                    let mut action: libc::sigaction = std::mem::zeroed();
                    action.sa_sigaction = handle as *const () as usize;
                    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                    assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
                }
            }
        });
        let mut pipe = [0; 2];
        // SAFETY: new mappings, whose protection is changed within them. The stack of this thread's handlers is never freed.
        unsafe {
            assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
            let region = map(REGION, libc::PROT_NONE);
            let writable = libc::PROT_READ | libc::PROT_WRITE;
            let data = region + (REGION as u64) / 2;
            assert_eq!(libc::mprotect(data as *mut c_void, 4096, writable), 0);
            let stack = map(2 * STACK, writable) + STACK as u64;
            let size = 1 << 20;
            let handlers = libc::stack_t {
                ss_sp: map(size, writable) as *mut c_void,
                ss_flags: 0,
                ss_size: size,
            };
            assert_eq!(libc::sigaltstack(&handlers, std::ptr::null_mut()), 0);
            let code = map(CODE_ROOM, writable | libc::PROT_EXEC);
            Room {
                code,
                data,
                stack,
                pipe,
                _alone: alone,
            }
        }
    }

    /// Writes into one of the mappings.
    pub(crate) fn write(&self, address: u64, bytes: &[u8]) {
        let within = |start: u64, size: u64| {
            address >= start && address + bytes.len() as u64 <= start + size
        };
        let stack = self.stack - STACK as u64;
        assert!(
            within(self.code, CODE_ROOM as u64)
                || within(self.data, 4096)
                || within(stack, 2 * STACK as u64)
        );
        // SAFETY: just checked; only this thread uses the mappings, and no references to them exist.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len());
        }
    }

    /// Bytes, all of which must be readable.
    pub(crate) fn bytes(&self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.read(Address(address), &mut bytes).expect("readable");
        bytes
    }

    /// Executes one instruction, which goes on with the next. Its code is at the beginning of the room's.
    pub(crate) fn execute(&self, instruction: &[u8], before: &Registers) -> Registers {
        let next = self.code + instruction.len() as u64;
        self.write(self.code, instruction);
        self.write(next, &go_on(Address(next)).expect("a jump"));
        // SAFETY: as in `run`.
        unsafe {
            CONTEXT.before = *before;
            CONTEXT.before.flags = before.flags & STATUS_FLAGS | 0x202;
            CONTEXT.target = self.code;
            enter();
            CONTEXT.after
        }
    }

    /// Runs a trampoline that is written at an address. `steps`: looks at the state before each instruction.
    pub(crate) fn run(
        &self,
        trampoline: &Trampoline,
        at: u64,
        before: &Registers,
        keeps_flags: bool,
        steps: bool,
    ) -> (Registers, Seen) {
        let mut run = Run {
            trampoline: trampoline.clone(),
            at,
            before: *before,
            keeps_flags,
            seen: Seen::default(),
        };
        let trap = if steps { TRAP_FLAG } else { 0 };
        RUN.store(&raw mut run, Ordering::SeqCst);
        // SAFETY: no other thread has a `Room`; the code goes to `exit` in the end, which returns here.
        let after = unsafe {
            CONTEXT.before = *before;
            CONTEXT.before.flags = before.flags & STATUS_FLAGS | 0x202 | trap;
            CONTEXT.target = at;
            enter();
            CONTEXT.after
        };
        RUN.store(std::ptr::null_mut(), Ordering::SeqCst);
        (after, run.seen)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let region = self.data - (REGION as u64) / 2;
        let stack = self.stack - STACK as u64;
        // SAFETY: this room's own, to which no references exist.
        unsafe {
            for end in self.pipe {
                libc::close(end);
            }
            for (start, size) in [(region, REGION), (stack, 2 * STACK), (self.code, CODE_ROOM)] {
                libc::munmap(start as *mut c_void, size);
            }
        }
    }
}

/// This process's memory. The kernel copies it, so what is unreadable is an error.
impl Memory for Room {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        let count = buffer.len();
        // SAFETY: the kernel checks the address that it reads at; `buffer` has room for `count` bytes.
        unsafe {
            let written = libc::write(self.pipe[1], address.0 as *const c_void, count);
            let read = written.max(0) as usize;
            if read > 0 {
                libc::read(self.pipe[0], buffer.as_mut_ptr().cast(), read);
            }
            match read == count {
                true => Ok(()),
                false => Err(address.offset(read as i64)),
            }
        }
    }
}

/// The code that threads go on with: a jump to [`exit`].
pub(crate) fn go_on(_: Address) -> Option<Vec<u8>> {
    let mut bytes = vec![0xff, 0x25, 0, 0, 0, 0];
    bytes.extend((exit as *const () as u64).to_le_bytes());
    Some(bytes)
}

/// This thread's thread pointer.
pub(crate) fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: the ABI keeps it there.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) pointer, options(nostack, readonly)) };
    pointer
}

/// A new mapping of this process.
fn map(size: usize, protection: i32) -> u64 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, at an address that the kernel chooses.
    let mapping = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
    assert_ne!(mapping, libc::MAP_FAILED);
    mapping as u64
}

const GENERAL: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RDX,
    libc::REG_RCX,
    libc::REG_RBX,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_RBP,
    libc::REG_RSP,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// The registers of a thread in its signal frame.
fn present(context: &libc::ucontext_t) -> Registers {
    let general = &context.uc_mcontext.gregs;
    // SAFETY: the kernel has put them there.
    let floats = unsafe { &*context.uc_mcontext.fpregs };
    let sse = |number: usize| {
        let parts = floats._xmm[number].element.iter().rev();
        parts.fold(0, |value, part| value << 32 | u128::from(*part))
    };
    Registers {
        general: GENERAL.map(|index| general[index as usize].cast_unsigned()),
        flags: general[libc::REG_EFL as usize].cast_unsigned(),
        sse: std::array::from_fn(sse),
        mxcsr: floats.mxcsr,
    }
}

fn put(context: &mut libc::ucontext_t, registers: &Registers) {
    let general = &mut context.uc_mcontext.gregs;
    for (index, value) in GENERAL.into_iter().zip(registers.general) {
        general[index as usize] = value.cast_signed();
    }
    general[libc::REG_EFL as usize] = registers.flags.cast_signed();
    // SAFETY: as in `present`.
    let floats = unsafe { &mut *context.uc_mcontext.fpregs };
    for (place, value) in floats._xmm.iter_mut().zip(registers.sse) {
        place.element = std::array::from_fn(|part| (value >> (32 * part)) as u32);
    }
    floats.mxcsr = registers.mxcsr;
}

/// The registers at the place, as [`Saved`] says how to get them.
fn restored(present: &Registers, saved: &Saved) -> Registers {
    let sp = present.general[7];
    fn slot<const SIZE: usize>(sp: u64, offset: u64) -> [u8; SIZE] {
        // SAFETY: it is in the stack or the code of the `Room`, to which no references exist.
        unsafe { std::ptr::read_unaligned(sp.wrapping_add(offset) as *const [u8; SIZE]) }
    }
    let mut result = *present;
    for (number, offset) in &saved.general {
        result.general[usize::from(*number)] = u64::from_le_bytes(slot(sp, *offset));
    }
    for (number, offset) in &saved.sse {
        result.sse[usize::from(*number)] = u128::from_le_bytes(slot(sp, *offset));
    }
    if let Some(offset) = saved.mxcsr {
        result.mxcsr = u32::from_le_bytes(slot(sp, offset));
    }
    if let Some(offset) = saved.flags {
        result.flags = with_flags(present.flags, slot(sp, offset));
    }
    result.general[7] = sp + saved.stack;
    result
}

/// The same with only the flags that matter.
pub(crate) fn comparable(mut registers: Registers, keeps_flags: bool) -> Registers {
    registers.flags &= if keeps_flags { STATUS_FLAGS } else { 0 };
    registers
}

extern "C" fn handle(signal: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes this, for the handler alone.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    // SAFETY: it is set only while `Room::run` waits in `enter`, on this thread.
    let run = unsafe { RUN.load(Ordering::SeqCst).as_mut() };
    let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize].cast_unsigned();
    let Some(run) = run else {
        // SAFETY: the signal comes again, and ends the process.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    };
    let inside = pc.wrapping_sub(run.at);
    let is_inside = inside < run.trampoline.bytes.len() as u64;
    if signal == libc::SIGTRAP {
        if inside == run.trampoline.ask + 1 {
            run.asks(context);
        }
        if is_inside {
            run.check(context, inside);
        }
        if pc == exit as *const () as u64 {
            context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !(TRAP_FLAG as i64);
        }
        return;
    }
    let State::Deciding(saved) = run.trampoline.state_at(inside) else {
        run.seen
            .wrong
            .push(format!("signal {signal} at {inside:#x}"));
        // SAFETY: as above.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    };
    run.seen.faulted = true;
    let mut registers = restored(&present(context), &saved);
    registers.flags &= !TRAP_FLAG;
    put(context, &registers);
    context.uc_mcontext.gregs[libc::REG_RIP as usize] = (exit as *const () as u64).cast_signed();
}

impl Run {
    fn asks(&mut self, context: &libc::ucontext_t) {
        self.seen.asked = true;
        let sp = present(context).general[7];
        // SAFETY: it is in the stack of the `Room`.
        let read = |offset| unsafe {
            std::ptr::read_unaligned(sp.wrapping_add_signed(offset) as *const u64)
        };
        self.seen.why = self.trampoline.why_slot.map(read);
    }

    fn check(&mut self, context: &libc::ucontext_t, offset: u64) {
        self.seen.steps += 1;
        let present = present(context);
        let found = match self.trampoline.state_at(offset) {
            State::Deciding(saved) => restored(&present, &saved),
            State::Asking | State::GoingOn(0) => present,
            State::Counted | State::GoingOn(_) => return,
        };
        let found = comparable(found, self.keeps_flags);
        let expected = comparable(self.before, self.keeps_flags);
        if found != expected && self.seen.wrong.len() < 3 {
            let state = self.trampoline.state_at(offset);
            let wrong = format!("at {offset:#x}, {state:x?}: {found:x?} instead of {expected:x?}");
            self.seen.wrong.push(wrong);
        }
    }
}

/// Loads all registers from [`CONTEXT`], and jumps to its target.
///
/// # Safety
/// The code there must go to [`exit`], with the registers that it got. This saves what a function must preserve; `exit` restores it.
#[unsafe(naked)]
unsafe extern "C" fn enter() {
    naked_asm!(
        "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "mov [rip + {c} + {host}], rsp",
        "lea rax, [rip + {c} + {sse}]",
        "movups xmm0, [rax]", "movups xmm1, [rax + 16]", "movups xmm2, [rax + 32]", "movups xmm3, [rax + 48]",
        "movups xmm4, [rax + 64]", "movups xmm5, [rax + 80]", "movups xmm6, [rax + 96]", "movups xmm7, [rax + 112]",
        "movups xmm8, [rax + 128]", "movups xmm9, [rax + 144]", "movups xmm10, [rax + 160]", "movups xmm11, [rax + 176]",
        "movups xmm12, [rax + 192]", "movups xmm13, [rax + 208]", "movups xmm14, [rax + 224]", "movups xmm15, [rax + 240]",
        "ldmxcsr [rip + {c} + {mxcsr}]",
        "push qword ptr [rip + {c} + {flags}]", "popfq",
        "mov rax, [rip + {c}]", "mov rdx, [rip + {c} + 8]", "mov rcx, [rip + {c} + 16]", "mov rbx, [rip + {c} + 24]",
        "mov rsi, [rip + {c} + 32]", "mov rdi, [rip + {c} + 40]", "mov rbp, [rip + {c} + 48]", "mov rsp, [rip + {c} + 56]",
        "mov r8, [rip + {c} + 64]", "mov r9, [rip + {c} + 72]", "mov r10, [rip + {c} + 80]", "mov r11, [rip + {c} + 88]",
        "mov r12, [rip + {c} + 96]", "mov r13, [rip + {c} + 104]", "mov r14, [rip + {c} + 112]", "mov r15, [rip + {c} + 120]",
        "jmp qword ptr [rip + {c} + {target}]",
        c = sym CONTEXT,
        host = const offset_of!(Context, host),
        target = const offset_of!(Context, target),
        sse = const offset_of!(Context, before.sse),
        flags = const offset_of!(Context, before.flags),
        mxcsr = const offset_of!(Context, before.mxcsr),
    )
}

/// Stores all registers in [`CONTEXT`], and returns from [`enter`].
///
/// # Safety
/// Only for code that `enter` jumps to.
#[unsafe(naked)]
unsafe extern "C" fn exit() {
    naked_asm!(
        "mov [rip + {c} + {g}], rax", "mov [rip + {c} + {g} + 8], rdx", "mov [rip + {c} + {g} + 16], rcx",
        "mov [rip + {c} + {g} + 24], rbx", "mov [rip + {c} + {g} + 32], rsi", "mov [rip + {c} + {g} + 40], rdi",
        "mov [rip + {c} + {g} + 48], rbp", "mov [rip + {c} + {g} + 56], rsp", "mov [rip + {c} + {g} + 64], r8",
        "mov [rip + {c} + {g} + 72], r9", "mov [rip + {c} + {g} + 80], r10", "mov [rip + {c} + {g} + 88], r11",
        "mov [rip + {c} + {g} + 96], r12", "mov [rip + {c} + {g} + 104], r13", "mov [rip + {c} + {g} + 112], r14",
        "mov [rip + {c} + {g} + 120], r15",
        "mov rsp, [rip + {c} + {host}]",
        "pushfq", "pop qword ptr [rip + {c} + {flags}]",
        "lea rax, [rip + {c} + {sse}]",
        "movups [rax], xmm0", "movups [rax + 16], xmm1", "movups [rax + 32], xmm2", "movups [rax + 48], xmm3",
        "movups [rax + 64], xmm4", "movups [rax + 80], xmm5", "movups [rax + 96], xmm6", "movups [rax + 112], xmm7",
        "movups [rax + 128], xmm8", "movups [rax + 144], xmm9", "movups [rax + 160], xmm10", "movups [rax + 176], xmm11",
        "movups [rax + 192], xmm12", "movups [rax + 208], xmm13", "movups [rax + 224], xmm14", "movups [rax + 240], xmm15",
        "stmxcsr [rip + {c} + {mxcsr}]",
        "ldmxcsr [rsp]",
        "add rsp, 8",
        "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
        "ret",
        c = sym CONTEXT,
        g = const offset_of!(Context, after.general),
        host = const offset_of!(Context, host),
        sse = const offset_of!(Context, after.sse),
        flags = const offset_of!(Context, after.flags),
        mxcsr = const offset_of!(Context, after.mxcsr),
    )
}
