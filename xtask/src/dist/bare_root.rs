//! Checks that the binary works in an empty root directory (chroot(2)) with only itself and a program, as in a container made from scratch.
//!
//! A statically linked program is alone there; a dynamically linked one has its loader and libraries beside it. There are no devices and no
//! sources. `/proc` is mounted, because a debugger needs it; in a second run it is missing, and the debugger must say so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};

use super::{install, output};

const SOURCE: &str = r#"#include <stdio.h>

struct order { const char *item; int count; };

static int price(struct order order, int each) {
    int sum = order.count * each;
    return sum;
}

int main(void) {
    struct order tea = { "tea", 3 };
    int due = price(tea, 250);
    printf("%d due\n", due);
    return 0;
}
"#;

/// Runs the check with the binary `dapple` in `folder`, which is recreated.
pub(super) fn check(folder: &Path, dapple: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let source = folder.join("order.c");
    fs::write(&source, SOURCE)?;
    for (name, flags) in [("static", "-static-pie"), ("dynamic", "-pie")] {
        let root = folder.join(name);
        fs::create_dir_all(root.join("proc"))?;
        let program = root.join("order");
        output(
            Command::new("cc")
                .args(["-g", flags, "-o"])
                .args([&program, &source]),
        )?;
        bring_libraries(&root, &program)?;
        install(dapple, &root.join("dapple"), "755")?;
        let told = "a bare root without /proc";
        let blind = debug(&root, Proc::Missing).context(told)?;
        ensure!(
            !blind.status.success() && text(&blind).contains("mount -t proc proc /proc"),
            "in {told}, it does not say what it needs:\n{}",
            text(&blind)
        );
        let seen = debug(&root, Proc::Mounted)?;
        for part in [
            "stopped at breakpoint 1",
            "#0  price at ",
            "#1  main at ",
            r#"order = {item = 0x"#,
            r#""tea", count = 3}"#,
            "each = 250",
            "sum = ",
            "order.c:7",
            "sum = 750",
            "750 due",
            "program exited with code 0",
        ] {
            ensure!(
                text(&seen).contains(part),
                "debugging in {} does not show {part:?}:\n{}",
                root.display(),
                text(&seen)
            );
        }
        ensure!(seen.status.success(), "{}", text(&seen));
        println!("in a root with nothing but itself and a {name} program, it debugs");
    }
    Ok(())
}

/// Whether `/proc` is mounted.
#[derive(Clone, Copy)]
enum Proc {
    Mounted,
    Missing,
}

fn debug(root: &Path, proc: Proc) -> Result<Output> {
    let mut unshare = Command::new("unshare");
    // An unprivileged user becomes root in a user namespace.
    unshare.args(["--map-root-user", "--pid", "--fork", "--kill-child"]);
    if let Proc::Mounted = proc {
        unshare.arg(format!("--mount-proc={}", root.join("proc").display()));
    }
    unshare
        .arg("chroot")
        .arg(root)
        .args(["/dapple", "debug", "--batch"]);
    for command in [
        "b price",
        "run",
        "bt",
        "info args",
        "info locals",
        "n",
        "p sum",
        "c",
    ] {
        unshare.args(["--ex", command]);
    }
    unshare
        .arg("/order")
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    unshare.output().context("unshare can't be started")
}

/// Copies the loader and the libraries that `program` needs to their paths below `root`.
fn bring_libraries(root: &Path, program: &Path) -> Result<()> {
    let listed = Command::new("ldd").arg(program).output()?;
    for word in String::from_utf8_lossy(&listed.stdout).split_whitespace() {
        if let Some(path) = word.strip_prefix('/') {
            let (from, to) = (PathBuf::from(word), root.join(path));
            fs::create_dir_all(to.parent().unwrap_or(root))?;
            install(&from, &to, "755")?;
        }
    }
    Ok(())
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}
