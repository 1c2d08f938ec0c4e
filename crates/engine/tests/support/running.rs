//! Programs that run without a debugger, and what is in their memory.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// `fixtures/server.c`, started by the test.
pub struct Running {
    pub child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    /// Starts the program. On return it is ready.
    pub fn start(program: &Path, args: &[&str]) -> Running {
        let mut running = Running::begin(program, args);
        running.is_ready();
        running
    }

    /// Starts the program without waiting, for tests that attach at once.
    pub fn begin(program: &Path, args: &[&str]) -> Running {
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("its output"));
        Running { child, stdout }
    }

    /// Waits until the program is ready.
    #[track_caller]
    pub fn is_ready(&mut self) {
        assert_eq!(self.line(), "ready");
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// The next line of the program's output.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        let count = self.stdout.read_line(&mut line).expect("its output");
        assert!(count > 0, "it has ended: {:?}", self.child.try_wait());
        line.trim_end().to_owned()
    }

    /// Sends a line, without waiting for an answer.
    pub fn tell(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("its input");
        writeln!(stdin, "{line}").expect("it reads");
    }

    /// Sends a line. Returns the line that the program answers.
    #[track_caller]
    pub fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.line()
    }

    /// A field of `/proc/PID/status`.
    pub fn status(&self, field: &str) -> String {
        status(self.pid(), field)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The debug control register, trap flag and instruction pointer of each thread of a process. `program` is `fixtures/registers.c`, which
/// reads them with ptrace.
pub fn registers(program: &Path, process: i32) -> Vec<(u64, bool, u64)> {
    let output = Command::new(program)
        .arg(process.to_string())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let number = |text| u64::from_str_radix(text, 16).expect("a number");
    text.lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            (number(fields[1]), fields[2] == "1", number(fields[3]))
        })
        .collect()
}

/// Sends a signal with the `kill` command.
pub fn kill(signal: &str, pid: i32) {
    let status = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// Waits until a stop signal has stopped an untraced process.
pub fn wait_until_stopped(pid: i32) {
    while !status(pid, "State").starts_with('T') {
        std::thread::yield_now();
    }
}

/// A field of `/proc/PID/status`.
pub fn status(pid: i32, field: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    value.unwrap_or_default().trim().to_owned()
}

/// Where the executable mappings of a process differ from their files: path and offset of the first few differences.
pub fn changed_text(pid: i32) -> Vec<String> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("it lives");
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).expect("its memory");
    let mut changed = Vec::new();
    let mut files = 0;
    for line in maps.lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [range, "r-xp", offset, _, _, path] = fields[..] else {
            continue;
        };
        if !path.starts_with('/') {
            continue;
        }
        let (start, end) = range.split_once('-').expect("a range");
        let number = |text| u64::from_str_radix(text, 16).expect("a number");
        let (start, end, offset) = (number(start), number(end), number(offset));
        let mut now = vec![0; (end - start) as usize];
        memory.read_exact_at(&mut now, start).expect("its code");
        let mut file = std::fs::read(path).expect("its file");
        file.resize(file.len().next_multiple_of(4096), 0);
        let file = &file[offset as usize..][..now.len()];
        let differ = now
            .iter()
            .zip(file)
            .enumerate()
            .filter(|(_, (a, b))| a != b);
        changed.extend(differ.take(5).map(|(at, (now, file))| {
            format!("{path}+{:#x}: {file:#x} is {now:#x}", offset + at as u64)
        }));
        files += 1;
    }
    assert!(files > 0, "no code was compared");
    changed
}
