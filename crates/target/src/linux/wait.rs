//! Waits for the debuggee's events, and lets other threads interrupt that wait.
//!
//! The owner thread blocks in `wait4(-1, __WALL | __WNOTHREAD)`, which returns only statuses of its own tracees and children; or, where many
//! threads are to stop, in a wait for one of them. For a debuggee that must survive the debugger, the owner first peeks at a status
//! (waitid(2) with WNOWAIT), and takes it only once the thread is at an address where it can run on without a debugger: taking the status
//! makes the kernel forget that the thread has trapped. To interrupt the wait, another thread sets a flag and sends SIGURG, whose handler is
//! installed without SA_RESTART, so that the call returns EINTR. The gap between the check of the flag and the system call is closed as in
//! musl's cancellation points: the handler sees from the interrupted instruction pointer that the thread is in the gap, and moves it to the
//! exit. So no wake-up is lost, and a stop of the debuggee, which is far more frequent, costs one system call. If the handler of another
//! signal has interrupted the wait, the kernel may restart the system call afterwards (SA_RESTART): a wake-up during that handler is
//! postponed until the handler returns.
//!
//! The kernel can send the same signal: for a descriptor that has become readable (`O_ASYNC`, fcntl(2)). The handler sets a flag of its
//! thread, and the next wait returns at once.

use crate::ThreadId;
use crate::exit_status::ExitStatus;
use crate::linux::ptrace;
use crate::process::{Peeked, Waited};
use crate::wait_event::{WaitEvent, What};
use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

std::arch::global_asm!(
    ".pushsection .text.dapple_wait,\"ax\",@progbits",
    ".hidden dapple_wait",
    ".hidden dapple_wait_gap",
    ".hidden dapple_wait_entered",
    ".hidden dapple_wait_abort",
    ".hidden dapple_wait_end",
    ".globl dapple_wait",
    ".globl dapple_wait_gap",
    ".globl dapple_wait_entered",
    ".globl dapple_wait_abort",
    ".globl dapple_wait_end",
    ".type dapple_wait,@function",
    // rdi: the waker's flag; rsi: the thread's own flag; rdx: set during the wait; rcx: the system call's number and its five arguments.
    "dapple_wait:",
    "mov r9, rdx",
    "mov byte ptr [r9], 1",
    "mov r11, rdi",
    "mov rax, rsi",
    "mov rdi, [rcx + 8]",
    "mov rsi, [rcx + 16]",
    "mov rdx, [rcx + 24]",
    "mov r10, [rcx + 32]",
    "mov r8, [rcx + 40]",
    "xchg rax, rcx",
    "mov rax, [rax]",
    "dapple_wait_gap:",
    "cmp byte ptr [r11], 0",
    "jne dapple_wait_abort",
    "cmp byte ptr [rcx], 0",
    "jne dapple_wait_abort",
    "syscall",
    "dapple_wait_entered:",
    "mov byte ptr [r9], 0",
    "ret",
    "dapple_wait_abort:",
    "mov rax, -4",
    "mov byte ptr [r9], 0",
    "ret",
    "dapple_wait_end:",
    ".size dapple_wait, . - dapple_wait",
    ".popsection",
);

/// A system call: its number and five arguments.
type Call = [i64; 6];

// SAFETY: declared as defined in the assembly above; the statics are labels, of which only addresses are taken.
unsafe extern "C" {
    fn dapple_wait(flag: *const u8, noted: *const u8, waiting: *mut u8, call: *const Call) -> i64;
    static dapple_wait_gap: u8;
    static dapple_wait_entered: u8;
    static dapple_wait_abort: u8;
    static dapple_wait_end: u8;
}

thread_local! {
    /// Set by the handler on its own thread; checked by the wait.
    static NOTED: Cell<bool> = const { Cell::new(false) };
    /// Whether the thread is in the wait, or in a handler that has interrupted it.
    static WAITING: Cell<bool> = const { Cell::new(false) };
}

