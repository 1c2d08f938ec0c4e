//! Bugs in small programs, found by a script that knows the tools of `dapple mcp`, and not the bugs.
//!
//! The script does what the prompts say: it follows a wrong value backwards to the line that wrote it, looks at who waits for whom, or watches a
//! loop. `docs/mcp-hunts.md` has what it asked and was told; `DAPPLE_DOCS=write` writes the page.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{Run, dapple, normalised, root, scratch};

/// What somebody who asks for help says.
struct Complaint {
    /// The program's source in `fixtures/bugs`.
    source: &'static str,
    /// What happens.
    what: &'static str,
    /// What is wrong where: an expression, and the text of the line.
    wrong: Option<(&'static str, &'static str)>,
    /// A core file is all there is.
    is_core: bool,
}

const COMPLAINTS: &[Complaint] = &[
    Complaint {
        source: "list.c",
        what: "it crashes",
        wrong: None,
        is_core: false,
    },
    Complaint {
        source: "average.c",
        what: "the number of words is wrong where it is printed",
        wrong: Some(("counts.total", "printf(")),
        is_core: false,
    },
    Complaint {
        source: "transfer.cpp",
        what: "it hangs",
        wrong: None,
        is_core: false,
    },
    Complaint {
        source: "search.c",
        what: "it never ends",
        wrong: None,
        is_core: false,
    },
    Complaint {
        source: "words.rs",
        what: "its assertion fails: `times` is wrong",
        wrong: Some(("times", "assert_eq!")),
        is_core: false,
    },
    Complaint {
        source: "orders.c",
        what: "it left a core file",
        wrong: None,
        is_core: true,
    },
];

/// The script, and what it has asked and was told.
struct Script {
    agent: Mcp,
    folder: PathBuf,
    told: String,
}

/// A line of a file.
type Place = (String, usize);

impl Script {
    fn ask(&mut self, tool: &str, arguments: &Value) -> String {
        let (text, _) = self.agent.called(tool, arguments);
        let folder = self.folder.display().to_string();
        let text = text.replace(&format!("{folder}/"), "");
        let _ = write!(self.told, "> {tool} {arguments}\n{text}\n\n");
        text
    }

    /// Finds the lines that are the most likely to be wrong.
    fn hunt(&mut self, complaint: &Complaint, program: &str) -> Vec<Place> {
        if complaint.is_core {
            let told = self.ask(
                "why_did_it_crash",
                &json!({"core": "core", "program": program}),
            );
            return self.writes_in_function(&told);
        }
        let mut start = json!({"program": program, "within": 5});
        if let Some((_, text)) = complaint.wrong
            && complaint.source.ends_with(".c")
        {
            start["breakpoints"] = json!([{"file": complaint.source, "text": text}]);
        }
        let told = self.ask("start", &start);
        if told.contains("the program runs:") {
            return self.stuck();
        }
        // The same again, with a past.
        self.ask("end", &json!({}));
        start["record"] = true.into();
        start["within"] = 60.into();
        let told = self.ask("start", &start);
        let suspect = match complaint.wrong {
            Some((expression, _)) => expression.to_owned(),
            None => {
                self.ask("why_did_it_crash", &json!({}));
                suspect(&told).expect("a suspicious value")
            }
        };
        self.follow(suspect)
    }

    /// Follows a value back, as long as it was only copied.
    fn follow(&mut self, expression: String) -> Vec<Place> {
        const FARTHEST: usize = 6;
        let mut expression = expression;
        let mut found = Vec::new();
        for _ in 0..FARTHEST {
            let told = self.ask(
                "who_wrote",
                &json!({"expression": expression, "go_there": true}),
            );
            let Some((place, text)) = marked(&told) else {
                break;
            };
            found = vec![place];
            match copied_from(&text, &expression) {
                Some(source) => expression = source,
                None => break,
            }
        }
        found
    }

    /// Finds out why a program doesn't go on.
    fn stuck(&mut self) -> Vec<Place> {
        let told = self.ask("where_is_it_stuck", &json!({}));
        if told.contains("deadlock") {
            // Where those are who wait for each other.
            let locks = told.split("locks:").nth(1).unwrap_or_default();
            let waiting = locks.lines().filter(|line| line.contains(", held by "));
            let mut found: Vec<Place> = waiting.filter_map(|line| self.named_place(line)).collect();
            found.dedup();
            return found;
        }
        let mut values = BTreeMap::<String, Vec<String>>::new();
        let mut lines = BTreeMap::<Place, String>::new();
        for _ in 0..12 {
            let told = self.ask("step", &json!({"how": "over"}));
            for (name, _, value) in variables(&told) {
                values.entry(name).or_default().push(value);
            }
            lines.extend(marked(&told));
        }
        values.retain(|_, all| all.iter().all(|it| *it == all[0]));
        let assigns_one = |text: &String| {
            let target = text.split_once(" = ").map(|(target, _)| target.trim());
            target.is_some_and(|target| values.contains_key(target))
        };
        let lines = lines.into_iter().filter(|(_, text)| assigns_one(text));
        lines.map(|(place, _)| place).collect()
    }

