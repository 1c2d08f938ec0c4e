//! Packs the crates as they would be published, checks the packages, and builds a program against those of the protocol crates.
//!
//! Everything is done offline: the packages of this workspace stand in for those of a registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};

/// The crates to be published, each after those that it depends on.
const PUBLISHED: [&str; 12] = [
    "schema",
    "dap",
    "check",
    "trace",
    "gdb-remote",
    "arch",
    "target",
    "symbols",
    "inspect",
    "engine",
    "adapter",
    "cli",
];

/// The crates that others use alone: a program is built against their packages.
const USED_ALONE: [&str; 2] = ["schema", "dap"];

/// A program that uses both. It prints [`SAYS`].
const USER: &str = include_str!("user.rs");

const SAYS: &str = "stopped in main of /bin/true\n";

pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let packages = root.join("target/package");
    let unpacked = root.join("target/unpacked");
    for folder in [&packages, &unpacked] {
        if folder.exists() {
            fs::remove_dir_all(folder)
                .with_context(|| format!("cannot remove {}", folder.display()))?;
        }
    }
    fs::create_dir_all(&unpacked)
        .with_context(|| format!("cannot create {}", unpacked.display()))?;
    let mut pack = Command::new("cargo");
    pack.current_dir(root).args([
        "package",
        "--quiet",
        "--no-verify",
        "--offline",
        "--locked",
        "--allow-dirty",
    ]);
    pack.args(PUBLISHED.map(|name| format!("--package=dapple-{name}")));
    succeed(&mut pack)?;
    for name in PUBLISHED {
        let package = unpack(&packages, &unpacked, name)?;
        check(root, name, &package)?;
    }
    build_user(root, &unpacked)?;
    println!("{} packages in {}", PUBLISHED.len(), packages.display());
    Ok(ExitCode::SUCCESS)
}

/// Unpacks a crate's package to the folder `dapple-NAME`.
fn unpack(packages: &Path, unpacked: &Path, name: &str) -> Result<PathBuf> {
    let prefix = format!("dapple-{name}-");
    let archive = fs::read_dir(packages)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.starts_with(&prefix) && file.ends_with(".crate")
        })
        .with_context(|| format!("cargo made no package of dapple-{name}"))?;
    let folder = unpacked.join(format!("dapple-{name}"));
    fs::create_dir(&folder)?;
    let mut tar = Command::new("tar");
    tar.args(["--strip-components=1", "-xzf"]).arg(archive);
    succeed(tar.arg("-C").arg(&folder))?;
    Ok(folder)
}

/// Checks that a package has what a reader of a registry expects, and no paths to other crates.
fn check(root: &Path, name: &str, package: &Path) -> Result<()> {
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let packed = fs::read_to_string(package.join(licence))
            .with_context(|| format!("the package of dapple-{name} lacks {licence}"))?;
        ensure!(
            packed == fs::read_to_string(root.join(licence))?,
            "{licence} in the package of dapple-{name} is not the project's"
        );
    }
    ensure!(
        package.join("README.md").is_file(),
        "the package of dapple-{name} lacks README.md"
    );
    let manifest = fs::read_to_string(package.join("Cargo.toml"))?;
    for key in ["description", "license", "keywords", "categories", "readme"] {
        ensure!(
            manifest.contains(&format!("\n{key} = ")),
            "the manifest of dapple-{name} has no `{key}`"
        );
    }
    Ok(())
}

/// Builds and runs a program against the packages of the crates that are used alone, offline.
fn build_user(root: &Path, unpacked: &Path) -> Result<()> {
    let user = unpacked.join("user");
    let mut manifest = String::from(
        "[package]\nname = \"user\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [profile.dev]\ndebug = \"line-tables-only\"\n[dependencies]\n",
    );
    for name in USED_ALONE {
        manifest += &format!("dapple-{name} = \"*\"\n");
    }
    manifest += "[patch.crates-io]\n";
    for name in USED_ALONE {
        manifest += &format!("dapple-{name} = {{ path = \"../dapple-{name}\" }}\n");
    }
    fs::create_dir_all(user.join("src"))?;
    fs::write(user.join("Cargo.toml"), manifest)?;
    fs::write(user.join("src/main.rs"), USER)?;
    // The same versions, which are on this machine.
    fs::copy(root.join("Cargo.lock"), user.join("Cargo.lock"))?;
    let mut build = Command::new("cargo");
    build.args(["run", "--quiet", "--offline"]);
    // Shares what the workspace has built.
    build.arg("--target-dir").arg(root.join("target"));
    let output = build
        .current_dir(&user)
        .output()
        .context("cannot run cargo")?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || said != SAYS {
        bail!(
            "a program against the packages fails ({}); it said {said:?} in place of {SAYS:?}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}
