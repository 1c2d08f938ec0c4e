//! The compiler that cargo builds with, as far as its programs need it.

use super::CargoPlan;
use crate::building::shell::set_up;
use crate::building::site::{Site, Unbuilt};
use dapple_engine::event::{ExitStatus, Stream};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many lines it may say of a target.
const MOST_LINES: usize = 10_000;

/// What the compiler's installation has for programs.
#[derive(Debug, Default)]
pub struct Toolchain {
    /// Where the standard library is.
    pub libraries: Option<PathBuf>,
    /// What the target is, one a line (`--print cfg`).
    pub conditions: Vec<String>,
}

impl Toolchain {
    /// The one that a plan is built with, for a target; `None`: the compiler's own.
    ///
    /// # Errors
    /// It was given up.
    pub fn of(
        plan: &CargoPlan,
        target: Option<&str>,
        site: &mut Site,
    ) -> Result<Toolchain, Unbuilt> {
        let rustc = plan.variable("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = Command::new(&rustc);
        if let Some(toolchain) = plan
            .line
            .before
            .first()
            .filter(|word| word.starts_with('+'))
        {
            command.arg(toolchain);
        }
        command.args(["--print", "target-libdir", "--print", "cfg"]);
        if let Some(target) = target {
            command.args(["--target", target]);
        }
        set_up(&mut command, plan.cwd.as_ref(), &plan.env)?;
        if let Some(folder) = plan.cargo()?.parent() {
            command.env("PATH", plan.path_with(folder));
        }
        let mut lines = Vec::new();
        let told = site.run(command, &mut |stream, line, _| {
            if stream == Stream::Stdout && lines.len() < MOST_LINES {
                lines.push(line.to_owned());
            }
        });
        match told {
            Ok(Err(Unbuilt::Cancelled)) => return Err(Unbuilt::Cancelled),
            Ok(Ok(ExitStatus::Code(0))) => {}
            // Few programs need it.
            other => tracing::warn!(?other, "where the standard library is can't be found out"),
        }
        let mut lines = lines.into_iter();
        let libraries = lines.next().map(PathBuf::from);
        Ok(Toolchain {
            libraries: libraries.filter(|path| path.is_absolute()),
            conditions: lines.collect(),
        })
    }

    /// What the target is called.
    pub fn target(&self) -> Option<&str> {
        // SYSROOT/lib/rustlib/TARGET/lib
        self.libraries.as_deref()?.parent()?.file_name()?.to_str()
    }

    /// Cargo itself, where this is only a proxy (rustup's).
    pub fn cargo(&self, proxy: &Path) -> PathBuf {
        // SYSROOT/lib/rustlib/TARGET/lib
        let root = self.libraries.as_deref();
        let root = root.and_then(|libraries| libraries.ancestors().nth(4));
        let cargo = root.map(|root| root.join("bin").join("cargo"));
        cargo
            .filter(|cargo| cargo.is_file())
            .unwrap_or_else(|| proxy.to_owned())
    }
}
