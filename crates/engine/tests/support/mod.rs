//! Debuggees compiled with the installed compilers, once for each content, and a session that tests drive with short commands.

pub mod behind_qemu;
pub mod behind_stub;
pub mod cpu_time;
pub mod evaluated;
pub mod lacking_stub;
pub mod libraries;
pub mod listing;
pub mod optimised;
pub mod running;
pub mod vfork_child;

use crossbeam_channel::{Receiver, Sender, unbounded};
use dapple_engine::attach::AttachOptions;
use dapple_engine::debug_info::DebugInfoOptions;
use dapple_engine::event::{ExitStatus, Stop, StopReason, Stream};
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::{
    BreakpointState, GivingUp, Keep, LineBreakpoint, RemoteOptions, Resolution, StepKind,
};
use dapple_engine::{Address, Error, Event, Session, ThreadId};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Time limit of every wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// A compiled source.
pub struct Fixture {
    pub source: PathBuf,
    pub binary: PathBuf,
    text: String,
}

/// A source of the repository's `fixtures/`.
pub fn fixture(name: &str, flags: &[&str]) -> Fixture {
    let (source, text) = in_repository(name);
    build(name, source, text, flags)
}

fn in_repository(name: &str) -> (PathBuf, String) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name);
    let source = source
        .canonicalize()
        .unwrap_or_else(|e| panic!("{}: {e}", source.display()));
    let text = std::fs::read_to_string(&source).unwrap();
    (source, text)
}

/// Like [`fixture`], with a given compiler.
pub fn fixture_by(compiler: &str, name: &str, flags: &[&str]) -> Fixture {
    let (source, text) = in_repository(name);
    build_by(Some(compiler), name, source, text, flags)
}

/// Like [`inline`], with a given compiler.
pub fn inline_by(compiler: &str, name: &str, text: &str, flags: &[&str]) -> Fixture {
    let source = written(name, text);
    build_by(Some(compiler), name, source, text.to_owned(), flags)
}

/// The newest installed clang.
pub fn clang() -> Option<String> {
    let versions = (14..=30).rev().map(|version| format!("clang-{version}"));
    let runs = |name: &String| {
        let output = Command::new(name).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    versions.chain(["clang".to_owned()]).find(runs)
}

/// Whether a compiler can use libc++.
pub fn has_libcxx(compiler: &str) -> bool {
    let probe = folder().join("libcxx-probe.cpp");
    write_once(&probe, "#include <vector>\n");
    let output = Command::new(compiler)
        .args(["-stdlib=libc++", "-fsyntax-only"])
        .arg(&probe)
        .output();
    output.is_ok_and(|output| output.status.success())
}

/// A source in the test itself.
pub fn inline(name: &str, text: &str, flags: &[&str]) -> Fixture {
    let source = written(name, text);
    build(name, source, text.to_owned(), flags)
}

fn written(name: &str, text: &str) -> PathBuf {
    let source = folder()
        .join(format!("inline-{:016x}", hash(&(name, text))))
        .join(name);
    write_once(&source, text);
    source
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fixtures");
    std::fs::create_dir_all(&folder).unwrap();
    folder.canonicalize().unwrap()
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// A unique temporary name, because tests run concurrently in threads and processes.
fn aside(path: &Path) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap().to_owned();
    // No dot: rustc names its object files after the part in front of the last dot.
    name.push(format!("-{}-{count}", std::process::id()));
    path.with_file_name(name)
}

fn write_once(path: &Path, text: &str) {
    if !path.exists() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let part = aside(path);
        std::fs::write(&part, text).unwrap();
        std::fs::rename(part, path).unwrap();
    }
}

fn build(name: &str, source: PathBuf, text: String, flags: &[&str]) -> Fixture {
    build_by(None, name, source, text, flags)
}

fn build_by(
    compiler: Option<&str>,
    name: &str,
    source: PathBuf,
    text: String,
    flags: &[&str],
) -> Fixture {
    let key = hash(&(compiler, name, &text, flags, behind_qemu::machine()));
    let binary = folder().join(format!(
        "engine-{}-{key:016x}",
        name.replace(['.', '/'], "-")
    ));
    if !binary.exists() {
        let extension = source.extension().and_then(|e| e.to_str());
        let (usual, default): (&str, &[&str]) = match extension {
            Some("c") => ("cc", &["-g", "-pthread"]),
            Some("cpp") => ("c++", &["-g", "-pthread"]),
            Some("rs") => ("rustc", &["-g", "--edition", "2024"]),
            other => panic!("no compiler for {other:?}"),
        };
        let part = aside(&binary);
        let (compiler, needed) = match compiler {
            Some(compiler) => (compiler.to_owned(), Vec::new()),
            None => behind_qemu::compiler(usual),
        };
        let output = Command::new(&compiler)
            .args(needed)
            .args(default)
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(&part)
            .output()
            .expect("the compiler runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{compiler} {name}: {errors}");
        // Doesn't replace a program that another test has put there meanwhile: a process may be running it, and know it by its name.
        let placed = std::fs::hard_link(&part, &binary);
        std::fs::remove_file(&part).unwrap();
        if !binary.exists() {
            placed.unwrap();
        }
    }
    Fixture {
        source,
        binary,
        text,
    }
}

