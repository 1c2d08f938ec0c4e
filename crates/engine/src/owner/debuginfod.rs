//! Fetches debug information and sources from debuginfod servers, on a background thread. Neither a launch nor a stop waits for it.
//!
//! `debuginfod-find`, the client program of elfutils, makes the requests: it reads `DEBUGINFOD_URLS` and the user's other settings, and caches
//! the files. A fetched source is used only if no other user than root can write the file and the file isn't too large. If the debug
//! information has a checksum of the source, the file must also have that checksum.

use super::Owner;
use super::background::Back;
use crate::event::Event;
use crossbeam_channel::Sender;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_symbols::Module;
use dapple_symbols::module::DebugInfo;
use dapple_symbols::sources::{PathMap, Source, SourceStatus};
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

const CLIENT: &str = "debuginfod-find";

/// The largest source file that is used, in bytes.
const LARGEST_SOURCE: u64 = 16 << 20;
/// How much is read at most of the file name that the client writes, in bytes.
const LONGEST_NAME: u64 = 1 << 14;

/// A request to the servers.
struct Wanted {
    module: u64,
    path: PathBuf,
    build_id: Vec<u8>,
    /// The source file to fetch, and its module. `None`: the module's debug information is to be fetched.
    source: Option<(Arc<Module>, PathBuf)>,
}

impl Wanted {
    /// The arguments of `debuginfod-find` for this request.
    fn question(&self) -> Vec<OsString> {
        let id = self.build_id.iter().map(|byte| format!("{byte:02x}"));
        let id = OsString::from(id.collect::<String>());
        match &self.source {
            None => vec!["debuginfo".into(), id],
            Some((_, source)) => vec!["source".into(), id, source.into()],
        }
    }

    /// Sends the owner the file that the client has found: debug information to load, or a source to report. Runs on the debuginfod thread.
    fn found(self, file: PathBuf, back: &Back) {
        let Some((module, source)) = &self.source else {
            return back.send(move |owner| owner.debug_file_came(&self, &file));
        };
        let taken = check_source(module, source, &file);
        let event = match taken {
            Ok(()) => Event::SourceFetched {
                build_id: self.build_id,
                source: source.clone(),
                file,
            },
            Err(why) => Event::DebugInfoWarnings(vec![format!(
                "{}: what a debuginfod server has for it is not shown: {why}",
                source.display()
            )]),
        };
        back.send(move |owner| owner.tell(event));
    }
}

/// Checks that a fetched file can be shown as the module's source `source`. The error says why it can't.
fn check_source(module: &Module, source: &Path, file: &Path) -> Result<(), String> {
    let about = std::fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let own = rustix::process::geteuid().as_raw();
    if !about.is_file() {
        return Err(format!("{} is no file", file.display()));
    }
    if !matches!(about.uid(), 0) && about.uid() != own || about.mode() & 0o022 != 0 {
        return Err(format!("others can write {}", file.display()));
    }
    if about.len() > LARGEST_SOURCE {
        return Err(format!("it has more than {LARGEST_SOURCE} bytes"));
    }
    let known = module
        .sources()
        .into_iter()
        .find(|known| *known.path == *source);
    let known = known.map(|known| Source {
        path: file.into(),
        ..known
    });
    match known.map(|known| known.check(&PathMap::new()).status) {
        Some(SourceStatus::Changed) => {
            Err("its checksum is another than that of what was compiled".to_owned())
        }
        _ => Ok(()),
    }
}

/// The debuginfod thread and its requests.
#[derive(Default)]
pub(super) struct Debuginfod {
    /// Sends requests to the thread. `None`: the user does not want debuginfod, or the thread can't be started.
    wanted: Option<Sender<Wanted>>,
    /// The client process that runs now.
    asking: Arc<Mutex<Asking>>,
}

/// The client process that runs now, so that another thread can kill it.
#[derive(Default)]
struct Asking {
    child: Option<Child>,
    /// Whether the session is over.
    is_over: bool,
}

