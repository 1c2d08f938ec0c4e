//! Keeps the list of mapped modules: the program, its interpreter and the vDSO from the start, the others when the dynamic linker
//! announces them.
//!
//! The dynamic linker calls an empty function, `_dl_debug_state`, whenever its lists of modules change ([`super::link_maps`] reads them).
//! A site at that function stops the thread before a new module is initialized, so a breakpoint in a library's constructor is inserted in
//! time.

use super::Owner;
use super::link_maps::{LinkMap, Lists, Loader};
use crate::breakpoints::site::Reason;
use crate::postmortem::LONGEST_VDSO;
use crate::{Address, Event};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::{LoadedModule, VDSO};
use dapple_symbols::{FileAddress, Module};
use rustc_hash::{FxHashMap, FxHashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

impl Owner {
    /// Adds the modules that exec has mapped: the program, its interpreter and the vDSO.
    pub(super) fn load_program(&mut self, program: &Path) {
        self.loading.loader = Loader::default();
        self.forget_runtimes();
        let vector = self.process().auxiliary_vector();
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
            match Module::open(&self.process().visible(&path)) {
                Ok(module) => self.add_interpreter(module, base),
                Err(error) => tracing::warn!(%error, "the interpreter's symbols can't be read"),
            }
        }
        if let Some(base) = vector.vdso {
            self.add_vdso(base);
        }
        self.arm();
        // With a dynamic linker, the program's libraries are yet to come. The runtimes are reported when these are known.
        if !self.loading.loader.has_lists() {
            self.tell_runtimes();
        }
    }

    fn add_interpreter(&mut self, module: Module, base: u64) {
        let bias = base.wrapping_sub(lowest(&module));
        let at = |name: &str| {
            module
                .symbol_named(name)
                .map(|s| Address(s.address.0.wrapping_add(bias)))
        };
        self.loading.loader = Loader::at(at("_r_debug"));
        let told = at("_dl_debug_state");
        self.add_module(module, bias, None);
        if let Some(told) = told
            && let Err(error) = self.insert_site(told, Reason::Loader)
        {
            tracing::warn!(%error, "libraries can't be noticed as they are loaded");
        }
    }

    fn add_vdso(&mut self, base: u64) {
        let mappings = self.mappings();
        let mapping = mappings.iter().find(|mapping| mapping.start == base);
        let length = match mapping {
            Some(mapping) => (mapping.end - base).min(LONGEST_VDSO),
            None if mappings.is_empty() => LONGEST_VDSO,
            None => 0,
        };
        let mut bytes = vec![0; length as usize];
        let count = self.memory().read_some(Address(base), &mut bytes);
        bytes.truncate(count);
        if bytes.is_empty() {
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
        self.loading.last_module += 1;
        let module = Arc::new(module);
        let loaded = Arc::new(LoadedModule::new(
            self.loading.last_module,
            module,
            bias,
            link_map,
        ));
        for segment in loaded.module.segments().iter().filter(|s| s.executable) {
            let end = FileAddress(segment.address.0.saturating_add(segment.size));
            self.add_cave(loaded.to_process(end));
        }
        self.loading.indexing.module_loaded(&loaded.module);
        if link_map.is_some() {
            self.loading.indexing.inflating.start(&loaded.module);
        }
        self.loading.debuginfod.module_loaded(&loaded);
        self.breakpoints.module_loaded(&loaded);
        self.modules.push(Arc::clone(&loaded));
        self.tell(Event::ModuleLoaded(loaded.info()));
    }

    fn look_for_modules(&mut self) -> Option<Lists> {
        let mut loader = std::mem::take(&mut self.loading.loader);
        let found = loader.look(self.memory());
        self.loading.loader = loader;
        found
    }

    /// Reads the dynamic linker's lists, adds the modules that were loaded since, and removes those that were unloaded.
    pub(super) fn modules_changed(&mut self) {
        match self.look_for_modules() {
            Some(Lists::Longer(new)) if new.is_empty() => return,
            Some(Lists::Longer(new)) => self.add_new(new),
            Some(Lists::Whole(maps)) => {
                let new = self.remove_missing(maps);
                self.add_new(new);
            }
            None => return,
        }
        // Names in conditions may mean something else now.
        self.take_all_jumps_out();
        self.take_conditions_out();
        self.arm();
        self.tell_runtimes();
        self.find_watched_statics();
        self.forget_stacks();
    }

    /// Removes modules that are in no list any more. Gives modules that exec has mapped the address of their list entry, which the dynamic
    /// linker makes only after the program's start. Returns the entries for which there is no module yet.
    fn remove_missing(&mut self, mut maps: Vec<LinkMap>) -> Vec<LinkMap> {
        let places: FxHashMap<Address, Address> = maps.iter().map(|m| (m.at, m.dynamic)).collect();
        let dynamics: FxHashMap<Address, Address> =
            maps.iter().rev().map(|m| (m.dynamic, m.at)).collect();
        let known: Vec<Arc<LoadedModule>> = self.modules().iter().cloned().collect();
        for module in &known {
            let dynamic = dynamic_of(module);
            match module.link_map {
                Some(at) if dynamic.is_some() && places.get(&at).copied() == dynamic => {}
                Some(_) => self.remove_module(module),
                None => {
                    if let Some(at) = dynamic.and_then(|dynamic| dynamics.get(&dynamic)) {
                        self.modules.replace(Arc::new(LoadedModule::new(
                            module.id,
                            Arc::clone(&module.module),
                            module.bias,
                            Some(*at),
                        )));
                    }
                }
            }
        }
        let places = self.modules().iter().filter_map(|m| m.link_map);
        let places: FxHashSet<Address> = places.collect();
        let dynamics = self.modules().iter().filter_map(|m| dynamic_of(m));
        let dynamics: FxHashSet<Address> = dynamics.collect();
        maps.retain(|map| !places.contains(&map.at) && !dynamics.contains(&map.dynamic));
        maps
    }

    /// Adds modules for those entries that have none yet. Meant for few entries: each is compared with all modules.
    fn add_new(&mut self, maps: Vec<LinkMap>) {
        for map in maps {
            // The dynamic linker is in each namespace's list, but only once in memory.
            let same = |m: &Arc<LoadedModule>| {
                m.link_map == Some(map.at) || dynamic_of(m) == Some(map.dynamic)
            };
            if map.name.is_empty() || self.modules().iter().any(same) {
                continue;
            }
            let path = Path::new(std::ffi::OsStr::from_bytes(&map.name));
            match Module::open(&self.process().visible(path)) {
                Ok(module) => self.add_module(module, map.bias, Some(map.at)),
                Err(error) => self.warn_of_module(path, &error),
            }
        }
    }

    /// Replaces the module that has the same id as `loaded`, which has more debug information.
    pub(super) fn replace_module(&mut self, loaded: &Arc<LoadedModule>) {
        self.modules.replace(Arc::clone(loaded));
        self.breakpoints.module_unloaded(loaded.id);
        self.breakpoints.module_loaded(loaded);
    }

    /// Forgets all modules, and reports them as unloaded. Call when the process runs another program.
    pub(super) fn forget_modules(&mut self) {
        self.breakpoints.frames_gone();
        for module in std::mem::take(&mut self.modules).iter() {
            self.breakpoints.module_unloaded(module.id);
            self.tell(Event::ModuleUnloaded(module.info()));
        }
    }

    fn remove_module(&mut self, module: &LoadedModule) {
        let (low, high) = module.bounds();
        self.forget_sites_in(low..high);
        self.forget_resolvers_in(|address| (low..high).contains(&address));
        self.breakpoints.module_unloaded(module.id);
        self.modules.retain(|m| m.id != module.id);
        self.tell(Event::ModuleUnloaded(module.info()));
    }
}

/// The address of the module's dynamic section in the process.
fn dynamic_of(module: &LoadedModule) -> Option<Address> {
    let (address, _) = module.module.dynamic()?;
    Some(module.to_process(address))
}

fn lowest(module: &Module) -> u64 {
    module
        .segments()
        .iter()
        .map(|s| s.address.0)
        .min()
        .unwrap_or(0)
}
