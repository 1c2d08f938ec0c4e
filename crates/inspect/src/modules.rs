//! The modules mapped into the debuggee.

use crate::Address;
use dapple_arch::{InstructionSet, Machine};
use dapple_symbols::functions::Language;
pub use dapple_symbols::indexing::IndexState;
pub use dapple_symbols::module::DebugInfo;
use dapple_symbols::module::ModuleKind;
use dapple_symbols::{FileAddress, Module};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The path given to the kernel's vDSO.
pub const VDSO: &str = "[vdso]";

/// Functions that jump to a `jmp_buf` of setjmp(3), the variant for `_FORTIFY_SOURCE` included.
const JUMPS: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];

/// A module at its place in the debuggee. Shared as an [`Arc`].
#[derive(Debug)]
pub struct LoadedModule {
    /// Counts from 1; never reused in a session.
    pub id: u64,
    /// The object file.
    pub module: Arc<Module>,
    /// What to add to a file address to get the process address (wrapping).
    pub bias: u64,
    /// The dynamic linker's `link_map` of the module, if known.
    pub link_map: Option<Address>,
    /// Caches [`LoadedModule::landing_hook`].
    hook: OnceLock<Option<Address>>,
    /// Caches [`LoadedModule::jump_hooks`].
    jumps: OnceLock<Vec<Address>>,
    /// Caches [`LoadedModule::tls_fields`].
    tls_fields: OnceLock<Option<TlsFields>>,
    /// How many of its warnings have been reported.
    warnings: AtomicUsize,
    /// Whether the user has written into its code.
    changed: AtomicBool,
}

/// Offsets of fields in the dynamic linker's structures, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TlsFields {
    /// In `link_map`: the module's number among those with thread-local variables.
    pub number: u32,
    /// In `_rtld_global`: the list of these modules by number.
    pub slots: Option<u32>,
}

impl LoadedModule {
    /// A module loaded at a bias.
    pub fn new(id: u64, module: Arc<Module>, bias: u64, link_map: Option<Address>) -> LoadedModule {
        LoadedModule {
            id,
            module,
            bias,
            link_map,
            hook: OnceLock::new(),
            jumps: OnceLock::new(),
            tls_fields: OnceLock::new(),
            warnings: AtomicUsize::new(0),
            changed: AtomicBool::new(false),
        }
    }

    /// Whether as many of the module's warnings as `count` were reported already. Records that `count` of them are reported now.
    pub fn warnings_seen(&self, count: usize) -> bool {
        self.warnings.swap(count, Ordering::Relaxed) == count
    }

    /// The function in this module through which a language runtime sets the landing pad of a thrown exception: `_Unwind_SetIP(context,
    /// address)` (Itanium C++ ABI, exception handling, 1.6.3), on arm `_Unwind_VRS_Set(context, class, number, representation, value)` (EHABI32,
    /// §8.4.2), which sets any register. C++ and Rust use the same unwinder: a library of its own, or part of a statically linked program.
    pub fn landing_hook(&self) -> Option<Address> {
        *self.hook.get_or_init(|| {
            let name = self.module.path().file_name()?.to_string_lossy();
            let is_library = name.starts_with("libgcc_s.") || name.starts_with("libunwind.");
            let is_static = self.module.kind() != ModuleKind::SharedObject
                && self.module.interpreter().is_none();
            if !is_library && !is_static {
                return None;
            }
            let name = match self.module.machine() {
                Machine::Arm => "_Unwind_VRS_Set",
                _ => "_Unwind_SetIP",
            };
            let symbol = self.module.symbol_named(name)?;
            Some(self.to_process(symbol.address))
        })
    }

    /// The addresses of the `longjmp` functions, if this module is the C library or contains it.
    pub fn jump_hooks(&self) -> &[Address] {
        self.jumps.get_or_init(|| {
            let name = self.module.path().file_name().unwrap_or_default();
            let name = name.to_string_lossy();
            let is_library = name.starts_with("libc.") || name.starts_with("ld-musl");
            let is_static = self.module.kind() != ModuleKind::SharedObject
                && self.module.interpreter().is_none();
            if !is_library && !is_static {
                return Vec::new();
            }
            let symbols = JUMPS
                .iter()
                .filter_map(|name| self.module.symbol_named(name));
            let mut hooks: Vec<_> = symbols.map(|s| self.to_process(s.address)).collect();
            hooks.sort();
            hooks.dedup();
            hooks
        })
    }