impl Debuginfod {
    /// Starts the thread.
    pub(super) fn start(back: Back) -> Debuginfod {
        let (wanted, to_do) = crossbeam_channel::unbounded::<Wanted>();
        let asking: Arc<Mutex<Asking>> = Arc::default();
        let current = Arc::clone(&asking);
        let thread = std::thread::Builder::new().name("debuginfod".into());
        let started = thread.spawn(move || {
            for wanted in to_do {
                let module = wanted.path.clone();
                let source = wanted.source.as_ref().map(|(_, source)| source.clone());
                back.send(move |owner| owner.tell(Event::Fetching { module, source }));
                let found = find(&wanted.question(), &current);
                let module = wanted.path.clone();
                back.send(move |owner| owner.tell(Event::Fetched { module }));
                match found {
                    Ok(Some(file)) => wanted.found(file, &back),
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
            asking,
        }
    }

    /// Kills the client process that runs now. The thread goes on with the next request in the queue.
    pub(super) fn stop(&self) {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        asking.stop();
    }

    /// Requests a module's debug information, if the module has no DWARF but has a build id.
    pub(super) fn module_loaded(&self, loaded: &LoadedModule) {
        let module = &loaded.module;
        if module.debug_info() == DebugInfo::Dwarf || module.has_detached_debug_info() {
            return;
        }
        let (Some(wanted), Some(build_id)) = (&self.wanted, module.build_id()) else {
            return;
        };
        // Fails only if the thread has ended, because the client can't be run.
        let _ = wanted.send(Wanted {
            module: loaded.id,
            path: module.path().to_owned(),
            build_id: build_id.to_vec(),
            source: None,
        });
    }

    /// Requests a source file of a module, if its path is absolute and the module has a build id.
    fn fetch_source(&self, loaded: &LoadedModule, source: PathBuf) {
        let build_id = loaded.module.build_id();
        // The servers know sources by absolute names.
        let (Some(wanted), Some(build_id), true) = (&self.wanted, build_id, source.is_absolute())
        else {
            return;
        };
        // Fails only if the thread has ended, because the client can't be run.
        let _ = wanted.send(Wanted {
            module: loaded.id,
            path: loaded.module.path().to_owned(),
            build_id: build_id.to_vec(),
            source: Some((Arc::clone(&loaded.module), source)),
        });
    }
}

impl Asking {
    fn stop(&mut self) {
        if let Some(child) = self.child.as_mut() {
            // `find` waits for the process and reaps it.
            let _ = child.kill();
        }
    }
}

impl Drop for Debuginfod {
    fn drop(&mut self) {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        asking.is_over = true;
        asking.stop();
    }
}

/// Runs the client, and returns the path of the file that it names. `Ok(None)`: no server has the file, or the client was killed. `Err`: the
/// client can't be run, or its output can't be read.
fn find(question: &[OsString], current: &Mutex<Asking>) -> std::io::Result<Option<PathBuf>> {
    let lock = || current.lock().unwrap_or_else(PoisonError::into_inner);
    let mut child = Command::new(CLIENT)
        .args(question)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let output = child.stdout.take();
    let mut asking = lock();
    // If the session ended before this client process was stored in `asking`, no other thread kills the process.
    if asking.is_over {
        let _ = child.kill();
    }
    asking.child = Some(child);
    drop(asking);
    let mut text = Vec::new();
    if let Some(output) = output {
        output.take(LONGEST_NAME).read_to_end(&mut text)?;
    }
    let status = lock().child.take();
    let status = status.map(|mut child| child.wait()).transpose()?;
    let path = text.trim_ascii_end();
    let found = status.is_some_and(|status| status.success()) && !path.is_empty();
    Ok(found.then(|| Path::new(std::ffi::OsStr::from_bytes(path)).to_owned()))
}

impl Owner {
    /// Requests a source file of a module.
    pub(crate) fn fetch_source(&mut self, module: u64, source: PathBuf) {
        if let Some(loaded) = self.modules().iter().find(|loaded| loaded.id == module) {
            self.loading.debuginfod.fetch_source(loaded, source);
        }
    }

    pub(crate) fn stop_fetching(&mut self) {
        self.loading.debuginfod.stop();
    }

    /// Loads a module's debug information from the fetched file.
    fn debug_file_came(&mut self, wanted: &Wanted, file: &Path) {
        let Some(old) = self
            .modules()
            .iter()
            .find(|m| m.id == wanted.module)
            .cloned()
        else {
            return;
        };
        let module = match Module::open_with_debug_file(&wanted.path, file) {
            Ok(module) => Arc::new(module),
            Err(error) => return self.warn_of_module(&wanted.path, &error),
        };
        let loaded = Arc::new(LoadedModule::new(old.id, module, old.bias, old.link_map));
        self.replace_module(&loaded);
        self.arm();
        self.tell(Event::ModuleChanged(loaded.info()));
    }
}
