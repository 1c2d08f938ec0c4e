//! Recordings on the terminal and as pages.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use dapple_trace::diff::{self, Difference, Ignored};
use dapple_trace::filter::Filter;
use dapple_trace::line::{self, Role};
use dapple_trace::{Finding, Message, Recorded, Session, html, input};

use crate::debug::style::{self, Color, Style};

/// How messages become lines.
pub struct Lines {
    pub filter: Filter,
    bodies: bool,
    color: Color,
    style: Style,
}

impl Lines {
    /// Lines for standard output.
    pub fn new(bodies: bool, color: Color) -> Self {
        Self {
            filter: Filter::default(),
            bodies,
            color,
            style: Style::new(color),
        }
    }

    /// Decides about colours by whether the lines go to a terminal.
    pub fn on_terminal(&mut self, terminal: bool) {
        self.style = Style::of(self.color, terminal);
    }

    /// The lines of a message; `None` if it isn't shown.
    pub fn message(&self, message: &Message) -> Option<String> {
        if !self.filter.passes(message) {
            return None;
        }
        let pieces = line::pieces(message);
        let painted: Vec<_> = pieces
            .iter()
            .map(|piece| self.paint(piece.role, &piece.text))
            .collect();
        let mut text = painted.join(" ");
        text.push('\n');
        for finding in line::findings(message) {
            text += &format!("{}\n", self.paint(finding.role, &finding.text));
        }
        if self.bodies && !message.text.is_empty() {
            for line in line::pretty(&message.text).lines() {
                text += &format!("{:15}{line}\n", "");
            }
        }
        Some(text)
    }

    /// The lines about what is missing at a session's end.
    pub fn end(&self, findings: &[Finding]) -> Option<String> {
        let lines = findings.iter().map(|finding| {
            let piece = line::finding_line(finding);
            format!("{}\n", self.paint(piece.role, &piece.text))
        });
        let lines: String = lines.collect();
        (!lines.is_empty() && self.filter.only.is_empty()).then_some(lines)
    }

    fn paint(&self, role: Role, text: &str) -> String {
        let role = match role {
            Role::Time | Role::Aside => style::Role::Aside,
            Role::Client => style::Role::Location,
            Role::Adapter => style::Role::Function,
            Role::Name => style::Role::Name,
            Role::Ok => style::Role::Reason,
            Role::Failed | Role::Violation => style::Role::Error,
            Role::Details => return text.to_owned(),
        };
        self.style.paint(role, text)
    }
}

/// Reads the recording of a file or, for `-`, of standard input.
pub fn read(path: &Path) -> Result<Vec<Recorded>> {
    let bytes = match path == Path::new("-") {
        true => {
            let mut bytes = Vec::new();
            io::Read::read_to_end(&mut io::stdin(), &mut bytes).map(|_| bytes)
        }
        false => std::fs::read(path),
    };
    let bytes = bytes.with_context(|| format!("can't read {}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    input::read(&text).with_context(|| format!("{} is no recorded session", path.display()))
}

/// Prints the lines of a recording.
pub fn lines(path: &Path, filter: Filter, bodies: bool, color: Color) -> Result<ExitCode> {
    let sessions = read(path)?;
    let mut lines = Lines::new(bodies, color);
    lines.filter = filter;
    let mut out = io::BufWriter::new(io::stdout().lock());
    quiet_if_closed(print(&sessions, &lines, &mut out).and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}

fn print(sessions: &[Recorded], lines: &Lines, out: &mut impl Write) -> io::Result<()> {
    for (number, recorded) in (1..).zip(sessions) {
        if sessions.len() > 1 {
            let name = recorded.session.as_deref().unwrap_or("without a name");
            let name = name.escape_debug();
            let count = recorded.items.len();
            writeln!(out, "── session {number} ({name}): {count} messages ──")?;
        }
        let mut session = Session::new();
        for item in &recorded.items {
            if let Some(text) = lines.message(&session.item(item)) {
                out.write_all(text.as_bytes())?;
            }
        }
        if let Some(text) = lines.end(&session.end()) {
            out.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

/// A reader that closed the pipe is no error.
fn quiet_if_closed(outcome: io::Result<()>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => Ok(outcome?),
    }
}

/// Compares two recordings, session by session. Exit code 1 if they differ; questions that only one client asked don't count, unless
/// `questions`.
pub fn diff(
    [first, second]: [&Path; 2],
    ignored: &[String],
    questions: bool,
    color: Color,
) -> Result<ExitCode> {
    let (a, b) = (read(first)?, read(second)?);
    let ignored = Ignored::and(ignored);
    let mut out = io::stdout().lock();
    let mut count = 0;
    let mut asked = 0;
    for number in 0..a.len().max(b.len()) {
        let messages = |sessions: &[Recorded]| match sessions.get(number) {
            Some(recorded) => Session::messages(&recorded.items),
            None => Vec::new(),
        };
        let all = diff::diff(&messages(&a), &messages(&b), &ignored);
        let (found, others): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|one| questions || !one.is_question());
        if a.len().max(b.len()) > 1 && !found.is_empty() {
            quiet_if_closed(writeln!(out, "── session {} ──", number + 1))?;
        }
        count += found.len();
        asked += others.len();
        quiet_if_closed(differences(&found, Style::new(color), &mut out))?;
    }
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    if asked > 0 {
        let what = format!("question{}", plural(asked));
        eprintln!("{asked} {what} asked by only one of the clients (see --questions)");
    }
    if count > 0 {
        let (first, second) = (first.display(), second.display());
        let what = format!("difference{}", plural(count));
        eprintln!("{count} {what}: A is {first}, B is {second}");
        return Ok(ExitCode::FAILURE);
    }
    quiet_if_closed(writeln!(out, "no difference"))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints differences.
pub fn differences(found: &[Difference], style: Style, out: &mut impl Write) -> io::Result<()> {
    for difference in found {
        let role = match difference {
            Difference::OnlyFirst { .. } => style::Role::Error,
            Difference::OnlySecond { .. } => style::Role::Reason,
            _ => style::Role::Current,
        };
        let text = difference.to_string();
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        writeln!(out, "{}", style.paint(role, first))?;
        if !rest.is_empty() {
            writeln!(out, "{rest}")?;
        }
    }
    Ok(())
}

/// Writes a recording as a page, which only the user may read.
pub fn html(path: &Path, page: &Path) -> Result<ExitCode> {
    let sessions = read(path)?;
    let cannot = || format!("cannot write the page {}", page.display());
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600);
    let file = file.open(page).with_context(cannot)?;
    let mut out = io::BufWriter::new(file);
    let title = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy();
    html::write(&sessions, &title, &mut out).with_context(cannot)?;
    out.flush().with_context(cannot)?;
    Ok(ExitCode::SUCCESS)
}
