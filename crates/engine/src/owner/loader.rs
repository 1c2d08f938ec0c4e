//! Which modules are mapped: the program, its interpreter and the vDSO from the start, the others as the dynamic linker
//! tells.
//!
//! The dynamic linker calls an empty function, `_dl_debug_state`, whenever its list of modules (`r_debug`, `link_map`:
//! glibc's and musl's `<link.h>`) changes. A site there makes the list known before any code of a new module runs, so
//! a breakpoint in a library's constructor is armed in time.

use super::Owner;
use crate::breakpoints::site::Reason;
use crate::memory::Memory;
use crate::modules::{LoadedModule, VDSO};
use crate::target::linux::process;
use crate::{Address, Event};
use dapple_symbols::{FileAddress, Module};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// More modules than any program has: where a broken list is given up.
const MOST_MODULES: usize = 10_000;
/// The longest path that is read from the debuggee.
const LONGEST_PATH: usize = 4096;

/// Where the dynamic linker keeps its list.
#[derive(Debug, Default)]
pub(super) struct Loader {
    /// `_r_debug`.
    list: Option<Address>,
}

/// An entry of the dynamic linker's list.
struct LinkMap {
    at: Address,
    bias: u64,
    dynamic: Address,
    name: Vec<u8>,
}

impl Owner {
    /// Finds the modules that exec has mapped.
    pub(super) fn load_program(&mut self, program: &Path) {
        self.loader = Loader::default();
        let vector = process::auxiliary_vector(self.process).unwrap_or_default();
        let mut interpreter = None;
        match Module::open(program) {
            Ok(module) => {
                interpreter = module.interpreter().map(Path::to_owned);
                let entry = vector.entry.unwrap_or(module.entry().0);
                let bias = entry.wrapping_sub(module.entry().0);
                self.add_module(module, bias, None);
            }
            Err(error) => tracing::warn!(%error, "the program's symbols can't be read"),
        }
        if let (Some(path), Some(base)) = (interpreter, vector.interpreter) {
            match Module::open(&process::visible(self.process, &path)) {
                Ok(module) => self.add_interpreter(module, base),
                Err(error) => tracing::warn!(%error, "the interpreter's symbols can't be read"),
            }
        }
        if let Some(base) = vector.vdso {
            self.add_vdso(base);
        }
        self.arm();
    }

    fn add_interpreter(&mut self, module: Module, base: u64) {
        let bias = base.wrapping_sub(lowest(&module));
        let at = |name: &str| {
            module
                .symbol_named(name)
                .map(|s| Address(s.address.0.wrapping_add(bias)))
        };
        self.loader.list = at("_r_debug");
        let told = at("_dl_debug_state");
        self.add_module(module, bias, None);
        if let Some(told) = told
            && let Err(error) = self.memory.insert(told, Reason::Loader)
        {
            tracing::warn!(%error, "libraries can't be noticed as they are loaded");
        }
    }

    fn add_vdso(&mut self, base: u64) {
        let length = process::mapping_length(self.process, base)
            .unwrap_or(0)
            .min(1 << 20);
        let mut bytes = vec![0; length as usize];
        if bytes.is_empty() || self.memory.read(Address(base), &mut bytes).is_err() {
            return;
        }
        match Module::from_bytes(VDSO, bytes) {
            Ok(module) => {
                let bias = base.wrapping_sub(lowest(&module));
                self.add_module(module, bias, None);
            }
            Err(error) => tracing::warn!(%error, "the vDSO can't be read"),
        }
    }

    fn add_module(&mut self, module: Module, bias: u64, link_map: Option<Address>) {
        self.last_module += 1;
        let module = Arc::new(module);
        let loaded = Arc::new(LoadedModule::new(self.last_module, module, bias, link_map));
        for segment in loaded.module.segments().iter().filter(|s| s.executable) {
            let end = FileAddress(segment.address.0.saturating_add(segment.size));
            self.memory.add_cave(loaded.to_process(end));
        }
        self.indexing.module_loaded(&loaded.module);
        self.debuginfod.module_loaded(&loaded);
        self.breakpoints.module_loaded(&loaded);
        self.modules.push(Arc::clone(&loaded));
        self.tell(Event::ModuleLoaded(loaded.info()));
    }

