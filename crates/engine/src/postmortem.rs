//! Debugging post mortem: a core file, with the program and the libraries that ran.
//!
//! This module puts those files together: it finds which were loaded where, and whether they are the builds that ran. A file that is
//! another build now would give wrong names and values, so it is left out, with a warning.

mod programs;

use self::programs::{Proof, Sought};
use crate::event::{Stop, StopReason};
use crate::indexing::{self, Beside, Indexing};
use crate::warnings::Reported as Warned;
use crate::{Address, Error, Event, ThreadId};
use crossbeam_channel::Sender;
use dapple_arch::Memory;
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::exceptions::{BreakMode, Exception};
use dapple_inspect::frame::StackCache;
use dapple_inspect::inspect::signals::explain;
use dapple_inspect::inspect::threads::ThreadInfo;
use dapple_inspect::inspect::{Inspect, Stacks};
use dapple_inspect::live::Live;
use dapple_inspect::modules::{LoadedModule, Modules, VDSO};
use dapple_inspect::tasks::TaskTable;
use dapple_inspect::values::NamedValue;
use dapple_inspect::values::known::Known;
use dapple_symbols::Module;
pub use dapple_symbols::indexing::IndexCache;
use dapple_symbols::indexing::IndexState;
use dapple_target::auxiliary_vector::AuxiliaryVector;
use dapple_target::core_file::{CHANGED, CoreFile, CoreThread, MappedFile, MemoryFile, build_id};
use dapple_target::memory_map::Mapping;
use dapple_target::process_info::{ProcessInfo, Start};
use dapple_target::signal_info::SignalInfo;
use rustc_hash::FxHashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which core file is opened, and with what.
#[derive(Debug, Clone, Default)]
pub struct CoreOptions {
    /// The core file.
    pub core: PathBuf,
    /// The program that has left the core file: a path, or only a name. A name is looked for in the working directory, at the path that
    /// the program had when it ran, beside the core file and in `PATH`. `None`: the program is looked for at its former path, then beside
    /// the core file.
    pub program: Option<PathBuf>,
    /// Where indexes of large modules are kept from one session to the next. `None`: no indexes are made.
    pub index_cache: Option<Arc<IndexCache>>,
}

/// The number of the only stop there is, to which all frames belong.
const STOP: u64 = 1;
/// How much of the vDSO's mapping is read at most, in bytes.
pub(crate) const LONGEST_VDSO: u64 = 1 << 20;
/// The size of a page, in bytes. A loaded file's first page is read for its build id: the kernel dumps that page.
const PAGE: usize = 4096;

/// An opened core file.
pub(crate) struct PostMortem {
    core: CoreFile,
    modules: Modules,
    known: Known,
    tasks: TaskTable,
    stacks: FxHashMap<ThreadId, StackCache>,
    /// The signal that ended the process, if any.
    exception: Option<Arc<Exception>>,
    stop: Stop,
    indexing: Indexing,
    told: Told,
    warned: Warned,
}

/// Sends events, and tells background work when the session is over.
#[derive(Clone)]
struct Told {
    events: Sender<Event>,
    over: Arc<AtomicBool>,
}

impl Beside for Told {
    fn tell(&self, event: Event) {
        // The receiver is gone when the session ends.
        let _ = self.events.send(event);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn indexed(&self, module: Arc<Module>, state: IndexState) {
        self.tell(indexing::ended(&module, state));
    }
}

impl Drop for PostMortem {
    fn drop(&mut self) {
        self.told.over.store(true, Ordering::Relaxed);
    }
}

impl PostMortem {
    pub(crate) fn open(
        options: &CoreOptions,
        events: Sender<Event>,
    ) -> Result<(PostMortem, ProcessInfo), Error> {
        let refuse = |reason: String| Error::Core {
            core: options.core.clone(),
            reason,
        };
        let core = CoreFile::open(&options.core).map_err(refuse)?;
        let first = core.notes.threads.first().map(|thread| thread.id);
        let first = first.ok_or_else(|| refuse("it has no threads".into()))?;
        let mut remains = PostMortem {
            core,
            modules: Modules::default(),
            known: Known::default(),
            tasks: TaskTable::default(),
            stacks: FxHashMap::default(),
            exception: None,
            stop: Stop {
                thread: first,
                address: Address(0),
                reason: StopReason::Pause,
            },
            indexing: Indexing::new(options.index_cache.clone()),
            told: Told {
                events,
                over: Arc::default(),
            },
            warned: Warned::default(),
        };
        let mut warnings = Vec::new();
        if remains.core.is_cut {
            warnings.push(format!(
                "{} was cut short: some of the memory is missing",
                options.core.display()
            ));
        }
        let program = remains.load(options, &mut warnings).map_err(refuse)?;
        for module in remains.modules.iter() {
            remains.tell(Event::ModuleLoaded(module.info()));
        }
        for thread in &remains.core.notes.threads {
            remains.tell(Event::ThreadStarted(thread.id));
        }
        if !warnings.is_empty() {
            remains.tell(Event::DebugInfoWarnings(warnings));
        }
        remains.explain_end();
        let pid = match remains.core.notes.process {
            0 => first.0,
            process => process,
        };
        let process = ProcessInfo {
            pid,
            program,
            start: Start::PostMortem,
            of_launched: false,
            stopped: false,
        };
        Ok((remains, process))
    }

