//! Small projects that tests write to disk, for cargo and other builders.

use super::{Session, initialize_arguments};
use dapple_adapter::ServeOptions;
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::{LaunchRequest, OutputEventCategory, TerminatedEvent};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A folder with files, deleted on drop.
pub struct Project {
    folder: PathBuf,
}

impl Project {
    /// Writes the files. `name` must be unique among the tests.
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

    /// A package of this name with additional files, as a workspace of its own.
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

    /// The absolute path of a file in the folder.
    pub fn path(&self, path: &str) -> String {
        self.folder.join(path).display().to_string()
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The 1-based number of the line that contains this text.
    #[track_caller]
    pub fn line(&self, path: &str, text: &str) -> i64 {
        let whole = std::fs::read_to_string(self.folder.join(path)).expect("a file of the tests");
        let index = whole.lines().position(|line| line.contains(text));
        let index = index.unwrap_or_else(|| panic!("no line of {path} has `{text}`"));
        i64::try_from(index).expect("a line") + 1
    }

    /// Arguments of `launch` that make cargo build the project, with full debug information and without network access.
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

/// Cargo's environment, which overrides the settings with which the tests themselves are built.
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

/// A session whose client shows progress, and colours if wanted.
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

/// Launches the program, and waits for the response: the program is then started and stopped.
#[track_caller]
pub fn launch(session: &Session, arguments: &Value) {
    session.ok::<LaunchRequest>(launch_arguments(arguments));
}

/// The console output of the debugger and the build.
pub fn console(session: &Session) -> String {
    session.output(OutputEventCategory::Console)
}

/// The error message of a launch that must fail. Waits for the session's end.
#[track_caller]
pub fn refused(session: &Session, arguments: &Value) -> String {
    let refused = session.refused::<LaunchRequest>(launch_arguments(arguments));
    session.wait_for::<TerminatedEvent>();
    refused.sentence
}
