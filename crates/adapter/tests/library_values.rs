//! Values of types of widely used C++ libraries read as their users think of them.
//!
//! Each program in `fixtures/libraries` has many values of a library, and prints each in the form in which the debugger is to show it, made
//! from what the library offers to programs: iterators, `has_value()`, its own texts. The debugger's line has to be the same, but for
//! these rules:
//!
//! - a container on its own begins with its length: `len = 2 {1, 2}`;
//! - an address is `0x…`;
//! - what is too long for a line is cut: `…` stands for anything.
//!
//! The children of a value whose form is in braces have to be what is in the braces.
//!
//! Programs of g++ and of clang are compared. What is not installed is left out.

use crate::support::fixture::{Fixture, workspace};
use crate::support::project::{self, launch};
use crate::support::{Session, Stopped};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use dapple_dap::types::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// What a program of `fixtures/libraries` needs.
struct Library {
    name: &'static str,
    /// A header, to see whether the library is installed.
    header: &'static str,
    /// The names of packages that `pkg-config` has flags for.
    packages: &'static [&'static str],
    compilers: &'static [Compiler],
    /// The least number of values in the program.
    values: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Compiler {
    Gcc,
    /// As it is, clang leaves out what it expects other programs to describe.
    Clang,
    /// With all types described.
    ClangWithAllTypes,
}

const ABSEIL: &[&str] = &[
    "absl_flat_hash_map",
    "absl_status",
    "absl_statusor",
    "absl_cord",
    "absl_time",
    "absl_int128",
];
const BOTH: &[Compiler] = &[Compiler::Gcc, Compiler::Clang];
// What Qt's and Protocol Buffers' own code constructs is described there only.
const WITH_ALL_TYPES: &[Compiler] = &[Compiler::Gcc, Compiler::ClangWithAllTypes];

const LIBRARIES: [Library; 11] = [
    library("absl", "absl/base/config.h", ABSEIL, BOTH, 54),
    library("boost", "boost/version.hpp", &[], BOTH, 50),
    library("boost_containers", "boost/version.hpp", &[], BOTH, 47),
    library("eigen", "Eigen/Core", &["eigen3"], BOTH, 19),
    library("fmt", "fmt/format.h", &["fmt"], BOTH, 6),
    library("glm", "glm/glm.hpp", &[], BOTH, 7),
    library("nlohmann", "nlohmann/json.hpp", &[], BOTH, 15),
    library(
        "protobuf",
        "google/protobuf/api.pb.h",
        &["protobuf"],
        WITH_ALL_TYPES,
        15,
    ),
    library("qt", "QString", &["Qt6Core"], WITH_ALL_TYPES, 64),
    // clang 22 takes its headers for wrong.
    library(
        "rapidjson",
        "rapidjson/document.h",
        &[],
        &[Compiler::Gcc],
        11,
    ),
    library("vocabulary", "tl/expected.hpp", &[], BOTH, 10),
];

const fn library(
    name: &'static str,
    header: &'static str,
    packages: &'static [&'static str],
    compilers: &'static [Compiler],
    values: usize,
) -> Library {
    Library {
        name,
        header,
        packages,
        compilers,
        values,
    }
}

fn of(name: &str) -> &'static Library {
    let mut all = LIBRARIES.iter();
    all.find(|library| library.name == name).expect("a library")
}

impl Library {
    /// The compiler's flags. `None`: the packages are not there.
    fn flags(&self) -> Option<Vec<String>> {
        // `printed.h` is no part of the source whose contents name the program.
        let header = workspace().join("fixtures/libraries/printed.h");
        let mut hasher = DefaultHasher::new();
        std::fs::read(header).expect("a header").hash(&mut hasher);
        let mut flags: Vec<String> = ["-g", "-O0", "-std=c++20", "-fPIC"]
            .map(str::to_owned)
            .into();
        flags.push(format!("-DPRINTED={:x}", hasher.finish()));
        if self.packages.is_empty() {
            return Some(flags);
        }
        let mut command = Command::new("pkg-config");
        let output = command.args(["--cflags", "--libs"]).args(self.packages);
        let output = output.output().ok()?;
        let found = String::from_utf8(output.stdout).ok()?;
        flags.extend(found.split_whitespace().map(str::to_owned));
        output.status.success().then_some(flags)
    }

