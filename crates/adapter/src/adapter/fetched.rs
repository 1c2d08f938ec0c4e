//! Sources that aren't on this machine, from debuginfod servers, where the user wants those asked.
//!
//! A server is asked once for each source of a frame that the client is shown, beside the session; until it has answered, and where it has none, the
//! frame has its disassembly. What has come is a source by reference: the file in the servers' client's own folder is nobody's to edit.

use crate::adapter::{Adapter, Phase};
use crate::from_dap;
use dapple_dap::server::{ClientConventions, LateProgress, Outbox, References};
use dapple_dap::types::{
    InvalidatedAreas, InvalidatedEvent, InvalidatedEventBody, Source, SourcePresentationHint,
};
use dapple_engine::frame::Frame;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The first number of these sources; those of disassemblies are below.
pub const FIRST: i64 = 1 << 30;
/// How many sources are asked for.
const MOST: usize = 1000;

/// A module's build id, and what its debug information calls a source.
type Key = (Vec<u8>, PathBuf);

/// The sources that were asked for.
#[derive(Debug)]
pub struct Fetched {
    /// Those that have come: what the debug information calls each, and the file.
    sources: References<(PathBuf, PathBuf)>,
    /// What the debug information calls those.
    paths: HashSet<PathBuf>,
    /// The number of each, once it has come.
    asked: HashMap<Key, Option<i64>>,
    /// What is being asked for.
    pub progress: Option<LateProgress>,
}

impl Default for Fetched {
    fn default() -> Self {
        Fetched {
            sources: References::within(FIRST..=i64::MAX),
            paths: HashSet::new(),
            asked: HashMap::new(),
            progress: None,
        }
    }
}

impl Fetched {
    /// What the debug information calls a source, by its number.
    pub fn path(&self, reference: i64) -> Option<&Path> {
        let (path, _) = self.sources.get(reference).ok()?;
        Some(path)
    }

    /// Whether a source has come of what the debug information calls so.
    pub fn has(&self, path: &Path) -> bool {
        self.paths.contains(path)
    }

    /// The file of a source.
    pub fn file(&self, reference: i64) -> Option<&Path> {
        let (_, file) = self.sources.get(reference).ok()?;
        Some(file)
    }
}

impl Adapter {
    /// The source of a frame whose source isn't here, if it has come. It is asked for where it wasn't yet.
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
            // Nothing comes where no servers are asked, or the session is over.
            let _ = self
                .debuggee
                .as_ref()?
                .fetch_source(module.id, key.1.clone());
            self.fetched.asked.insert(key, None);
        }
        None
    }

    /// A source has come: frames that were told without it are told anew.
    pub fn source_fetched(&mut self, key: Key, file: PathBuf, outbox: &Outbox) {
        // Without a number there is no source.
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

    /// What the debug information or the client calls a source that the client speaks of.
    pub fn path_of(&self, source: &Source, client: &ClientConventions) -> Option<PathBuf> {
        let fetched = source.source_reference.and_then(|id| self.fetched.path(id));
        fetched.map_or_else(
            || from_dap::path(source, client),
            |path| Some(path.to_owned()),
        )
    }

    /// Shows what servers are asked for, once that takes long; the user may do without.
    pub fn tell_fetching(&mut self, module: &Path, source: Option<&Path>, outbox: &Outbox) {
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
            later.run(|adapter, _, _| {
                if let Some(debuggee) = &adapter.debuggee {
                    // One that has ended waits for nothing.
                    let _ = debuggee.stop_fetching();
                }
            });
        };
        let progress = LateProgress::start_cancellable(outbox, title, stop);
        self.fetched.progress = Some(progress);
    }
}
