//! Stubs that lie: a session with gdbserver is recorded, and played again by a stub that closes the connection at each packet, or answers with
//! what isn't so. Each session has to end in bounded time, without a panic, with a reason if the program can't be reached any more.
//!
//! All sessions are in a process of their own, whose memory, threads and panics are theirs. With [`VARIABLE`] set to the numbers of some
//! (`896`, `500..600`), `cargo test --test it lying_stubs::sessions -- --nocapture` has these alone.

mod lies;
mod model;
mod recorded;
mod stub;
mod user;
mod wire;

use crate::support::{Fixture, file};
use lies::Random;
use model::Script;
use std::collections::BTreeMap;
use std::ops::Range;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use stub::{Lie, Moment, Untruth};
use user::Seen;

/// Which sessions this process has: `all`, or some by their numbers.
const VARIABLE: &str = "DAPPLE_LYING_STUBS";
/// How many sessions there are for each kind of lie, at least.
const OF_EACH_KIND: usize = 16;
/// How many there are for each kind by which no answer comes.
const OF_SLOW_KIND: usize = 4;
/// How many sessions end in silence. They wait at the same time.
const SILENT: usize = 40;
/// How long one session may take.
const LONGEST: Duration = Duration::from_secs(300);
/// How much memory the process may have had, in KiB.
const MOST_MEMORY: u64 = 2 << 20;

static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_stub_that_lies_never_hangs_or_crashes_a_session() {
    let own = std::env::current_exe().expect("this program");
    let output = Command::new(own)
        .args(["--exact", "lying_stubs::sessions", "--nocapture"])
        .env(VARIABLE, "all")
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    print!("{text}");
    assert!(output.status.success(), "{}:\n{errors}", output.status);
}

#[test]
fn sessions() {
    let Ok(wanted) = std::env::var(VARIABLE) else {
        return;
    };
    let Some(server) = crate::remote::gdbserver() else {
        return;
    };
    count_panics();
    let fixture = Fixture::new("lied_about.c");
    let place = place("recorded");
    let target = format!("unix:{}", place.display());
    let mut honest = None;
    let exchanges = recorded::record(&server, &fixture.program(), &place, || {
        honest = Some(user::go_through(&target, &fixture).expect("an honest session"));
    });
    let honest = honest.expect("a session").lines;
    println!("{} packets: {honest:#?}", exchanges.len());
    let script = Script::new(exchanges);
    let play = Play {
        fixture,
        script,
        honest,
        fifo: fifo(),
    };
    play.is_played_alike();
    let lies = all_lies(&play.script);
    let before = threads().len();
    let (first, end) = match (wanted.parse::<usize>(), wanted.split_once("..")) {
        (Ok(number), _) => (number, number + 1),
        (_, Some((first, end))) => (
            first.parse().expect("a number"),
            end.parse().unwrap_or(lies.len()),
        ),
        _ => (0, lies.len()),
    };
    assert!(lies.len() >= 1000, "only {}", lies.len());
    play.all(&lies, first..end.min(lies.len()));
    no_more_threads_than(before);
    let panics = PANICS.lock().expect("never held by a panic").clone();
    assert!(panics.is_empty(), "panics: {panics:#?}");
}

/// What all sessions share.
struct Play {
    fixture: Fixture,
    script: Script,
    /// What an honest session shows.
    honest: Vec<String>,
    fifo: PathBuf,
}

impl Play {
    /// The recording itself is played as it was recorded, or nothing that follows would say anything.
    fn is_played_alike(&self) {
        let truth = Lie {
            at: 0,
            lasts: false,
            untruth: Untruth::None,
            seed: 0,
        };
        let seen = self.session(usize::MAX, truth).expect("the truth");
        assert_eq!(seen.lines, self.honest);
    }

    /// Has all sessions: those with silence each on a thread of its own, the others on some.
    fn all(&self, lies: &[Lie], numbers: Range<usize>) {
        let begun = Instant::now();
        let report = Mutex::new(Report::default());
        let next = AtomicUsize::new(numbers.start);
        let is_silent = |lie: &Lie| match lie.untruth {
            Untruth::Silence => true,
            Untruth::Kind(kind) => kind.is_slow,
            _ => false,
        };
        let one = |number: usize, lie: Lie| {
            let begun = Instant::now();
            let seen = self.session(number, lie);
            let mut report = report.lock().expect("no panic while it is held");
            report.add(number, lie, seen, begun.elapsed());
        };
        // Many wait for an answer more than they work.
        let workers = 4 * std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|scope| {
            for number in numbers.clone().filter(|number| is_silent(&lies[*number])) {
                scope.spawn(move || one(number, lies[number]));
            }
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        match lies.get(number).filter(|_| number < numbers.end) {
                            Some(lie) if !is_silent(lie) => one(number, *lie),
                            Some(_) => {}
                            None => break,
                        }
                    }
                });
            }
        });
        let report = report.into_inner().expect("no panic");
        report.judge(begun.elapsed());
    }

    /// A session with a stub that lies. What was seen, or what is wrong with it.
    fn session(&self, number: usize, lie: Lie) -> Result<Seen, String> {
        let place = place(&number.to_string());
        let listener = UnixListener::bind(&place).expect("a socket");
        let fifo = self.fifo.to_str().expect("UTF-8");
        let seen = std::thread::scope(|scope| {
            scope.spawn(|| stub::serve(&listener, &self.script, lie, fifo));
            user::go_through(&format!("unix:{}", place.display()), &self.fixture)
        });
        let _ = std::fs::remove_file(&place);
        let seen = seen?;
        match is_explained(&seen, lie) {
            true => Ok(seen),
            false => Err(format!("no reason is told: {seen:#?}")),
        }
    }
}

