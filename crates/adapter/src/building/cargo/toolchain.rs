//! Facts about the compiler that cargo uses: what the built programs need of it at run time.

use super::CargoPlan;
use crate::building::context::{BuildContext, Unbuilt};
use crate::building::shell::set_up;
use dapple_engine::event::{ExitStatus, Stream};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The most lines of `--print cfg` that are read.
const MOST_LINES: usize = 10_000;

/// The facts.
#[derive(Debug, Default)]
pub struct Toolchain {
    /// The folder of the standard library.
    pub libraries: Option<PathBuf>,
    /// The lines of `rustc --print cfg`.
    pub conditions: Vec<String>,
}

impl Toolchain {
    /// Asks the compiler of a plan. `None` as the target means the compiler's host.
    ///
    /// # Errors
    /// The build was cancelled, or cargo or the plan's folder is missing.
    pub fn of(
        plan: &CargoPlan,
        target: Option<&str>,
        context: &mut BuildContext,
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
        let ended = context.run(command, &mut |stream, line, _| {
            if stream == Stream::Stdout && lines.len() < MOST_LINES {
                lines.push(line.to_owned());
            }
        });
        match ended {
            Ok(Err(Unbuilt::Cancelled)) => return Err(Unbuilt::Cancelled),
            Ok(Ok(ExitStatus::Code(0))) => {}
            // Not an error, because few programs need the standard library as a shared library.
            other => tracing::warn!(?other, "where the standard library is can't be found out"),
        }
        let mut lines = lines.into_iter();
        let libraries = lines.next().map(PathBuf::from);
        Ok(Toolchain {
            libraries: libraries.filter(|path| path.is_absolute()),
            conditions: lines.collect(),
        })
    }

    /// The target triple.
    pub fn target(&self) -> Option<&str> {
        // SYSROOT/lib/rustlib/TARGET/lib
        self.libraries.as_deref()?.parent()?.file_name()?.to_str()
    }

    /// The path of the toolchain's own cargo. `proxy` is the cargo that a plan found, which may be rustup's; it
    /// is the result if the toolchain has none.
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
