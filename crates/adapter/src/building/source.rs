//! Compiles a source file that is given as the program, with debug information, into a private directory.
//!
//! A program is cached by source text, path, compiler and its version. Included files are not part of that key: the compiler's list of its inputs
//! is kept beside the program, and a newer file in that list causes a new compilation.

use super::Built;
use super::context::{BuildContext, Unbuilt};
use super::first_error::FirstError;
use dapple_engine::event::ExitStatus;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// A language whose source files can be given instead of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// `.c`
    C,
    /// `.cpp`, `.cc`, `.cxx`
    Cpp,
    /// `.rs`
    Rust,
}

impl Language {
    /// The language of a source file, by its extension.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "rs" => Some(Self::Rust),
            "c" => Some(Self::C),
            "cpp" | "cc" | "cxx" => Some(Self::Cpp),
            _ => None,
        }
    }

    /// The name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cpp => "C++",
            Self::Rust => "Rust",
        }
    }

    /// The compiler's option for coloured output.
    fn colours(self) -> &'static str {
        match self {
            Self::C | Self::Cpp => "-fdiagnostics-color=always",
            Self::Rust => "--color=always",
        }
    }

    /// The compiler: from an environment variable, or the default.
    fn compiler(self) -> OsString {
        let (variable, default) = match self {
            Self::C => ("CC", "cc"),
            Self::Cpp => ("CXX", "c++"),
            Self::Rust => ("RUSTC", "rustc"),
        };
        std::env::var_os(variable)
            .filter(|command| !command.is_empty())
            .unwrap_or_else(|| default.into())
    }
}

/// Compiles a source file, unless the cached program is current.
///
/// # Errors
/// The build was cancelled; the source or the compiler is missing; or the compilation failed.
pub fn build(
    source: &Path,
    language: Language,
    context: &mut BuildContext,
) -> Result<Built, Unbuilt> {
    let Some(folder) = context.programs.clone() else {
        return Err(Unbuilt::Failed(format!(
            "launch: `program` {}: it is a source file, and this debugger has no folder for programs that it compiles; compile it with debug information (-g), and launch what that makes",
            source.display()
        )));
    };
    let source_file = SourceFile::read(source, language)?;
    let mut first = FirstError::default();
    let program = source_file.program(&folder, &mut |announced, mut command| {
        context.say(announced);
        if context.is_styled() {
            command.arg(language.colours());
        }
        let status = context.run(command, &mut |_, line, output| {
            first.look(line);
            output.show(line);
        });
        let status = status.map_err(|error| source_file.cannot_run(&error))??;
        match (status, first.sentence()) {
            (ExitStatus::Code(0), _) => Ok(()),
            (_, Some(error)) => Err(format!("{}: {error}", source_file.refused()).into()),
            (_, None) => Err(source_file.refused().into()),
        }
    })?;
    Ok(Built {
        program: Some(program),
        ..Built::default()
    })
}

/// [`build`] without a session. The compiler inherits the standard streams of this process. `announce` gets a line for the user before the
/// compiler runs.
///
/// # Errors
/// As for [`build`].
pub fn compile(
    source: &Path,
    language: Language,
    folder: &Path,
    announce: &mut dyn FnMut(&str),
) -> Result<PathBuf, Unbuilt> {
    let source_file = SourceFile::read(source, language)?;
    source_file.program(folder, &mut |announced, mut command| {
        announce(announced);
        let status = command.stdin(Stdio::null()).status();
        match status.map_err(|error| source_file.cannot_run(&error))? {
            status if status.success() => Ok(()),
            _ => Err(source_file.refused().into()),
        }
    })
}

/// A source file with the key of its program.
struct SourceFile {
    path: PathBuf,
    /// The path as it was given.
    shown: String,
    language: Language,
    name: String,
    compiler: OsString,
    /// A hash of everything that the program depends on, except for included files.
    hash: u64,
}

/// Runs a compiler. Its arguments are a line to show to the user, and the command.
type Run<'r> = dyn FnMut(&str, Command) -> Result<(), Unbuilt> + 'r;

impl SourceFile {
    fn read(source: &Path, language: Language) -> Result<SourceFile, String> {
        let shown = source.display().to_string();
        let unreadable = |error: io::Error| format!("{shown} can't be read: {error}");
        let path = source.canonicalize().map_err(unreadable)?;
        let text = fs::read(&path).map_err(unreadable)?;
        let name =
            program_name(&path).ok_or_else(|| format!("{shown} has no name for the program"))?;
        let compiler = language.compiler();
        let version = compiler_version(&compiler, language)?;
        let mut hasher = DefaultHasher::new();
        (&text, &path, &compiler, &version).hash(&mut hasher);
        Ok(SourceFile {
            path,
            shown,
            language,
            name,
            compiler,
            hash: hasher.finish(),
        })
    }