    /// The lines of the function that crashed which write its suspicious variable.
    fn writes_in_function(&mut self, told: &str) -> Vec<Place> {
        let suspect = suspect(told).expect("a suspicious value");
        let frames = told.lines().filter_map(|line| self.own_place(line));
        let (file, line) = frames.into_iter().next().expect("a frame");
        let range = format!("{},{}", line.saturating_sub(8).max(1), line + 8);
        let source = self.ask("inspect", &json!({"what": "source", "of": range}));
        let mut found = Vec::new();
        for line in source.lines() {
            let Some((number, text)) = numbered(line) else {
                continue;
            };
            let writes = ["--", "++", " = ", " += ", " -= "];
            if writes
                .iter()
                .any(|it| text.trim().starts_with(&format!("{suspect}{it}")))
            {
                found.push((file.clone(), number));
            }
        }
        found
    }

    /// The place that one of the words of a line names, if it is in the program's own source.
    fn named_place(&self, line: &str) -> Option<Place> {
        let mut words = line.split_whitespace();
        words.find_map(|word| self.own_place(&format!(" at {word}")))
    }

    /// The place that a line of a stack names, if it is in the program's own source.
    fn own_place(&self, line: &str) -> Option<Place> {
        let (file, number) = line.rsplit_once(" at ")?.1.trim().rsplit_once(':')?;
        let file = file.rsplit('/').next()?;
        let is_own = self.folder.join(file).is_file();
        is_own.then_some((file.to_owned(), number.parse().ok()?))
    }
}

/// The line that a listing marks, and its text. Its file is named in the line of the frame before it.
fn marked(told: &str) -> Option<(Place, String)> {
    let lines: Vec<&str> = told.lines().collect();
    let at = lines.iter().position(|line| {
        let rest = line.strip_prefix("→");
        rest.is_some_and(|rest| numbered(rest).is_some())
    })?;
    let (number, text) = numbered(lines[at].trim_start_matches('→'))?;
    let named = |line: &&str| {
        let (file, of) = line.trim().rsplit_once(" at ")?.1.rsplit_once(':')?;
        (of == number.to_string()).then(|| file.rsplit('/').next().unwrap_or(file).to_owned())
    };
    let file = lines[..at].iter().rev().find_map(named)?;
    Some(((file, number), text.trim().to_owned()))
}

/// `  12      text`
fn numbered(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start_matches(['→', ' ']);
    let end = line.find(|c: char| !c.is_ascii_digit())?;
    let number = line[..end].parse().ok()?;
    Some((number, &line[end..]))
}

/// The variables that a stop has: name, type and value.
fn variables(told: &str) -> Vec<(String, String, String)> {
    let part = told.split("\nvariables:\n").nth(1).unwrap_or_default();
    let lines = part.lines().take_while(|line| line.starts_with("  "));
    let split = |line: &str| {
        let (name, value) = line.trim().split_once(" = ")?;
        let (name, kind) = name.split_once(": ").unwrap_or((name, ""));
        Some((name.to_owned(), kind.to_owned(), value.to_owned()))
    };
    lines.filter_map(split).collect()
}

/// The variable whose value can't be right: a null pointer, or a size beyond all memory.
fn suspect(told: &str) -> Option<String> {
    let is_wrong = |(_, kind, value): &(String, String, String)| {
        let is_null = kind.contains('*') && (value == "0x0" || value.starts_with("NULL"));
        let is_huge = value.parse::<u64>().is_ok_and(|it| it > 1 << 48);
        is_null || is_huge
    };
    let mut all = variables(told).into_iter();
    all.find(is_wrong).map(|(name, ..)| name)
}

/// What a line copies: `y->z` of `x = y->z;`. A line that only names a value returns it; then it is the same value there.
fn copied_from(line: &str, expression: &str) -> Option<String> {
    let line = line.split("//").next().unwrap_or_default().trim();
    let is_path = |text: &str| {
        let is_part = |c: char| c.is_alphanumeric() || "_.->".contains(c);
        text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(is_part)
    };
    if is_path(line) {
        let (_, field) = expression.split_once('.')?;
        return Some(format!("{line}.{field}"));
    }
    let (_, source) = line.trim_end_matches(';').split_once(" = ")?;
    (is_path(source) && source != "false" && source != "true").then(|| source.to_owned())
}