impl Fixture {
    /// The 1-based number of the line that ends in `// stop: NAME`.
    pub fn line(&self, name: &str) -> u32 {
        let marker = format!("// stop: {name}");
        let index = self
            .text
            .lines()
            .position(|line| line.trim_end().ends_with(&marker));
        index.unwrap_or_else(|| panic!("no line is marked {name}")) as u32 + 1
    }

    /// The name in the line's `// stop:` marker, or the number and text of an unmarked line.
    pub fn name_of(&self, line: u32) -> String {
        let text = self.text.lines().nth(line as usize - 1).unwrap_or_default();
        match text.split_once("// stop: ") {
            Some((_, name)) => name.trim().to_owned(),
            None => format!("{line}: {}", text.trim()),
        }
    }

    pub fn launch(&self) -> Debuggee<'_> {
        self.launch_with(&[])
    }

    pub fn launch_with(&self, args: &[&str]) -> Debuggee<'_> {
        let options = LaunchOptions {
            program: self.binary.clone(),
            args: args.iter().map(Into::into).collect(),
            ..LaunchOptions::default()
        };
        self.launch_options(options)
    }

    /// Launches the program with the calling thread as its tracer.
    pub fn launch_here(&self) -> Debuggee<'_> {
        let options = LaunchOptions {
            program: self.binary.clone(),
            ..LaunchOptions::default()
        };
        let keep = Keep::Here(Arc::default());
        if behind_stub::is_wanted() {
            return self.behind_stub(&options, keep);
        }
        self.debuggee(|events| {
            Session::launch_kept(options, DebugInfoOptions::default(), events, keep)
        })
    }

    pub fn launch_options(&self, options: LaunchOptions) -> Debuggee<'_> {
        if behind_stub::is_wanted() {
            return self.behind_stub(&options, Keep::Apart);
        }
        self.debuggee(|events| Session::launch(options, events))
    }

    /// Has a stub launch the program.
    fn behind_stub(&self, options: &LaunchOptions, keep: Keep) -> Debuggee<'_> {
        let (stub, written) = behind_stub::of(options);
        let mut debuggee = self.connected(stub, keep);
        debuggee.written = Some(written);
        debuggee
    }

    /// Connects to a stub.
    pub fn connect(&self, stub: RemoteOptions) -> Debuggee<'_> {
        self.connected(stub, Keep::Apart)
    }

    fn connected(&self, stub: RemoteOptions, keep: Keep) -> Debuggee<'_> {
        self.debuggee(|events| {
            Session::connect_kept(
                stub,
                GivingUp::default(),
                DebugInfoOptions::default(),
                events,
                keep,
            )
        })
    }

    pub fn attach(&self, options: AttachOptions) -> Debuggee<'_> {
        let mut debuggee = self.debuggee(|events| Session::attach(options, events));
        let stops = debuggee.expect_stop();
        assert_eq!(stops[0].reason, StopReason::Entry);
        debuggee
    }

    /// A program that was compiled elsewhere.
    pub fn of(binary: PathBuf) -> Fixture {
        Fixture {
            source: PathBuf::new(),
            binary,
            text: String::new(),
        }
    }

    fn debuggee(
        &self,
        start: impl FnOnce(Sender<Event>) -> Result<Session, Error>,
    ) -> Debuggee<'_> {
        let (sender, events) = unbounded();
        let session = start(sender).unwrap_or_else(|e| panic!("{e}"));
        Debuggee {
            fixture: self,
            session: Some(session),
            events,
            stdout: String::new(),
            stderr: String::new(),
            seen: Vec::new(),
            written: None,
        }
    }
}

/// A session under test.
pub struct Debuggee<'a> {
    pub fixture: &'a Fixture,
    session: Option<Session>,
    pub events: Receiver<Event>,
    pub stdout: String,
    pub stderr: String,
    /// Every event except output.
    pub seen: Vec<Event>,
    /// What the program behind a stub writes.
    written: Option<behind_stub::Written>,
}

/// A stop or the end.
#[derive(Debug)]
pub enum Outcome {
    Stopped(Vec<Stop>),
    Exited(ExitStatus),
}