    /// The path of the program. Compiles it, unless `folder` has a current one.
    fn program(&self, folder: &Path, run: &mut Run<'_>) -> Result<PathBuf, Unbuilt> {
        let directory = folder.join(format!("{:016x}", self.hash));
        create_private(&directory)
            .map_err(|error| format!("{} can't be created: {error}", directory.display()))?;
        let program = directory.join(&self.name);
        let inputs = directory.join("inputs.d");
        if is_current(&program, &inputs) {
            return Ok(program);
        }
        // The program has a temporary name until it is complete, because two sessions may compile the same source at once. The name has no dot,
        // because rustc derives the names of object files from the part before the last dot.
        let unfinished = directory.join(format!("{}-{}", self.name, std::process::id()));
        let announced = format!(
            "compiling {} with {} …",
            self.shown,
            self.compiler.display()
        );
        let compiled = run(&announced, self.command(&inputs, &unfinished));
        if compiled.is_err() {
            // Removes a partly written file, if there is one.
            let _ = fs::remove_file(&unfinished);
        }
        compiled?;
        fs::rename(&unfinished, &program)
            .map_err(|error| format!("{} can't be written: {error}", program.display()))?;
        Ok(program)
    }

    fn command(&self, inputs: &Path, program: &Path) -> Command {
        let mut command = Command::new(&self.compiler);
        match self.language {
            Language::Rust => {
                let mut emit = OsString::from("--emit=link,dep-info=");
                emit.push(inputs);
                command
                    .args(["-g", "--edition=2024", "--crate-type=bin", "--crate-name"])
                    .arg(&self.name)
                    .arg(emit);
            }
            Language::C | Language::Cpp => {
                command
                    .args(["-g", "-O0", "-pthread", "-MMD", "-MF"])
                    .arg(inputs);
            }
        }
        command.arg("-o").arg(program).arg(&self.path);
        command
    }

    fn refused(&self) -> String {
        format!(
            "{} could not compile {}",
            self.compiler.display(),
            self.shown
        )
    }

    fn cannot_run(&self, error: &io::Error) -> String {
        format!("{} can't be run: {error}", self.compiler.display())
    }
}

fn compiler_version(compiler: &OsString, language: Language) -> Result<Vec<u8>, String> {
    let output = Command::new(compiler)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => Err(format!(
            "`{} --version` failed ({})",
            compiler.display(),
            output.status
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(format!(
            "the {} compiler `{}` is not installed; install it, or compile the program yourself and give that",
            language.name(),
            compiler.display()
        )),
        Err(error) => Err(format!("{} can't be run: {error}", compiler.display())),
    }
}

/// The source file's name as a valid crate name: letters, digits and `_`, not starting with a digit.
fn program_name(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_string_lossy();
    let mut name: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    (!name.is_empty()).then_some(name)
}

/// Creates a directory that only this user can enter, and its missing parents. An existing directory stays as it is.
///
/// # Errors
/// Those of the system.
pub fn create_private(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(directory)
}

/// Whether the program exists and is not older than any of its inputs.
fn is_current(program: &Path, inputs: &Path) -> bool {
    let changed = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let (Some(built), Ok(list)) = (changed(program), fs::read_to_string(inputs)) else {
        return false;
    };
    dependencies(&list)
        .iter()
        .all(|input| changed(input).is_some_and(|time| time <= built))
}

/// The files in a make rule `target: file file …`, as gcc, clang and rustc write it. `\ ` is a space in a name; `\` at the end of a line
/// continues the rule on the next. Only the first rule counts; rustc adds a rule without inputs for each file.
fn dependencies(rule: &str) -> Vec<PathBuf> {
    let Some((_, files)) = rule.split_once(": ") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut name = String::new();
    let mut chars = files.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => {
                chars.next();
            }
            ('\\', Some(&escaped @ (' ' | '#'))) => {
                name.push(escaped);
                chars.next();
            }
            (' ' | '\n', _) => {
                if !name.is_empty() {
                    found.push(PathBuf::from(std::mem::take(&mut name)));
                }
                if c == '\n' {
                    return found;
                }
            }
            _ => name.push(c),
        }
    }
    if !name.is_empty() {
        found.push(PathBuf::from(name));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_inputs_is_read_as_compilers_write_it() {
        let gcc = "/c/x.12: /src/my\\ tour.c \\\n /src/a.h\n";
        assert_eq!(
            dependencies(gcc),
            [PathBuf::from("/src/my tour.c"), PathBuf::from("/src/a.h")]
        );
        let rustc = "/c/x: /src/tour.rs /src/part.rs\n\n/src/tour.rs:\n/src/part.rs:\n";
        assert_eq!(
            dependencies(rustc),
            [PathBuf::from("/src/tour.rs"), PathBuf::from("/src/part.rs")]
        );
        assert!(dependencies("").is_empty());
    }

    #[test]
    fn any_file_name_becomes_a_crate_name() {
        assert_eq!(
            program_name(Path::new("/a/my-tour.rs")).as_deref(),
            Some("my_tour")
        );
        assert_eq!(
            program_name(Path::new("/a/2nd.rs")).as_deref(),
            Some("_2nd")
        );
    }

    #[test]
    fn the_extension_says_the_language() {
        assert_eq!(Language::of(Path::new("a.cc")), Some(Language::Cpp));
        assert_eq!(Language::of(Path::new("a.out")), None);
        assert_eq!(Language::of(Path::new("rs")), None);
    }
}
