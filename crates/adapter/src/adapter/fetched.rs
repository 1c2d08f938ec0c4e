//! Sources from debuginfod servers, if the user has enabled them, in place of files that aren't on this machine.
//!
//! The source of a shown frame is requested once. Until the source has come, and if no server has it, the frame shows its disassembly. A
//! fetched source is sent by reference, not by path, because nobody should edit the file in the debuginfod cache.

use crate::adapter::{Adapter, Phase};
use crate::{far_sources, from_dap};
use dapple_dap::server::{ClientConventions, LateProgress, Outbox, References};
use dapple_dap::types::{
    InvalidatedAreas, InvalidatedEvent, InvalidatedEventBody, Source, SourcePresentationHint,
};
use dapple_engine::frame::Frame;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The first `sourceReference` of fetched sources. Those of disassemblies are below, those of files for far clients above.
pub const FIRST: i64 = 1 << 30;
/// The most sources that are requested in a session.
const MOST: usize = 1000;

/// A module's build id, and the path of a source in its debug information.
type Key = (Vec<u8>, PathBuf);

/// The requested sources.
#[derive(Debug)]
pub struct Fetched {
    /// The fetched sources: the path in the debug information, and the file in the debuginfod cache.
    sources: References<(PathBuf, PathBuf)>,
    /// The paths of the fetched sources in the debug information.
    paths: HashSet<PathBuf>,
    /// The requested sources, each with its reference; `None` until it is fetched.
    asked: HashMap<Key, Option<i64>>,
    /// The progress of the present download.
    pub progress: Option<LateProgress>,
}

impl Default for Fetched {
    fn default() -> Self {
        Fetched {
            sources: References::within(FIRST..=far_sources::FIRST - 1),
            paths: HashSet::new(),
            asked: HashMap::new(),
            progress: None,
        }
    }
}

impl Fetched {
    /// The path that the debug information has for a fetched source. `None`: no fetched source has this reference.
    pub fn path(&self, reference: i64) -> Option<&Path> {
        let (path, _) = self.sources.get(reference).ok()?;
        Some(path)
    }

    /// Whether a source with this path in the debug information was fetched.
    pub fn has(&self, path: &Path) -> bool {
        self.paths.contains(path)
    }

    /// The file in the debuginfod cache with a fetched source. `None`: no fetched source has this reference.
    pub fn file(&self, reference: i64) -> Option<&Path> {
        let (_, file) = self.sources.get(reference).ok()?;
        Some(file)
    }
}

impl Adapter {
    /// The fetched source of a frame whose file isn't on this machine. The first call requests the source; `None` until it has come.
    pub fn fetched_source(&mut self, frame: &Frame) -> Option<Source> {
        let at = frame.position.as_ref()?;
        let module = frame.physical.module.as_ref()?;
        let key = (module.module.build_id()?.to_vec(), at.file.to_path_buf());
        if let Some(known) = self.fetched.asked.get(&key) {
            let reference = (*known)?;
            let name = at.file.file_name().unwrap_or(at.file.as_os_str());
            let mut source = Source::new()
                .with_name(name.to_string_lossy())
                .with_source_reference(reference)
                .with_origin(format!("{}, from debuginfod", at.file.display()));
            if frame.in_library() {
                source = source.with_presentation_hint(SourcePresentationHint::Deemphasize);
            }
            return Some(source);
        }
        if self.fetched.asked.len() < MOST {
            // The request fails when the session is over or has only a core file: the frame keeps its disassembly.
            let _ = self
                .debuggee
                .as_ref()?
                .fetch_source(module.id, key.1.clone());
            self.fetched.asked.insert(key, None);
        }
        None
    }

    /// Adds a fetched source. At a stop, tells the client to ask for stack traces again, if it supports that.
    pub fn source_fetched(&mut self, key: Key, file: PathBuf, outbox: &Outbox) {
        // Fails when the session has used up its numbers: frames then keep their disassembly.
        let Ok(reference) = self.fetched.sources.insert_lasting((key.1.clone(), file)) else {
            return;
        };
        self.fetched.paths.insert(key.1.clone());
        self.fetched.asked.insert(key, Some(reference));
        let is_stopped = matches!(self.phase, Phase::Stopped | Phase::PartlyRunning);
        let client = outbox.client();
        if is_stopped && client.is_some_and(|it| it.supports_invalidated_event == Some(true)) {
            let body = InvalidatedEventBody::new().with_areas(vec![InvalidatedAreas::Stacks]);
            outbox.event::<InvalidatedEvent>(body);
        }
    }

    /// The path of a source that a request names. For a fetched source, it is the path in the debug information, for any other the
    /// client's. A reference to a file of another machine may be one of an earlier session, in which it stood for another file: only without a path
    /// does it say which file is meant.
    pub fn path_of(&self, source: &Source, client: &ClientConventions) -> Option<PathBuf> {
        let fetched = source.source_reference.and_then(|id| self.fetched.path(id));
        let far = || { source.source_reference }.and_then(|id| self.source_map.far_file(id));
        let fetched = fetched.map(Path::to_owned);
        fetched
            .or_else(|| from_dap::path(source, client))
            .or_else(far)
    }

    /// Shows the progress of a download that takes long. The user can cancel it.
    pub fn send_fetching(&mut self, module: &Path, source: Option<&Path>, outbox: &Outbox) {
        let name = |path: &Path| {
            let name = path.file_name().unwrap_or(path.as_os_str());
            name.to_string_lossy().into_owned()
        };
        let title = match source {
            Some(source) => format!("Fetching the source {}", name(source)),
            None => format!("Fetching debug information of {}", name(module)),
        };
        let later = self.later.clone();
        let stop = move || {
            later.run(|adapter, _| {
                if let Some(debuggee) = &adapter.debuggee {
                    // Fails if the program has ended: then nothing waits for the download.
                    let _ = debuggee.stop_fetching();
                }
            });
        };
        let progress = LateProgress::start_cancellable(outbox, title, stop);
        self.fetched.progress = Some(progress);
    }
}
