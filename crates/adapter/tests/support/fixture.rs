//! Compiles the debuggees in `fixtures/` with the installed compilers, once for each content and set of flags.

use dapple_dap::types::SourceBreakpoint;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// How a program is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Optimization {
    None,
    Full,
}

/// How a program is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Linking {
    Pie,
    Fixed,
    Static,
}

/// A compiled debuggee.
#[derive(Debug)]
pub struct Fixture {
    pub source: PathBuf,
    pub binary: PathBuf,
    text: String,
}

impl Fixture {
    /// Compiles `fixtures/NAME` without optimization, as a position-independent executable.
    pub fn new(name: &str) -> Fixture {
        Fixture::built(name, Optimization::None, Linking::Pie)
    }

    /// Compiles `fixtures/NAME`.
    pub fn built(name: &str, optimization: Optimization, linking: Linking) -> Fixture {
        let (source, text) = source(name);
        let (compiler, flags) = command_line(&source, optimization, linking);
        Fixture::compiled(name, source, text, compiler, &flags)
    }

    /// Compiles `fixtures/NAME` with this compiler and these flags.
    pub fn compiled_with(compiler: &str, name: &str, flags: &[&str]) -> Fixture {
        let (source, text) = source(name);
        Fixture::compiled(name, source, text, compiler, flags)
    }

    /// Compiles `fixtures/NAME`, a C or C++ source, with split debug information (`.dwo`).
    pub fn split(name: &str) -> Fixture {
        let (source, text) = source(name);
        let (compiler, mut flags) = command_line(&source, Optimization::None, Linking::Pie);
        flags.push("-gsplit-dwarf");
        Fixture::compiled(name, source, text, compiler, &flags)
    }

    /// Like [`Fixture::split`], and deletes the `.dwo` file.
    pub fn with_missing_dwo(name: &str) -> Fixture {
        let (source, text) = source(name);
        let (compiler, mut flags) = command_line(&source, Optimization::None, Linking::Pie);
        flags.extend(["-gsplit-dwarf", "-DLOST"]);
        let fixture = Fixture::compiled(name, source, text, compiler, &flags);
        let stem = fixture
            .binary
            .file_name()
            .expect("a name")
            .to_string_lossy();
        let files = std::fs::read_dir(fixtures_folder()).expect("the folder is there");
        for file in files.map(|file| file.expect("a file").path()) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(&*stem) && name.ends_with(".dwo") {
                // Another test may have deleted the file already.
                let _ = std::fs::remove_file(&file);
            }
        }
        fixture
    }

    /// Compiles `fixtures/NAME`, a C source, with debug information also for unused types.
    pub fn with_all_types(name: &str) -> Fixture {
        let (source, text) = source(name);
        let flags = ["-g", "-fno-eliminate-unused-debug-types"];
        Fixture::compiled(name, source, text, "gcc", &flags)
    }

    /// Compiles `fixtures/NAME`, a C source, with clang if it is installed: clang records the sources' checksums (DWARF 5 §6.2.4.1).
    pub fn with_checksums(name: &str) -> Option<Fixture> {
        let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
        let clang = ["clang-22", "clang"].into_iter().find(runs)?;
        let (source, text) = source(name);
        let flags = ["-g", "-gdwarf-5"];
        Some(Fixture::compiled(name, source, text, clang, &flags))
    }

    /// Compiles `fixtures/NAME`, a C source, with clang and AddressSanitizer, if both are installed.
    pub fn with_address_sanitizer(name: &str) -> Option<Fixture> {
        let found = |name: &&str| {
            let folder = Command::new(name).arg("-print-resource-dir").output();
            let folder = folder.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
            let library = Path::new("lib/linux/libclang_rt.asan-x86_64.a");
            folder.is_ok_and(|folder| Path::new(folder.trim()).join(library).exists())
        };
        let clang = ["clang-22", "clang"].into_iter().find(found)?;
        let (source, text) = source(name);
        let flags = ["-g", "-O0", "-fsanitize=address"];
        Some(Fixture::compiled(name, source, text, clang, &flags))
    }

    /// Compiles `fixtures/NAME`, a C source, as a shared library.
    pub fn library(name: &str) -> Fixture {
        let (source, text) = source(name);
        Fixture::compiled(name, source, text, "gcc", &["-g", "-shared", "-fPIC"])
    }

    /// A program of a package among the fixtures, in the folder `built`. It has the package's name, and one source.
    pub fn of_package(package: &str, built: &Path) -> Fixture {
        let (source, text) = source(&format!("{package}/src/main.rs"));
        Fixture {
            source,
            binary: built.join(package),
            text,
        }
    }

    /// A copy of the program under a name of its own, which no other test uses.
    pub fn renamed(self, name: &str) -> Fixture {
        let binary = fixtures_folder().join(format!("{name}-{}", std::process::id()));
        install(&self.binary, &binary, 0o755);
        Fixture { binary, ..self }
    }

    fn compiled(
        name: &str,
        source: PathBuf,
        text: String,
        compiler: &str,
        flags: &[&str],
    ) -> Fixture {
        let mut hasher = DefaultHasher::new();
        (&text, compiler, flags).hash(&mut hasher);
        let binary = fixtures_folder().join(format!(
            "{}-{:016x}",
            name.replace('/', "-"),
            hasher.finish()
        ));
        compile(compiler, flags, &source, &binary);
        Fixture {
            source,
            binary,
            text,
        }
    }

    /// The 1-based number of the line marked `// stop: NAME`.
    pub fn line(&self, name: &str) -> i64 {
        let marker = format!("// stop: {name}");
        let index = self
            .text
            .lines()
            .position(|line| line.trim_end().ends_with(&marker));
        let index = index
            .unwrap_or_else(|| panic!("no line of {} is marked `{marker}`", self.source.display()));
        i64::try_from(index).expect("a line number") + 1
    }

    /// A breakpoint on a marked line.
    #[track_caller]
    pub fn breakpoint(&self, name: &str) -> SourceBreakpoint {
        SourceBreakpoint::new(self.line(name))
    }

    /// The name in the line's `// stop:` marker, or the text of an unmarked line.
    pub fn mark_of(&self, line: i64) -> String {
        let index = usize::try_from(line - 1).expect("a line's number");
        let text = self.text.lines().nth(index).unwrap_or_default();
        let mark = text.split_once("// stop: ").map(|(_, mark)| mark);
        mark.unwrap_or(text).trim().to_owned()
    }

    /// The source's path as clients write it.
    pub fn path(&self) -> String {
        self.source.display().to_string()
    }

    /// The program's path as clients write it.
    pub fn program(&self) -> String {
        self.binary.display().to_string()
    }
}

