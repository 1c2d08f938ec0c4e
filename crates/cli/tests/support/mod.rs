//! Running the real binary: to its end with its output captured, or on a pseudo-terminal.

pub mod elsewhere;
pub mod full_screen;
#[path = "../../../adapter/tests/support/gdbserver.rs"]
pub mod gdbserver;
#[path = "../../../target/tests/support/guarded.rs"]
pub mod guarded;
pub mod mcp;
pub mod moody;
pub mod raw;
#[path = "../../../engine/tests/support/running.rs"]
pub mod running;
pub mod terminal;
#[path = "../../../engine/tests/support/vfork_child.rs"]
pub mod vfork_child;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

/// How long a command may take, however slow the machine is: a test that hangs is to be named.
const LONGEST: Duration = Duration::from_secs(600);

/// The workspace's folder, to which paths such as `fixtures/tour.rs` are relative.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace is there")
}

/// A folder for files that the tests write.
pub fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("the target directory can be written");
    directory
}

/// Writes a file for a test. Another test may be using the same file, so it is replaced atomically.
pub fn write(name: &str, text: &str) -> PathBuf {
    let folder = scratch("sources");
    let path = folder.join(name);
    if std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
        return path;
    }
    let thread = std::thread::current().id();
    let new = folder.join(format!("{name}-{}-{thread:?}", std::process::id()));
    std::fs::write(&new, text).expect("the target directory can be written");
    std::fs::rename(&new, &path).expect("the target directory can be written");
    path
}

/// Copies a file that is to be executed, and sets its mode. The copy is made by another process: a file that this process has open for
/// writing is inherited by children that other tests fork in the meantime, and executing it fails with ETXTBSY until they close it
/// (execve(2)).
pub fn install(from: &Path, to: &Path, mode: u32) {
    let mut install = Command::new("install");
    install.args(["-m", &format!("{mode:o}")]).args([from, to]);
    assert!(install.status().is_ok_and(|status| status.success()));
}

/// Writes an executable script.
pub fn script(path: &Path, text: &str) {
    let source = path.with_extension("text");
    std::fs::write(&source, text).expect("the folder is there");
    install(&source, path, 0o755);
}

/// Compiles `fixtures/NAME` to `program`.
pub fn compile(name: &str, program: &Path) {
    let status = Command::new("cc")
        .args(["-g", "-pthread"])
        .arg(root().join("fixtures").join(name))
        .arg("-o")
        .arg(program)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{name}");
}

/// The 1-based line of `fixtures/NAME` that ends in `// stop: MARK`.
pub fn line(name: &str, mark: &str) -> i64 {
    let path = root().join("fixtures").join(name);
    let text = std::fs::read_to_string(path).expect("the source");
    let end = format!("// stop: {mark}");
    let at = text.lines().position(|line| line.ends_with(&end));
    at.expect("a marked line") as i64 + 1
}

/// `dapple` in the workspace's folder, with cache and configuration folders of the tests and without colours.
pub fn dapple() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dapple"));
    command
        .current_dir(root())
        .env("XDG_CACHE_HOME", scratch("cache"))
        .env("XDG_STATE_HOME", scratch("state"))
        .env("XDG_CONFIG_HOME", scratch("config"))
        .env("NO_COLOR", "1")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null());
    command
}

/// A command for our adapter by a name that the client doesn't know, so that it is driven as somebody else's.
pub fn another_adapter() -> String {
    let link = scratch("another").join(format!("adapter-{:?}", std::thread::current().id()));
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_dapple"), &link).expect("a link");
    format!("{:?} dap", link)
}

/// Runs `dapple debug --batch --ex …`.
pub fn batch(program: &str, commands: &[&str]) -> Run {
    let mut command = dapple();
    command.args(["debug", "--batch"]);
    for line in commands {
        command.args(["--ex", line]);
    }
    Run::of(command.arg(program))
}

/// Runs `dapple debug` with these arguments, and commands on its standard input, where a wrong command doesn't end the session.
pub fn typed(arguments: &[&str], lines: &[&str]) -> Run {
    let path = scratch("typed").join(format!("{:?}", std::thread::current().id()));
    std::fs::write(&path, lines.join("\n") + "\n").expect("the target directory can be written");
    let lines = std::fs::File::open(&path).expect("the lines");
    Run::of(dapple().arg("debug").args(arguments).stdin(lines))
}

/// Splits a command line into words as a shell does: at blanks, except between quotes.
pub fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part);
        } else {
            words.extend(part.split_whitespace());
        }
    }
    words
}

/// The output of a run, and how it ended.
#[derive(Debug)]
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl Run {
    /// Runs a command to its end, and until nobody has its output open any more.
    #[track_caller]
    pub fn of(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("dapple can be started");
        let stdout = collected(child.stdout.take().expect("a pipe"));
        let stderr = collected(child.stderr.take().expect("a pipe"));
        let deadline = Instant::now() + LONGEST;
        let texts = [stdout, stderr].map(|text| text.recv_deadline(deadline));
        if texts.iter().any(Result::is_err) {
            let _ = child.kill();
        }
        let [stdout, stderr] = texts.map(|text| text.expect("an end within the time limit"));
        Self {
            stdout: normalised(&stdout),
            stderr: normalised(&stderr),
            code: child.wait().expect("its end").code(),
        }
    }

    /// Checks that the run failed with exactly this text on stderr.
    #[track_caller]
    pub fn assert_fails(&self, message: &str) {
        self.assert_ends(1, message);
    }

    /// `dapple debug --batch` has ended at a command that has failed.
    #[track_caller]
    pub fn assert_command_fails(&self, message: &str) {
        self.assert_ends(125, message);
    }

    /// `dapple debug --batch` has found nothing to debug, or no adapter.
    #[track_caller]
    pub fn assert_cannot_begin(&self, message: &str) {
        self.assert_ends(126, message);
    }

    #[track_caller]
    fn assert_ends(&self, code: i32, message: &str) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert_eq!(self.stderr, message, "{self:#?}");
    }
}

/// What a pipe has until its end.
fn collected(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, text) = bounded(1);
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    text
}

/// The text without parts that differ from run to run: addresses, thread ids, and lines that depend on the state of the cache.
pub fn normalised(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("compiling ")) {
        let line = after_each(line, "0x", char::is_alphanumeric, "…");
        let line = after_each(&line, "thread ", |c| c.is_ascii_digit(), "N");
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Replaces the characters after each `mark` that satisfy `part` with `by`.
fn after_each(text: &str, mark: &str, part: impl Fn(char) -> bool, by: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(mark) {
        let (before, after) = rest.split_at(at + mark.len());
        out.push_str(before);
        let end = after.find(|c| !part(c)).unwrap_or(after.len());
        if end > 0 {
            out.push_str(by);
        }
        rest = &after[end..];
    }
    out + rest
}

/// Lets some time pass: what is done meanwhile is to be interrupted at any moment.
pub fn pass(time: std::time::Duration) {
    let (_kept, never) = std::sync::mpsc::channel::<()>();
    let _ = never.recv_timeout(time);
}