    /// Finds the modules; returns the program's path.
    fn load(
        &mut self,
        options: &CoreOptions,
        warnings: &mut Vec<String>,
    ) -> Result<PathBuf, String> {
        let vector = AuxiliaryVector::parse(self.core.notes.machine, &self.core.notes.auxiliary);
        let bases = self.loaded_files();
        let runs = |file: &&Vec<MappedFile>| {
            let covers = |one: &MappedFile, entry| (one.start..one.end).contains(&entry);
            vector
                .entry
                .is_some_and(|entry| file.iter().any(|one| covers(one, entry)))
        };
        let main = bases.iter().position(|file| runs(&file));
        let main = main.or_else(|| (!bases.is_empty()).then_some(0));
        let parts = main.and_then(|main| bases.get(main));
        let was = match (parts, vector.file_name) {
            (Some(parts), _) => Some(name_of(parts)),
            (None, Some(at)) => self.text_at(Address(at)),
            (None, None) => None,
        };
        let sought = Sought {
            given: options.program.as_deref(),
            was: was.as_deref(),
            core: &options.core,
        };
        let mut add = |path: &Path, proof| match parts {
            Some(parts) => self.add(parts, path, proof),
            None => self.add_by_entry(path, &vector, proof),
        };
        let path = match sought.find(&mut add) {
            Ok(path) => path,
            Err(why) if options.program.is_some() || parts.is_none() => return Err(why),
            Err(why) => {
                warnings.push(why);
                was.unwrap_or_default()
            }
        };
        for (index, parts) in bases.iter().enumerate() {
            if Some(index) != main {
                let mut add = |path: &Path, proof| self.add(parts, path, proof);
                if let Err(why) = programs::as_it_was(&name_of(parts), &mut add) {
                    warnings.push(why);
                }
            }
        }
        if let Some(base) = vector.vdso {
            self.add_vdso(base);
        }
        Ok(path)
    }

    /// Reads a path from the process's memory.
    fn text_at(&self, at: Address) -> Option<PathBuf> {
        let mut bytes = vec![0; libc::PATH_MAX as usize];
        let read = self.core.read_some(at, &mut bytes);
        let end = bytes.get(..read)?.iter().position(|byte| *byte == 0)?;
        bytes.truncate(end);
        (end > 0).then(|| PathBuf::from(OsString::from_vec(bytes)))
    }

    /// The files of which code was mapped, each with its mapped parts. A core file may leave out mappings whose bytes are as in the file
    /// (gdb's do). An ELF file with a mapping left out counts as one with code.
    fn loaded_files(&self) -> Vec<Vec<MappedFile>> {
        let mappings = self.core.mappings();
        let overlaps =
            |part: &MappedFile, one: &Mapping| part.start < one.end && one.start < part.end;
        let is_elf = |part: &MappedFile| {
            let mut magic = [0; 4];
            let read = self.core.read(Address(part.start), &mut magic);
            part.offset == 0 && read.is_ok() && magic == *b"\x7fELF"
        };
        let has_code = |file: &[MappedFile]| {
            let mut code = mappings.iter().filter(|mapping| mapping.execute);
            let is_left_out = |part: &MappedFile| !mappings.iter().any(|one| overlaps(part, one));
            code.any(|code| file.iter().any(|part| overlaps(part, code)))
                || (file.iter().any(is_left_out) && file.iter().any(is_elf))
        };
        let mut files: Vec<Vec<MappedFile>> = Vec::new();
        let mut places: FxHashMap<&Path, usize> = FxHashMap::default();
        for part in &self.core.notes.files {
            let place = *places.entry(&part.path).or_insert(files.len());
            match files.get_mut(place) {
                Some(file) => file.push(part.clone()),
                None => files.push(vec![part.clone()]),
            }
        }
        files.retain(|file| has_code(file));
        files
    }