    /// The offsets of the fields of the dynamic linker's structures that lead to thread-local variables. `None`: this module isn't the C
    /// library that publishes them (glibc's `nptl_db`).
    pub(crate) fn tls_fields(&self) -> Option<TlsFields> {
        *self.tls_fields.get_or_init(|| {
            let name = self.module.path().file_name()?.to_string_lossy();
            if !name.starts_with("libc.") && !name.starts_with("libpthread.") {
                return None;
            }
            // Three words: the field's size in bits, how many there are, and its offset.
            let field = |name: &str| {
                let symbol = self.module.symbol_named(&format!("_thread_db_{name}"))?;
                let words = self.module.bytes_at(symbol.address, 12);
                let word =
                    |at: usize| Some(u32::from_le_bytes(words.get(at..at + 4)?.try_into().ok()?));
                (word(0)? == 64 && word(4)? == 1).then(|| word(8))?
            };
            Some(TlsFields {
                number: field("link_map_l_tls_modid")?,
                slots: field("rtld_global__dl_tls_dtv_slotinfo_list"),
            })
        })
    }

    /// The dynamic linker's own variables (glibc's `_rtld_global`), if this module is the dynamic linker.
    pub(crate) fn dynamic_linkers_state(&self) -> Option<Address> {
        let name = self.module.path().file_name()?.to_string_lossy();
        let is_linker = name.starts_with("ld-linux") || name.starts_with("ld-2.");
        let symbol = is_linker.then(|| self.module.symbol_named("_rtld_global"))??;
        Some(self.to_process(symbol.address))
    }

    /// Whether it is a library with separate debug information, as distributions provide it: its code isn't the user's.
    pub fn is_distributions(&self) -> bool {
        self.module.kind() == ModuleKind::SharedObject && self.module.has_detached_debug_info()
    }

    /// Whether it is the kernel's vDSO, which has no file (vdso(7)).
    pub fn is_vdso(&self) -> bool {
        self.module.path() == Path::new(VDSO)
    }

    /// The file address of `address`.
    pub fn to_file(&self, address: Address) -> FileAddress {
        FileAddress(address.0.wrapping_sub(self.bias))
    }

    /// The process address of `address`.
    pub fn to_process(&self, address: FileAddress) -> Address {
        Address(address.0.wrapping_add(self.bias))
    }

    /// Whether one of its segments covers `address`.
    pub fn contains(&self, address: Address) -> bool {
        let file = self.to_file(address).0;
        self.module
            .segments()
            .iter()
            .any(|s| file.wrapping_sub(s.address.0) < s.size)
    }

    /// Whether one of its executable segments covers `address`.
    pub fn has_code_at(&self, address: Address) -> bool {
        let file = self.to_file(address).0;
        let mut segments = self.module.segments().iter();
        segments.any(|s| s.executable && file.wrapping_sub(s.address.0) < s.size)
    }

    /// Whether one of its executable segments overlaps `range`.
    pub fn has_code_in(&self, range: Range<Address>) -> bool {
        let mut segments = self.module.segments().iter();
        segments.any(|s| {
            let start = self.to_process(s.address).0;
            let end = start.saturating_add(s.size);
            s.executable && range.start.0 < end && start < range.end.0
        })
    }

    /// Records that its code in memory now differs from its file.
    pub fn code_was_changed(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }

    /// Up to `length` bytes of the module's code, from its file. Empty: the file has none there, or the code in memory has been changed.
    pub fn code_in_file(&self, address: FileAddress, length: usize) -> &[u8] {
        match self.changed.load(Ordering::Relaxed) {
            true => &[],
            false => self.module.bytes_at(address, length),
        }
    }

    /// The lowest and one past the highest address of its segments.
    pub fn bounds(&self) -> (Address, Address) {
        let segments = self.module.segments();
        let low = segments.iter().map(|s| s.address).min().unwrap_or_default();
        let end = |s: &dapple_symbols::module::Segment| s.address.0.saturating_add(s.size);
        let high = segments.iter().map(end).max().unwrap_or_default();
        (self.to_process(low), self.to_process(FileAddress(high)))
    }

