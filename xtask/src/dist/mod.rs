//! `cargo xtask dist`: builds the release for users without Rust. It puts into `target/dist` a static binary, an archive of it with manual
//! pages, completions and licences, and their checksums.
//!
//! The binary is linked with musl, so that it runs on any Linux x86-64. Before it is packed, these properties are checked: it needs no
//! library, it is not larger than promised, and it works in a root directory that contains nothing else (`bare_root`).

mod bare_root;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use object::elf::{FileHeader64, PT_INTERP};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object};

/// The largest size of the binary, in bytes.
const MOST_BYTES: u64 = 12_000_000;
/// The preferred target, which links statically by default.
const MUSL: &str = "x86_64-unknown-linux-musl";
/// The fallback target if musl is not available; it needs a flag to link statically.
const GNU: &str = "x86_64-unknown-linux-gnu";

/// Builds, checks and packs.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let target = match has_musl()? {
        true => MUSL,
        false => {
            println!("{MUSL} can't be had: this is linked with glibc instead, statically");
            GNU
        }
    };
    let built = build(root, target)?;
    let size = check(&built)?;
    println!(
        "dapple: {} of at most {}, static ({target})",
        megabytes(size),
        megabytes(MOST_BYTES)
    );
    bare_root::check(&root.join("target/dist-check"), &built)?;

    let dist = root.join("target/dist");
    if dist.exists() {
        fs::remove_dir_all(&dist).context("target/dist can't be emptied")?;
    }
    let name = format!("dapple-{}-x86_64-linux", version(&built)?);
    let folder = dist.join(&name);
    lay_out(root, &built, &folder)?;
    let archive = format!("{name}.tar.gz");
    pack(root, &dist, &name, &archive)?;
    install(&built, &dist.join("dapple"), "755")?;
    fs::remove_dir_all(&folder)?;
    for file in [&*archive, "dapple"] {
        let size = fs::metadata(dist.join(file))?.len();
        println!("target/dist/{file}: {}", megabytes(size));
    }
    let sums = output(
        Command::new("sha256sum")
            .args([&*archive, "dapple"])
            .current_dir(&dist),
    )?;
    fs::write(dist.join("SHA256SUMS"), sums)?;
    println!("target/dist/SHA256SUMS");
    Ok(ExitCode::SUCCESS)
}

/// Whether the musl target is usable, after an attempt to install what it needs: its standard library, and a C compiler for the allocator.
fn has_musl() -> Result<bool> {
    let library =
        output(Command::new("rustc").args(["--print", "target-libdir", "--target", MUSL]))?;
    let library = Path::new(library.trim());
    if !library.is_dir() {
        println!("adding the target {MUSL}");
        let _ = Command::new("rustup")
            .args(["target", "add", MUSL])
            .status();
    }
    if !has_compiler() {
        println!("installing musl-tools");
        let root = rustix::process::geteuid().is_root();
        let mut install = Command::new(if root { "apt-get" } else { "sudo" });
        if !root {
            install.args(["-n", "apt-get"]);
        }
        let _ = install
            .args(["install", "-y", "-qq", "musl-tools"])
            .status();
    }
    Ok(library.is_dir() && has_compiler())
}

fn has_compiler() -> bool {
    let asked = Command::new("musl-gcc").arg("--version").output();
    asked.is_ok_and(|answer| answer.status.success())
}

fn build(root: &Path, target: &str) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "build",
            "--profile",
            "portable",
            "--package",
            "dapple-cli",
            "--target",
            target,
        ])
        .current_dir(root);
    if target == GNU {
        cargo.env("RUSTFLAGS", "-C target-feature=+crt-static");
    }
    ensure!(cargo.status()?.success(), "dapple does not build");
    let folder =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(folder.join(target).join("portable/dapple"))
}

/// Checks a binary and returns its size.
fn check(binary: &Path) -> Result<u64> {
    let bytes = fs::read(binary)?;
    let file = ElfFile64::<Endianness>::parse(&*bytes)?;
    let header: &FileHeader64<Endianness> = file.elf_header();
    let segments = header.program_headers(file.endian(), &*bytes)?;
    let interpreted = segments
        .iter()
        .any(|segment| segment.p_type(file.endian()) == PT_INTERP);
    ensure!(
        !interpreted && file.imports()?.next().is_none(),
        "{} needs libraries",
        binary.display()
    );
    ensure!(
        file.symbols().next().is_none(),
        "{} is not stripped",
        binary.display()
    );
    let size = bytes.len() as u64;
    ensure!(
        size <= MOST_BYTES,
        "{} has {}, and is promised to have at most {}",
        binary.display(),
        megabytes(size),
        megabytes(MOST_BYTES)
    );
    Ok(size)
}

/// Fills the directory from which the archive is made.
fn lay_out(root: &Path, built: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    install(built, &folder.join("dapple"), "755")?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        install(&root.join(file), &folder.join(file), "644")?;
    }
    // The README links to the docs.
    let docs = [root.join("docs"), folder.join("docs")];
    output(Command::new("cp").arg("--recursive").args(docs))?;
    output(Command::new(built).arg("man").arg(folder.join("man/man1")))?;
    // Each script has the name that its shell looks for.
    for (shell, name) in [
        ("bash", "dapple"),
        ("zsh", "_dapple"),
        ("fish", "dapple.fish"),
    ] {
        let script = output(Command::new(built).args(["completions", shell]))?;
        let folder = folder.join("completions").join(shell);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), script)?;
    }
    Ok(())
}

/// Makes the archive reproducibly: the same contents give the same bytes.
fn pack(root: &Path, dist: &Path, name: &str, archive: &str) -> Result<()> {
    let git = Command::new("git")
        .args(["log", "-1", "--format=%ct"])
        .current_dir(root)
        .output();
    let committed = git
        .map(|git| String::from_utf8_lossy(&git.stdout).trim().to_owned())
        .unwrap_or_default();
    let time = if committed.is_empty() {
        "0"
    } else {
        &committed
    };
    output(
        Command::new("tar")
            .args([
                "--sort=name",
                "--owner=0",
                "--group=0",
                "--numeric-owner",
                "--mode=go-w",
            ])
            .arg(format!("--mtime=@{time}"))
            .args(["-I", "gzip -9n", "-cf", archive, name])
            .current_dir(dist),
    )?;
    Ok(())
}

fn version(binary: &Path) -> Result<String> {
    let said = output(Command::new(binary).arg("--version"))?;
    let (_, version) = said
        .trim()
        .split_once(' ')
        .context("--version says something else")?;
    Ok(version.to_owned())
}

fn install(from: &Path, to: &Path, mode: &str) -> Result<()> {
    output(Command::new("install").args(["-m", mode]).args([from, to])).map(drop)
}

/// Runs a command and returns its output; fails if the command fails.
fn output(command: &mut Command) -> Result<String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("{shown} can't be started"))?;
    if !output.status.success() {
        bail!(
            "{shown} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
