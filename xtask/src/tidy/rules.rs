//! Rules about single files: what they must not contain, and what they must.
//!
//! Debuggees under `fixtures/` are exempt: sleeping, crashing and leaving things undone is their purpose.

use super::source::{Source, has_word, lines_with};
use super::{Finding, Rule};

const MAX_LINES: usize = 800;

/// The file that `codegen` writes.
pub(super) const GENERATED: &str = "crates/dap/src/types.rs";

/// The only directory whose code controls other processes through the kernel.
const TARGET: &str = "crates/target/src/linux/";

/// The crates of the debugger, which must not know the protocol.
const DEBUGGER: [&str; 4] = [
    "crates/arch/",
    "crates/target/",
    "crates/inspect/",
    "crates/engine/",
];

/// Other files that may contain `unsafe`: memory maps, a new session for an adapter, a signal handler that the line editor replaces, and a test
/// that runs machine code.
const UNSAFE_FILES: [&str; 5] = [
    "crates/arch/tests/jump_site_runs/mod.rs",
    "crates/cli/src/debug/adapters/process.rs",
    "crates/cli/src/debug/interrupts.rs",
    "crates/symbols/src/mapping.rs",
    "crates/symbols/src/bus_errors.rs",
];

/// The modules of the protocol crates that may use what one system alone has. Elsewhere, a `#[cfg(…)]` right above the line has to say where
/// it is compiled.
const SYSTEM: [&str; 6] = [
    "crates/dap/src/client/spawn",
    "crates/dap/src/transport/listen/accepting",
    "crates/dap/src/transport/listen/unix",
    "crates/dap/src/transport/listen/users",
    "crates/dap/src/transport/nonblocking/direct",
    "crates/dap/src/transport/nonblocking/linux",
];

/// The modules of `symbols` that may open files.
const SYMBOLS_IO: [&str; 5] = ["module", "mapping", "locate", "index_file/cache", "sources"];

/// The part of a file in which words are searched.
#[derive(Clone, Copy)]
enum View {
    /// Code, including tests.
    Code,
    /// Code without tests.
    Shipped,
    /// Comments.
    Comments,
    /// Everything, including strings and files that are not Rust.
    Text,
}

/// A list of forbidden words, and where they are forbidden.
struct Words {
    rule: Rule,
    words: &'static [&'static str],
    view: View,
    applies: fn(&Source) -> bool,
}

