//! Attaches to a running process: seizes all of its threads, including those created meanwhile, and explains failures.
//!
//! The list of threads is read again and again, until all threads in it are traced. A thread that a traced thread creates is traced from its
//! start, so only threads that aren't traced yet can add untraced ones to the list.

use crate::linux::{process, ptrace, wait};
use crate::{Error, ThreadId};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, Read};

/// The bit of a kernel thread (`PF_KTHREAD`) in field 9 of proc_pid_stat(5).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// What becomes of a traced process if the debugger ends without detaching from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtDebuggersEnd {
    /// It runs on.
    Survives,
    /// The kernel kills it (PTRACE_O_EXITKILL).
    IsKilled,
}

/// Traces all threads of a process, which run on. Returns those that were seized, in the order in which the kernel lists them: oldest first.
/// Threads created meanwhile are traced, too, but may be missing in the result: the events of the threads that created them report them.
///
/// # Errors
/// Why the process can't be traced, and what the user can do.
pub fn seize(process: ThreadId, at_end: AtDebuggersEnd) -> Result<Vec<ThreadId>, Error> {
    let options = match at_end {
        AtDebuggersEnd::Survives => ptrace::OPTIONS,
        AtDebuggersEnd::IsKilled => ptrace::OPTIONS | libc::PTRACE_O_EXITKILL,
    };
    let refuse = |reason: String| Error::Attach {
        process: process.0,
        reason,
    };
    if let Some(reason) = impossible(process) {
        return Err(refuse(reason));
    }
    let mut traced = BTreeSet::new();
    let mut seized = Vec::new();
    loop {
        let mut new = false;
        for thread in threads(process).map_err(|_| refuse(NO_PROCESS.into()))? {
            if traced.contains(&thread) {
                continue;
            }
            match ptrace::seize(thread, options) {
                Ok(()) => seized.push(thread),
                // Another thread may reuse the id, so the id isn't recorded as traced.
                Err(_) if ended(process, thread) => continue,
                // The thread is traced already, because the thread that created it was.
                Err(_) if traced_here(process, thread) => {}
                Err(error) => {
                    let obstacle = Obstacle::of(process, thread, &error);
                    release(&traced);
                    return Err(refuse(obstacle.to_string()));
                }
            }
            traced.insert(thread);
            new = true;
        }
        if !new {
            break;
        }
    }
    if seized.is_empty() {
        return Err(refuse(NO_PROCESS.into()));
    }
    Ok(seized)
}

/// Detaches threads after a failed attach.
fn release(traced: &BTreeSet<ThreadId>) {
    for &thread in traced {
        if ptrace::interrupt(thread).is_ok() && wait::until_stopped(thread) {
            let _ = ptrace::detach(thread, 0);
        }
    }
}

/// Why a child that was started to be debugged can't be traced, and what the user can do.
pub fn why_not_launched(process: ThreadId, error: &io::Error) -> String {
    Obstacle::of(process, process, error).to_string()
}

const NO_PROCESS: &str = "there is no such process";

/// Why a process can't be traced, whatever the permissions are; `None` if there is no such reason.
fn impossible(process: ThreadId) -> Option<String> {
    if let Some(reason) = process::out_of_sight() {
        return Some(reason.into());
    }
    let Some(status) = Status::read(process.0) else {
        return Some(NO_PROCESS.into());
    };
    let own = std::process::id();
    if status.group != process.0 {
        let group = named(status.group);
        return Some(format!("it is a thread of process {group}; attach to that"));
    }
    if u32::try_from(process.0) == Ok(own) {
        return Some("it is this debugger itself".into());
    }
    let tracer = Status::read(own as i32).and_then(|own| Status::read(own.tracer));
    if tracer.is_some_and(|tracer| tracer.group == process.0) {
        return Some("it is a debugger that debugs this one".into());
    }
    if status.state == 'Z' && threads(process).is_ok_and(|threads| threads.len() < 2) {
        return Some(format!(
            "it has ended already; its parent, process {}, has not taken note yet (a zombie)",
            named(status.parent)
        ));
    }
    if is_kernel_thread(process) {
        return Some("it is a thread of the kernel, not a program".into());
    }
    if is_32_bit(process) == Some(true) {
        return Some("it is a 32-bit program; only 64-bit x86-64 programs can be debugged".into());
    }
    None
}

/// Facts that explain why the kernel refused to trace a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Obstacle {
    /// The current tracer's pid and name.
    tracer: Option<String>,
    /// The user that the process runs as, if that isn't the debugger's.
    other_user: Option<u32>,
    /// Yama's `kernel.yama.ptrace_scope`, where there is one.
    scope: Option<u8>,
    /// The debugger runs under a system-call filter (seccomp), as in containers.
    filtered: bool,
    /// The kernel's error.
    error: String,
    /// Whether the error is "not permitted".
    not_permitted: bool,
}