    /// What a list of modules shows of this one. A distribution's debug information isn't read for it, because most is compressed.
    pub fn details(&self) -> ModuleDetails {
        let module = &self.module;
        let has_units = module.debug_info() == DebugInfo::Dwarf;
        let main = match has_units && !self.is_distributions() {
            true => module.main_unit(),
            false => None,
        };
        let sections = module.debug_sections();
        let sections = sections.iter().filter(|section| {
            let name = section.name.as_str();
            name.starts_with(".debug_") || name.starts_with(".zdebug_")
        });
        let own = || has_units.then(|| module.path().to_owned());
        ModuleDetails {
            info: self.info(),
            build_id: module
                .build_id()
                .map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect()),
            language: main.as_ref().map(|unit| unit.language),
            compiler: main
                .map(|unit| unit.producer)
                .filter(|name| !name.is_empty()),
            debug_info_size: sections.map(|section| section.file_size).sum(),
            debug_file: module.debug_file().or_else(own),
            index: module.index_state(),
        }
    }

    /// What events report of it.
    pub fn info(&self) -> ModuleInfo {
        ModuleInfo {
            id: self.id,
            path: self.module.path().to_owned(),
            range: self.bounds(),
            debug_info: self.module.debug_info(),
        }
    }
}

/// What a list of modules shows of a module, in addition to what events report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleDetails {
    /// What events report.
    pub info: ModuleInfo,
    /// The build ID in hexadecimal digits; `None`: it has none.
    pub build_id: Option<String>,
    /// The language of its main compilation unit: the unit of `main`, or else the first.
    pub language: Option<Language>,
    /// The compiler of that unit, with its switches if they were recorded.
    pub compiler: Option<String>,
    /// The size of its debug information sections in their files, in bytes.
    pub debug_info_size: u64,
    /// The file with its debug information; `None`: there is none.
    pub debug_file: Option<PathBuf>,
    /// The state of its index.
    pub index: IndexState,
}

/// The loaded modules. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub struct Modules {
    loaded: Vec<Arc<LoadedModule>>,
    version: u64,
}

/// The next value of [`Modules::version`].
static VERSIONS: AtomicU64 = AtomicU64::new(1);

impl Modules {
    /// The module that covers `address`.
    pub fn at(&self, address: Address) -> Option<&Arc<LoadedModule>> {
        self.loaded.iter().find(|m| m.contains(address))
    }

    /// All modules, the program first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<LoadedModule>> {
        self.loaded.iter()
    }

    /// The processor of the process, which is the same for all of its modules.
    pub fn machine(&self) -> Machine {
        let program = self.loaded.first();
        program.map_or(Machine::default(), |program| program.module.machine())
    }

    /// How the code at an address is decoded. Of code in no module of a machine with several ways, the most likely one.
    pub fn instruction_set(&self, address: Address) -> InstructionSet {
        match (self.at(address), self.machine()) {
            (Some(module), _) => module.module.instruction_set(module.to_file(address)),
            (None, Machine::Arm) => InstructionSet::Thumb,
            (None, machine) => machine.into(),
        }
    }

    /// Adds a module.
    pub fn push(&mut self, module: Arc<LoadedModule>) {
        self.loaded.push(module);
        self.changed();
    }

    /// Replaces the module that has the id of `module`.
    pub fn replace(&mut self, module: Arc<LoadedModule>) {
        if let Some(old) = self.loaded.iter_mut().find(|m| m.id == module.id) {
            *old = module;
        }
        self.changed();
    }

    /// Keeps the modules for which `keep` holds.
    pub fn retain(&mut self, keep: impl FnMut(&Arc<LoadedModule>) -> bool) {
        self.loaded.retain(keep);
        self.changed();
    }

    /// A number that changes whenever the set of modules does, and that no other set in this process has had; 0: nothing was ever added.
    pub fn version(&self) -> u64 {
        self.version
    }

    fn changed(&mut self) {
        self.version = VERSIONS.fetch_add(1, Ordering::Relaxed);
    }
}

/// What events report of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleInfo {
    /// As [`LoadedModule::id`].
    pub id: u64,
    /// Its path.
    pub path: PathBuf,
    /// The lowest and one past the highest address of its segments.
    pub range: (Address, Address),
    /// What debug information it has.
    pub debug_info: DebugInfo,
}