    /// Compares the dynamic linker's list with what is known.
    pub(super) fn modules_changed(&mut self) {
        let Some(maps) = self.link_maps() else { return };
        let known: Vec<Arc<LoadedModule>> = self.modules.iter().cloned().collect();
        for module in &known {
            let dynamic = module
                .module
                .dynamic()
                .map(|(address, _)| module.to_process(address));
            match module.link_map {
                Some(at)
                    if maps
                        .iter()
                        .any(|m| m.at == at && Some(m.dynamic) == dynamic) => {}
                Some(_) => self.remove_module(module),
                None => {
                    // The modules that exec has mapped get their place in the list late.
                    let entry = maps.iter().find(|m| Some(m.dynamic) == dynamic);
                    if let Some(entry) = entry {
                        self.modules.replace(Arc::new(LoadedModule::new(
                            module.id,
                            Arc::clone(&module.module),
                            module.bias,
                            Some(entry.at),
                        )));
                    }
                }
            }
        }
        for map in maps {
            // The dynamic linker itself is in the list of each namespace, and once in memory.
            let same = |m: &Arc<LoadedModule>| {
                let dynamic = m.module.dynamic().map(|(address, _)| m.to_process(address));
                m.link_map == Some(map.at) || dynamic == Some(map.dynamic)
            };
            if self.modules.iter().any(same) || map.name.is_empty() {
                continue;
            }
            let path = Path::new(std::ffi::OsStr::from_bytes(&map.name));
            match Module::open(&process::visible(self.process, path)) {
                Ok(module) => self.add_module(module, map.bias, Some(map.at)),
                Err(error) => self.warn_of_module(path, &error),
            }
        }
        self.arm();
        self.find_watched_statics();
        self.stacks.clear();
    }

    fn remove_module(&mut self, module: &LoadedModule) {
        let (low, high) = module.bounds();
        self.memory.forget(|address| (low..high).contains(&address));
        self.forget_choices_in(|address| (low..high).contains(&address));
        self.breakpoints.module_unloaded(module.id);
        self.modules.retain(|m| m.id != module.id);
        self.tell(Event::ModuleUnloaded(module.info()));
    }

    /// The dynamic linker's lists, one for each namespace (dlmopen(3)); `None` while one is being changed.
    fn link_maps(&self) -> Option<Vec<LinkMap>> {
        /// More than glibc has (`DL_NNS`).
        const MOST_NAMESPACES: usize = 64;
        /// The version of `r_debug` with a next one behind it: glibc's since 2.35.
        const EXTENDED: u32 = 2;
        let mut list = self.loader.list?;
        let mut maps = Vec::new();
        for _ in 0..MOST_NAMESPACES {
            self.link_maps_of(list, &mut maps)?;
            let mut version = [0; 4];
            self.memory.read(list, &mut version).ok()?;
            if u32::from_le_bytes(version) < EXTENDED {
                break;
            }
            match self.memory.read_u64(list.offset(40)) {
                Ok(next) if next != 0 => list = Address(next),
                _ => break,
            }
        }
        Some(maps)
    }

    /// Adds a namespace's list.
    fn link_maps_of(&self, list: Address, maps: &mut Vec<LinkMap>) -> Option<()> {
        const CONSISTENT: u32 = 0;
        let mut state = [0; 4];
        self.memory.read(list.offset(24), &mut state).ok()?;
        if u32::from_le_bytes(state) != CONSISTENT {
            return None;
        }
        let mut at = Address(self.memory.read_u64(list.offset(8)).ok()?);
        while at.0 != 0 && maps.len() < MOST_MODULES {
            let mut entry = [0; 32];
            self.memory.read(at, &mut entry).ok()?;
            let word = |index: usize| {
                entry[index * 8..][..8]
                    .try_into()
                    .map(u64::from_le_bytes)
                    .unwrap_or(0)
            };
            let name = self.c_string(Address(word(1)));
            maps.push(LinkMap {
                at,
                bias: word(0),
                dynamic: Address(word(2)),
                name,
            });
            at = Address(word(3));
        }
        Some(())
    }

    fn c_string(&self, at: Address) -> Vec<u8> {
        let mut bytes = vec![0; LONGEST_PATH];
        let count = self.memory.read_some(at, &mut bytes);
        bytes.truncate(count);
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(0);
        bytes.truncate(end);
        bytes
    }
}

fn lowest(module: &Module) -> u64 {
    module
        .segments()
        .iter()
        .map(|s| s.address.0)
        .min()
        .unwrap_or(0)
}
