//! Launches a program as a tracee: fork, seize, exec.
//!
//! The child waits on a pipe until the parent has seized it, so that no instruction of the program runs untraced and PTRACE_TRACEME, with
//! its different semantics, isn't needed. Errors in the child come back as a step number and an errno through a pipe that a successful exec
//! closes.

use crate::launch::{LaunchOptions, ProcessGroup};
use crate::linux::input::Input;
use crate::linux::streams::Streams;
use crate::linux::{attach, check, ptrace, wait};
use crate::stream::Stream;
use crate::{Error, ThreadId};
use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// A program that is stopped at its exec; the exec's event has been taken.
#[derive(Debug)]
pub struct Launched {
    /// The id of the process and of its main thread.
    pub process: ThreadId,
    /// Its executable, absolute.
    pub program: PathBuf,
    /// The pipes, or the pseudoterminal, to read its output from.
    pub output: Vec<(Stream, OwnedFd)>,
    /// Its standard input, if the debugger sends it.
    pub input: Option<Input>,
}

/// The data that the child needs, prepared before the fork: between fork and exec nothing may allocate or lock.
struct Plan {
    program: CString,
    arguments: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    cwd: Option<CString>,
    stdin: Option<RawFd>,
    stdout: RawFd,
    stderr: RawFd,
    terminal: Option<RawFd>,
    own_group: bool,
    fixed_addresses: bool,
    go: RawFd,
    go_write: RawFd,
    report: RawFd,
    highest_signal: i32,
}

/// The child's steps that may fail, indexed by the number that it reports.
const STEPS: [&str; 4] = [
    "it can't be connected to its input and output",
    "its working directory can't be entered",
    "the debugger went away",
    "the system refuses to run it",
];

/// Launches the program, which is stopped at its exec when this returns.
pub fn launch(options: &LaunchOptions) -> Result<Launched, Error> {
    let program = check::debuggee(options)?;
    let refuse = |reason: String| Error::Launch {
        program: options.program.clone(),
        reason,
    };
    let system = |what: &str| {
        let what = what.to_owned();
        move |e: io::Error| Error::Launch {
            program: options.program.clone(),
            reason: format!("{what}: {e}"),
        }
    };
    let c_string = |text: &[u8]| {
        CString::new(text)
            .map_err(|_| refuse("its name, arguments or environment contain a zero byte".into()))
    };

    let path = c_string(program.as_os_str().as_bytes())?;
    let mut arguments = vec![c_string(options.program.as_os_str().as_bytes())?];
    for argument in &options.args {
        arguments.push(c_string(argument.as_bytes())?);
    }
    let environment = environment(options)
        .into_iter()
        .map(|entry| c_string(&entry))
        .collect::<Result<Vec<_>, _>>()?;
    let cwd = options
        .cwd
        .as_ref()
        .map(|d| c_string(d.as_os_str().as_bytes()))
        .transpose()?;
    let streams = Streams::open(options)?;
    let (go_read, go_write) = io::pipe().map_err(system("no pipe to start it"))?;
    let (report_read, report_write) = io::pipe().map_err(system("no pipe to start it"))?;

    let plan = Plan {
        program: path,
        arguments: pointers(&arguments),
        environment: pointers(&environment),
        cwd,
        stdin: streams.stdin.as_ref().map(AsRawFd::as_raw_fd),
        stdout: streams.stdout.as_raw_fd(),
        stderr: streams.stderr.as_raw_fd(),
        terminal: streams.terminal.as_ref().map(AsRawFd::as_raw_fd),
        own_group: options.process_group == ProcessGroup::Own,
        fixed_addresses: !options.randomize,
        go: go_read.as_raw_fd(),
        go_write: go_write.as_raw_fd(),
        report: report_write.as_raw_fd(),
        highest_signal: libc::SIGRTMAX(),
    };
    // SAFETY: the child calls async-signal-safe functions only, on data prepared before the fork, and ends in exec or _exit.
    let child = unsafe { libc::fork() };
    if child == -1 {
        return Err(system("no new process")(io::Error::last_os_error()));
    }
    if child == 0 {
        run_child(&plan);
    }
    let process = ThreadId(child);
    drop((go_read, report_write));
    let (output, input) = streams.keep();
    trace_from_exec(process, go_write, report_read).map_err(refuse)?;
    Ok(Launched {
        process,
        program,
        output,
        input: input.map(Input::start),
    })
}