    /// The program. `None`: the library or the compiler is not there, which is said.
    fn built(&self, compiler: Compiler) -> Option<Fixture> {
        let command = match compiler {
            Compiler::Gcc => "g++",
            Compiler::Clang | Compiler::ClangWithAllTypes => "clang++-22",
        };
        let Some(mut flags) = self
            .flags()
            .filter(|flags| has_header(command, self.header, flags))
        else {
            println!("{} is not here, or {command} is not", self.name);
            return None;
        };
        flags.extend(match compiler {
            Compiler::Gcc => Some("-femit-class-debug-always".to_owned()),
            Compiler::ClangWithAllTypes => Some("-fstandalone-debug".to_owned()),
            Compiler::Clang => None,
        });
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        // Libraries are named after what needs them.
        let (libraries, flags): (Vec<&str>, Vec<&str>) =
            flags.into_iter().partition(|flag| flag.starts_with("-l"));
        let libraries = format!("-Wl,--no-as-needed,{}", libraries.join(","));
        let mut flags = flags;
        if libraries.contains("-l") {
            flags.push(&libraries);
        }
        let source = format!("libraries/{}.cpp", self.name);
        Some(Fixture::compiled_with(command, &source, &flags))
    }
}

fn has_header(compiler: &str, header: &str, flags: &[String]) -> bool {
    let mut command = Command::new(compiler);
    let command = command
        .args(["-E", "-x", "c++", "-o", "/dev/null", "-"])
        .args(flags.iter().filter(|flag| !flag.starts_with("-l")))
        .stdin(Stdio::piped())
        .stderr(Stdio::null());
    let Ok(mut running) = command.spawn() else {
        return false;
    };
    let written = running.stdin.take().map(|mut input| {
        let include = format!("#include <{header}>\n");
        input.write_all(include.as_bytes())
    });
    written.is_some_and(|written| written.is_ok())
        && running.wait().is_ok_and(|status| status.success())
}

/// A value as the debugger shows it.
struct Shown {
    type_name: String,
    line: String,
    children: Vec<Variable>,
}

fn started(fixture: &Fixture, further: &serde_json::Value) -> Session {
    let session = project::session(false);
    let mut arguments = json!({"program": fixture.program(), "skip": []});
    if let (Some(all), Some(further)) = (arguments.as_object_mut(), further.as_object()) {
        all.extend(further.clone());
    }
    launch(&session, &arguments);
    let stop = FunctionBreakpoint::new("stop");
    let arguments = SetFunctionBreakpointsArguments::new(vec![stop]);
    session.ok::<SetFunctionBreakpointsRequest>(arguments);
    session.configured();
    session
}

/// The frame that called `stop`, with its variables.
fn caller(session: &Session) -> (Stopped, StackFrame, Vec<Variable>) {
    let stopped = session.stopped(StoppedEventReason::FunctionBreakpoint);
    let frame = session.stack(stopped.thread).remove(1);
    let scope = session.scope(&frame, "Locals");
    let locals = session.variables(scope.variables_reference);
    (stopped, frame, locals)
}

fn children(session: &Session, reference: i64) -> Vec<Variable> {
    match reference {
        0 => Vec::new(),
        reference => session.variables(reference),
    }
}

/// The values that the program prints, each with what the debugger shows.
fn compared(fixture: &Fixture) -> Vec<(String, String, Option<Shown>)> {
    let session = started(fixture, &json!({}));
    let mut values = Vec::new();
    let mut seen = 0;
    while session.ends_or_stops() {
        let (stopped, frame, locals) = caller(&session);
        session.wait_for_written(OutputEventCategory::Stdout, &format!("--{seen}\n"));
        let output = session.output(OutputEventCategory::Stdout);
        let parts: Vec<&str> = output.lines().collect();
        let end = |number: usize| {
            let mark = format!("--{number}");
            parts.iter().position(|line| *line == mark).expect("a mark")
        };
        let first = if seen == 0 { 0 } else { end(seen - 1) + 1 };
        for line in &parts[first..end(seen)] {
            let (name, form) = line.split_once('\t').expect("a name and a form");
            let local = locals.iter().find(|local| local.name == name);
            let shown = match local {
                Some(local) => Some(Shown {
                    type_name: local.r#type.clone().unwrap_or_default(),
                    line: local.value.clone(),
                    children: children(&session, local.variables_reference),
                }),
                None => {
                    let arguments = EvaluateArguments::new(name).with_frame_id(frame.id);
                    let answer = session.request::<EvaluateRequest>(arguments).ok();
                    answer.map(|answer| Shown {
                        type_name: answer.r#type.clone().unwrap_or_default(),
                        children: children(&session, answer.variables_reference),
                        line: answer.result,
                    })
                }
            };
            values.push((name.to_owned(), form.to_owned(), shown));
        }
        seen += 1;
        session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
    }
    assert_eq!(session.exit_code(), 0);
    let said = session.output(OutputEventCategory::Console);
    assert!(!said.contains("natvis"), "{said}");
    session.disconnect();
    values
}

