//! What stepping needs to know of machine code: instructions, linkage stubs, the dynamic linker's resolver.

use crate::Address;
use dapple_arch::Machine;
use dapple_arch::Memory;
use dapple_arch::code::{Decoded, Flow, Instructions};
use dapple_arch::instructions::{LONGEST, SCRATCH, decoder};
use dapple_inspect::modules::{LoadedModule, Modules};
use dapple_symbols::FileAddress;
use iced_x86::Code;

/// How much of the dynamic linker's resolver is looked through for its last jump, in bytes.
const RESOLVER: usize = 1024;

/// An instruction, as far as stepping cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// A call; the return address is `length` bytes on.
    Call {
        /// In bytes.
        length: i64,
    },
    /// A near return.
    Return,
    /// Anything else, including undecodable bytes.
    Other,
}

/// The instruction at `address`: from the module's file, so that nothing is read from the process, else from memory.
pub fn instruction_at(address: Address, modules: &Modules, memory: &dyn Memory) -> Instruction {
    let mut buffer = Vec::new();
    let bytes = bytes_at(address, LONGEST, &mut buffer, modules, memory);
    let decoded = Instructions::flows(modules.instruction_set(address), bytes, address).next();
    match decoded.map(|decoded| (decoded.flow, decoded.length)) {
        Some((Flow::Call(_), length)) => Instruction::Call {
            length: length.cast_signed(),
        },
        Some((Flow::Return, _)) => Instruction::Return,
        _ => Instruction::Other,
    }
}

/// Up to `length` bytes of code from the module's file, or else as many as are readable in memory (into `buffer`), but no more than the
/// longest instruction has.
pub(super) fn bytes_at<'b>(
    address: Address,
    length: usize,
    buffer: &'b mut Vec<u8>,
    modules: &'b Modules,
    memory: &dyn Memory,
) -> &'b [u8] {
    let bytes = match modules.at(address) {
        Some(m) => m.code_in_file(m.to_file(address), length),
        None => &[],
    };
    if !bytes.is_empty() {
        return bytes;
    }
    buffer.resize(length.min(LONGEST), 0);
    let readable = (1..=buffer.len())
        .rev()
        .find(|&n| memory.read(address, &mut buffer[..n]).is_ok());
    &buffer[..readable.unwrap_or(0)]
}

