//! Processes that nobody, or not this user, may debug: the message gives the actual reason, and what helps.

use crate::support;
use crate::support::Run;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The user id of `nobody` on every system.
const NOBODY: u32 = 65534;

/// A folder that every user can read.
struct Open(PathBuf);

impl Open {
    fn new(name: &str) -> Open {
        let folder = std::env::temp_dir().join(format!("dapple-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("ours");
        Open(folder)
    }

    /// Compiles `fixtures/confined.c`.
    fn confined(&self) -> PathBuf {
        let program = self.0.join("confined");
        support::compile("confined.c", &program);
        program
    }

    /// Copies the debugger.
    fn dapple(&self) -> PathBuf {
        let copy = self.0.join("dapple");
        support::install(Path::new(env!("CARGO_BIN_EXE_dapple")), &copy, 0o755);
        copy
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A program that waits until this value is dropped.
struct Waiting(Child);

impl Waiting {
    fn start(command: &mut Command) -> Waiting {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        Waiting(child)
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_root() -> bool {
    let own = fs::metadata("/proc/self").expect("this process");
    own.uid() == 0
}

fn attach(command: &mut Command, pid: &str) -> String {
    let run = Run::of(command.args(["debug", "--batch", "--attach", pid]));
    assert_eq!(run.code, Some(126), "{run:#?}");
    run.stderr
}

#[test]
fn another_users_process_is_told_with_its_user() {
    let folder = Open::new("other-user");
    let mut dapple = Command::new(folder.dapple());
    let waiting = Waiting::start(Command::new(folder.confined()).arg("wait"));
    let sentence = match is_root() {
        // Root may debug all users' processes, so the debugger runs as another user.
        true => attach(
            dapple.current_dir("/").uid(NOBODY).gid(NOBODY),
            &waiting.pid(),
        ),
        // No other user owns process 1: it is root's.
        false => attach(&mut dapple, "1"),
    };
    assert!(
        sentence.contains(
            "it belongs to another user (id 0); run the debugger as that user, or as root with sudo"
        ),
        "{sentence}"
    );
}

#[test]
fn a_process_that_lets_nobody_look_is_told_from_one_of_another_user() {
    let folder = Open::new("private");
    let (mut dapple, mut confined) = (
        Command::new(folder.dapple()),
        Command::new(folder.confined()),
    );
    if is_root() {
        // Root may debug such a process, too, so both run as another user.
        dapple.current_dir("/").uid(NOBODY).gid(NOBODY);
        confined.current_dir("/").uid(NOBODY).gid(NOBODY);
    }
    let waiting = Waiting::start(confined.arg("private"));
    let sentence = attach(&mut dapple, &waiting.pid());
    // With Yama, its rule is checked first.
    let yama = Path::new("/proc/sys/kernel/yama/ptrace_scope");
    let scoped = fs::read_to_string(yama).is_ok_and(|scope| scope.trim() != "0");
    let part = match scoped {
        true => "kernel.yama.ptrace_scope",
        false => "(PR_SET_DUMPABLE); run the debugger with sudo",
    };
    assert!(sentence.contains(part), "{sentence}");
}

#[test]
fn a_sandbox_that_forbids_tracing_is_named_with_what_it_needs() {
    let folder = Open::new("filtered");
    let confined = folder.confined();
    let filtered = |arguments: &[&str]| {
        let mut command = Command::new(&confined);
        command.args(["filter", env!("CARGO_BIN_EXE_dapple")]);
        Run::of(command.args(arguments).env("TERM", "dumb"))
    };
    let waiting = Waiting::start(Command::new(&confined).arg("wait"));
    let part = "the debugger runs in a sandbox whose filter does not allow it (seccomp); a container needs \
                `--cap-add=SYS_PTRACE --security-opt seccomp=unconfined`";
    let yama = Path::new("/proc/sys/kernel/yama/ptrace_scope");
    let open = fs::read_to_string(yama).map_or(true, |scope| scope.trim() == "0");
    let run = filtered(&["debug", "--batch", "--attach", &waiting.pid()]);
    assert_eq!(run.code, Some(126), "{run:#?}");
    assert!(run.stderr.contains(part) || !open, "{run:#?}");
    let program = confined.display().to_string();
    let run = filtered(&["debug", "--batch", "--ex", "run", &program]);
    assert_eq!(run.code, Some(126), "{run:#?}");
    assert!(run.stderr.contains(part) || !open, "{run:#?}");
}

#[test]
fn a_thread_of_the_kernels_is_no_program() {
    /// `PF_KTHREAD` in field 9 of proc_pid_stat(5).
    const KERNEL_THREAD: u64 = 0x0020_0000;
    let is_kernels = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let flags = stat
            .rsplit_once(')')
            .and_then(|(_, fields)| fields.split_ascii_whitespace().nth(6));
        let flags = flags.and_then(|flags| flags.parse::<u64>().ok());
        flags.is_some_and(|flags| flags & KERNEL_THREAD != 0)
    };
    let entries = fs::read_dir("/proc").expect("processes");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut processes = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    // A container doesn't show kernel threads. Then use an id that no process has.
    let (pid, part) = match processes.find(is_kernels) {
        Some(pid) => (pid, "it is a thread of the kernel, not a program"),
        None => ("4194303".to_owned(), "there is no such process"),
    };
    let sentence = attach(&mut support::dapple(), &pid);
    assert!(sentence.contains(part), "{sentence}");
}
