//! Has QEMU execute the programs, built for another processor, if the environment variable [`VARIABLE`] names it: the same tests on another
//! machine, by the cross compilers and libraries of Debian (`g++-aarch64-linux-gnu`, `g++-riscv64-linux-gnu`, `g++-arm-linux-gnueabihf`).

use super::behind_stub::Written;
use super::lacking_stub;
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::{RemoteOptions, RemoteStart, StubAddress};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The variable with the processor's name: `aarch64`, `riscv64` or `arm`.
pub const VARIABLE: &str = "DAPPLE_BEHIND_QEMU";

/// The processor.
pub fn machine() -> Option<String> {
    std::env::var(VARIABLE).ok()
}

/// Whether QEMU and the compilers for a processor are there; says so if not.
pub fn is_there(machine: &str) -> bool {
    let system = system(machine);
    let tools = [
        format!("qemu-{machine}"),
        format!("{system}-gcc"),
        format!("{system}-g++"),
    ];
    let missing = tools.iter().find(|tool| {
        let output = Command::new(tool).arg("--version").output();
        !output.is_ok_and(|output| output.status.success())
    });
    if let Some(missing) = missing {
        eprintln!("skipped: there is no {missing}");
    }
    missing.is_none()
}

/// The compiler for the processor in place of one for this one, with the arguments that it needs besides.
pub fn compiler(usual: &str) -> (String, Vec<String>) {
    let Some(machine) = machine() else {
        return (usual.to_owned(), Vec::new());
    };
    let system = system(&machine);
    let gcc = format!("{system}-gcc");
    match usual {
        "cc" => (gcc, Vec::new()),
        "c++" => (format!("{system}-g++"), Vec::new()),
        "rustc" => {
            let target = rust_target(&machine);
            let arguments = ["--target".to_owned(), target, format!("-Clinker={gcc}")];
            (usual.to_owned(), arguments.into())
        }
        other => panic!("{other} makes no programs for {machine}"),
    }
}

/// Rust's name for the processor's Linux.
pub fn rust_target(machine: &str) -> String {
    match machine {
        "riscv64" => "riscv64gc-unknown-linux-gnu".to_owned(),
        "arm" => "armv7-unknown-linux-gnueabihf".to_owned(),
        _ => format!("{machine}-unknown-linux-gnu"),
    }
}

/// Where the processor's libraries are.
fn root(machine: &str) -> PathBuf {
    Path::new("/usr").join(system(machine))
}

/// Debian's name for the processor's Linux.
pub fn system(machine: &str) -> String {
    match machine {
        "arm" => "arm-linux-gnueabihf".to_owned(),
        _ => format!("{machine}-linux-gnu"),
    }
}

/// Has QEMU execute a program. Returns how to get at it, and what the program will write.
pub fn of(machine: &str, options: &LaunchOptions) -> (RemoteOptions, Written) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("dapple-qemu-{}-{count}", std::process::id());
    let written = std::env::temp_dir().join(&name);
    let socket = std::env::temp_dir().join(name + ".socket");
    let output = File::create(&written).expect("a file");
    let child = Command::new(format!("qemu-{machine}"))
        .arg("-L")
        .arg(root(machine))
        .arg("-g")
        .arg(&socket)
        .arg(&options.program)
        .args(&options.args)
        .stdin(Stdio::null())
        .stdout(output.try_clone().expect("a file"))
        .stderr(output)
        .spawn()
        .expect("QEMU runs");
    let options = RemoteOptions {
        address: lacking_stub::of(StubAddress::Unix(socket)),
        start: RemoteStart::Present,
        program: Some(options.program.clone()),
        sysroot: Some(root(machine)),
    };
    (options, Written::of_child(written, child))
}