/// The folder for compiled programs and other temporary files of the tests.
pub fn fixtures_folder() -> PathBuf {
    let folder = workspace().join("target/fixtures");
    std::fs::create_dir_all(&folder).expect("target/fixtures can be made");
    folder
}

/// The root of the repository.
pub fn workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the workspace exists")
}

/// The path and the content of `fixtures/NAME`.
fn source(name: &str) -> (PathBuf, String) {
    let source = workspace().join("fixtures").join(name);
    let text = std::fs::read_to_string(&source)
        .unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    (source, text)
}

fn command_line(
    source: &Path,
    optimization: Optimization,
    linking: Linking,
) -> (&'static str, Vec<&'static str>) {
    let extension = source.extension().and_then(|extension| extension.to_str());
    let compiler = match extension {
        Some("c") => "gcc",
        Some("cpp") => "g++",
        Some("rs") => "rustc",
        other => panic!("no compiler for {other:?}"),
    };
    let mut flags = vec!["-g"];
    if compiler == "rustc" {
        flags.extend(["--edition", "2024", "-C"]);
        flags.push(match optimization {
            Optimization::None => "opt-level=0",
            Optimization::Full => "opt-level=2",
        });
        match linking {
            Linking::Pie => {}
            Linking::Fixed => flags.extend(["-C", "relocation-model=static"]),
            Linking::Static => flags.extend(["-C", "target-feature=+crt-static"]),
        }
        return (compiler, flags);
    }
    flags.push("-pthread");
    flags.push(match optimization {
        Optimization::None => "-O0",
        Optimization::Full => "-O2",
    });
    match linking {
        Linking::Pie => flags.extend(["-fpie", "-pie"]),
        Linking::Fixed => flags.extend(["-fno-pie", "-no-pie"]),
        Linking::Static => flags.push("-static"),
    }
    (compiler, flags)
}

fn compile(compiler: &str, flags: &[&str], source: &Path, binary: &Path) {
    static COMPILING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = COMPILING
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if binary.exists() {
        return;
    }
    // Other test binaries run at the same time, so compile under a temporary name and rename. The `.dwo` files keep names that begin with
    // the temporary name.
    let part = PathBuf::from(format!("{}-part-{}", binary.display(), std::process::id()));
    let output = Command::new(compiler)
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(&part)
        .output()
        .unwrap_or_else(|error| panic!("{compiler} does not run: {error}"));
    assert!(
        output.status.success(),
        "{compiler} {}: {}",
        source.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::rename(&part, binary).expect("the program can be put in its place");
}

/// Copies a file that is to be executed, and sets its mode. The copy is made by another process: a file that this process has open for
/// writing is inherited by children that other tests fork in the meantime, and executing it fails with ETXTBSY until they close it
/// (execve(2)).
pub fn install(from: &Path, to: &Path, mode: u32) {
    let mut install = Command::new("install");
    install.args(["-m", &format!("{mode:o}")]).args([from, to]);
    assert!(install.status().is_ok_and(|status| status.success()));
}
