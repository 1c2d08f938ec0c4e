//! A compiled program with registers and memory that a test has made up.

use dapple_arch::registers::Registers;
use dapple_arch::{Address, Memory};
use dapple_inspect::eval::Parsed;
use dapple_inspect::frame::{Frame, PhysicalFrame};
use dapple_inspect::modules::{LoadedModule, Modules};
use dapple_inspect::values::known::Known;
use dapple_inspect::values::{Number, Reader};
use dapple_symbols::Module;
use dapple_symbols::cfi::CfaRule;
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Compiles a source of the folder `programs`, once for each content.
fn compiled(name: &str, flags: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("tests/programs").join(name);
    let text = std::fs::read(&source).unwrap();
    let folder = root.join("../../target/fixtures");
    std::fs::create_dir_all(&folder).unwrap();
    let mut hasher = DefaultHasher::new();
    (&text, flags).hash(&mut hasher);
    let key = hasher.finish();
    let binary = folder.join(format!("inspect-{}-{key:016x}", name.replace('.', "-")));
    if !binary.exists() {
        let (compiler, default): (_, &[&str]) = match name.rsplit_once('.') {
            Some((_, "c")) => ("cc", &["-g"]),
            Some((_, "cpp")) => ("c++", &["-g"]),
            _ => ("rustc", &["-g", "--edition", "2024"]),
        };
        let part = folder.join(format!("part-{}-{key:016x}", std::process::id()));
        let output = Command::new(compiler)
            .args(default)
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(&part)
            .output()
            .expect("the compiler runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{compiler} {name}: {errors}");
        std::fs::rename(part, &binary).unwrap();
    }
    binary
}

/// Memory with a few areas.
#[derive(Default)]
pub struct Image(RefCell<Vec<(u64, Vec<u8>)>>);

impl Image {
    fn add(&self, start: u64, size: usize) {
        self.0.borrow_mut().push((start, vec![0; size]));
    }

    pub fn write(&self, address: u64, bytes: &[u8]) {
        for (start, area) in self.0.borrow_mut().iter_mut() {
            let offset = address.wrapping_sub(*start) as usize;
            if let Some(area) = area
                .get_mut(offset..)
                .and_then(|a| a.get_mut(..bytes.len()))
            {
                area.copy_from_slice(bytes);
                return;
            }
        }
        panic!("nothing is at {address:#x}");
    }
}

impl Memory for Image {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        for (start, area) in self.0.borrow().iter() {
            let offset = address.0.wrapping_sub(*start) as usize;
            if let Some(bytes) = area.get(offset..).and_then(|a| a.get(..buffer.len())) {
                buffer.copy_from_slice(bytes);
                return Ok(());
            }
        }
        Err(address)
    }
}

/// An area for what pointers lead to.
pub const HEAP: u64 = 0x1000_0000;
/// An area for the stack: the stack pointer and the frame pointer are in its middle.
pub const STACK: u64 = 0x2000_0000;
const AREA: usize = 0x4000;
const BIAS: u64 = 0x5000_0000_0000;

/// A program, stopped in the middle of a function.
pub struct Program {
    pub modules: Modules,
    pub memory: Image,
    pub frame: Frame,
    known: Known,
}

impl Program {
    pub fn new(name: &str, flags: &[&str], function: &str) -> Program {
        let module = Arc::new(Module::open(&compiled(name, flags)).unwrap());
        let symbol = module.symbol_named(function).expect("the function");
        let loaded = Arc::new(LoadedModule::new(1, Arc::clone(&module), BIAS, None));
        let mut modules = Modules::default();
        modules.push(Arc::clone(&loaded));
        let memory = Image::default();
        let (low, high) = loaded.bounds();
        let first = low.0 & !63;
        memory.add(first, ((high.0 | 63) + 1 - first) as usize);
        memory.add(HEAP, AREA);
        memory.add(STACK, AREA);
        let mut registers = Registers::of(dapple_arch::Machine::X86_64);
        for number in 0..16 {
            registers.set(number, Some(STACK + AREA as u64 / 2));
        }
        let middle = Address(loaded.to_process(symbol.address).0 + symbol.size / 2);
        registers.set(dapple_arch::registers::PC, Some(middle.0));
        let rules = module.unwind_rules(loaded.to_file(middle)).unwrap();
        let CfaRule::RegisterOffset(register, offset) = rules.expect("rules").cfa else {
            panic!("the frame's address is not in a register");
        };
        let cfa = registers.get(register).unwrap().wrapping_add_signed(offset);
        let language = module.language_at(loaded.to_file(middle));
        let physical = PhysicalFrame {
            level: 0,
            pc: middle,
            lookup: middle,
            registers,
            cfa: Some(Address(cfa)),
            module: Some(loaded),
            signal_trampoline: false,
            vectors: None,
            unsaved: None,
        };
        Program {
            modules,
            memory,
            frame: Frame::detached(physical, language),
            known: Known::default(),
        }
    }

    pub fn parsed(&self, text: &str) -> Parsed {
        let parsed = Parsed::new(text, self.frame.language);
        parsed.unwrap_or_else(|error| panic!("`{text}`: {error}"))
    }

    /// The number that the full evaluator has for an expression.
    pub fn number(&self, parsed: &Parsed) -> Result<Number, String> {
        let reader = Reader::new(&self.memory, &self.modules, &self.known);
        let number = parsed.number(&self.frame, &reader);
        number.map_err(|error| error.to_string())
    }

    /// How the full evaluator shows an expression's value.
    pub fn shown(&self, parsed: &Parsed) -> String {
        let reader = Reader::new(&self.memory, &self.modules, &self.known);
        let value = parsed.value(&self.frame, &reader);
        let value = value.unwrap_or_else(|error| panic!("{error}"));
        reader.render(&value.value).text
    }

    /// The address of a local variable itself, which may be a reference.
    pub fn slot_of(&self, variable: &str) -> u64 {
        use dapple_symbols::fixed_location::FixedLocation;
        let physical = &self.frame.physical;
        let loaded = physical.module.as_ref().unwrap();
        let lookup = loaded.to_file(physical.pc);
        let locals = loaded.module.variables_at(lookup, 0);
        let local = locals.iter().find(|local| local.name == variable).unwrap();
        match loaded.module.fixed_location(local, lookup) {
            Some(FixedLocation::FrameOffset(offset)) => {
                physical.cfa.unwrap().0.wrapping_add_signed(offset)
            }
            Some(FixedLocation::RegisterOffset(register, offset)) => {
                let base = physical.registers.get(register).unwrap();
                base.wrapping_add_signed(offset)
            }
            other => panic!("`{variable}` is at {other:?}"),
        }
    }

    /// The address of a variable.
    pub fn address_of(&self, variable: &str) -> u64 {
        let text = format!("&{variable}");
        let number = self.number(&self.parsed(&text));
        match number {
            Ok(Number::Pointer { address, .. }) => address,
            other => panic!("`{text}` is {other:?}"),
        }
    }
}

/// Pseudorandom numbers (xorshift64*).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.next() >> 33) as usize % count
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}