/// A line without the length at its beginning and with `…` for addresses and what they are near to.
fn plain(line: &str) -> String {
    let cut = line.strip_prefix("len = ").and_then(|rest| {
        let (length, rest) = rest.split_once(' ')?;
        length.parse::<u64>().ok().map(|_| rest)
    });
    let mut rest = cut.unwrap_or(line);
    let mut text = String::new();
    while let Some(at) = rest.find("0x") {
        let (before, number) = rest.split_at(at);
        let digits = number[2..].find(|c: char| !c.is_ascii_hexdigit());
        let end = digits.map_or(number.len(), |digits| digits + 2);
        text.push_str(before);
        text.push_str(if end > 6 { "0x…" } else { &number[..end] });
        rest = &number[end..];
    }
    text + rest
}

/// Whether a line reads as a form, by the rules above.
fn reads_as(line: &str, form: &str) -> bool {
    // The mark behind a long text says how long it is.
    let line = match line.rsplit_once("\"… (len = ") {
        Some((start, length)) if length.ends_with(')') => format!("{start}…\""),
        _ => line.to_owned(),
    };
    // An address in the form is one that the program did not print.
    let (line, form) = (line.replace("0x…", "0x~"), form.replace("0x…", "0x~"));
    let mut parts = line.split('…');
    let Some(mut rest) = parts.next().and_then(|first| form.strip_prefix(first)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The children as they are in braces: the elements of a sequence, or names with values.
fn joined(children: &[Variable]) -> String {
    let children = children.iter().filter(|child| child.name != "[raw]");
    let children: Vec<(&str, String)> = children
        .map(|child| (child.name.as_str(), plain(&child.value)))
        .collect();
    let is_index = |name: &str| {
        let inner = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        inner.is_some_and(|name| name.split(',').all(|part| part.parse::<u64>().is_ok()))
    };
    let has_several = |name: &str| name.contains(',') && is_index(name);
    let is_sequence = children
        .iter()
        .enumerate()
        .all(|(position, (name, _))| has_several(name) || *name == format!("[{position}]"));
    let parts: Vec<String> = children
        .into_iter()
        .map(|(name, value)| match is_sequence {
            true => value,
            false => format!("{name} = {value}"),
        })
        .collect();
    format!("{{{}}}", parts.join(", "))
}

/// Holds all values of a library's program against what it printed.
fn check(name: &str) {
    let library = of(name);
    for compiler in library.compilers {
        let Some(fixture) = library.built(*compiler) else {
            continue;
        };
        let values = compared(&fixture);
        let mut wrong = Vec::new();
        let mut types = BTreeSet::new();
        for (name, form, shown) in &values {
            let Some(shown) = shown else {
                wrong.push(format!("{name}: not among the variables"));
                continue;
            };
            let line = plain(&shown.line);
            let children = joined(&shown.children);
            let is_in_braces = form.starts_with('{');
            if reads_as(&line, form) && (!is_in_braces || reads_as(&children, form)) {
                types.insert(&shown.type_name);
            } else {
                wrong.push(format!(
                    "`{name}`: {}\n    prints   {form}\n    shown    {}\n    children {children}",
                    shown.type_name, shown.line
                ));
            }
        }
        let count = values.len();
        let counts = format!(
            "{name}: {count} values, {} wrong; {} types read",
            wrong.len(),
            types.len()
        );
        println!("{counts}");
        assert!(wrong.is_empty(), "{counts}\n{}", wrong.join("\n"));
        assert!(count >= library.values, "{counts}");
    }
}

#[test]
fn values_of_abseil_read_as_the_program_prints_them() {
    check("absl");
}

#[test]
fn values_of_boost_read_as_the_program_prints_them() {
    check("boost");
}

#[test]
fn containers_of_boost_read_as_the_program_prints_them() {
    check("boost_containers");
}

#[test]
fn values_of_eigen_read_as_the_program_prints_them() {
    check("eigen");
}

#[test]
fn values_of_fmt_read_as_the_program_prints_them() {
    check("fmt");
}

#[test]
fn values_of_glm_read_as_the_program_prints_them() {
    check("glm");
}

#[test]
fn values_of_nlohmann_json_read_as_the_program_prints_them() {
    check("nlohmann");
}

#[test]
fn values_of_protocol_buffers_read_as_the_program_prints_them() {
    check("protobuf");
}

#[test]
fn values_of_qt_read_as_the_program_prints_them() {
    check("qt");
}

#[test]
fn values_of_rapidjson_read_as_the_program_prints_them() {
    check("rapidjson");
}

#[test]
fn values_of_expected_and_gsl_read_as_the_program_prints_them() {
    check("vocabulary");
}

/// Overwrites the frame's variables, each with bytes that `byte` makes.
fn overwritten(
    session: &Session,
    frame: &StackFrame,
    locals: &[Variable],
    byte: impl Fn(usize) -> u8,
) {
    for local in locals {
        let size = session.evaluate(frame, &format!("sizeof({})", local.name));
        let size: usize = size.parse().expect("a size");
        let at = session.evaluate(frame, &format!("(size_t)&{}", local.name));
        let at: u64 = at.parse().expect("an address");
        let bytes: Vec<u8> = (0..size).map(&byte).collect();
        let arguments = WriteMemoryArguments::new(format!("{at:#x}"), BASE64.encode(bytes));
        session.ok::<WriteMemoryRequest>(arguments);
    }
}

#[test]
fn values_that_cannot_be_are_answered_and_bounded() {
    let random = |position: usize| {
        let mut hasher = DefaultHasher::new();
        position.hash(&mut hasher);
        hasher.finish() as u8
    };
    // Zeros; negative numbers; addresses and lengths without sense.
    let patterns: [&dyn Fn(usize) -> u8; 4] =
        [&|_| 0, &|_| 0xff, &random, &|at| (at % 8 == 0).into()];
    for library in &LIBRARIES {
        let Some(fixture) = library.built(Compiler::Gcc) else {
            continue;
        };
        let stops = {
            let session = started(&fixture, &json!({}));
            let mut stops = 0;
            while session.ends_or_stops() {
                let stopped = session.stopped(StoppedEventReason::FunctionBreakpoint);
                stops += 1;
                session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
            }
            session.disconnect();
            stops
        };
        for stop in 0..stops {
            let session = started(&fixture, &json!({}));
            for _ in 0..stop {
                let stopped = session.stopped(StoppedEventReason::FunctionBreakpoint);
                session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
            }
            let (_, frame, locals) = caller(&session);
            for pattern in patterns {
                overwritten(&session, &frame, &locals, pattern);
                let scope = session.scope(&frame, "Locals");
                for local in session.variables(scope.variables_reference) {
                    assert!(local.value.len() < 2000, "{}: {}", local.name, local.value);
                    let first = VariablesArguments::new(local.variables_reference).with_count(20);
                    if local.variables_reference != 0 {
                        session.ok::<VariablesRequest>(first);
                    }
                }
            }
            session.disconnect();
        }
    }
}

#[test]
fn a_users_own_file_comes_before_what_is_known_of_a_library() {
    let Some(fixture) = of("fmt").built(Compiler::Gcc) else {
        return;
    };
    let text = "<AutoVisualizer><Type Name=\"fmt::basic_string_view&lt;char&gt;\">
        <DisplayString>mine: {size_}</DisplayString></Type></AutoVisualizer>";
    let file = crate::support::file("fmt-mine.natvis", text.as_bytes(), 0o644);
    let session = started(&fixture, &json!({"visualizerFile": file}));
    let (_, frame, _) = caller(&session);
    assert_eq!(session.evaluate(&frame, "view"), "mine: 6");
    assert_eq!(session.evaluate(&frame, "buffer"), "\"1 and two\"");
    session.disconnect();
}

#[test]
fn a_library_with_other_members_is_shown_as_laid_out_and_said_to_be_unknown() {
    let fixture = Fixture::compiled_with("g++", "libraries/other_versions.cpp", &["-g", "-O0"]);
    let session = started(&fixture, &json!({}));
    let (_, frame, locals) = caller(&session);
    let shown: BTreeMap<&str, &str> = locals
        .iter()
        .map(|local| (local.name.as_str(), local.value.as_str()))
        .collect();
    for (name, form) in [
        ("duration", "{ticks = 5}"),
        ("cord", "{text = 0x… \"text\"}"),
        ("list", "{first = 0x0, last = 0x0}"),
        ("url", "{text = \"https\"}"),
        ("json", "{kind = 3}"),
    ] {
        assert_eq!(plain(shown[name]), form, "{name}");
    }
    for library in ["absl", "qt", "nlohmann"] {
        let said = format!("this version of the library `{library}` is not known");
        session.wait_for_written(OutputEventCategory::Console, &said);
        let console = project::console(&session);
        assert_eq!(console.matches(&said).count(), 1, "{console}");
    }
    assert_eq!(session.evaluate(&frame, "duration.ticks"), "5");
    session.disconnect();
}
