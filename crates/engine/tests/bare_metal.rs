//! Programs without an operating system on boards that QEMU emulates: no auxiliary vector, no processes, no libraries, one thread for each core.

use crate::support::{Debuggee, Fixture, fixture_by, listing};
use dapple_engine::event::StopReason;
use dapple_engine::session::watching::{Access, DataBreakpoint, WatchedData};
use dapple_engine::session::{
    BreakpointOptions, RemoteOptions, RemoteStart, StepKind, StubAddress,
};
use dapple_symbols::functions::Language;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A board of QEMU's.
struct Board {
    machine: &'static str,
    /// Where its memory begins.
    memory: &'static str,
    options: &'static [&'static str],
    compiler: &'static [&'static str],
}

const BOARDS: [Board; 2] = [
    Board {
        machine: "aarch64",
        memory: "0x40080000",
        options: &["-cpu", "cortex-a53"],
        compiler: &["-mgeneral-regs-only"],
    },
    Board {
        machine: "riscv64",
        memory: "0x80000000",
        options: &["-bios", "none"],
        compiler: &["-mcmodel=medany"],
    },
];

/// QEMU, which is killed with this, and its socket.
struct Emulated(Child, PathBuf);

impl Drop for Emulated {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_file(&self.1);
    }
}

impl Board {
    /// Whether QEMU and a compiler are there for it; says so if not.
    fn is_there(&self) -> bool {
        let machine = self.machine;
        let tools = [format!("qemu-system-{machine}"), self.compiler_name()];
        let runs = |tool: &String| {
            let output = Command::new(tool).arg("--version").output();
            output.is_ok_and(|output| output.status.success())
        };
        let missing = tools.iter().find(|tool| !runs(tool));
        if let Some(missing) = missing {
            eprintln!("skipped: there is no {missing}");
        }
        missing.is_none()
    }

    fn compiler_name(&self) -> String {
        format!("{}-linux-gnu-gcc", self.machine)
    }

    fn program(&self) -> Fixture {
        let start = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/bare/start.S");
        let text = format!("-Wl,-Ttext={}", self.memory);
        let mut flags = vec![
            "-O0",
            "-nostdlib",
            "-static",
            "-no-pie",
            "-fno-pie",
            "-ffreestanding",
            "-Wl,--build-id=none",
            &text,
        ];
        flags.extend(self.compiler);
        flags.push(start.to_str().expect("UTF-8"));
        fixture_by(&self.compiler_name(), "bare/board.c", &flags)
    }

    /// Starts QEMU, stopped before the first instruction, and connects.
    fn connect<'a>(&self, fixture: &'a Fixture) -> (Emulated, Debuggee<'a>) {
        let name = format!("dapple-board-{}-{}", std::process::id(), self.machine);
        let socket = std::env::temp_dir().join(name);
        let child = Command::new(format!("qemu-system-{}", self.machine))
            .args(["-M", "virt", "-nographic", "-nic", "none"])
            .args(["-serial", "null", "-monitor", "none"])
            .args(self.options)
            .arg("-kernel")
            .arg(&fixture.binary)
            .args(["-S", "-gdb"])
            .arg(format!("unix:{},server=on,wait=off", socket.display()))
            .stdin(Stdio::null())
            .spawn()
            .expect("QEMU runs");
        let options = RemoteOptions {
            address: StubAddress::Unix(socket.clone()),
            start: RemoteStart::Present,
            program: Some(fixture.binary.clone()),
            sysroot: None,
        };
        let debuggee = fixture.connect(options);
        (Emulated(child, socket), debuggee)
    }
}

fn is_debugged(board: &Board) {
    if !board.is_there() {
        return;
    }
    let fixture = board.program();
    let (_qemu, mut debuggee) = board.connect(&fixture);
    debuggee.break_at(&["start"]);
    let (thread, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "start");
    for expected in ["total", "for", "call"] {
        assert_eq!(debuggee.step(thread, StepKind::Over), expected);
    }
    assert_eq!(debuggee.step(thread, StepKind::Into), "twice");
    assert_eq!(
        listing::functions(debuggee.session(), thread),
        ["twice", "main", "_start"]
    );
    assert_eq!(debuggee.step(thread, StepKind::Out), "call");
    let locals = listing::locals(
        debuggee.session(),
        listing::innermost(debuggee.session(), thread),
        1,
    );
    assert!(
        locals.contains("p: struct point = {x = 3, y = 4}"),
        "{locals}"
    );
    // A write is told when it was made.
    let watched = DataBreakpoint {
        data: WatchedData::Static {
            name: "counter".to_owned(),
            language: Language::C,
            length: None,
        },
        access: Access::Write,
        options: BreakpointOptions::default(),
    };
    let states = debuggee
        .session()
        .set_data_breakpoints(vec![watched])
        .expect("watched");
    assert!(
        states.iter().all(|state| state.refused.is_none()),
        "{states:?}"
    );
    for expected in ["1", "2"] {
        debuggee.resume();
        let stops = debuggee.expect_stop();
        assert!(matches!(stops[0].reason, StopReason::Data(_)), "{stops:?}");
        let frame = listing::innermost(debuggee.session(), thread);
        let (_, rendered) = debuggee
            .session()
            .evaluate("counter", Some(frame))
            .expect("a value");
        assert_eq!(rendered.text, expected);
    }
    debuggee
        .session()
        .set_data_breakpoints(Vec::new())
        .expect("none");
    debuggee.break_at(&["leaf"]);
    debuggee.run_to_breakpoint();
    let stack = listing::functions(debuggee.session(), thread);
    assert_eq!(stack.first().map(String::as_str), Some("fib"));
    assert_eq!(
        stack.iter().filter(|name| *name == "fib").count(),
        6,
        "{stack:?}"
    );
    assert_eq!(stack.last().map(String::as_str), Some("_start"));
    debuggee.break_at(&["end"]);
    debuggee.run_to_breakpoint();
    let frame = listing::innermost(debuggee.session(), thread);
    let (_, rendered) = debuggee
        .session()
        .evaluate("total", Some(frame))
        .expect("a value");
    // 2 · (0 + 1 + 2), the sixth of Fibonacci's numbers, and 3.
    assert_eq!(rendered.text, "17");
}

#[test]
fn a_program_without_a_system_is_debugged_on_aarch64() {
    is_debugged(&BOARDS[0]);
}

#[test]
fn a_program_without_a_system_is_debugged_on_riscv64() {
    is_debugged(&BOARDS[1]);
}