impl Debuggee<'_> {
    pub fn session(&self) -> &Session {
        self.session.as_ref().expect("the session is there")
    }

    pub fn take_session(&mut self) -> Session {
        self.session.take().expect("the session is there")
    }

    /// The next event other than output, which is collected.
    pub fn next_event(&mut self) -> Event {
        loop {
            let event = match self.events.try_recv() {
                Ok(event) => event,
                // A debuggee that this thread traces makes progress only in `attend`.
                Err(_) if self.session.as_ref().is_some_and(Session::attend) => continue,
                Err(_) => match self.events.recv_timeout(PATIENCE) {
                    Ok(event) => event,
                    Err(e) => panic!("no event: {e}; so far {:?}", self.seen),
                },
            };
            if let Event::Output { stream, bytes } = &event {
                let text = String::from_utf8_lossy(bytes);
                match stream {
                    Stream::Stdout => self.stdout.push_str(&text),
                    Stream::Stderr => self.stderr.push_str(&text),
                }
                continue;
            }
            self.seen.push(event.clone());
            return event;
        }
    }

    /// Waits for a stop or the end.
    pub fn wait(&mut self) -> Outcome {
        loop {
            let outcome = match self.next_event() {
                Event::Stopped(stops) => Outcome::Stopped(stops),
                Event::Exited(status) => Outcome::Exited(status),
                Event::Lost(why) => panic!("lost: {why}; so far {:?}", self.seen),
                _ => continue,
            };
            if let Some(written) = &self.written {
                self.stdout = written.text();
            }
            return outcome;
        }
    }

    pub fn expect_stop(&mut self) -> Vec<Stop> {
        match self.wait() {
            Outcome::Stopped(stops) => stops,
            Outcome::Exited(status) => {
                panic!("it ended: {status:?}\n{}{}", self.stdout, self.stderr)
            }
        }
    }

    pub fn expect_exit(&mut self) -> ExitStatus {
        match self.wait() {
            Outcome::Exited(status) => status,
            Outcome::Stopped(stops) => {
                panic!("it stopped: {stops:?} {}", self.place(stops[0].thread))
            }
        }
    }

    pub fn resume(&mut self) {
        self.session().resume().unwrap();
    }

    /// Sets breakpoints on marked lines of the fixture; all must resolve.
    pub fn break_at(&mut self, names: &[&str]) -> Vec<BreakpointState> {
        let wanted = names
            .iter()
            .map(|name| LineBreakpoint {
                line: self.fixture.line(name),
                ..LineBreakpoint::default()
            })
            .collect();
        let states = self
            .session()
            .set_line_breakpoints(&self.fixture.source, wanted)
            .unwrap();
        for state in &states {
            assert!(
                matches!(state.resolution, Resolution::Resolved { .. }),
                "{state:?}"
            );
        }
        states
    }

    /// The marker, or the number and text, of the line of a thread's innermost frame.
    pub fn place(&self, thread: ThreadId) -> String {
        let stack = self.session().stack(thread, 0..1).unwrap();
        let Some(frame) = stack.frames.first() else {
            return "no frame".into();
        };
        match &frame.position {
            Some(position) if position.file.as_ref() == self.fixture.source => {
                self.fixture.name_of(position.line)
            }
            Some(position) => format!("{}:{}", position.file.display(), position.line),
            None => format!("no line, in {:?}", frame.function),
        }
    }

    /// Runs to the next stop, which must be at a breakpoint. Returns its thread and place.
    pub fn run_to_breakpoint(&mut self) -> (ThreadId, String) {
        self.resume();
        let stops = self.expect_stop();
        assert!(
            matches!(stops[0].reason, StopReason::Breakpoint(_)),
            "{stops:?}"
        );
        let thread = stops[0].thread;
        (thread, self.place(thread))
    }

    /// Steps. Returns where the step ended.
    pub fn step(&mut self, thread: ThreadId, kind: StepKind) -> String {
        self.session().step(thread, kind).unwrap();
        match self.wait() {
            Outcome::Stopped(stops) => {
                let stop = &stops[0];
                assert_eq!(stop.thread, thread, "{stops:?}");
                match &stop.reason {
                    StopReason::Step => self.place(thread),
                    StopReason::Breakpoint(_) => format!("breakpoint {}", self.place(thread)),
                    other => format!("{other:?} at {}", self.place(thread)),
                }
            }
            Outcome::Exited(status) => format!("{status:?}"),
        }
    }

    /// The address of a function of the program, by its symbol.
    pub fn symbol(&self, name: &str) -> Address {
        let module = dapple_symbols::Module::open(&self.fixture.binary).unwrap();
        let symbol = module
            .symbol_named(name)
            .unwrap_or_else(|| panic!("no symbol {name}"));
        let lowest = module
            .segments()
            .iter()
            .map(|s| s.address.0)
            .min()
            .unwrap_or(0);
        let modules = self.session().modules().unwrap();
        Address(modules[0].range.0.0 - lowest + symbol.address.0)
    }
}
