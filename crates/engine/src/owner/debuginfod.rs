//! Debug information from debuginfod servers, for who wants it: asked for beside the session, taken when it comes.
//!
//! `debuginfod-find`, the servers' own client, does the asking: it knows `DEBUGINFOD_URLS` and all else that its users have
//! set, and keeps what it got. A launch never waits for it.

use super::Owner;
use super::back::Back;
use crate::event::Event;
use crate::modules::LoadedModule;
use crossbeam_channel::Sender;
use dapple_symbols::Module;
use dapple_symbols::module::DebugInfo;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

const CLIENT: &str = "debuginfod-find";

/// What is asked for.
struct Wanted {
    module: u64,
    path: PathBuf,
    build_id: String,
}

/// Asks for the debug information of modules that have none.
#[derive(Default)]
pub(super) struct Debuginfod {
    /// To the thread that asks; `None` where the user does not want it, or it can't be done.
    wanted: Option<Sender<Wanted>>,
    /// What is being asked.
    child: Arc<Mutex<Option<Child>>>,
}

impl Debuginfod {
    /// Starts the thread that asks.
    pub(super) fn start(back: Back) -> Debuginfod {
        let (wanted, to_do) = crossbeam_channel::unbounded::<Wanted>();
        let child: Arc<Mutex<Option<Child>>> = Arc::default();
        let current = Arc::clone(&child);
        let thread = std::thread::Builder::new().name("debuginfod".into());
        let started = thread.spawn(move || {
            for wanted in to_do {
                let module = wanted.path.clone();
                back.send(move |owner| owner.tell(Event::Fetching { module }));
                let found = find(&wanted.build_id, &current, &back);
                let module = wanted.path.clone();
                back.send(move |owner| owner.tell(Event::Fetched { module }));
                match found {
                    Ok(Some(file)) => back.send(move |owner| owner.debug_file_came(&wanted, &file)),
                    Ok(None) => {}
                    Err(error) => {
                        let path = wanted.path.display();
                        let warning = format!(
                            "{path}: its debug information can't be asked for: {CLIENT}: {error}"
                        );
                        back.send(move |owner| owner.tell(Event::DebugInfoWarnings(vec![warning])));
                        return;
                    }
                }
                if back.is_over() {
                    return;
                }
            }
        });
        Debuginfod {
            wanted: started.is_ok().then_some(wanted),
            child,
        }
    }

    /// Ends what is being asked; what is still to be asked is asked then.
    pub(super) fn stop(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = child.as_mut() {
            // Whoever waits for it reaps it.
            let _ = child.kill();
        }
    }

    /// Asks for a module's debug information, if it has none.
    pub(super) fn module_loaded(&self, loaded: &LoadedModule) {
        let module = &loaded.module;
        if module.debug_info() == DebugInfo::Dwarf || module.has_detached_debug_info() {
            return;
        }
        let (Some(wanted), Some(build_id)) = (&self.wanted, module.build_id()) else {
            return;
        };
        // Refused only when the thread has given up.
        let _ = wanted.send(Wanted {
            module: loaded.id,
            path: module.path().to_owned(),
            build_id: build_id.iter().map(|byte| format!("{byte:02x}")).collect(),
        });
    }
}

impl Drop for Debuginfod {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Asks; `None` where no server has it.
fn find(
    build_id: &str,
    current: &Mutex<Option<Child>>,
    back: &Back,
) -> std::io::Result<Option<PathBuf>> {
    let lock = || current.lock().unwrap_or_else(PoisonError::into_inner);
    let mut child = Command::new(CLIENT)
        .args(["debuginfo", build_id])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let output = child.stdout.take();
    let mut kept = lock();
    if back.is_over() {
        let _ = child.kill();
    }
    *kept = Some(child);
    drop(kept);
    let mut text = Vec::new();
    if let Some(mut output) = output {
        std::io::Read::read_to_end(&mut output, &mut text)?;
    }
    let status = lock().take().map(|mut child| child.wait()).transpose()?;
    let path = text.trim_ascii_end();
    let found = status.is_some_and(|status| status.success()) && !path.is_empty();
    Ok(found.then(|| Path::new(std::ffi::OsStr::from_bytes(path)).to_owned()))
}

impl Owner {
    pub(crate) fn stop_fetching(&mut self) {
        self.debuginfod.stop();
    }

    /// Takes a module's debug information, which has come.
    fn debug_file_came(&mut self, wanted: &Wanted, file: &Path) {
        let Some(old) = self.modules.iter().find(|m| m.id == wanted.module).cloned() else {
            return;
        };
        let module = match Module::open_with_debug_file(&wanted.path, file) {
            Ok(module) => Arc::new(module),
            Err(error) => return self.warn_of_module(&wanted.path, &error),
        };
        let loaded = Arc::new(LoadedModule::new(old.id, module, old.bias, old.link_map));
        self.modules.replace(Arc::clone(&loaded));
        self.breakpoints.module_unloaded(old.id);
        self.breakpoints.module_loaded(&loaded);
        self.arm();
        self.tell(Event::ModuleChanged(loaded.info()));
    }
}
