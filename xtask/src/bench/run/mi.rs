//! Drives gdb through its machine interface.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::bench::mi;

use super::awake::Awake;
use super::session::{Breakpoint, Debuggee, Session};

/// A session with gdb.
pub struct Mi {
    gdb: Child,
    input: ChildStdin,
    output: BufReader<Awake<ChildStdout>>,
    source: String,
    logged: usize,
    lines: usize,
    /// The line of the last stop.
    line: Option<i64>,
    /// The last result record, unparsed.
    result: Vec<u8>,
}

/// The records of gdb that matter here.
enum Record {
    /// The result of a command.
    Done,
    /// The program has stopped.
    Stopped,
    /// It has ended.
    Ended,
}

impl Mi {
    /// Starts gdb and goes to the first stop.
    pub fn start(command: &str, debuggee: &Debuggee) -> anyhow::Result<Self> {
        let (gdb, input, output) = mi::spawn(command, &debuggee.program)?;
        let mut session = Self {
            gdb,
            input,
            output: BufReader::new(Awake::new(output.into_inner())?),
            source: debuggee.source.display().to_string(),
            logged: 0,
            lines: 0,
            line: None,
            result: Vec::new(),
        };
        session.ask("-gdb-set mi-async on")?;
        session.ask(&format!("-exec-arguments {}", debuggee.argument))?;
        session.arm(&[(debuggee.begin, Breakpoint::Plain)])?;
        session.ask("-exec-run")?;
        session.stopped()?;
        Ok(session)
    }

    pub(in crate::bench) fn ask(&mut self, command: &str) -> anyhow::Result<()> {
        self.input.write_all(format!("{command}\n").as_bytes())?;
        self.input.flush()?;
        match self.record(|record| matches!(record, Record::Done))? {
            true => Ok(()),
            false => bail!("gdb has not answered {command}"),
        }
    }

    /// Sends a command, and returns its result record, unparsed.
    pub(in crate::bench) fn answer(&mut self, command: &str) -> anyhow::Result<String> {
        self.ask(command)?;
        Ok(String::from_utf8_lossy(&self.result).into_owned())
    }

    pub(in crate::bench) fn stopped(&mut self) -> anyhow::Result<()> {
        match self.record(|record| matches!(record, Record::Stopped))? {
            true => Ok(()),
            false => bail!("the program has ended"),
        }
    }

    /// Reads up to a wanted record, and past the program's output. Returns `false` if the program ended before.
    fn record(&mut self, wanted: impl Fn(&Record) -> bool) -> anyhow::Result<bool> {
        let mut line = Vec::new();
        loop {
            line.clear();
            if self.output.read_until(b'\n', &mut line)? == 0 {
                bail!("gdb has ended");
            }
            let found = match line.as_slice() {
                line if line.starts_with(b"^error") => {
                    bail!("gdb says {}", String::from_utf8_lossy(line).trim_end())
                }
                done if done.starts_with(b"^") => {
                    self.result.clear();
                    self.result.extend_from_slice(done);
                    Record::Done
                }
                line if line.starts_with(b"*stopped") => match contains(line, b"exited") {
                    true => Record::Ended,
                    false => {
                        self.line = line_of(line);
                        Record::Stopped
                    }
                },
                line => {
                    if line.starts_with(b"line ") {
                        self.lines += 1;
                    } else if contains(line, b"i is ") {
                        self.logged += 1;
                    }
                    continue;
                }
            };
            if wanted(&found) {
                return Ok(true);
            }
            if matches!(found, Record::Ended) {
                return Ok(false);
            }
        }
    }
}

/// The line in a record of a stop.
fn line_of(record: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(record);
    let (_, rest) = text.split_once(",line=\"")?;
    rest.split('"').next()?.parse().ok()
}

fn contains(line: &[u8], part: &[u8]) -> bool {
    line.windows(part.len()).any(|window| window == part)
}

impl Session for Mi {
    fn arm(&mut self, breakpoints: &[(i64, Breakpoint)]) -> anyhow::Result<()> {
        self.ask("-break-delete")?;
        for (line, kind) in breakpoints {
            let place = format!("{}:{line}", self.source);
            self.ask(&match kind {
                Breakpoint::Plain => format!("-break-insert {place}"),
                Breakpoint::False => format!("-break-insert -c \"i == -1\" {place}"),
                Breakpoint::Field => {
                    format!("-break-insert -c \"object->inner->value == -1\" {place}")
                }
                Breakpoint::ThreadLocal => format!("-break-insert -c \"own == -1\" {place}"),
                Breakpoint::Text => {
                    format!("-break-insert -c \"$_streq(name, \\\"another\\\")\" {place}")
                }
                Breakpoint::Counted => format!("-break-insert -i 2100000000 {place}"),
                Breakpoint::Log => format!("-dprintf-insert {place} \"i is %d\\n\" i"),
            })?;
        }
        Ok(())
    }

    fn go(&mut self) -> anyhow::Result<()> {
        self.run()?;
        self.stopped()
    }

    fn run(&mut self) -> anyhow::Result<()> {
        self.ask("-exec-continue")
    }

    fn pause(&mut self) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        self.ask("-exec-interrupt")?;
        self.stopped()?;
        Ok(begin.elapsed())
    }

    fn next(&mut self) -> anyhow::Result<()> {
        self.ask("-exec-next")?;
        self.stopped()
    }

    fn step_instruction(&mut self) -> anyhow::Result<()> {
        self.ask("-exec-step-instruction")?;
        self.stopped()
    }

    fn refresh(&mut self) -> anyhow::Result<()> {
        self.ask("-stack-list-frames 0 19")?;
        self.ask("-stack-list-variables --all-values")
    }

    fn line(&mut self) -> anyhow::Result<i64> {
        self.line.context("gdb names no line")
    }

    fn watch(&mut self, variable: &str) -> anyhow::Result<()> {
        self.ask(&format!("-break-watch {variable}"))
    }

    fn lines_to_end(&mut self) -> anyhow::Result<usize> {
        self.run()?;
        let before = self.lines;
        self.record(|record| matches!(record, Record::Ended))?;
        Ok(self.lines - before)
    }

    fn logged(&mut self) -> usize {
        self.logged
    }
}

impl Drop for Mi {
    fn drop(&mut self) {
        // gdb kills its debuggee when it exits.
        let _ = self.input.write_all(b"-gdb-exit\n");
        let _ = self.input.flush();
        let _ = self.gdb.wait();
    }
}