/// The instruction at `address`, which the one at `before` may have made an address for, directly in front of it: riscv64 calls by two.
pub(super) fn decode_behind(
    before: Option<Address>,
    address: Address,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<Decoded> {
    let is_near = |before: &Address| (1..=4).contains(&address.0.wrapping_sub(before.0));
    let is_made_by_two = modules.machine() == Machine::Riscv64;
    let from = before
        .filter(|before| is_made_by_two && is_near(before))
        .unwrap_or(address);
    let mut buffer = Vec::new();
    let bytes = bytes_at(from, LONGEST, &mut buffer, modules, memory);
    let mut code = Instructions::flows(modules.instruction_set(from), bytes, from);
    code.find(|instruction| instruction.address == address)
}

/// C++ thunks are _ZTh, _ZTv and _ZTc (Itanium C++ ABI, 5.1.4.2).
const THUNKS: [&str; 3] = ["_ZTh", "_ZTv", "_ZTc"];
/// The thunks that gcc and clang call in place of an indirect call (`-mindirect-branch=thunk`, `-mretpoline`).
const RETPOLINES: [&str; 2] = ["__x86_indirect_thunk_", "__llvm_retpoline_"];

/// Whether `address` is in code that only passes a call on: the procedure linkage table, a C++ thunk, a retpoline.
pub fn is_stub(module: &LoadedModule, address: FileAddress) -> bool {
    is_linkage_stub(module, address)
        || is_named(module, address, &THUNKS)
        || is_retpoline(module, address)
}

/// Whether `address` is in the procedure linkage table.
pub fn is_linkage_stub(module: &LoadedModule, address: FileAddress) -> bool {
    let section = module.module.section_at(address);
    section.is_some_and(|name| name.starts_with(".plt"))
}

/// The name of the function that a stub of the procedure linkage table leads to.
pub fn linked_name(module: &LoadedModule, address: FileAddress) -> Option<String> {
    let symbol = is_linkage_stub(module, address).then(|| module.module.symbol_at(address))??;
    let name = symbol.name.strip_suffix("@plt")?;
    Some(name.split('@').next().unwrap_or(name).to_owned())
}

/// The function that the dynamic linker finds for a name: that of the first module which exports it.
pub fn linked_function(name: &str, modules: &Modules) -> Option<Address> {
    let mut exporting = modules
        .iter()
        .filter(|module| module.module.has_dynamic_name(name));
    exporting.find_map(|module| {
        let symbol = module.module.symbol_named(name)?;
        (symbol.function && !symbol.indirect).then(|| module.to_process(symbol.address))
    })
}

/// Whether a module is the dynamic linker: glibc's, or musl's, which is the C library, too.
pub fn is_dynamic_linker(module: &LoadedModule) -> bool {
    let name = module.module.path().file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    name.starts_with("ld-linux") || name.starts_with("ld-musl") || name.starts_with("ld-2.")
}

/// Whether `address` is in a retpoline, a thunk that jumps to the address in a register.
pub fn is_retpoline(module: &LoadedModule, address: FileAddress) -> bool {
    is_named(module, address, &RETPOLINES)
}

fn is_named(module: &LoadedModule, address: FileAddress, starts: &[&str]) -> bool {
    let symbol = module.module.symbol_at(address);
    symbol.is_some_and(|symbol| starts.iter().any(|start| symbol.name.starts_with(start)))
}

/// If `pc` is in the dynamic linker's lazy resolver: the address of its last jump, which goes to the function that was called.
pub fn resolver_exit(module: &LoadedModule, pc: Address, memory: &dyn Memory) -> Option<Address> {
    let symbol = module.module.symbol_at(module.to_file(pc))?;
    if !symbol.name.starts_with("_dl_runtime_resolve") {
        return None;
    }
    let mut buffer = vec![0; RESOLVER];
    memory.read(pc, &mut buffer).ok()?;
    if module.module.machine() != Machine::X86_64 {
        // glibc's trampolines end in `br x17` and `jr t1`, before anything else jumps by a register.
        let mut code = Instructions::flows(
            module.module.instruction_set(module.to_file(pc)),
            &buffer,
            pc,
        );
        return code
            .find(|it| it.flow == Flow::Jump(None))
            .map(|it| it.address);
    }
    // glibc's trampolines end in `jmp *%r11`.
    decoder(&buffer, pc.0)
        .iter()
        .take_while(|i| !i.is_invalid())
        .find(|i| i.code() == Code::Jmp_rm64 && i.op0_register() == SCRATCH)
        .map(|i| Address(i.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Literal(&'static [u8]);

    impl Memory for Literal {
        fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
            let start = usize::try_from(address.0).map_err(|_| address)?;
            let bytes = self.0.get(start..start + buffer.len()).ok_or(address)?;
            buffer.copy_from_slice(bytes);
            Ok(())
        }
    }

    fn at_zero(bytes: &'static [u8]) -> Instruction {
        instruction_at(Address(0), &Modules::default(), &Literal(bytes))
    }

    #[test]
    fn a_call_gives_its_length_and_a_system_call_is_none() {
        assert_eq!(
            at_zero(&[0xe8, 1, 0, 0, 0]),
            Instruction::Call { length: 5 }
        );
        assert_eq!(at_zero(&[0xff, 0xd0]), Instruction::Call { length: 2 });
        assert_eq!(at_zero(&[0x0f, 0x05]), Instruction::Other);
    }

    #[test]
    fn a_return_is_seen_with_and_without_a_prefix() {
        assert_eq!(at_zero(&[0xc3]), Instruction::Return);
        assert_eq!(at_zero(&[0xf3, 0xc3]), Instruction::Return);
    }

    #[test]
    fn unreadable_memory_is_no_instruction_of_interest() {
        assert_eq!(at_zero(&[]), Instruction::Other);
    }
}
