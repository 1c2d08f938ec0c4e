//! The debuggees, and the limits of the system on them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};

use super::session::Debuggee;

const HITS: &str = include_str!("programs/hits.c");
const PAIR: &str = include_str!("programs/pair.c");
const STEPS: &str = include_str!("programs/steps.c");
const TURNS: &str = include_str!("programs/turns.c");
const THREADS: &str = include_str!("programs/threads.c");
const LINES: &str = include_str!("programs/lines.c");
const LIMIT: &str = include_str!("programs/limit.c");

/// The programs, compiled.
pub struct Programs {
    /// A loop around one line.
    pub hits: Debuggee,
    /// That line.
    pub body: i64,
    /// The line after the loop.
    pub end: i64,
    /// Such a loop in two threads, and in one.
    pub pair: Debuggee,
    pub single: Debuggee,
    /// The line in it, and the one where all threads have ended.
    pub in_pair: [i64; 2],
    pub steps: Debuggee,
    /// A loop that is inlined into one line.
    pub turns: Debuggee,
    /// That line, and the one after it.
    pub turning: [i64; 2],
    pub threads: Debuggee,
    pub lines: Debuggee,
    limit: Debuggee,
}

/// The limits that no debugger can exceed: counts per second, and milliseconds.
pub struct Limits {
    /// Stops at a breakpoint, with what a condition needs.
    pub hits: f64,
    /// Calls of a function that compares, in a program that nobody debugs.
    pub calls: f64,
    /// The same in two threads.
    pub calls_in_two: f64,
    pub steps: f64,
    pub writes: f64,
    pub pause: f64,
    pub resume: f64,
    pub lines: f64,
}

/// A program with a loop around one line.
pub struct Loop {
    pub debuggee: Debuggee,
    /// That line.
    pub body: i64,
    /// The line after the loop.
    pub end: i64,
}

impl Debuggee {
    /// The same program with an argument.
    pub fn with(&self, argument: u32) -> Debuggee {
        Debuggee {
            argument,
            ..self.clone()
        }
    }
}

/// Writes and compiles them into `directory`.
pub fn build(directory: &Path) -> anyhow::Result<Programs> {
    let of = |name, text, optimisation| compile(directory, Compiler::C, name, text, optimisation);
    Ok(Programs {
        body: line(HITS, "/* body */")?,
        end: line(HITS, "/* end */")?,
        hits: of("hits.c", HITS, "-O0")?,
        pair: of("pair.c", PAIR, "-O0")?,
        single: of(
            "single.c",
            &PAIR.replace("THREADS = 2", "THREADS = 1"),
            "-O0",
        )?,
        in_pair: [line(PAIR, "/* body */")?, line(PAIR, "/* end */")?],
        steps: of("steps.c", STEPS, "-O0")?,
        turns: of("turns.c", TURNS, "-O0")?,
        turning: [line(TURNS, "/* loop */")?, line(TURNS, "/* behind */")?],
        threads: of("threads.c", THREADS, "-O0")?,
        lines: of("lines.c", LINES, "-O0")?,
        limit: of("limit.c", LIMIT, "-O2")?,
    })
}

/// The compiler of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiler {
    C,
    Cpp,
    Rust,
}

/// Writes a program into `directory` and compiles it with debug information.
pub fn compile(
    directory: &Path,
    compiler: Compiler,
    name: &str,
    text: &str,
    optimisation: &str,
) -> anyhow::Result<Debuggee> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("can't create {}", directory.display()))?;
    let source = directory.canonicalize()?.join(name);
    let program = source.with_extension("");
    std::fs::write(&source, text).with_context(|| format!("can't write {}", source.display()))?;
    let (command, options) = match compiler {
        Compiler::C => ("cc", ["-g", "-pthread", optimisation]),
        Compiler::Cpp => ("c++", ["-g", "-pthread", optimisation]),
        Compiler::Rust => ("rustc", ["-g", "--edition=2024", "-Copt-level=0"]),
    };
    let status = Command::new(command)
        .args(options)
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .status()
        .with_context(|| format!("{command} can't be run"))?;
    if !status.success() {
        bail!("{name} did not compile");
    }
    Ok(Debuggee {
        program,
        argument: 0,
        rust: compiler == Compiler::Rust,
        begin: line(text, "/* begin */").unwrap_or(0),
        decides: true,
        recorded: false,
        source,
    })
}

/// The number of the line with a mark, from 1.
pub(in crate::bench) fn line(text: &str, mark: &str) -> anyhow::Result<i64> {
    let index = text.lines().position(|line| line.contains(mark));
    Ok(i64::try_from(index.with_context(|| format!("no line has {mark}"))?)? + 1)
}

impl Programs {
    /// The loop in one thread.
    pub fn one(&self) -> Loop {
        Loop {
            debuggee: self.hits.clone(),
            body: self.body,
            end: self.end,
        }
    }

    /// The loop in one thread, in which each hit stops the thread.
    pub fn stopping(&self) -> Loop {
        let mut one = self.one();
        one.debuggee.decides = false;
        one
    }

    /// The loop in two threads.
    pub fn two(&self) -> Loop {
        let [body, end] = self.in_pair;
        Loop {
            debuggee: self.pair.clone(),
            body,
            end,
        }
    }

    /// The loop in one thread of the same kind.
    pub fn one_of_two(&self) -> Loop {
        Loop {
            debuggee: self.single.clone(),
            ..self.two()
        }
    }

    /// Measures the limits; `lines` is the number of lines of output that are read.
    pub fn limits(&self, lines: u32) -> anyhow::Result<Limits> {
        let output = Command::new(&self.limit.program)
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            bail!("the limits can't be measured: {}", output.status);
        }
        let text = String::from_utf8(output.stdout)?;
        let figure = |name: &str| {
            let found = text.lines().find_map(|line| line.strip_prefix(name));
            let found = found.with_context(|| format!("the limit of {name} is missing"))?;
            found.trim().parse::<f64>().context("not a figure")
        };
        Ok(Limits {
            hits: figure("hits")?,
            calls: figure("calls")?,
            calls_in_two: figure("both")?,
            steps: figure("steps")?,
            writes: figure("writes")?,
            pause: figure("pause")?,
            resume: figure("resume")?,
            lines: self.lines_by_pipe(lines)?,
        })
    }

    /// Lines per second that can be read through a pipe and counted.
    fn lines_by_pipe(&self, lines: u32) -> anyhow::Result<f64> {
        let begin = Instant::now();
        let mut child = Command::new(&self.lines.program)
            .arg(lines.to_string())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut output = BufReader::new(child.stdout.take().context("no output")?);
        let (mut count, mut line) = (0_u32, Vec::new());
        while output.read_until(b'\n', &mut line)? > 0 {
            count += 1;
            line.clear();
        }
        child.wait()?;
        if count != lines {
            bail!("{count} of {lines} lines came through a pipe");
        }
        Ok(f64::from(lines) / begin.elapsed().as_secs_f64())
    }
}