/// Traces a child that waits before its exec, and lets it run up to the exec. The error says why it couldn't.
fn trace_from_exec(
    process: ThreadId,
    mut go: PipeWriter,
    mut report: PipeReader,
) -> Result<(), String> {
    let started = ptrace::seize(process, ptrace::OPTIONS | libc::PTRACE_O_EXITKILL)
        .map_err(|e| attach::why_not_launched(process, &e))
        .and_then(|()| {
            let sent = go.write_all(&[1]);
            sent.map_err(|e| format!("it ended at once: {e}"))
        });
    if let Err(error) = started {
        wait::abandon(process);
        return Err(error);
    }
    drop(go);
    wait::until_exec(process).map_err(|ended| {
        let mut text = Vec::new();
        let _ = report.read_to_end(&mut text);
        failure(&text).unwrap_or(ended)
    })
}

/// The child's environment as `NAME=value` entries.
fn environment(options: &LaunchOptions) -> Vec<Vec<u8>> {
    let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for (name, value) in &options.env {
        match value {
            Some(value) => variables.insert(name.clone(), value.clone()),
            None => variables.remove(name),
        };
    }
    variables
        .into_iter()
        .map(|(name, value)| {
            let mut entry = name.into_vec();
            entry.push(b'=');
            entry.extend(value.into_vec());
            entry
        })
        .collect()
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings
        .iter()
        .map(|s| s.as_ptr())
        .chain([std::ptr::null()])
        .collect()
}

fn failure(report: &[u8]) -> Option<String> {
    let (&step, errno) = report.split_first()?;
    let errno = i32::from_le_bytes(errno.try_into().ok()?);
    let step = STEPS.get(usize::from(step))?;
    Some(match errno {
        libc::ENOENT => format!("{step}: its interpreter is missing"),
        _ => format!("{step}: {}", io::Error::from_raw_os_error(errno)),
    })
}

/// The child, from fork to exec. Async-signal-safe calls only; never returns.
fn run_child(plan: &Plan) -> ! {
    // SAFETY: system calls on descriptors and strings that the plan keeps valid; no allocation, no locks.
    unsafe {
        if let Some(terminal) = plan.terminal {
            // A new session, with `terminal` as its controlling terminal.
            libc::setsid();
            libc::ioctl(terminal, libc::TIOCSCTTY, 0);
        } else if plan.own_group {
            // A new session, too. In the debugger's session, the kernel would send SIGHUP to the program's group if the debugger ended and
            // left the program stopped: the group would then be stopped and have no parent outside the group in its session any more.
            libc::setsid();
        }
        // Signals that the debugger ignores or blocks (Rust programs ignore SIGPIPE) get their defaults in the program.
        for signal in 1..=plan.highest_signal {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());

        // Descriptors opened by the debugger are above 2 unless it was started with a standard stream closed. Then a descriptor may have
        // the wanted number already. dup2 onto itself would keep its close-on-exec flag, so the flag is cleared instead.
        let stdin = plan.stdin.unwrap_or(libc::STDIN_FILENO);
        let wanted = [
            (stdin, libc::STDIN_FILENO),
            (plan.stdout, libc::STDOUT_FILENO),
            (plan.stderr, libc::STDERR_FILENO),
        ];
        for (from, to) in wanted {
            let result = if from == to {
                if plan.stdin.is_none() {
                    0
                } else {
                    libc::fcntl(from, libc::F_SETFD, 0)
                }
            } else {
                libc::dup2(from, to)
            };
            if result == -1 {
                fail(plan, 0);
            }
        }
        if let Some(cwd) = &plan.cwd
            && libc::chdir(cwd.as_ptr()) == -1
        {
            fail(plan, 1);
        }
        if plan.fixed_addresses {
            // Some containers refuse it: then addresses vary, which the debugger tolerates.
            let persona = libc::personality(0xffff_ffff);
            if persona != -1 {
                libc::personality((persona | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong);
            }
        }
        // Otherwise the child itself would keep the pipe open, and its read would not end when the debugger ends.
        libc::close(plan.go_write);
        let mut byte = 0u8;
        loop {
            match libc::read(plan.go, (&raw mut byte).cast(), 1) {
                1 => break,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => fail(plan, 2),
            }
        }
        libc::execve(
            plan.program.as_ptr(),
            plan.arguments.as_ptr(),
            plan.environment.as_ptr(),
        );
        fail(plan, 3)
    }
}

/// Reports a failed step and ends the child.
///
/// # Safety
/// Call only in a forked child.
unsafe fn fail(plan: &Plan, step: u8) -> ! {
    // SAFETY: reads errno, writes to a pipe and exits; all async-signal-safe.
    unsafe {
        let errno = (*libc::__errno_location()).to_le_bytes();
        let report = [step, errno[0], errno[1], errno[2], errno[3]];
        libc::write(plan.report, report.as_ptr().cast(), report.len());
        libc::_exit(127)
    }
}
