//! The requests of ptrace(2) that the engine uses, each as a function. A request to a thread that has died meanwhile fails with `ESRCH`; the
//! thread's exit status is about to be reported.

use crate::signal_info::{SignalInfo, WholeSignal};
use crate::signals::is_fault;
use crate::{Address, ThreadId};
use dapple_arch::registers::user::{REGISTER_WORDS, UserRegisters};
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

/// The options for every debuggee: report new threads and processes, execs, and threads about to exit; make system-call stops
/// distinguishable from signals.
pub const OPTIONS: i32 = libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT
    | libc::PTRACE_O_TRACESYSGOOD;

/// The type of a request's number in the C library's declaration.
#[cfg(target_env = "gnu")]
type Request = libc::c_uint;
#[cfg(not(target_env = "gnu"))]
type Request = libc::c_int;

/// PTRACE_GETSIGMASK and PTRACE_SETSIGMASK (ptrace(2)): the address argument is the size of the mask.
const GET_SIGNAL_MASK: Request = 0x420a;
const SET_SIGNAL_MASK: Request = 0x420b;

fn request(number: Request, thread: ThreadId, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: this function is only called with requests whose address and data are plain numbers, so the kernel accesses no memory of this
    // process.
    let result = unsafe { libc::ptrace(number, thread.0, address, data) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn signal_data(signal: i32) -> usize {
    usize::try_from(signal).unwrap_or(0)
}

/// How often a debuggee's memory may have changed: counts resumed threads and memory writes.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// A number that differs whenever a debuggee's memory may have changed, provided that no thread runs.
pub fn changes() -> u64 {
    CHANGES.load(Ordering::Relaxed)
}

/// Records that a debuggee's memory may change.
pub(super) fn changed() {
    CHANGES.fetch_add(1, Ordering::Relaxed);
}

/// Resumes a stopped thread by the given request.
fn run(number: Request, thread: ThreadId, signal: i32) -> io::Result<()> {
    changed();
    request(number, thread, 0, signal_data(signal))
}

/// Starts tracing a thread without stopping it.
pub fn seize(thread: ThreadId, options: i32) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, thread, 0, signal_data(options))
}

/// Turns off PTRACE_O_EXITKILL for a stopped thread, so that its process survives the end of the tracer.
pub fn end_exit_kill(thread: ThreadId) -> io::Result<()> {
    request(libc::PTRACE_SETOPTIONS, thread, 0, signal_data(OPTIONS))
}

/// Has a stopped thread's process killed when the tracer ends.
pub fn kill_at_exit(thread: ThreadId) -> io::Result<()> {
    let options = OPTIONS | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SETOPTIONS, thread, 0, signal_data(options))
}

/// Turns off all options of a stopped thread: it reports no events, and its process survives the end of the tracer. Call this for all
/// threads before the first one is detached: a detached thread may execute another program at once. That kills the other threads in their
/// stops, and if one of them still had PTRACE_O_EXITKILL, the whole process would be killed when its tracer ends.
pub fn end_options(thread: ThreadId) -> io::Result<()> {
    request(libc::PTRACE_SETOPTIONS, thread, 0, 0)
}

/// Resumes a stopped thread, delivering `signal` unless 0.
pub fn cont(thread: ThreadId, signal: i32) -> io::Result<()> {
    run(libc::PTRACE_CONT, thread, signal)
}

/// Resumes a stopped thread until it enters or leaves a system call, delivering `signal` unless 0.
pub fn cont_to_system_call(thread: ThreadId, signal: i32) -> io::Result<()> {
    run(libc::PTRACE_SYSCALL, thread, signal)
}

/// Single-steps a stopped thread, delivering `signal` unless 0.
pub fn step(thread: ThreadId, signal: i32) -> io::Result<()> {
    run(libc::PTRACE_SINGLESTEP, thread, signal)
}

/// The memory in which the kernel writes the processor's number for a thread: its address, size and signature (rseq(2)). `None`: there is none, or the
/// kernel can't tell.
pub fn rseq(thread: ThreadId) -> Option<[u64; 3]> {
    /// `struct ptrace_rseq_configuration` (`linux/ptrace.h`).
    #[repr(C)]
    #[derive(Default)]
    struct Configuration {
        pointer: u64,
        size: u32,
        signature: u32,
        flags: u32,
        padding: u32,
    }
    const GET_RSEQ_CONFIGURATION: Request = 0x420f;
    let mut found = Configuration::default();
    request(
        GET_RSEQ_CONFIGURATION,
        thread,
        size_of::<Configuration>(),
        &raw mut found as usize,
    )
    .ok()?;
    let Configuration {
        pointer,
        size,
        signature,
        ..
    } = found;
    (pointer != 0).then_some([pointer, size.into(), signature.into()])
}

