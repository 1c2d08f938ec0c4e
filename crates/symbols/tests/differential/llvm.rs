//! LLVM's `llvm-symbolizer` and `llvm-dwarfdump`, as a second reader of the same files.
//!
//! Both are in Debian's `llvm-NN` packages. binutils' `addr2line` isn't used here: of several rows at an address, it silently takes the
//! last, it has no columns, and it is too slow for every byte of a program (`tests/lines.rs` uses it for what it is good at). The tools
//! must have the same version: the newest one from 14 on.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The suffix of the tools' names, such as `-22`, or nothing.
fn suffix() -> &'static str {
    static SUFFIX: OnceLock<String> = OnceLock::new();
    SUFFIX.get_or_init(|| {
        let versions = (14..=30).rev().map(|version| format!("-{version}"));
        let runs = |suffix: &String| {
            ["llvm-symbolizer", "llvm-dwarfdump"].iter().all(|tool| {
                let mut command = Command::new(format!("{tool}{suffix}"));
                let output = command.arg("--version").output();
                output.is_ok_and(|output| output.status.success())
            })
        };
        versions
            .chain([String::new()])
            .find(runs)
            .expect("llvm-symbolizer and llvm-dwarfdump are needed: install llvm-22 or any `llvm`")
    })
}

/// The output of `llvm-dwarfdump` for a file with this option.
pub fn dump(binary: &Path, option: &str) -> String {
    let tool = format!("llvm-dwarfdump{}", suffix());
    crate::support::run(&tool, &[option, binary.to_str().unwrap()])
}

/// A frame in the symbolizer's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Without namespace and arguments, but with template arguments.
    pub name: String,
    /// The linkage name, if any. For the outermost frame, it is from the symbol table.
    pub linkage: String,
    pub file: PathBuf,
    pub line: u32,
    pub column: u32,
}

/// The frames of each address, from the innermost outwards.
pub fn symbolize(binary: &Path, addresses: &[u64]) -> Vec<Vec<Frame>> {
    let short = ask(binary, addresses, "--functions=short");
    let linkage = ask(binary, addresses, "--functions=linkage");
    assert_eq!(short.len(), addresses.len());
    assert_eq!(linkage.len(), addresses.len());
    let joined = short.into_iter().zip(linkage).map(|(short, linkage)| {
        assert_eq!(short.len(), linkage.len(), "{short:?} {linkage:?}");
        let frames = short.into_iter().zip(linkage);
        frames
            .map(|((name, place), (linkage, _))| frame(name, linkage, &place))
            .collect()
    });
    joined.collect()
}

fn frame(name: String, linkage: String, place: &str) -> Frame {
    let (place, column) = place.rsplit_once(':').expect("file:line:column");
    let (file, line) = place.rsplit_once(':').expect("file:line:column");
    Frame {
        name,
        linkage,
        file: normalise(Path::new(match file {
            "??" => "",
            file => file,
        })),
        line: line.parse().expect("a line"),
        column: column.parse().expect("a column"),
    }
}

/// The function and place of each frame of each address.
fn ask(binary: &Path, addresses: &[u64], functions: &str) -> Vec<Vec<(String, String)>> {
    let mut child = Command::new(format!("llvm-symbolizer{}", suffix()))
        .args([
            functions,
            "--inlines",
            "--no-demangle",
            "--output-style=LLVM",
        ])
        .arg(format!("--obj={}", binary.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the symbolizer runs");
    let mut input = child.stdin.take().unwrap();
    let questions: String = addresses
        .iter()
        .map(|address| format!("{address:#x}\n"))
        .collect();
    // The symbolizer answers while it reads, so both pipes must be served at the same time.
    let asking = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let output = child.wait_with_output().expect("the symbolizer ends");
    asking.join().unwrap().expect("it reads its input");
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    let answers = text.split_terminator("\n\n");
    answers
        .map(|answer| {
            let lines: Vec<&str> = answer.lines().collect();
            assert!(lines.len().is_multiple_of(2), "{answer}");
            let frames = lines.chunks(2);
            frames
                .map(|pair| (pair[0].to_owned(), pair[1].to_owned()))
                .collect()
        })
        .collect()
}

/// A path without `.` and `..`, as in Dapple's answers.
pub fn normalise(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