extern "C" fn leave_gap(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // A plain thread-local byte without a destructor: accessed by address, which is allowed in a handler.
    NOTED.set(true);
    // SAFETY: the kernel passes a handler installed with SA_SIGINFO a valid ucontext_t, which is the handler's until it returns.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let pc = &mut context.uc_mcontext.gregs[libc::REG_RIP as usize];
    let gap = &raw const dapple_wait_gap as i64;
    let entered = &raw const dapple_wait_entered as i64;
    // At the `syscall` instruction itself, the call has not been entered (or is about to be restarted), so no status is lost.
    if (gap..entered).contains(pc) {
        *pc = &raw const dapple_wait_abort as i64;
        return;
    }
    let wait = dapple_wait as *const () as i64;
    let end = &raw const dapple_wait_end as i64;
    if WAITING.get() && !(wait..end).contains(pc) {
        // The thread is in another handler, after which the wait may be restarted. So this signal is sent again, to be delivered as soon as
        // that handler has returned.
        // SAFETY: sigaddset(3), getpid(2), gettid(2) and tgkill(2) are async-signal-safe. The mask is that of the interrupted handler, whose
        // return restores the thread's former one.
        unsafe {
            libc::sigaddset(&mut context.uc_sigmask, libc::SIGURG);
            let (process, thread) = (libc::getpid(), libc::gettid());
            libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGURG);
        }
    }
}

/// Interrupts the owner thread's wait for the debuggee, from any thread.
#[derive(Debug, Default)]
pub struct Waker {
    asked: AtomicBool,
    thread: AtomicI32,
}

impl Waker {
    /// Makes the current thread the one that [`Waker::wake`] wakes.
    pub fn adopt_current_thread(self: &Arc<Self>) {
        ready_current_thread();
        // SAFETY: takes no arguments and can't fail.
        self.thread
            .store(unsafe { libc::gettid() }, Ordering::SeqCst);
    }

    /// Forgets the thread, which waits no more and whose id another thread may reuse.
    pub fn abandon(&self) {
        self.thread.store(0, Ordering::SeqCst);
    }

    /// Makes the current wait return, or the next one if none is in progress.
    pub fn wake(&self) {
        if self.asked.swap(true, Ordering::SeqCst) {
            // An earlier caller has set the flag, and sends the signal or has sent it. The flag also ends a wait that begins meanwhile.
            return;
        }
        let thread = self.thread.load(Ordering::SeqCst);
        if thread != 0 {
            // SAFETY: sends a signal within this process; the handler only touches the interrupted context.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGURG) };
        }
    }

    /// Clears the request to wake, and returns whether there was one. The caller must handle afterwards whatever was requested before this
    /// call.
    pub fn take(&self) -> bool {
        NOTED.set(false);
        self.asked.swap(false, Ordering::SeqCst)
    }
}

/// Installs the handler, and unblocks its signal for the current thread.
pub(super) fn ready_current_thread() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(install_handler);
    // SAFETY: plain system calls on the current thread; the set is initialised by sigemptyset.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGURG);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
    }
}

fn install_handler() {
    // SAFETY: the action is fully initialised; the handler is async-signal-safe, since it only reads addresses and writes the interrupted
    // context. SIGURG is ignored by default, so its default effect isn't missed.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = leave_gap as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut());
    }
}

/// Waits for the next status of any tracee or child of this thread, or only of `thread`, and takes the status. A wake-up ends the wait.
pub fn wait(waker: &Waker, thread: Option<ThreadId>) -> io::Result<Waited<WaitEvent>> {
    let mut status = 0;
    let whom = thread.map_or(-1, |thread| i64::from(thread.0));
    let call = [
        libc::SYS_wait4,
        whom,
        &raw mut status as i64,
        TRACED.into(),
        0,
        0,
    ];
    // SAFETY: the kernel writes a status, for which there is room.
    match unsafe { make(waker, &call) } {
        r @ 1.. => Ok(Waited::Event(decode(ThreadId(r as i32), status))),
        r => in_vain(r),
    }
}

/// As [`wait`], but the kernel keeps the status until [`take`] is called.
pub fn peek(waker: &Waker, thread: Option<ThreadId>) -> io::Result<Waited<Peeked>> {
    let mut info = no_info();
    let (kind, whom) = match thread {
        Some(thread) => (libc::P_PID, i64::from(thread.0)),
        None => (libc::P_ALL, 0),
    };
    let call = [
        libc::SYS_waitid,
        kind.into(),
        whom,
        &raw mut info as i64,
        PEEK.into(),
        0,
    ];
    // SAFETY: the kernel writes a siginfo_t, for which there is room.
    match unsafe { make(waker, &call) } {
        0 => Ok(Waited::Event(peeked(&info))),
        r => in_vain(r),
    }
}