/// The signals that a stopped thread blocks: one bit each, the lowest for signal 1.
pub fn signal_mask(thread: ThreadId) -> io::Result<u64> {
    let mut mask = 0_u64;
    // SAFETY: the kernel writes as many bytes as the size argument says.
    let result =
        unsafe { libc::ptrace(GET_SIGNAL_MASK, thread.0, size_of::<u64>(), &raw mut mask) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(mask)
}

/// Sets the signals that a stopped thread blocks; SIGKILL and SIGSTOP can't be blocked.
pub fn set_signal_mask(thread: ThreadId, mask: u64) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes as the size argument says.
    let result =
        unsafe { libc::ptrace(SET_SIGNAL_MASK, thread.0, size_of::<u64>(), &raw const mask) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Leaves a thread in its group stop until SIGCONT.
pub fn listen(thread: ThreadId) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, thread, 0, 0)
}

/// Asks a running thread to stop.
pub fn interrupt(thread: ThreadId) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, thread, 0, 0)
}

/// Ends tracing of a stopped thread, delivering `signal` unless 0.
pub fn detach(thread: ThreadId, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_DETACH, thread, 0, signal_data(signal))
}

/// The registers of a stopped thread.
pub fn registers(thread: ThreadId) -> io::Result<UserRegisters> {
    const { assert!(size_of::<libc::user_regs_struct>() == size_of::<[u64; REGISTER_WORDS]>()) };
    let mut words = MaybeUninit::<[u64; REGISTER_WORDS]>::uninit();
    // SAFETY: the kernel fills a `user_regs_struct`, which consists of these words and has that size.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETREGS, thread.0, 0, words.as_mut_ptr()) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so all of it is written; any bit pattern is valid.
    let words = unsafe { words.assume_init() };
    Ok(UserRegisters::from_words(words))
}

/// The low 16 bytes of a stopped thread's SSE registers, `xmm0` first.
pub fn vectors(thread: ThreadId) -> io::Result<[u128; 16]> {
    let mut registers = MaybeUninit::<libc::user_fpregs_struct>::uninit();
    // SAFETY: the kernel fills the structure, which has the size PTRACE_GETFPREGS writes.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_GETFPREGS, thread.0, 0, registers.as_mut_ptr()) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so all of it is written; any bit pattern is valid.
    let words = unsafe { registers.assume_init() }.xmm_space;
    let mut vectors = [0; 16];
    for (vector, words) in vectors.iter_mut().zip(words.chunks_exact(4)) {
        *vector = words
            .iter()
            .rev()
            .fold(0, |value, word| value << 32 | u128::from(*word));
    }
    Ok(vectors)
}

/// The state of a stopped thread's x87, SSE and AVX units, in XSAVE's format.
pub fn extended_state(thread: ThreadId) -> io::Result<Vec<u8>> {
    /// From `<linux/elf.h>`.
    const NT_X86_XSTATE: usize = 0x202;
    /// More than any CPU needs: 11 KiB with AMX's tiles.
    const ROOM: usize = 32 << 10;
    let mut state = vec![0_u8; ROOM];
    let mut buffer = libc::iovec {
        iov_base: state.as_mut_ptr().cast(),
        iov_len: state.len(),
    };
    // SAFETY: the kernel writes at most `iov_len` bytes into the buffer, and their number into `iov_len`; both live until the call returns.
    let result = unsafe {
        libc::ptrace(
            libc::PTRACE_GETREGSET,
            thread.0,
            NT_X86_XSTATE,
            &raw mut buffer,
        )
    };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    state.truncate(buffer.iov_len);
    Ok(state)
}