const WORDS: [Words; 14] = [
    Words {
        rule: Rule {
            name: "unfinished",
            remedy: "finish it, or return an error that says what is not supported",
        },
        words: &["todo!", "unimplemented!"],
        view: View::Code,
        applies: Source::is_rust,
    },
    Words {
        rule: Rule {
            name: "unfinished",
            remedy: "do it now, or open an issue and take the note out",
        },
        words: &["FIXME", "XXX", "TODO"],
        view: View::Comments,
        applies: Source::is_rust,
    },
    Words {
        rule: Rule {
            name: "unmerged",
            remedy: "choose between the two sides, and take out the lines that mark them",
        },
        // Not as they stand in a file, so that this one may have them.
        words: &[concat!("<<<<<<", "< "), concat!(">>>>>>", "> ")],
        view: View::Text,
        applies: |_| true,
    },
    Words {
        rule: Rule {
            name: "sleep",
            remedy: "wait for the event itself: a channel, a poll, a condition variable",
        },
        words: &["thread::sleep"],
        view: View::Code,
        applies: Source::is_rust,
    },
    Words {
        rule: Rule {
            name: "ignored test",
            remedy: "make it run everywhere, or make it skip with a printed reason where a tool is missing",
        },
        words: &["#[ignore"],
        view: View::Code,
        applies: Source::is_rust,
    },
    Words {
        rule: Rule {
            name: "debug output",
            remedy: "take it out, or use `tracing`",
        },
        words: &["dbg!"],
        view: View::Code,
        applies: Source::is_rust,
    },
    Words {
        rule: Rule {
            name: "unwrap",
            remedy: "return an error that says what failed; where it cannot fail, `expect` says why",
        },
        words: &[".unwrap()"],
        view: View::Shipped,
        applies: |source| source.is_rust() && source.is_in("crates/"),
    },
    Words {
        rule: Rule {
            name: "engine vocabulary",
            remedy: "the engine knows no protocol: say it in the debugger's words, translate in `adapter`",
        },
        words: &[
            "DAP",
            "Debug Adapter",
            "dapple_dap",
            "dapple_adapter",
            "dapple_schema",
            "variablesReference",
            "variables_reference",
            "frameId",
            "threadId",
            "setBreakpoints",
            "stackTrace",
            "configurationDone",
            "hitBreakpointIds",
        ],
        view: View::Text,
        applies: |source| DEBUGGER.iter().any(|room| source.is_in(room)),
    },
    Words {
        rule: Rule {
            name: "inspect only looks",
            remedy: "take memory, registers and modules as they are given; what is live is asked of `live`, by who has the process",
        },
        words: &["ptrace", "waitpid", "wait4", "dapple_target::linux"],
        view: View::Text,
        applies: |source| source.is_in("crates/inspect/"),
    },
    Words {
        rule: Rule {
            name: "registers by name",
            remedy: "say what the register is for, and let `arch` know which one that is",
        },
        words: &[
            "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "rip", "r8", "r9", "r10",
            "r11", "r12", "r13", "r14", "r15", "eax", "RAX", "RBX", "RCX", "RDX", "RSI", "RDI",
            "RBP", "RSP", "RIP", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "EAX",
        ],
        view: View::Shipped,
        applies: |source| {
            source.is_rust()
                && !source.is_in("crates/arch/")
                && (source.is_in("crates/symbols/src/")
                    || DEBUGGER.iter().any(|room| source.is_in(room)))
        },
    },
    Words {
        rule: Rule {
            name: "dap vocabulary",
            remedy: "the protocol crate knows no debugger: move it to `adapter` or `engine`",
        },
        words: &[
            "dapple_engine",
            "dapple_symbols",
            "dapple_adapter",
            "ptrace",
            "waitpid",
            "DWARF",
            "gimli",
            "ELF",
            "iced_x86",
        ],
        view: View::Text,
        applies: |source| source.is_in("crates/dap/"),
    },
    Words {
        rule: Rule {
            name: "symbols does no I/O",
            remedy: "take bytes, or ask for the file; only `module`, `mapping`, `locate`, `sources` and `index_file/cache` open files",
        },
        words: &[
            "std::fs",
            "fs::read",
            "File::open",
            "std::net",
            "std::process",
            "std::env",
        ],
        view: View::Shipped,
        applies: |source| {
            source.is_in("crates/symbols/src/")
                && !SYMBOLS_IO
                    .iter()
                    .any(|room| source.is_in(&format!("crates/symbols/src/{room}")))
        },
    },
    Words {
        rule: Rule {
            name: "one owner of the debuggee",
            remedy: "run threads by `Process`, on the owner thread; only the Linux target calls ptrace and waits",
        },
        words: &[
            "ptrace",
            "waitpid",
            "wait4",
            "waitid",
            "linux::wait::wait",
            "/proc/",
        ],
        view: View::Shipped,
        applies: |source| source.is_in("crates/engine/src/"),
    },
    Words {
        rule: Rule {
            name: "one caller of ptrace",
            remedy: "only the Linux target calls ptrace",
        },
        words: &["ptrace("],
        view: View::Code,
        applies: |source| source.is_rust() && !source.is_in(TARGET),
    },
];

/// Checks all rules about one file.
pub(super) fn check(source: &Source, findings: &mut Vec<Finding>) {
    if source.is_in("fixtures/") {
        return;
    }
    for list in WORDS.iter().filter(|list| (list.applies)(source)) {
        words(source, list, findings);
    }
    if source.is_rust() {
        length(source, findings);
        module_doc(source, findings);
        unsafe_code(source, findings);
        any_system(source, findings);
    }
}