/// Whether any tracee or child of this thread has a status.
pub fn has_status() -> bool {
    let mut info = no_info();
    // SAFETY: the kernel writes a siginfo_t, for which there is room.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, PEEK | libc::WNOHANG) };
    result == 0 && peeked(&info).thread.0 != 0
}

/// Takes a status of any tracee or child of this thread, if there is one now.
pub fn take_any() -> Option<WaitEvent> {
    let mut status = 0;
    // SAFETY: asks about what this thread traces; the kernel writes the status.
    let result = unsafe { libc::waitpid(-1, &mut status, TRACED | libc::WNOHANG) };
    (result > 0).then(|| decode(ThreadId(result), status))
}

/// Takes the status of a thread that [`peek`] has reported. `None` if the thread was killed in its stop and so has no status any more.
pub fn take(thread: ThreadId) -> Option<WaitEvent> {
    let mut status = 0;
    // SAFETY: asks about what this thread traces; the kernel writes the status.
    let result = unsafe { libc::waitpid(thread.0, &mut status, TRACED | libc::WNOHANG) };
    (result == thread.0).then(|| decode(thread, status))
}

/// Waits until a thread has a status, and leaves the status with the kernel. `None` if there is no such thread.
pub fn peek_of(thread: ThreadId) -> Option<Peeked> {
    loop {
        let mut info = no_info();
        // SAFETY: the kernel writes a siginfo_t, for which there is room.
        let result =
            unsafe { libc::waitid(libc::P_PID, thread.0.cast_unsigned(), &raw mut info, PEEK) };
        if result == 0 {
            return Some(peeked(&info));
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

/// The options of [`wait`]: children and tracees of all kinds, but only those of this thread.
const TRACED: i32 = libc::__WALL | libc::__WNOTHREAD;
/// The options of [`peek`], for waitid(2): as `TRACED`, but without taking the status. Stops of tracees are reported in any case.
const PEEK: i32 = TRACED | libc::WEXITED | libc::WNOWAIT;

fn no_info() -> libc::siginfo_t {
    // SAFETY: numbers only; any bit pattern is valid.
    unsafe { std::mem::zeroed() }
}

/// The thread of a waitid(2) result, and whether it is stopped before the delivery of SIGTRAP. The status of an event stop isn't equal to
/// SIGTRAP, because it also has the event in higher bits.
fn peeked(info: &libc::siginfo_t) -> Peeked {
    // SAFETY: the kernel has written these words, and any bit pattern is valid.
    let (thread, status) = unsafe { (info.si_pid(), info.si_status()) };
    let is_stopped = matches!(info.si_code, libc::CLD_TRAPPED | libc::CLD_STOPPED);
    Peeked {
        thread: ThreadId(thread),
        is_trap: is_stopped && status == libc::SIGTRAP,
    }
}

/// Waits until something can be read from `input`, or written to `output`, or the other end of one was closed, but not longer than `time` if
/// that is given: whether there is. A wake-up ends the wait.
pub fn until_ready(
    waker: &Waker,
    input: Option<BorrowedFd<'_>>,
    output: Option<BorrowedFd<'_>>,
    time: Option<Duration>,
) -> io::Result<Waited<bool>> {
    // The kernel passes over negative descriptors.
    let polled = |descriptor: Option<BorrowedFd<'_>>, events| libc::pollfd {
        fd: descriptor.map_or(-1, |descriptor| descriptor.as_raw_fd()),
        events,
        revents: 0,
    };
    let mut polled = [polled(input, libc::POLLIN), polled(output, libc::POLLOUT)];
    let time = time.map(|time| libc::timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    });
    let call = [
        libc::SYS_ppoll,
        &raw mut polled as i64,
        polled.len() as i64,
        time.as_ref().map_or(0, |time| &raw const *time as i64),
        0,
        0,
    ];
    // SAFETY: the kernel reads and writes the pollfds and reads one timespec, which are there.
    match unsafe { make(waker, &call) } {
        0 => Ok(Waited::Event(false)),
        1.. => Ok(Waited::Event(true)),
        r => in_vain(r),
    }
}

/// Makes the system call unless woken first, and returns its result.
///
/// # Safety
/// The call is wait4(2), waitid(2) or ppoll(2), and the memory that its arguments point to is valid.
unsafe fn make(waker: &Waker, call: &Call) -> i64 {
    let (noted, waiting) = (NOTED.with(Cell::as_ptr), WAITING.with(Cell::as_ptr));
    // SAFETY: the flags outlive the call and are one byte each (an AtomicBool; thread-local bools that only this thread and its handler
    // use). The caller guarantees the rest. The function follows the C calling convention.
    unsafe {
        dapple_wait(
            waker.asked.as_ptr().cast(),
            noted.cast(),
            waiting.cast(),
            call,
        )
    }
}

fn in_vain<T>(result: i64) -> io::Result<Waited<T>> {
    match result {
        r if r == -i64::from(libc::EINTR) => Ok(Waited::Woken),
        r if r == -i64::from(libc::ECHILD) => Ok(Waited::NoThreads),
        r => Err(io::Error::from_raw_os_error(-r as i32)),
    }
}

/// Waits for a status of `thread`, or of any child or tracee of this thread if it is -1. `None` if there is nothing to wait for.
fn status_of(thread: i32) -> Option<(ThreadId, i32)> {
    loop {
        let mut status = 0;
        // SAFETY: waits for what this thread traces; the kernel writes the status.
        let result =
            unsafe { libc::waitpid(thread, &mut status, libc::__WALL | libc::__WNOTHREAD) };
        if result > 0 {
            return Some((ThreadId(result), status));
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

/// Waits for the stop at a child's first exec; the error says that it ended instead.
pub fn until_exec(process: ThreadId) -> Result<(), String> {
    while let Some((_, status)) = status_of(process.0) {
        if !libc::WIFSTOPPED(status) {
            break;
        }
        if status >> 16 == libc::PTRACE_EVENT_EXEC {
            return Ok(());
        }
        let signal = if status >> 16 == 0 {
            libc::WSTOPSIG(status)
        } else {
            0
        };
        // If the child has died meanwhile, the next status says so.
        let _ = ptrace::cont(process, signal);
    }
    Err("it ended before it could run".into())
}

/// Waits until one thread stops, for any reason, and takes the stop's status. Returns `false` if the thread has ended.
pub fn until_stopped(thread: ThreadId) -> bool {
    status_of(thread.0).is_some_and(|(_, status)| libc::WIFSTOPPED(status))
}

/// Waits for the next status of one thread, its end included, and takes it; in the kernel's format. `None` if there is no such thread.
pub fn raw_status_of(thread: ThreadId) -> Option<i32> {
    status_of(thread.0).map(|(_, status)| status)
}

/// Takes the status of a thread if it has one, without waiting; `None` if it has none.
pub fn status_now(thread: ThreadId) -> Option<i32> {
    let mut status = 0;
    // SAFETY: asks about what this thread traces; the kernel writes the status.
    let result = unsafe { libc::waitpid(thread.0, &mut status, libc::__WALL | libc::WNOHANG) };
    (result == thread.0).then_some(status)
}

/// Waits for the end of a child of this thread, and returns its exit code; `None` if a signal killed it or the status was taken elsewhere.
pub fn exit_code(child: ThreadId) -> Option<i32> {
    let (_, status) = status_of(child.0)?;
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}

/// Waits for the next event of one thread, and takes it. `None`: there is no such thread.
pub fn next_of(thread: ThreadId) -> Option<WaitEvent> {
    status_of(thread.0).map(|(thread, status)| decode(thread, status))
}

/// Kills a process that can't be used, and takes all statuses of this thread's tracees and children, other processes' too, up to the
/// process's end. The kernel reports the main thread's end after those of the other threads.
pub fn abandon(process: ThreadId) {
    // SAFETY: sends a signal to a child whose status has not been taken, so that its id is still its own.
    unsafe { libc::kill(process.0, libc::SIGKILL) };
    while let Some((thread, status)) = status_of(-1) {
        if libc::WIFSTOPPED(status) {
            // A thread of the process at its exit stop, or a new child.
            let _ = ptrace::cont(thread, 0);
        } else if thread == process {
            return;
        }
    }
}

/// Decodes a status; asks the kernel for what the status lacks.
pub fn decode(thread: ThreadId, status: i32) -> WaitEvent {
    WaitEvent {
        thread,
        what: what(thread, status),
    }
}

fn what(thread: ThreadId, status: i32) -> What {
    if libc::WIFEXITED(status) {
        return What::Exited(ExitStatus::Code(libc::WEXITSTATUS(status)));
    }
    if libc::WIFSIGNALED(status) {
        return What::Exited(ExitStatus::Signal(libc::WTERMSIG(status)));
    }
    let signal = libc::WSTOPSIG(status);
    let child = || ptrace::event_message(thread).map(|id| ThreadId(id as i32));
    // If the thread has died since the stop, requests to it fail; its exit status follows.
    match status >> 16 {
        0 if signal == libc::SIGTRAP | 0x80 => What::SystemCall,
        0 => What::Signal(signal),
        libc::PTRACE_EVENT_STOP if signal == libc::SIGTRAP => What::Interrupted {
            trap_pending: ptrace::trap_pending(thread),
        },
        libc::PTRACE_EVENT_STOP => What::Group(signal),
        libc::PTRACE_EVENT_CLONE => child().map_or(What::Other, |child| {
            // clone(2) without CLONE_THREAD and with another exit signal than SIGCHLD is reported as a clone, too.
            if same_process(thread, child) {
                What::NewThread(child)
            } else {
                What::NewProcess {
                    child,
                    shares_memory: shares_memory(thread, child).unwrap_or(true),
                }
            }
        }),
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => {
            child().map_or(What::Other, |child| What::NewProcess {
                child,
                shares_memory: shares_memory(thread, child)
                    .unwrap_or(status >> 16 == libc::PTRACE_EVENT_VFORK),
            })
        }
        libc::PTRACE_EVENT_EXEC => child().map_or(What::Other, |former| What::Executed { former }),
        libc::PTRACE_EVENT_EXIT => {
            // The exiting thread can't be detached any more. If the tracer died before the thread's end, PTRACE_O_EXITKILL of this thread
            // would make the kernel kill the whole process, although its other threads may be detached by then.
            let _ = ptrace::end_exit_kill(thread);
            What::Exiting
        }
        _ => What::Other,
    }
}

fn same_process(thread: ThreadId, child: ThreadId) -> bool {
    std::path::Path::new(&format!("/proc/{thread}/task/{child}")).exists()
}

/// Whether two processes have one address space (vfork(2), posix_spawn(3)); `None` where the kernel can't tell.
fn shares_memory(thread: ThreadId, child: ThreadId) -> Option<bool> {
    const KCMP_VM: i32 = 1;
    // SAFETY: kcmp(2) takes numbers only.
    let result = unsafe { libc::syscall(libc::SYS_kcmp, thread.0, child.0, KCMP_VM, 0, 0) };
    (result >= 0).then_some(result == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::sync::mpsc;

    static IN_HANDLER: AtomicBool = AtomicBool::new(false);
    static WOKEN: AtomicBool = AtomicBool::new(false);

    /// Simulates another library's signal handler that runs for a while.
    extern "C" fn linger(_: i32) {
        IN_HANDLER.store(true, Ordering::SeqCst);
        while !WOKEN.load(Ordering::SeqCst) {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn who_is_woken_in_a_handler_that_restarts_the_wait_is_woken() {
        let waker = Arc::new(Waker::default());
        let (send, receive) = mpsc::channel();
        let waiting = Arc::clone(&waker);
        let waiter = std::thread::spawn(move || {
            // A child to wait for, which doesn't end by itself.
            let mut cat = Command::new("cat");
            let cat = cat.stdin(Stdio::piped()).stdout(Stdio::null());
            let mut child = cat.spawn().expect("a child");
            waiting.adopt_current_thread();
            // SAFETY: takes no arguments and can't fail.
            send.send(unsafe { libc::gettid() }).expect("a listener");
            let waited = wait(&waiting, None).expect("a wait");
            send.send(i32::from(matches!(waited, Waited::Woken)))
                .expect("a listener");
            child.kill().expect("killed");
            child.wait().expect("reaped");
        });
        let thread = receive.recv().expect("an id");
        // SAFETY: the action is fully initialised, and its handler only touches atomics.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = linger as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(libc::SIGUSR2, &action, std::ptr::null_mut());
        }
        // Waits until the thread is in wait4(2) (system call 61), so that the kernel restarts the call.
        let path = format!("/proc/self/task/{thread}/syscall");
        while !std::fs::read_to_string(&path).is_ok_and(|call| call.starts_with("61 ")) {
            std::thread::yield_now();
        }
        // SAFETY: sends a signal to a thread of this process that lives.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGUSR2) };
        while !IN_HANDLER.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        waker.wake();
        WOKEN.store(true, Ordering::SeqCst);
        let woken = receive.recv_timeout(Duration::from_secs(60));
        assert_eq!(woken, Ok(1), "the wake-up was lost");
        waiter.join().expect("the waiter ends");
    }
}