    /// Adds the module of a file that was mapped in these parts and is at `path` now. `Err` says why the file can't be used.
    fn add(&mut self, parts: &[MappedFile], path: &Path, proof: Proof) -> Result<(), String> {
        let module = Module::open(path).map_err(|error| error.to_string())?;
        let first = parts.iter().find(|part| part.offset == 0);
        let first = first.ok_or_else(|| {
            format!(
                "{}: its beginning was not in memory, so its place can't be known",
                path.display()
            )
        })?;
        let mut page = [0; PAGE];
        let read = self.core.read_some(Address(first.start), &mut page);
        let ran = page.get(..read).and_then(build_id);
        match (&ran, module.build_id()) {
            (Some(ran), Some(is)) if ran != is => {
                return Err(format!(
                    "{} is another build than the one that ran: its build id is {}, and was {}",
                    path.display(),
                    hex(is),
                    hex(ran)
                ));
            }
            (Some(_), Some(_)) => {}
            _ if proof == Proof::Needed => {
                return Err(unproven(path));
            }
            _ => {}
        }
        let lowest = module.segments().iter().map(|one| one.address.0).min();
        let base = lowest.unwrap_or(0) & !(PAGE as u64 - 1);
        let bias = first.start.wrapping_sub(base);
        if let Ok(file) = MemoryFile::open(path) {
            let file = Arc::new(file);
            for part in parts {
                self.core.stand_in(part, Arc::clone(&file));
            }
        }
        self.push(module, bias);
        Ok(())
    }

    /// Adds the program if the core file doesn't say what was mapped: its entry address gives its place.
    fn add_by_entry(
        &mut self,
        path: &Path,
        vector: &AuxiliaryVector,
        proof: Proof,
    ) -> Result<(), String> {
        if proof == Proof::Needed {
            return Err(unproven(path));
        }
        let module = Module::open(path).map_err(|error| error.to_string())?;
        let entry = vector.entry.unwrap_or(module.entry().0);
        let bias = entry.wrapping_sub(module.entry().0);
        self.push(module, bias);
        Ok(())
    }

    fn add_vdso(&mut self, base: u64) {
        let mappings = self.core.mappings();
        let mapping = mappings.iter().find(|mapping| mapping.start == base);
        let length = mapping.map_or(0, |mapping| (mapping.end - base).min(LONGEST_VDSO));
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        if bytes.is_empty() || self.core.read(Address(base), &mut bytes).is_err() {
            return;
        }
        if let Ok(module) = Module::from_bytes(VDSO, bytes) {
            let lowest = module.segments().iter().map(|one| one.address.0).min();
            self.push(module, base.wrapping_sub(lowest.unwrap_or(0)));
        }
    }

    fn push(&mut self, module: Module, bias: u64) {
        let id = self.modules.iter().count() as u64 + 1;
        let module = Arc::new(module);
        self.indexing.module_loaded(&module);
        let module = LoadedModule::new(id, module, bias, None);
        self.modules.push(Arc::new(module));
    }

    /// Finds out what signal ended the process: the first thread's. If it has none, the stop's reason remains a pause.
    fn explain_end(&mut self) {
        let Some(thread) = self.core.notes.threads.first().cloned() else {
            return;
        };
        self.stop.address = thread.registers.pc();
        let number = match thread.info {
            Some(info) if info.number != 0 => info.number,
            _ => thread.signal,
        };
        if number == 0 {
            return;
        }
        let info = thread.info.unwrap_or(SignalInfo {
            number,
            ..SignalInfo::default()
        });
        let process = ThreadId(self.core.notes.process);
        let explained = explain(self, process, Some(&thread.registers), info, None);
        let mut exception = explained.exception(info, BreakMode::Unhandled);
        if thread.info.is_none() && exception.type_name.is_none() {
            exception.message = None;
        }
        self.exception = Some(Arc::new(exception));
        self.stop.reason = StopReason::Signal {
            number,
            fault: explained.fault,
            description: explained.description,
        };
    }

    pub(crate) fn tell_end(&mut self) {
        self.tell(Event::Stopped(vec![self.stop.clone()]));
        self.indexing.start(self.told.clone());
    }

