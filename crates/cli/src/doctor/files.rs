//! Checks the user's environment: the cache of indexes, debuginfod, and which `dapple` an editor would start.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use super::Finding;
use crate::cache;
use crate::programs::on_path;

/// Runs the checks of this module.
pub fn check(report: &mut dyn FnMut(Finding)) {
    report(cache());
    report(debuginfod());
    report(on_the_path());
}

fn cache() -> Finding {
    const CHECK: &str = "cache";
    let remedy = "set XDG_CACHE_HOME to a folder of your own; without one, sessions with large programs begin anew each time";
    let opened = cache::open();
    let cache = match &opened {
        Ok(cache) => cache,
        Err(error) => return Finding::warning(CHECK, format!("{error:#}")).with_remedy(remedy),
    };
    let folder = cache.folder();
    let shown = folder.display();
    let metadata = match std::fs::metadata(folder) {
        Ok(metadata) => metadata,
        Err(error) => {
            return Finding::warning(CHECK, format!("{shown}: {error}")).with_remedy(remedy);
        }
    };
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Finding::warning(CHECK, format!("{shown} belongs to another user"))
            .with_remedy(remedy);
    }
    if metadata.permissions().mode() & 0o022 != 0 {
        return Finding::warning(CHECK, format!("others can write to {shown}"))
            .with_remedy(format!("`chmod go-w {shown}`"));
    }
    match cache.entries() {
        Ok(entries) => {
            let size: u64 = entries.iter().map(|entry| entry.size).sum();
            let (count, size) = (cache::count(entries.len()), cache::megabytes(size));
            Finding::ok(CHECK, format!("{count} of {size} in {shown}"))
        }
        Err(error) => {
            Finding::warning(CHECK, format!("{shown} can't be read: {error}")).with_remedy(remedy)
        }
    }
}

fn debuginfod() -> Finding {
    const CHECK: &str = "debuginfod";
    let servers = std::env::var("DEBUGINFOD_URLS").unwrap_or_default();
    match (servers.trim(), on_path("debuginfod-find")) {
        ("", _) => Finding::ok(
            CHECK,
            "no servers are named (DEBUGINFOD_URLS), and none is asked",
        ),
        (servers, Some(_)) => Finding::ok(
            CHECK,
            format!("sessions with `\"debuginfod\": true` ask {servers}"),
        ),
        (servers, None) => Finding::warning(
            CHECK,
            format!("there is no `debuginfod-find` to ask {servers} with"),
        )
        .with_remedy("`sudo apt install debuginfod`"),
    }
}

/// Checks the PATH, because editors start `dapple` by its name.
fn on_the_path() -> Finding {
    const CHECK: &str = "PATH";
    let Ok(own) = std::env::current_exe() else {
        return Finding::warning(CHECK, "this program's own file can't be found");
    };
    let own_folder = own.parent().unwrap_or(Path::new("/")).display();
    let remedy = format!(
        "add it for editors to find: `export PATH=\"{own_folder}:$PATH\"`, or name {} in their settings",
        own.display()
    );
    let Some(found) = on_path("dapple") else {
        return Finding::warning(CHECK, "has no `dapple`, so that editors don't find it")
            .with_remedy(remedy);
    };
    let same = |a: &Path, b: &Path| a.canonicalize().ok() == b.canonicalize().ok();
    if same(&found, &own) {
        return Finding::ok(
            CHECK,
            format!("has this very `dapple`: {}", found.display()),
        );
    }
    let version = Command::new(&found).arg("--version").output().ok();
    let version = version
        .filter(|output| output.status.success())
        .map_or_else(
            || "which does not run".to_owned(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        );
    Finding::warning(
        CHECK,
        format!("has another `dapple` than this one ({}): {}, {version}", own.display(), found.display()),
    )
    .with_remedy("editors that look for it by its name start that one; remove it, or have this one before it")
}