/// Sets the state that [`extended_state`] has read.
pub fn set_extended_state(thread: ThreadId, state: &[u8]) -> io::Result<()> {
    const NT_X86_XSTATE: usize = 0x202;
    let mut state = state.to_vec();
    let mut buffer = libc::iovec {
        iov_base: state.as_mut_ptr().cast(),
        iov_len: state.len(),
    };
    // SAFETY: the kernel reads at most `iov_len` bytes of the buffer; both live until the call returns.
    let result = unsafe {
        libc::ptrace(
            libc::PTRACE_SETREGSET,
            thread.0,
            NT_X86_XSTATE,
            &raw mut buffer,
        )
    };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Sets the low 16 bytes of a stopped thread's SSE registers.
pub fn set_vectors(thread: ThreadId, vectors: &[u128; 16]) -> io::Result<()> {
    let mut registers = MaybeUninit::<libc::user_fpregs_struct>::uninit();
    // SAFETY: the kernel fills the structure, which has the size PTRACE_GETFPREGS writes.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_GETFPREGS, thread.0, 0, registers.as_mut_ptr()) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so all of it is written; any bit pattern is valid.
    let mut registers = unsafe { registers.assume_init() };
    for (words, vector) in registers.xmm_space.chunks_exact_mut(4).zip(vectors) {
        for (word, bytes) in words.iter_mut().zip(vector.to_le_bytes().chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
    }
    // SAFETY: the kernel reads a structure of the size PTRACE_SETFPREGS expects.
    let result = unsafe { libc::ptrace(libc::PTRACE_SETFPREGS, thread.0, 0, &raw const registers) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The top of a stopped thread's x87 register stack.
pub fn x87_top(thread: ThreadId) -> io::Result<[u8; 10]> {
    let mut registers = MaybeUninit::<libc::user_fpregs_struct>::uninit();
    // SAFETY: the kernel fills the structure, which has the size PTRACE_GETFPREGS writes.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_GETFPREGS, thread.0, 0, registers.as_mut_ptr()) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so all of it is written; any bit pattern is valid.
    let words = unsafe { registers.assume_init() }.st_space;
    let mut top = [0; 10];
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    for (to, from) in top.iter_mut().zip(bytes) {
        *to = from;
    }
    Ok(top)
}

/// Sets the registers of a stopped thread.
pub fn set_registers(thread: ThreadId, registers: &UserRegisters) -> io::Result<()> {
    let words = registers.to_words();
    // SAFETY: the kernel reads a `user_regs_struct`, which consists of these words and has that size.
    let result = unsafe { libc::ptrace(libc::PTRACE_SETREGS, thread.0, 0, words.as_ptr()) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The message of an event stop: after clone, fork or vfork, the new thread's or process's id; at exec, the id that the calling thread had
/// before; at exit, the exit status.
pub fn event_message(thread: ThreadId) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one unsigned long.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, thread.0, 0, &raw mut message) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(message)
}

/// The signal at whose delivery a thread is stopped. In an event stop it is SIGTRAP, with the event in the code's second byte.
pub fn signal_info(thread: ThreadId) -> io::Result<SignalInfo> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the kernel writes one siginfo_t.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, thread.0, 0, info.as_mut_ptr()) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed before and written by the kernel; any bit pattern is valid.
    let info = unsafe { info.assume_init() };
    Ok(summary(&info))
}

/// The size of a `siginfo_t` in words.
const SIGNAL_WORDS: usize = size_of::<libc::siginfo_t>() / size_of::<u64>();

/// Reads the complete signal of a stopped thread, for [`set_whole_signal`].
pub fn whole_signal(thread: ThreadId) -> io::Result<WholeSignal> {
    let mut info = [0; SIGNAL_WORDS];
    // SAFETY: the kernel writes one siginfo_t, for which there is room.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, thread.0, 0, info.as_mut_ptr()) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(WholeSignal(info))
}

/// Replaces the signal at whose delivery a thread is stopped.
pub fn set_whole_signal(thread: ThreadId, signal: &WholeSignal) -> io::Result<()> {
    // SAFETY: the kernel reads one siginfo_t.
    let result = unsafe { libc::ptrace(libc::PTRACE_SETSIGINFO, thread.0, 0, &raw const signal.0) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Changes `si_code` of the signal at whose delivery a thread is stopped.
pub fn set_signal_code(thread: ThreadId, code: i32) -> io::Result<()> {
    /// Which word of a `siginfo_t` has `si_code`, in its lower half.
    const CODE: usize = 1;
    let mut signal = whole_signal(thread)?;
    signal.0[CODE] = signal.0[CODE] >> 32 << 32 | u64::from(code.cast_unsigned());
    set_whole_signal(thread, &signal)
}

/// Changes `si_addr` of the fault at whose delivery a thread is stopped.
pub fn set_fault_address(thread: ThreadId, address: Address) -> io::Result<()> {
    let mut signal = whole_signal(thread)?;
    signal.set_fault_address(address);
    set_whole_signal(thread, &signal)
}

/// Sends the whole process the signal at whose delivery a thread is stopped, because this thread won't receive it. A signal that was
/// directed at this thread alone, or that an instruction of the thread has raised, isn't sent: it is lost.
pub fn hand_back_signal(process: ThreadId, thread: ThreadId, signal: i32) {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the kernel writes one siginfo_t.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, thread.0, 0, info.as_mut_ptr()) };
    // SAFETY: zeroed before; any bit pattern is valid.
    let info = unsafe { info.assume_init() };
    let known = result != -1 && info.si_signo == signal;
    let of_thread = info.si_code == libc::SI_TKILL || (info.si_code > 0 && is_fault(signal));
    if known && of_thread {
        return;
    }
    // The kernel lets a process send complete signal information only with a negative code: that of a signal that a program queued.
    let queued = known && info.si_code < 0;
    // SAFETY: both calls take numbers; the kernel reads one siginfo_t, which is fully initialised.
    unsafe {
        let sent = queued
            && libc::syscall(
                libc::SYS_rt_sigqueueinfo,
                process.0,
                signal,
                &raw const info,
            ) == 0;
        if !sent {
            libc::kill(process.0, signal);
        }
    }
}

/// Whether a thread is in a ptrace stop other than its exit stop.
pub fn is_stopped(thread: ThreadId) -> bool {
    const LAST: i32 = libc::SIGTRAP | libc::PTRACE_EVENT_EXIT << 8;
    signal_info(thread).is_ok_and(|info| info.code != LAST)
}

/// Whether a thread is in a signal-delivery stop: a signal can be delivered when it is resumed (ptrace(2), "Signal-delivery-stop"). An event
/// stop has the event in the code's second byte.
pub fn is_before_signal(thread: ThreadId) -> bool {
    /// `SI_KERNEL`, which `libc` lacks.
    const OF_KERNEL: i32 = 0x80;
    signal_info(thread)
        .is_ok_and(|info| info.code >> 8 == 0 || info.code <= 0 || info.code == OF_KERNEL)
}

/// Whether a thread is stopped inside fork(2), vfork(2), clone(2) or execve(2): the kernel has yet to write the result to its registers.
pub fn is_within_system_call(thread: ThreadId) -> bool {
    signal_info(thread).is_ok_and(|info| {
        matches!(
            info.code >> 8,
            libc::PTRACE_EVENT_FORK
                | libc::PTRACE_EVENT_VFORK
                | libc::PTRACE_EVENT_CLONE
                | libc::PTRACE_EVENT_EXEC
                | libc::PTRACE_EVENT_VFORK_DONE
        )
    })
}

fn summary(info: &libc::siginfo_t) -> SignalInfo {
    const SYSTEM_CALL: usize = 24;
    // SAFETY: a siginfo_t of 128 bytes, all of them initialised; any bit pattern is valid.
    let bytes: [u8; 128] = unsafe { std::mem::transmute(*info) };
    let system_call: [u8; 4] = [0, 1, 2, 3].map(|index| bytes[SYSTEM_CALL + index]);
    // SAFETY: these read initialised words of the union; the number and the code determine which are valid.
    let (address, sender, status) =
        unsafe { (info.si_addr() as u64, info.si_pid(), info.si_status()) };
    SignalInfo {
        number: info.si_signo,
        code: info.si_code,
        address,
        sender,
        status,
        system_call: i32::from_le_bytes(system_call),
    }
}

/// Whether a SIGTRAP that the thread itself caused is pending. If the thread was to stop by PTRACE_INTERRUPT, too, the kernel reports that
/// stop first, although the instruction that traps has been executed.
pub fn trap_pending(thread: ThreadId) -> bool {
    #[repr(C)]
    struct Arguments {
        offset: u64,
        flags: u32,
        count: i32,
    }
    const MOST: usize = 32;
    let arguments = Arguments {
        offset: 0,
        flags: 0,
        count: MOST as i32,
    };
    let mut found = MaybeUninit::<[libc::siginfo_t; MOST]>::zeroed();
    // SAFETY: the kernel reads `struct ptrace_peeksiginfo_args`, laid out as above, and writes at most `count` elements.
    let count = unsafe {
        libc::ptrace(
            libc::PTRACE_PEEKSIGINFO,
            thread.0,
            &raw const arguments,
            found.as_mut_ptr(),
        )
    };
    // SAFETY: zeroed before; any bit pattern is valid.
    let found = unsafe { found.assume_init() };
    let count = usize::try_from(count).unwrap_or(0).min(MOST);
    // A positive code means that the kernel raised the signal, not another program's kill().
    found[..count]
        .iter()
        .any(|info| info.si_signo == libc::SIGTRAP && info.si_code > 0)
}