    /// Reports the problems that were found since the last time: of the modules, of the files that memory is read from, and of the user's
    /// presentation of types.
    pub(crate) fn tell_warnings(&mut self) {
        for warnings in self.warned.news_of(&self.modules) {
            self.tell(Event::DebugInfoWarnings(warnings));
        }
        for file in self.core.changed_files() {
            let problem = format!("{}: {}", file.display(), CHANGED);
            let warnings = self.warned.news(&file, std::iter::once(problem));
            if !warnings.is_empty() {
                self.tell(Event::DebugInfoWarnings(warnings));
            }
        }
        let problems = self.known.presentation().take_problems();
        if !problems.is_empty() {
            self.tell(Event::PresentationWarnings(problems));
        }
    }

    fn tell(&self, event: Event) {
        self.told.tell(event);
    }

    fn thread(&self, id: ThreadId) -> Option<&CoreThread> {
        self.core
            .notes
            .threads
            .iter()
            .find(|thread| thread.id == id)
    }
}

/// The path of a file that was mapped.
fn name_of(parts: &[MappedFile]) -> PathBuf {
    parts
        .first()
        .map(|part| part.path.clone())
        .unwrap_or_default()
}

fn unproven(path: &Path) -> String {
    format!(
        "{}: nothing tells that it is the build that ran",
        path.display()
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Inspect for PostMortem {
    fn memory(&self) -> &dyn Memory {
        &self.core
    }

    fn modules(&self) -> &Modules {
        &self.modules
    }

    fn known(&self) -> &Known {
        &self.known
    }

    fn task_table(&self) -> &TaskTable {
        &self.tasks
    }

    fn stacks(&mut self) -> Stacks<'_> {
        Stacks {
            requested: &mut self.stacks,
            modules: &self.modules,
            memory: &self.core,
        }
    }

    fn new_stack(&mut self, thread: ThreadId) -> Option<StackCache> {
        let found = self.thread(thread)?;
        let stack = StackCache::new(thread, STOP, found.registers.to_dwarf());
        Some(stack.with_vectors(found.vectors.clone()))
    }

    fn stop_number(&self) -> u64 {
        STOP
    }

    fn current(&self) -> ThreadId {
        self.stop.thread
    }

    fn threads(&self) -> Vec<ThreadInfo> {
        let notes = &self.core.notes;
        // The kernel dumps the process's name, which is its first thread's.
        let of_process = |id: ThreadId| (id.0 == notes.process).then(|| notes.name.clone());
        let threads = notes.threads.iter();
        threads
            .map(|thread| ThreadInfo {
                id: thread.id,
                name: thread
                    .name
                    .clone()
                    .or_else(|| of_process(thread.id))
                    .unwrap_or_default(),
            })
            .collect()
    }

    fn mappings(&self) -> Vec<Mapping> {
        self.core.mappings()
    }

    fn live(&self) -> &dyn Live {
        self
    }

    fn exception_of(&self, thread: ThreadId) -> Option<&Arc<Exception>> {
        self.exception
            .as_ref()
            .filter(|_| thread == self.stop.thread)
    }

    fn returned_value(&self) -> Option<&(ThreadId, NamedValue)> {
        None
    }

    fn require_some_stopped(&self) -> Result<(), Error> {
        Ok(())
    }

    fn require_thread_stopped(&self, thread: ThreadId) -> Result<(), Error> {
        match self.thread(thread) {
            Some(_) => Ok(()),
            None => Err(Error::NoSuchThread(thread)),
        }
    }
}

impl Live for PostMortem {
    fn of(&self, thread: ThreadId) -> Option<(UserRegisters, Vec<u8>)> {
        let found = self.thread(thread)?;
        Some((found.registers, found.extended.clone()))
    }

    fn memory_stamp(&self) -> Option<u64> {
        Some(0)
    }

    fn thread_pointers(&self, most: usize) -> Vec<(ThreadId, u64)> {
        let process = self.core.notes.process;
        let threads = &self.core.notes.threads;
        let first = threads.iter().filter(|thread| thread.id.0 == process);
        let others = threads.iter().filter(|thread| thread.id.0 != process);
        let pointers = first.chain(others).take(most);
        pointers
            .filter_map(|thread| {
                let registers = thread.registers.to_dwarf();
                let pointer = registers.thread_pointer()?;
                Some((thread.id, pointer))
            })
            .collect()
    }
}