impl Obstacle {
    fn of(process: ThreadId, thread: ThreadId, error: &io::Error) -> Obstacle {
        let own = Status::read(std::process::id() as i32).unwrap_or_default();
        let status = Status::read_thread(process.0, thread.0).unwrap_or_default();
        let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok();
        Obstacle {
            // The kernel reports the tracer's thread id.
            tracer: (status.tracer != 0).then(|| {
                let group = Status::read(status.tracer).map_or(status.tracer, |t| t.group);
                named(group)
            }),
            other_user: (status.user != own.user).then_some(status.user),
            scope: scope.and_then(|text| text.trim().parse().ok()),
            filtered: own.filtered,
            error: error.to_string(),
            not_permitted: matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES)),
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tracer) = &self.tracer {
            return write!(
                f,
                "process {tracer} is tracing it already, and a process can have only one debugger; end that one first"
            );
        }
        if !self.not_permitted {
            return write!(f, "it can't be traced: {}", self.error);
        }
        if let Some(user) = self.other_user {
            return write!(
                f,
                "it belongs to another user (id {user}); run the debugger as that user, or as root with sudo"
            );
        }
        match self.scope {
            Some(1) => f.write_str(
                "the system allows to debug only programs that the debugger has started (kernel.yama.ptrace_scope is 1); \
                 allow it with `sudo sysctl kernel.yama.ptrace_scope=0`, or run the debugger with sudo, or launch the \
                 program with the debugger",
            ),
            Some(2) => f.write_str(
                "the system allows only administrators to attach (kernel.yama.ptrace_scope is 2); run the debugger with \
                 sudo, or allow it with `sudo sysctl kernel.yama.ptrace_scope=0`",
            ),
            Some(3) => f.write_str(
                "the system allows no attaching at all until it is started anew (kernel.yama.ptrace_scope is 3)",
            ),
            _ if self.filtered => f.write_str(
                "the debugger runs in a sandbox whose filter does not allow it (seccomp); a container needs \
                 `--cap-add=SYS_PTRACE --security-opt seccomp=unconfined`",
            ),
            _ => f.write_str(
                "the system does not permit it: it has rights that the debugger has not, or has forbidden it \
                 (PR_SET_DUMPABLE); run the debugger with sudo, in a container with `--cap-add=SYS_PTRACE`",
            ),
        }
    }
}

/// The fields of proc_pid_status(5) for a process or thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Status {
    state: char,
    group: i32,
    parent: i32,
    tracer: i32,
    /// The effective user.
    user: u32,
    /// Whether it runs under system-call filters (seccomp), or may make hardly any system calls (seccomp's strict mode).
    filtered: bool,
    /// How many filters those are; 0 if the kernel doesn't say (Linux before 5.9).
    filters: u32,
    /// Whether calls also push their return addresses on a shadow stack.
    shadow_stack: bool,
}

/// The id of a process's parent. `None`: there is no such process.
pub(super) fn parent(process: ThreadId) -> Option<ThreadId> {
    Status::read(process.0).map(|status| ThreadId(status.parent))
}

impl Status {
    fn read(process: i32) -> Option<Status> {
        let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        Some(Status::parse(&text))
    }

    fn read_thread(process: i32, thread: i32) -> Option<Status> {
        let path = format!("/proc/{process}/task/{thread}/status");
        Some(Status::parse(&fs::read_to_string(path).ok()?))
    }

    fn has_more_filters_than(&self, other: &Status) -> bool {
        // Filters are only ever added to those that a process has inherited.
        self.filtered && (!other.filtered || self.filters > other.filters)
    }

    fn parse(text: &str) -> Status {
        let mut status = Status::default();
        for line in text.lines() {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            let number = || value.parse().unwrap_or(0);
            match name {
                "State" => status.state = value.chars().next().unwrap_or_default(),
                "Tgid" => status.group = number(),
                "PPid" => status.parent = number(),
                "TracerPid" => status.tracer = number(),
                "Uid" => {
                    let mut ids = value.split_ascii_whitespace();
                    status.user = ids.nth(1).and_then(|id| id.parse().ok()).unwrap_or(0);
                }
                "Seccomp" => status.filtered = matches!(value, "1" | "2"),
                "Seccomp_filters" => status.filters = value.parse().unwrap_or(0),
                "x86_Thread_features" => {
                    status.shadow_stack = value.split_whitespace().any(|word| word == "shstk");
                }
                _ => {}
            }
        }
        status
    }
}

/// The ids of a process's threads.
pub fn threads(process: ThreadId) -> io::Result<Vec<ThreadId>> {
    let entries = fs::read_dir(format!("/proc/{process}/task"))?;
    let id = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    Ok(entries.filter_map(id).map(ThreadId).collect())
}

/// Whether a stop signal has stopped a process that nothing traces.
pub fn stopped_by_signal(process: ThreadId) -> bool {
    Status::read(process.0).is_some_and(|status| status.state == 'T')
}

/// Whether a process runs under a system-call filter (seccomp).
pub fn is_filtered(process: ThreadId) -> bool {
    Status::read(process.0).is_some_and(|status| status.filtered)
}