fn compiled(source: &str, folder: &Path) -> String {
    let name = source.split('.').next().unwrap_or_default();
    std::fs::copy(
        root().join("fixtures/bugs").join(source),
        folder.join(source),
    )
    .expect("the fixture");
    let mut compiler = match source.rsplit('.').next() {
        Some("rs") => Command::new("rustc"),
        Some("cpp") => Command::new("g++"),
        _ => Command::new("gcc"),
    };
    if !source.ends_with(".rs") {
        compiler.arg("-pthread");
    }
    let status = compiler
        .args(["-g", "-o", name, source])
        .current_dir(folder)
        .status();
    assert!(status.is_ok_and(|it| it.success()), "{source}");
    name.to_owned()
}

/// Finds a bug. Returns what was asked and told.
#[track_caller]
fn found(complaint: &Complaint) -> String {
    let name = complaint.source.replace('.', "-");
    let folder = scratch(&format!("hunt-{name}"))
        .canonicalize()
        .expect("a folder");
    let program = compiled(complaint.source, &folder);
    if complaint.is_core {
        let _ = std::fs::remove_file(folder.join("core"));
        let core = format!("gcore {}", folder.join("core").display());
        let path = folder.join(&program);
        let path = path.to_str().expect("a plain path");
        let run = Run::of(dapple().args(["debug", "--batch", "--ex", "run", "--ex", &core, path]));
        assert_eq!(run.code, Some(123), "{run:?}");
    }
    let agent = Mcp::start(&folder, &[]);
    let mut script = Script {
        agent,
        folder: folder.clone(),
        told: String::new(),
    };
    let found = script.hunt(complaint, &program);
    let text = std::fs::read_to_string(folder.join(complaint.source)).expect("the source");
    let bug = text.lines().position(|line| line.ends_with("// bug"));
    let bug = bug.expect("a bug") + 1;
    let is_found = found.contains(&(complaint.source.to_owned(), bug));
    assert!(
        is_found && found.len() <= 2,
        "line {bug} of {} is wrong; found: {found:?}\n{}",
        complaint.source,
        script.told
    );
    script.told
}

/// What was asked, without what was told.
fn questions(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("> ")).collect()
}

/// The part of the page about a complaint.
fn part<'p>(page: &'p str, complaint: &Complaint) -> Option<&'p str> {
    let (_, part) = page.split_once(&format!("## `{}`: ", complaint.source))?;
    part.split("\n## ").next()
}

#[track_caller]
fn found_as_on_the_page(source: &str) {
    let complaint = COMPLAINTS.iter().find(|it| it.source == source);
    let complaint = complaint.expect("a complaint");
    let told = found(complaint);
    let path = root().join("docs/mcp-hunts.md");
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os("DAPPLE_DOCS").is_some() {
        let text = format!(
            "{}\n\n```text\n{}\n```\n",
            complaint.what,
            normalised(&told).trim_end()
        );
        let heading = format!("## `{source}`: ");
        let page = match part(&page, complaint) {
            Some(old) => page.replace(&format!("{heading}{old}"), &format!("{heading}{text}")),
            None => format!("{}\n\n{heading}{text}", page.trim_end()),
        };
        std::fs::write(&path, page).expect("a page can be written");
        return;
    }
    let shown = part(&page, complaint).expect("`DAPPLE_DOCS=write` writes the page");
    assert_eq!(
        questions(shown),
        questions(&normalised(&told)),
        "`DAPPLE_DOCS=write` writes the page"
    );
}

#[test]
fn a_null_pointer_is_followed_to_who_wrote_it() {
    found_as_on_the_page("list.c");
}

#[test]
fn a_value_that_another_array_overwrites_is_found() {
    found_as_on_the_page("average.c");
}

#[test]
fn threads_that_wait_for_each_other_are_found() {
    found_as_on_the_page("transfer.cpp");
}

#[test]
fn a_loop_that_does_not_come_further_is_found() {
    found_as_on_the_page("search.c");
}

#[test]
fn a_failed_assertion_is_followed_to_who_wrote_the_value() {
    found_as_on_the_page("words.rs");
}

#[test]
fn a_core_file_tells_which_index_was_wrong() {
    found_as_on_the_page("orders.c");
}
