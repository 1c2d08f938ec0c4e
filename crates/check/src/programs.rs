//! The programs that come with the check, one for each language, and how they are built.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, fs, io};

use serde_json::{Value, json};

/// A language with a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C, built by `cc`.
    C,
    /// Rust, built by `rustc`.
    Rust,
    /// Python.
    Python,
    /// JavaScript, for Node.
    JavaScript,
    /// Go, built by `go`.
    Go,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 5] = [
        Self::C,
        Self::Rust,
        Self::Python,
        Self::JavaScript,
        Self::Go,
    ];

    /// The language's name as a word of the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Rust => "rust",
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::Go => "go",
        }
    }

    /// The language that an adapter debugs, as its command says: `python3 -m debugpy.adapter` debugs Python. C where that says nothing.
    pub fn of_command(command: &[String]) -> Self {
        let is_in = |word: &str| command.iter().any(|part| part.contains(word));
        match () {
            () if is_in("debugpy") => Self::Python,
            () if is_in("dlv") || is_in("delve") => Self::Go,
            () if is_in("js-debug") || is_in("dapDebugServer") => Self::JavaScript,
            () => Self::C,
        }
    }

    fn source(self) -> (&'static str, &'static str) {
        match self {
            Self::C => ("program.c", include_str!("../programs/program.c")),
            Self::Rust => ("program.rs", include_str!("../programs/program.rs")),
            Self::Python => ("program.py", include_str!("../programs/program.py")),
            Self::JavaScript => ("program.js", include_str!("../programs/program.js")),
            Self::Go => ("program.go", include_str!("../programs/program.go")),
        }
    }

    /// The command that builds the program of a source.
    fn compiler(self, source: &Path, program: &Path) -> Option<Command> {
        let mut command = match self {
            Self::C => Command::new("cc"),
            Self::Rust => Command::new("rustc"),
            Self::Go => Command::new("go"),
            Self::Python | Self::JavaScript => return None,
        };
        match self {
            Self::C => command
                .args(["-g", "-O0"])
                .arg(source)
                .arg("-o")
                .arg(program),
            Self::Rust => command
                .args(["-g", "--edition", "2021"])
                .arg(source)
                .arg("-o")
                .arg(program),
            _ => command
                .args(["build", "-gcflags=all=-N -l", "-o"])
                .arg(program)
                .arg(source),
        };
        command.current_dir(program.parent()?);
        Some(command)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A program that was built, in a folder that is removed with this.
#[derive(Debug)]
pub struct Built {
    _folder: tempfile::TempDir,
    /// Its source.
    pub source: PathBuf,
    /// What `launch` gets as `program`.
    pub program: PathBuf,
}

/// Why a program could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A file could not be written.
    #[error("the program to debug can't be written: {0}")]
    Write(#[from] io::Error),
    /// The compiler is not there.
    #[error("the program to debug can't be built: `{compiler}` can't be run: {error}")]
    NoCompiler {
        /// The compiler's command.
        compiler: String,
        /// Why.
        error: io::Error,
    },
    /// The compiler failed.
    #[error("the program to debug can't be built: {0}")]
    Failed(String),
}

/// Writes and builds the program of a language.
///
/// # Errors
/// It can't be written, or the compiler isn't there or fails.
pub fn build(language: Language) -> Result<Built, BuildError> {
    let folder = tempfile::Builder::new().prefix("dapple-check-").tempdir()?;
    // Debuggers show paths without links.
    let path = folder.path().canonicalize()?;
    let (name, text) = language.source();
    let source = path.join(name);
    fs::write(&source, text)?;
    let compiled = path.join("program");
    let program = match language.compiler(&source, &compiled) {
        None => source.clone(),
        Some(mut command) => {
            let compiler = command.get_program().to_string_lossy().into_owned();
            let output = command
                .output()
                .map_err(|error| BuildError::NoCompiler { compiler, error })?;
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(BuildError::Failed(text));
            }
            compiled
        }
    };
    Ok(Built {
        _folder: folder,
        source,
        program,
    })
}

/// The arguments of `launch` that most adapters of a language take.
pub fn launch_arguments(language: Language, built: &Built) -> Value {
    let program = built.program.to_string_lossy();
    let folder = built.program.parent().map(Path::to_string_lossy);
    match language {
        Language::C | Language::Rust => json!({"program": program, "cwd": folder}),
        Language::Python => json!({
            "program": program, "cwd": folder, "console": "internalConsole", "justMyCode": true,
        }),
        Language::JavaScript => json!({
            "type": "pwa-node", "program": program, "cwd": folder, "console": "internalConsole",
        }),
        Language::Go => json!({"mode": "exec", "program": program, "cwd": folder}),
    }
}

/// `${program}`, `${source}` and `${folder}` in the texts of a value become paths of the program.
pub fn filled_in(value: &Value, built: &Built) -> Value {
    match value {
        Value::String(text) => {
            let folder = built.program.parent().unwrap_or(Path::new(""));
            let paths = [
                ("${program}", built.program.as_path()),
                ("${source}", &built.source),
                ("${folder}", folder),
            ];
            let filled = paths.iter().fold(text.clone(), |text, (name, path)| {
                text.replace(name, &path.to_string_lossy())
            });
            Value::String(filled)
        }
        Value::Array(items) => items.iter().map(|item| filled_in(item, built)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), filled_in(value, built)))
            .collect(),
        other => other.clone(),
    }
}
