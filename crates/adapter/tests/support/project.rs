//! Small projects of files that tests write, for cargo and other builders.

use super::{Session, initialize_arguments};
use dapple_adapter::ServeOptions;
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::{LaunchRequest, OutputEventCategory, TerminatedEvent};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A folder with files, removed at the end.
pub struct Project {
    folder: PathBuf,
}

impl Project {
    /// Writes the files; `name` is the test's own.
    pub fn new(name: &str, files: &[(&str, &str)]) -> Project {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("project-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder of the tests");
        let folder = folder.canonicalize().expect("it is there");
        let project = Project { folder };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// A package of this name with further files. It is a workspace of its own.
    pub fn package(name: &str, manifest: &str, files: &[(&str, &str)]) -> Project {
        let project = Project::new(name, files);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"1.2.3-beta.4\"\nedition = \"2024\"\n{manifest}\n[workspace]\n"
        );
        project.write("Cargo.toml", &manifest);
        project
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        let parent = path.parent().expect("a folder");
        std::fs::create_dir_all(parent).expect("a folder of the tests");
        std::fs::write(path, text).expect("a file of the tests");
    }

    /// A path in it.
    pub fn path(&self, path: &str) -> String {
        self.folder.join(path).display().to_string()
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The number of the line that has this text in it, from 1.
    #[track_caller]
    pub fn line(&self, path: &str, text: &str) -> i64 {
        let whole = std::fs::read_to_string(self.folder.join(path)).expect("a file of the tests");
        let index = whole.lines().position(|line| line.contains(text));
        let index = index.unwrap_or_else(|| panic!("no line of {path} has `{text}`"));
        i64::try_from(index).expect("a line") + 1
    }

    /// The arguments of `launch` that have cargo build here, with all debug information and without the network.
    pub fn cargo(&self, args: &str) -> Value {
        json!({"cwd": self.folder, "cargo": {"args": args, "env": cargo_environment()}})
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// What cargo is run with: what these tests were built with may say otherwise.
pub fn cargo_environment() -> Value {
    json!({
        "CARGO_NET_OFFLINE": "true",
        "CARGO_PROFILE_DEV_DEBUG": "2",
        "CARGO_PROFILE_TEST_DEBUG": "2",
        "CARGO_INCREMENTAL": "0",
        "CARGO_TARGET_DIR": null,
        "RUSTFLAGS": null,
    })
}

/// A session with a client that shows progress and colours if it is to.
pub fn session(colours: bool) -> Session {
    let programs = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let options = ServeOptions {
        programs: Some(programs),
        ..ServeOptions::default()
    };
    let arguments = initialize_arguments()
        .with_supports_progress_reporting(true)
        .with_supports_ansi_styling(colours);
    Session::serving(options, arguments)
}

/// Launches, and waits for the answer: the program is there, and held.
#[track_caller]
pub fn launch(session: &Session, arguments: &Value) {
    session.ok::<LaunchRequest>(launch_arguments(arguments));
}

/// What the debugger and the build have said.
pub fn console(session: &Session) -> String {
    session.output(OutputEventCategory::Console)
}

/// The sentence of a launch that has to fail, with the session's end.
#[track_caller]
pub fn refused(session: &Session, arguments: &Value) -> String {
    let refused = session.refused::<LaunchRequest>(launch_arguments(arguments));
    session.wait_for::<TerminatedEvent>();
    refused.sentence
}
