//! Programs without an operating system on boards that QEMU emulates: no auxiliary vector, no processes, no libraries, one thread for each core.

use crate::support::{Debuggee, Fixture, behind_qemu, fixture_by, lacking_stub, listing};
use dapple_engine::event::StopReason;
use dapple_engine::session::watching::{Access, DataBreakpoint, WatchedData};
use dapple_engine::session::{
    BreakpointOptions, RemoteOptions, RemoteStart, StepKind, StubAddress,
};
use dapple_symbols::functions::Language;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A board of QEMU's.
pub struct Board {
    machine: &'static str,
    /// Its name.
    name: &'static str,
    /// Where its code is.
    memory: &'static str,
    options: &'static [&'static str],
    compiler: &'static [&'static str],
}

pub const BOARDS: [Board; 3] = [
    Board {
        machine: "aarch64",
        name: "virt",
        memory: "0x40080000",
        options: &["-cpu", "cortex-a53"],
        compiler: &["-mgeneral-regs-only"],
    },
    Board {
        machine: "riscv64",
        name: "virt",
        memory: "0x80000000",
        options: &["-bios", "none"],
        compiler: &["-mcmodel=medany"],
    },
    // A microcontroller, with an M profile.
    Board {
        machine: "arm",
        name: "mps2-an385",
        memory: "0x400",
        options: &["-cpu", "cortex-m3"],
        compiler: &[
            "-mcpu=cortex-m3",
            "-mthumb",
            "-mfloat-abi=soft",
            "-Wl,--section-start=.vectors=0",
        ],
    },
];

/// QEMU, which is killed with this, and its socket.
pub struct Emulated(pub Child, PathBuf);

impl Drop for Emulated {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_file(&self.1);
    }
}

impl Board {
    /// Whether QEMU and a compiler are there for it; says so if not.
    pub fn is_there(&self) -> bool {
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
        format!("{}-gcc", behind_qemu::system(self.machine))
    }

    pub fn program(&self) -> Fixture {
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
        self.connect_with(fixture, &[], |address| address)
    }

    /// As [`Board::connect`], with more arguments for QEMU, and perhaps by way of something else than its socket.
    pub fn connect_with<'a>(
        &self,
        fixture: &'a Fixture,
        arguments: &[String],
        way: impl FnOnce(StubAddress) -> StubAddress,
    ) -> (Emulated, Debuggee<'a>) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dapple-board-{}-{count}", std::process::id());
        let socket = std::env::temp_dir().join(name);
        let child = Command::new(format!("qemu-system-{}", self.machine))
            .args(["-M", self.name, "-nographic", "-nic", "none"])
            .args(["-serial", "null", "-monitor", "none"])
            .args(self.options)
            .args(arguments)
            .arg("-kernel")
            .arg(&fixture.binary)
            .args(["-S", "-gdb"])
            .arg(format!("unix:{},server=on,wait=off", socket.display()))
            .stdin(Stdio::null())
            .spawn()
            .expect("QEMU runs");
        let options = RemoteOptions {
            address: way(StubAddress::Unix(socket.clone())),
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

#[test]
fn a_program_of_a_microcontroller_is_debugged() {
    is_debugged(&BOARDS[2]);
}

#[test]
fn a_stub_is_told_the_symbols_by_which_it_finds_threads() {
    let board = &BOARDS[0];
    if !board.is_there() {
        return;
    }
    let fixture = board.program();
    let asks = |address| lacking_stub::without("threads".to_owned(), address);
    let (_qemu, debuggee) = board.connect_with(&fixture, &[], asks);
    let counter = debuggee.symbol("counter");
    let expected = format!("qSymbol:{:x}:636f756e746572", counter.0);
    let told = lacking_stub::SYMBOLS.lock().expect("the list").clone();
    assert_eq!(told, [expected]);
}
