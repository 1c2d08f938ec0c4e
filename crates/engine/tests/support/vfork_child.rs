//! `fixtures/lent.c`: a program whose vfork child runs in its memory, and waits in a system call there.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Time limit of every wait.
const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
pub fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

/// The arguments of `fixtures/lent.c`: the FIFO from which it reads commands, and the file to which it writes its child's exit status.
pub struct Files {
    pub fifo: PathBuf,
    pub result: PathBuf,
}

impl Files {
    pub fn new() -> Files {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = |what: &str| {
            std::env::temp_dir().join(format!("lent-{what}-{}-{number}", std::process::id()))
        };
        let (fifo, result) = (name("fifo"), name("result"));
        let made = Command::new("mkfifo").arg(&fifo).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo runs");
        std::fs::write(&result, "").expect("a file");
        Files { fifo, result }
    }

    pub fn args(&self) -> Vec<OsString> {
        [&self.fifo, &self.result].map(Into::into).into()
    }

    /// Makes the program, or its child, continue from where it waits.
    pub fn send(&self) {
        let mut fifo = std::fs::OpenOptions::new().write(true).open(&self.fifo);
        fifo.as_mut()
            .expect("the fifo")
            .write_all(b"x")
            .expect("it is read");
    }

    /// The child's exit status, in the form of wait(2).
    #[track_caller]
    pub fn result(&self) -> String {
        until("the child has not ended", || {
            let text = std::fs::read_to_string(&self.result).expect("the result");
            text.strip_suffix('\n').map(str::to_owned)
        })
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.fifo);
        let _ = std::fs::remove_file(&self.result);
    }
}

/// The child of a process that waits in read(2), and its instruction pointer.
#[track_caller]
pub fn reading_child(process: i32) -> (i32, u64) {
    until("no child waits", || {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
        let children = tasks
            .flatten()
            .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        let children: String = children.collect();
        let child = children.split_whitespace().next()?.parse().ok()?;
        Some((child, reading_at(child)?))
    })
}

/// The instruction pointer of a process that waits in read(2).
pub fn reading_at(process: i32) -> Option<u64> {
    let call = std::fs::read_to_string(format!("/proc/{process}/syscall")).ok()?;
    let mut fields = call.split_whitespace();
    (fields.next()? == "0").then_some(())?;
    let pc = u64::from_str_radix(fields.next_back()?.strip_prefix("0x")?, 16);
    pc.ok()
}
