//! Has gdbserver launch the programs, if the environment variable [`VARIABLE`] says so: the same tests, with a stub in between. Or QEMU
//! ([`behind_qemu`]).

use super::{behind_qemu, lacking_stub};
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::{RemoteOptions, RemoteStart, StubAddress};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The variable with the path of gdbserver.
pub const VARIABLE: &str = "DAPPLE_BEHIND_GDBSERVER";

pub fn is_wanted() -> bool {
    std::env::var_os(VARIABLE).is_some() || behind_qemu::machine().is_some()
}

/// What a program behind a stub writes, and the stub, if it was started by the test. Behind gdbserver, it has gdbserver's standard error, whose own
/// lines come first.
pub struct Written {
    file: PathBuf,
    stub: Option<Child>,
}

impl Written {
    /// What a stub and its program write, which is killed with this.
    pub fn of_child(file: PathBuf, stub: Child) -> Written {
        Written {
            file,
            stub: Some(stub),
        }
    }

    pub fn text(&self) -> String {
        let bytes = std::fs::read(&self.file).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let begin = "Remote debugging using stdio\n";
        let own = text.find(begin).map_or(0, |at| at + begin.len());
        let lines = text[own..].split_inclusive('\n');
        // Forked children.
        lines
            .filter(|line| !line.starts_with("Detaching from process "))
            .collect()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
        if let Some(stub) = &mut self.stub {
            let _ = stub.kill();
            let _ = stub.wait();
            let _ = std::fs::remove_file(self.file.with_extension("socket"));
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What launches a program behind gdbserver, and what the program will write.
pub fn of(options: &LaunchOptions) -> (RemoteOptions, Written) {
    if let Some(machine) = behind_qemu::machine() {
        return behind_qemu::of(&machine, options);
    }
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("dapple-behind-{}-{count}", std::process::id());
    let written = std::env::temp_dir().join(name);
    let plain = LaunchOptions {
        program: options.program.clone(),
        args: options.args.clone(),
        ..LaunchOptions::default()
    };
    assert_eq!(
        format!("{options:?}"),
        format!("{plain:?}"),
        "gdbserver can't do that"
    );
    let word = |path: &Path| quoted(path.to_str().expect("UTF-8"));
    let server = std::env::var(VARIABLE).expect("a path");
    let mut command = format!("exec {server} --once - {}", word(&options.program));
    for argument in &options.args {
        command.push(' ');
        command.push_str(&quoted(argument.to_str().expect("UTF-8")));
    }
    command.push_str(&format!(" 2>{}", word(&written)));
    let options = RemoteOptions {
        address: lacking_stub::of(StubAddress::Command(command)),
        start: RemoteStart::Present,
        program: None,
        sysroot: None,
    };
    let written = Written {
        file: written,
        stub: None,
    };
    (options, written)
}