fn words(source: &Source, list: &Words, findings: &mut Vec<Finding>) {
    let view = match list.view {
        View::Code | View::Shipped => &source.code,
        View::Comments => &source.comments,
        View::Text => &source.text,
    };
    for word in list.words {
        for line in lines_with(view, word) {
            if matches!(list.view, View::Shipped) && line >= source.tests_from {
                break;
            }
            findings.push(Finding::new(
                &source.path,
                line,
                list.rule,
                format!("`{word}`"),
            ));
        }
    }
}

fn length(source: &Source, findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "length",
        remedy: "split it by what it is responsible for",
    };
    let lines = source.text.lines().count();
    if lines > MAX_LINES && source.path != GENERATED {
        findings.push(Finding::new(
            &source.path,
            MAX_LINES,
            rule,
            format!("{lines} lines, more than {MAX_LINES}"),
        ));
    }
}

fn module_doc(source: &Source, findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "module doc",
        remedy: "open with a `//!` paragraph: what it is responsible for, what not, the trick worth knowing",
    };
    let first = source
        .text
        .lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
    if !first.is_some_and(|line| line.starts_with("//!")) {
        findings.push(Finding::new(
            &source.path,
            0,
            rule,
            "the module has no opening paragraph",
        ));
    }
}

fn unsafe_code(source: &Source, findings: &mut Vec<Finding>) {
    let place = Rule {
        name: "unsafe place",
        remedy: "call through `target/src/linux`, or do without",
    };
    let reason = Rule {
        name: "unsafe reason",
        remedy: "say in a `// SAFETY:` comment right above why it is sound",
    };
    let allowed = source.is_in(TARGET) || UNSAFE_FILES.contains(&source.path.as_str());
    let comments: Vec<&str> = source.comments.lines().collect();
    let code: Vec<&str> = source.code.lines().collect();
    for line in lines_with(&source.code, "unsafe") {
        // `unsafe_op_in_unsafe_fn` and `forbid(unsafe_code)` are other words.
        if !allowed && line < source.tests_from {
            findings.push(Finding::new(&source.path, line, place, "`unsafe`"));
        }
        let explained = |line: &str| line.contains("SAFETY:") || line.contains("# Safety");
        if !explained(comments[line]) && !above(&code, &comments, line).any(explained) {
            findings.push(Finding::new(
                &source.path,
                line,
                reason,
                "`unsafe` without its reason",
            ));
        }
    }
}

/// Checks that the protocol crates can be compiled for any system.
fn any_system(source: &Source, findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "any system",
        remedy: "put `#[cfg(…)]` right above it, or move it to a module of that system",
    };
    let checked = ["crates/dap/src/", "crates/schema/src/"];
    if !checked.iter().any(|folder| source.is_in(folder))
        || SYSTEM.iter().any(|module| source.is_in(module))
    {
        return;
    }
    let code: Vec<&str> = source.code.lines().collect();
    for word in ["std::os", "rustix", "libc", "nix"] {
        for line in lines_with(&source.code, word) {
            // Of a block that begins with this line, the line above the block.
            let mut above = code[..line].iter().rev().map(|line| line.trim());
            let above = above.find(|line| !line.ends_with('{')).unwrap_or("");
            if line < source.tests_from && !above.starts_with("#[cfg(") {
                findings.push(Finding::new(
                    &source.path,
                    line,
                    rule,
                    format!("`{word}` on every system"),
                ));
            }
        }
    }
}

/// The comments above `line`, within its statement and directly above that.
fn above<'s>(
    code: &'s [&'s str],
    comments: &'s [&'s str],
    line: usize,
) -> impl Iterator<Item = &'s str> {
    let outside = |i: usize| {
        let code = code[i].trim();
        code.ends_with([';', '{', '}', ',']) || (code.is_empty() && comments[i].trim().is_empty())
    };
    (0..line)
        .rev()
        .take_while(move |&i| !outside(i))
        .map(|i| comments[i])
}

