//! Has gdbserver launch the programs, if the environment variable [`VARIABLE`] says so: the same tests, with a stub in between.

use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::{RemoteOptions, RemoteStart, StubAddress};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The variable with the path of gdbserver.
pub const VARIABLE: &str = "DAPPLE_BEHIND_GDBSERVER";

pub fn is_wanted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// What a program behind gdbserver writes: it has gdbserver's standard error, whose own lines come first.
pub struct Written(PathBuf);

impl Written {
    pub fn text(&self) -> String {
        let bytes = std::fs::read(&self.0).unwrap_or_default();
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
        let _ = std::fs::remove_file(&self.0);
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What launches a program behind gdbserver, and what the program will write.
pub fn of(options: &LaunchOptions) -> (RemoteOptions, Written) {
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
        address: StubAddress::Command(command),
        start: RemoteStart::Present,
        program: None,
        sysroot: None,
    };
    (options, Written(written))
}
