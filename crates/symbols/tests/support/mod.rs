//! Compiles small sources with the installed compilers, once for each content.

#![allow(dead_code, missing_docs)]

pub mod seen;
pub mod shapes;

use dapple_symbols::Module;
use dapple_symbols::lines::LineLookup;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A compiled source.
pub struct Fixture {
    pub source: PathBuf,
    pub binary: PathBuf,
    text: String,
}

impl Fixture {
    pub fn open(&self) -> Module {
        Module::open(&self.binary).unwrap()
    }

    /// The 1-based number of the line with `// stop: NAME` in it.
    pub fn line(&self, name: &str) -> u32 {
        let marker = format!("// stop: {name}");
        let index = self
            .text
            .lines()
            .position(|line| line.trim_end().ends_with(&marker));
        index.unwrap_or_else(|| panic!("no line is marked {name}")) as u32 + 1
    }

    /// The addresses of the marked line.
    pub fn addresses(&self, module: &Module, name: &str) -> Vec<dapple_symbols::FileAddress> {
        match module.lookup_line(&self.source, self.line(name)) {
            LineLookup::Found(found) => found.iter().map(|location| location.address).collect(),
            other => panic!("{name}: {other:?}"),
        }
    }

    /// The address of the marked line, which must have only one.
    pub fn address(&self, module: &Module, name: &str) -> dapple_symbols::FileAddress {
        let addresses = self.addresses(module, name);
        assert_eq!(addresses.len(), 1, "{name}: {addresses:?}");
        addresses[0]
    }
}

/// Compiles `text` as a file called `name`, whose extension chooses the compiler.
pub fn compile(name: &str, text: &str, flags: &[&str]) -> Fixture {
    let compiler = match name.rsplit_once('.') {
        Some((_, "c")) => "gcc",
        Some((_, "cpp")) => "g++",
        Some((_, "rs")) => "rustc",
        other => panic!("no compiler for {other:?}"),
    };
    compile_by(compiler, name, text, flags)
}

/// The newest installed clang for a source of that name.
pub fn clang(name: &str) -> Option<String> {
    let driver = match name.ends_with(".cpp") {
        true => "clang++",
        false => "clang",
    };
    let versions = (14..=30).rev().map(|version| format!("{driver}-{version}"));
    let runs = |name: &String| {
        let output = Command::new(name).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    versions.chain([driver.to_owned()]).find(runs)
}

/// Like [`compile`], with a given compiler.
pub fn compile_by(compiler: &str, name: &str, text: &str, flags: &[&str]) -> Fixture {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fixtures");
    std::fs::create_dir_all(&target).unwrap();
    let target = target.canonicalize().unwrap();
    let mut hasher = DefaultHasher::new();
    (compiler, name, text, flags, &target).hash(&mut hasher);
    let folder = target.join(format!("{name}-{:016x}", hasher.finish()));
    let (source, binary) = (folder.join(name), folder.join("program"));
    if !binary.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let aside = |name: &str| {
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            folder.join(format!("{name}-{}-{count}", std::process::id()))
        };
        let part = aside("source");
        std::fs::write(&part, text).unwrap();
        std::fs::rename(part, &source).unwrap();
        // Tests run concurrently, in threads and processes, so compile under a temporary name and rename.
        let part = aside("program");
        let output = Command::new(compiler)
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(&part)
            .output()
            .expect("the compiler runs");
        assert!(
            output.status.success(),
            "{compiler} {name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        std::fs::rename(&part, &binary).unwrap();
    }
    Fixture {
        source,
        binary,
        text: text.to_owned(),
    }
}

/// A folder of a test's own, initially empty.
pub struct TestFolder {
    pub folder: PathBuf,
}

impl TestFolder {
    /// `name` must be unique among the tests.
    pub fn new(name: &str) -> TestFolder {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fixtures");
        std::fs::create_dir_all(&target).unwrap();
        let folder = target
            .canonicalize()
            .unwrap()
            .join(format!("workshop-{name}"));
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        std::fs::create_dir_all(&folder).unwrap();
        TestFolder { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    /// Runs a tool in the folder. Returns its standard output.
    pub fn run(&self, tool: &str, arguments: &[&str]) -> String {
        let output = Command::new(tool)
            .args(arguments)
            .current_dir(&self.folder)
            .output()
            .unwrap_or_else(|error| panic!("{tool} is needed for this test: {error}"));
        assert!(
            output.status.success(),
            "{tool} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The marked source `source`, and the program `binary` that the test has built from it.
    pub fn fixture(&self, source: &str, binary: &str) -> Fixture {
        Fixture {
            source: self.path(source),
            binary: self.path(binary),
            text: std::fs::read_to_string(self.path(source)).unwrap(),
        }
    }
}

/// The output of a tool, as text.
pub fn run(tool: &str, arguments: &[&str]) -> String {
    let output = Command::new(tool)
        .args(arguments)
        .output()
        .expect("the tool runs");
    assert!(
        output.status.success(),
        "{tool}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The file ranges of the headers and of the sections that a debugger reads.
pub fn sections(binary: &Path) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = std::iter::once(0..64 + 13 * 56).collect();
    for line in run("readelf", &["-SW", binary.to_str().unwrap()]).lines() {
        let Some((_, fields)) = line.split_once(']') else {
            continue;
        };
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let wanted = [
            ".debug_",
            ".eh_frame",
            ".symtab",
            ".strtab",
            ".dynamic",
            ".note",
        ];
        if fields.len() < 5
            || fields[1] == "NOBITS"
            || !wanted.iter().any(|name| fields[0].starts_with(name))
        {
            continue;
        }
        let number = |text: &str| usize::from_str_radix(text, 16).unwrap();
        let (offset, size) = (number(fields[3]), number(fields[4]));
        if size > 0 {
            found.push(offset..offset + size);
        }
    }
    found
}
