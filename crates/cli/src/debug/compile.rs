//! Source files given as programs: compiled with debug info into the user's cache, then debugged.
//!
//! A program is compiled once for each source text, path and compiler version. What it includes is not in that key, so
//! the compiler's own list of what it read is kept next to the program, and a file on it that is newer compiles again.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use anyhow::{Context, bail};

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

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cpp => "C++",
            Self::Rust => "Rust",
        }
    }

    /// The compiler's command, and the variable that can name another one.
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

/// A source file that became a program, or already was.
#[derive(Debug)]
pub struct Compiled {
    /// The program.
    pub program: PathBuf,
    /// Its source, absolute.
    pub source: PathBuf,
    /// Its language.
    pub language: Language,
}

/// Compiles `source` unless the cache has it. `announce` gets a line for the user before the compiler runs.
///
/// # Errors
/// The source or the compiler is missing, or the compiler refused the source (it has told the user itself).
pub fn compile(
    source: &Path,
    language: Language,
    announce: impl FnOnce(&str),
) -> anyhow::Result<Compiled> {
    let shown = source.display();
    let path = source
        .canonicalize()
        .with_context(|| format!("can't read {shown}"))?;
    let text = fs::read(&path).with_context(|| format!("can't read {shown}"))?;
    let name =
        program_name(&path).with_context(|| format!("{shown} has no name to give the program"))?;
    let compiler = language.compiler();
    let version = compiler_version(&compiler, language)?;

    let mut hasher = DefaultHasher::new();
    (&text, &path, &compiler, &version).hash(&mut hasher);
    let directory = cache_directory()?
        .join("build")
        .join(format!("{:016x}", hasher.finish()));
    create_private(&directory)?;
    let program = directory.join(&name);
    let inputs = directory.join("inputs.d");
    if is_current(&program, &inputs) {
        return Ok(Compiled {
            program,
            source: path,
            language,
        });
    }

    announce(&format!("compiling {shown} with {} …", compiler.display()));
    // Under a name of its own until it is whole: two sessions may compile the same source at once. No dot in it:
    // rustc names its object files after what comes before the last one.
    let unfinished = directory.join(format!("{name}-{}", std::process::id()));
    let mut command = Command::new(&compiler);
    match language {
        Language::Rust => {
            let mut emit = OsString::from("--emit=link,dep-info=");
            emit.push(&inputs);
            command
                .args(["-g", "--edition=2024", "--crate-type=bin", "--crate-name"])
                .arg(&name)
                .arg(emit);
        }
        Language::C | Language::Cpp => {
            command
                .args(["-g", "-O0", "-pthread", "-MMD", "-MF"])
                .arg(&inputs);
        }
    }
    command
        .arg("-o")
        .arg(&unfinished)
        .arg(&path)
        .stdin(Stdio::null());
    let status = command
        .status()
        .with_context(|| format!("can't run {}", compiler.display()))?;
    if !status.success() {
        // It may have left a half-written file; there is nothing to do if it did not.
        let _ = fs::remove_file(&unfinished);
        bail!("{} could not compile {shown}", compiler.display());
    }
    fs::rename(&unfinished, &program)
        .with_context(|| format!("can't write {}", program.display()))?;
    Ok(Compiled {
        program,
        source: path,
        language,
    })
}

/// The source file's name as a crate's name: letters, digits and `_`, not starting with a digit.
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

fn compiler_version(compiler: &OsString, language: Language) -> anyhow::Result<Vec<u8>> {
    let output = Command::new(compiler)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => bail!(
            "`{} --version` failed ({})",
            compiler.display(),
            output.status
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "the {} compiler `{}` is not installed; install it, or compile the program yourself and give that",
            language.name(),
            compiler.display()
        ),
        Err(error) => Err(error).with_context(|| format!("can't run {}", compiler.display())),
    }
}

/// `$XDG_CACHE_HOME/dapple` or `~/.cache/dapple`.
fn cache_directory() -> anyhow::Result<PathBuf> {
    super::user_directory("XDG_CACHE_HOME", ".cache")
        .context("neither XDG_CACHE_HOME nor HOME says where the cache is")
}

/// Creates a directory that only this user can enter, with its parents.
pub fn create_private(directory: &Path) -> anyhow::Result<()> {
    let created = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory);
    created.with_context(|| format!("can't create {}", directory.display()))
}

/// Whether the program is there and nothing that it was compiled from has changed since.
fn is_current(program: &Path, inputs: &Path) -> bool {
    let changed = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let (Some(built), Ok(list)) = (changed(program), fs::read_to_string(inputs)) else {
        return false;
    };
    dependencies(&list)
        .iter()
        .all(|input| changed(input).is_some_and(|time| time <= built))
}

/// The files in a make rule `target: file file …`, as gcc, clang and rustc write it: `\ ` is a space in a name,
/// `\` before a line's end goes on. Only the first rule counts; rustc adds an empty one for each file.
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