/// Checks that only one file waits for the debuggee.
pub(super) fn one_waiting_place(sources: &[Source], findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "one waiting place",
        remedy: "take the event from the one place that waits",
    };
    let mut first: Option<&str> = None;
    for source in sources
        .iter()
        .filter(|source| source.is_rust() && source.is_in("crates/"))
        // Waits for adapters that a client has started: no debuggees.
        .filter(|source| !source.is_in("crates/dap/src/client/spawn/"))
    {
        let waits = |line: &str| {
            ["waitpid(", "waitid(", "wait4("]
                .iter()
                .any(|call| has_word(line, call))
        };
        let Some(line) = source.code.lines().take(source.tests_from).position(waits) else {
            continue;
        };
        match first {
            None => first = Some(&source.path),
            Some(other) => {
                findings.push(Finding::new(
                    &source.path,
                    line,
                    rule,
                    format!("waits for a process, as `{other}` does"),
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        check(&Source::new(path, text), &mut findings);
        findings
            .iter()
            .map(|finding| format!("{}: {}", finding.line, finding.rule.name))
            .collect()
    }

    /// A documented module of `crates/cli` with `code` from line 2 on.
    fn in_cli(code: &str) -> Vec<String> {
        findings("crates/cli/src/a.rs", &format!("//! Doc.\n{code}\n"))
    }

    const NOTHING: [&str; 0] = [];

    #[test]
    fn unfinished_and_forgotten_code_is_found() {
        assert_eq!(in_cli("fn a() { todo!() }"), ["2: unfinished"]);
        assert_eq!(in_cli("fn a() {\n unimplemented!() }"), ["3: unfinished"]);
        assert_eq!(
            in_cli("// FIXME: later\n// XXX\n// TODO"),
            ["2: unfinished", "3: unfinished", "4: unfinished"]
        );
        assert_eq!(in_cli("fn a() { dbg!(1); }"), ["2: debug output"]);
        assert_eq!(in_cli("fn a() { std::thread::sleep(D); }"), ["2: sleep"]);
        assert_eq!(
            in_cli("#[test]\n#[ignore = \"slow\"]\nfn a() {}"),
            ["3: ignored test"]
        );
    }

    #[test]
    fn words_in_strings_and_debuggees_do_not_count() {
        assert_eq!(
            in_cli("const A: &str = \"todo!() dbg!() unsafe thread::sleep ptrace(\";"),
            NOTHING
        );
        assert_eq!(
            findings(
                "fixtures/sleeper.rs",
                "fn main() { std::thread::sleep(D); todo!() }"
            ),
            NOTHING
        );
    }

    #[test]
    fn unwrapping_is_for_tests() {
        let tests = "#[cfg(test)]\nmod tests {\n fn a() { b().unwrap(); }\n}";
        assert_eq!(in_cli(tests), NOTHING);
        assert_eq!(in_cli("fn a() {\n b()\n .unwrap();\n}"), ["4: unwrap"]);
    }

    #[test]
    fn crates_keep_their_vocabulary() {
        assert_eq!(
            findings("crates/engine/src/a.rs", "//! For DAP.\n"),
            ["1: engine vocabulary"]
        );
        assert_eq!(
            findings(
                "crates/engine/src/a.rs",
                "//! D.\nconst A: &str = \"variablesReference\";"
            ),
            ["2: engine vocabulary"]
        );
        assert_eq!(
            findings("crates/engine/src/a.rs", "//! Dapple adapts.\n"),
            NOTHING
        );
        let named = "//! About rax.\nfn a() { b(R8); c.rdi; d(\"rsi\"); }";
        let expected = ["2: registers by name", "2: registers by name"];
        assert_eq!(findings("crates/engine/src/a.rs", named), expected);
        assert_eq!(findings("crates/arch/src/a.rs", named), NOTHING);
        assert_eq!(
            findings("crates/inspect/src/a.rs", "//! For DAP, by ptrace.\n"),
            ["1: engine vocabulary", "1: inspect only looks"]
        );
        assert_eq!(
            findings("crates/dap/src/a.rs", "//! D.\nuse dapple_engine::A;"),
            ["2: dap vocabulary"]
        );
        assert_eq!(
            findings("crates/dap/src/a.rs", "//! Not DWARF.\n"),
            ["1: dap vocabulary"]
        );
    }

    #[test]
    fn symbols_reads_files_in_some_rooms_only() {
        let text = "//! D.\nuse std::fs;\n#[cfg(test)]\nmod tests {\n use std::fs;\n}\n";
        assert_eq!(
            findings("crates/symbols/src/lines.rs", text),
            ["2: symbols does no I/O"]
        );
        assert_eq!(findings("crates/symbols/src/module.rs", text), NOTHING);
        assert_eq!(
            findings("crates/symbols/src/locate/debuglink.rs", text),
            NOTHING
        );
        assert_eq!(findings("crates/symbols/tests/a.rs", text), NOTHING);
        assert_eq!(
            findings(
                "crates/symbols/src/a.rs",
                "//! D.\nuse std::net::TcpStream;"
            ),
            ["2: symbols does no I/O"]
        );
    }

    #[test]
    fn unsafe_has_its_place_and_its_reason() {
        let reasoned =
            "//! D.\nfn a() {\n    // SAFETY: because.\n    let b =\n        unsafe { c() };\n}\n";
        let bare = "//! D.\nfn a() {\n    unsafe { c() }\n}\n";
        assert_eq!(
            findings("crates/adapter/src/a.rs", reasoned),
            ["5: unsafe place"]
        );
        assert_eq!(findings("crates/target/src/linux/a.rs", reasoned), NOTHING);
        assert_eq!(
            findings("crates/target/src/linux/a.rs", bare),
            ["3: unsafe reason"]
        );
        let function =
            "//! D.\n/// A.\n///\n/// # Safety\n/// Never.\n#[inline]\npub unsafe fn a() {}\n";
        assert_eq!(findings("crates/target/src/linux/a.rs", function), NOTHING);
        assert_eq!(in_cli("#![forbid(unsafe_code)]"), NOTHING);
    }

    #[test]
    fn what_one_system_has_stands_under_a_cfg() {
        let text = "//! D.\nuse std::os::fd::OwnedFd;\n#[cfg(unix)]\nuse std::os::unix::net::UnixStream;\n#[cfg(unix)]\nmod a {\n use std::os::fd::AsFd;\n}\n\
            fn a() { rustix::io::close(b) }\n#[cfg(test)]\nmod tests {\n use rustix::fs;\n}\n";
        assert_eq!(
            findings("crates/dap/src/a.rs", text),
            ["2: any system", "9: any system"]
        );
        assert_eq!(
            findings("crates/dap/src/transport/nonblocking/linux.rs", text),
            NOTHING
        );
        assert_eq!(findings("crates/target/src/linux/a.rs", text), NOTHING);
    }

    #[test]
    fn ptrace_is_called_in_the_target_only() {
        assert_eq!(
            in_cli("fn a() { libc::ptrace(1); }"),
            ["2: one caller of ptrace"]
        );
        assert_eq!(
            findings(
                "crates/target/src/linux/a.rs",
                "//! D.\nfn a() { ptrace(1); }"
            ),
            NOTHING
        );
    }

    #[test]
    fn a_second_waiting_place_is_found() {
        let source = |path: &str| Source::new(path, "//! D.\nfn a() { libc::waitpid(1); }\n");
        let mut findings = Vec::new();
        one_waiting_place(
            &[
                source("crates/engine/src/a.rs"),
                source("crates/engine/tests/b.rs"),
            ],
            &mut findings,
        );
        assert!(findings.is_empty(), "one place, and tests, may wait");
        one_waiting_place(
            &[
                source("crates/engine/src/a.rs"),
                source("crates/engine/src/b.rs"),
            ],
            &mut findings,
        );
        let found: Vec<_> = findings
            .iter()
            .map(|finding| (finding.path.as_str(), finding.line))
            .collect();
        assert_eq!(found, [("crates/engine/src/b.rs", 2)]);
    }

    #[test]
    fn long_files_and_files_without_a_paragraph_are_found() {
        let long = format!("//! D.\n{}", "\n".repeat(MAX_LINES));
        assert_eq!(findings("crates/cli/src/a.rs", &long), ["801: length"]);
        assert_eq!(findings(GENERATED, &long), NOTHING);
        assert_eq!(
            findings("crates/cli/src/a.rs", "use a;\n"),
            ["1: module doc"]
        );
        assert_eq!(
            findings("crates/cli/src/a.rs", "#![no_std]\n\n//! D.\n"),
            NOTHING
        );
    }
}