/// Whether a session's end has a reason that the user sees.
fn is_explained(seen: &Seen, lie: Lie) -> bool {
    let is_lost = seen.lost.as_ref().is_some_and(|why| !why.is_empty());
    let is_refused = seen.refused.is_some();
    match lie.untruth {
        Untruth::Close(Moment::Before | Moment::Within) | Untruth::Silence => is_lost || is_refused,
        Untruth::Close(Moment::Behind) => is_lost || is_refused || seen.exited,
        _ => !seen.terminated || is_lost || is_refused || seen.exited,
    }
}

/// What all sessions have come to.
#[derive(Default)]
struct Report {
    sessions: usize,
    /// How many have ended in each way.
    ends: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
    longest: Vec<(Duration, String)>,
}

impl Report {
    fn add(&mut self, number: usize, lie: Lie, seen: Result<Seen, String>, took: Duration) {
        self.sessions += 1;
        let end = match &seen {
            Err(_) => "wrong",
            Ok(seen) if seen.refused.is_some() => "refused",
            Ok(seen) if seen.lost.is_some() => "lost",
            Ok(seen) if seen.exited => "exited",
            Ok(_) => "disconnected",
        };
        *self.ends.entry(end).or_default() += 1;
        let slowest = seen.as_ref().map(|seen| seen.longest).ok();
        let what = format!("{number}, {lie}, slowest {slowest:?}");
        if seen.is_err() || took > Duration::from_secs(5) {
            println!("{what}: {end} after {took:?}");
        }
        match seen {
            Err(why) => self.wrong.push(format!("{what}: {why}")),
            Ok(_) if took > LONGEST => self.wrong.push(format!("{what}: took {took:?}")),
            Ok(_) => {}
        }
        self.longest.push((took, what));
        self.longest.sort();
        self.longest.reverse();
        self.longest.truncate(12);
    }

    fn judge(&self, took: Duration) {
        let memory = most_memory();
        println!(
            "{} sessions in {took:?}, {memory} KiB at most: {:?}; the longest: {:#?}",
            self.sessions, self.ends, self.longest
        );
        assert!(
            self.wrong.is_empty(),
            "{} are wrong:\n{}",
            self.wrong.len(),
            self.wrong.join("\n")
        );
        assert!(memory < MOST_MEMORY, "{memory} KiB");
    }
}

/// The lies of all sessions, always the same.
fn all_lies(script: &Script) -> Vec<Lie> {
    let packets = script.exchanges.len();
    let mut lies = Vec::new();
    for at in 0..packets {
        for moment in [Moment::Before, Moment::Within, Moment::Behind] {
            lies.push(Lie {
                at,
                lasts: false,
                untruth: Untruth::Close(moment),
                seed: 0,
            });
        }
    }
    let mut random = Random::new(1);
    for kind in stub::kinds() {
        let fitting = script.exchanges.iter().enumerate();
        let fitting = fitting.filter(|(_, exchange)| (kind.fits)(&exchange.asked));
        let fitting: Vec<usize> = fitting.map(|(at, _)| at).collect();
        let count = match kind.is_slow {
            true => OF_SLOW_KIND,
            false => OF_EACH_KIND,
        };
        for seed in 0..count {
            lies.push(Lie {
                // The first ones matter most.
                at: fitting
                    .get(seed / 4)
                    .copied()
                    .filter(|_| seed % 4 == 0)
                    .unwrap_or_else(|| random.one_of(&fitting)),
                lasts: seed % 2 == 0,
                untruth: Untruth::Kind(kind),
                seed: seed as u64,
            });
        }
    }
    for index in 0..SILENT {
        lies.push(Lie {
            at: index * packets / SILENT,
            lasts: false,
            untruth: Untruth::Silence,
            seed: 0,
        });
    }
    lies
}

/// Where a stub listens.
fn place(name: &str) -> PathBuf {
    let name = format!("dapple-lying-{}-{name}", std::process::id());
    std::env::temp_dir().join(name)
}

/// A FIFO, to which nobody writes.
fn fifo() -> PathBuf {
    let path = file("lying-mark", b"", 0o600).with_extension("fifo");
    let _ = std::fs::remove_file(&path);
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo runs").success());
    path
}

/// Notes all panics of this process.
fn count_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if let Ok(mut panics) = PANICS.lock() {
            panics.push(panic.to_string());
        }
        default(panic);
    }));
}

/// The names of this process's threads.
fn threads() -> Vec<String> {
    let all = std::fs::read_dir("/proc/self/task").expect("it is there");
    let names = all.filter_map(|task| {
        let name = std::fs::read_to_string(task.ok()?.path().join("comm"));
        Some(name.ok()?.trim().to_owned())
    });
    names.collect()
}

/// Waits for the threads of sessions that are over: some end behind the session.
fn no_more_threads_than(count: usize) {
    let begun = Instant::now();
    while threads().len() > count {
        let names = threads();
        assert!(begun.elapsed() < user::LIMIT, "left behind: {names:?}");
        std::thread::yield_now();
    }
}

/// The most memory that this process has had, in KiB (proc_pid_status(5)).
fn most_memory() -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).expect("it is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.expect("a number")
}