/// Whether a thread runs under a system-call filter that it doesn't share with the debugger, as it shares a container's.
pub fn has_own_filter(thread: ThreadId) -> bool {
    let own = Status::read(std::process::id().cast_signed()).unwrap_or_default();
    Status::read(thread.0).is_some_and(|status| status.has_more_filters_than(&own))
}

/// Whether a thread has a shadow stack (Intel SDM volume 1, chapter 17): a return to an address that no call has pushed ends the program.
pub fn has_shadow_stack(thread: ThreadId) -> bool {
    Status::read(thread.0).is_some_and(|status| status.shadow_stack)
}

/// Why a process does not stop, as a clause for a message.
pub fn obstinate(process: ThreadId) -> String {
    let waits = |thread: &ThreadId| {
        Status::read_thread(process.0, thread.0).is_some_and(|status| status.state == 'D')
    };
    let threads = threads(process).unwrap_or_default();
    match threads.into_iter().find(waits) {
        Some(thread) => format!(
            "its thread {thread} waits in the kernel for what can't be interrupted (state D: a device, a file system \
             that does not answer, or a child made by vfork)"
        ),
        None => "its threads do not answer".into(),
    }
}

fn ended(process: ThreadId, thread: ThreadId) -> bool {
    Status::read_thread(process.0, thread.0).is_none_or(|status| matches!(status.state, 'Z' | 'X'))
}

/// Whether the calling thread traces `thread`; the kernel reports the tracer's thread id.
fn traced_here(process: ThreadId, thread: ThreadId) -> bool {
    // SAFETY: gettid(2) takes nothing and can't fail.
    let own = unsafe { libc::gettid() };
    Status::read_thread(process.0, thread.0).is_some_and(|status| status.tracer == own)
}

fn is_kernel_thread(process: ThreadId) -> bool {
    let flags = || {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (_, fields) = stat.rsplit_once(')')?;
        let flags = fields.split_ascii_whitespace().nth(9 - 3)?;
        flags.parse::<u64>().ok()
    };
    flags().is_some_and(|flags| flags & KERNEL_THREAD != 0)
}

fn is_32_bit(process: ThreadId) -> Option<bool> {
    let mut head = [0; 5];
    let mut file = fs::File::open(process::folder(process).join("exe")).ok()?;
    file.read_exact(&mut head).ok()?;
    Some(head == [0x7f, b'E', b'L', b'F', 1])
}

/// A process's pid with its name.
fn named(process: i32) -> String {
    let name = process::thread_name(ThreadId(process));
    match name.as_str() {
        "" => process.to_string(),
        name => format!("{process} ({name})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_obstacle_has_its_own_remedy() {
        let refused = Obstacle {
            error: "Operation not permitted".into(),
            not_permitted: true,
            ..Obstacle::default()
        };
        let scope = |scope| Obstacle {
            scope: Some(scope),
            ..refused.clone()
        };
        let cases = [
            (
                Obstacle {
                    tracer: Some("7 (gdb)".into()),
                    ..scope(1)
                },
                "process 7 (gdb) is tracing it already",
            ),
            (
                Obstacle {
                    other_user: Some(1001),
                    ..scope(1)
                },
                "another user (id 1001); run the debugger as that user",
            ),
            (scope(1), "`sudo sysctl kernel.yama.ptrace_scope=0`"),
            (scope(2), "only administrators"),
            (scope(3), "until it is started anew"),
            (
                Obstacle {
                    filtered: true,
                    ..scope(0)
                },
                "seccomp=unconfined",
            ),
            (scope(0), "PR_SET_DUMPABLE"),
            (
                Obstacle {
                    not_permitted: false,
                    error: "Input/output error".into(),
                    ..Obstacle::default()
                },
                "can't be traced: Input/output error",
            ),
        ];
        for (obstacle, part) in cases {
            let sentence = obstacle.to_string();
            assert!(sentence.contains(part), "{sentence:?} should say {part:?}");
        }
    }

    #[test]
    fn a_status_is_read_whatever_else_it_says() {
        let text = "Name:\ta: b\nState:\tt (tracing stop)\nTgid:\t12\nPPid:\t3\nTracerPid:\t9\nUid:\t1\t2\t3\t4\n\
                    Seccomp:\t2\nSeccomp_filters:\t1\nx86_Thread_features:\tshstk wrss\n";
        let expected = Status {
            state: 't',
            group: 12,
            parent: 3,
            tracer: 9,
            user: 2,
            filtered: true,
            filters: 1,
            shadow_stack: true,
        };
        assert_eq!(Status::parse(text), expected);
    }

    #[test]
    fn a_filter_beside_those_of_the_container_is_the_programs_own() {
        let with = |filters: u32| Status {
            filtered: filters > 0,
            filters,
            ..Status::default()
        };
        assert!(!with(0).has_more_filters_than(&with(1)));
        assert!(!with(1).has_more_filters_than(&with(1)));
        assert!(with(2).has_more_filters_than(&with(1)));
        assert!(with(1).has_more_filters_than(&with(0)));
    }
}
