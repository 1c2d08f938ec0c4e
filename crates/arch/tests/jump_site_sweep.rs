//! Plans a jump at each instruction of real functions: those of this test program and of the C library that it runs with.

use dapple_arch::Address;
use dapple_arch::instructions::{decode, decoder};
use dapple_arch::jump_site::{
    Code, Indirect, JUMP, JumpSite, Position, Relocated, Unfit, flags_are_dead, plan,
};
use iced_x86::{FlowControl, Instruction, Mnemonic};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Planning decodes the whole function, so large functions would take most of the time.
const LARGEST: usize = 400;

/// What came out.
#[derive(Default)]
struct Counts {
    functions: usize,
    places: usize,
    planned: usize,
    expanded: usize,
    flags_dead: usize,
    reasons: BTreeMap<String, usize>,
}

/// The files of the test program and its C library.
fn files() -> Vec<PathBuf> {
    let program = std::env::current_exe().expect("this program");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("memory maps");
    let library = maps
        .lines()
        .filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..])))
        .find(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("libc."))
        });
    [Some(program), library].into_iter().flatten().collect()
}

/// The start and size of each function in `.text`, one for each start.
fn functions(file: &object::File<'_>) -> BTreeMap<u64, u64> {
    let symbols = file.symbols().chain(file.dynamic_symbols());
    symbols
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
        .map(|symbol| (symbol.address(), symbol.size()))
        .collect()
}

fn sweep(path: &Path, largest: usize, counts: &mut Counts) {
    let bytes = std::fs::read(path).expect("the file");
    let file = object::File::parse(&*bytes).expect("an ELF file");
    let text = file.section_by_name(".text").expect("code");
    let (start, code) = (text.address(), text.data().expect("code"));
    for (address, size) in functions(&file) {
        let Some(bytes) = address
            .checked_sub(start)
            .and_then(|offset| code.get(offset as usize..(offset + size) as usize))
        else {
            continue;
        };
        if bytes.len() <= largest {
            counts.functions += 1;
            function(Address(address), bytes, counts);
        }
    }
}

/// Plans a jump at each instruction of a function.
fn function(start: Address, bytes: &[u8], counts: &mut Counts) {
    let ranges = [Code { start, bytes }];
    let instructions: Vec<Instruction> = decoder(bytes, start.0).iter().collect();
    for (index, instruction) in instructions.iter().enumerate() {
        let site = Address(instruction.ip());
        counts.places += 1;
        match plan(site, &ranges, Indirect::Unknown, &|_| false) {
            Ok(planned) => {
                counts.planned += 1;
                counts.flags_dead += usize::from(flags_are_dead(site, &ranges));
                check(&planned, &instructions, index, counts);
            }
            Err(reason) => {
                let name = format!("{reason:?}");
                let name = name.split(['(', ' ']).next().unwrap_or_default();
                *counts.reasons.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
}

/// Checks a plan for the instruction with an index, and its moved code.
fn check(planned: &JumpSite, function: &[Instruction], index: usize, counts: &mut Counts) {
    let covered = |one: &&Instruction| one.ip() < planned.end().0;
    let displaced: Vec<&Instruction> = function[index..].iter().take_while(covered).collect();
    let last = displaced.last().expect("an instruction");
    assert_eq!(last.next_ip(), planned.end().0);
    assert!(planned.length >= JUMP as u64);
    assert!(planned.length - (last.len() as u64) < JUMP as u64);
    assert!(!leads_inside(planned, function), "at {}", planned.site);
    // At the start of a page of zeros that a program could map.
    let to = Address((planned.site.0 & !0xfff) + 0x1000_0000);
    let relocated = planned.relocated(to).expect("code in reach");
    let moved = decoded(&relocated, to);
    for one in &displaced {
        let original = Address(one.ip());
        let entry = planned.entry_of(&relocated, original).expect("an entry");
        let position = relocated.original(entry).expect("a position");
        assert_eq!((position.original, position.pushed), (original, 0));
        let first = relocated.positions.partition_point(|at| at.offset < entry);
        counts.expanded +=
            usize::from(is_same(one, &moved[first..], &relocated.positions[first..]));
    }
    let end = moved.last().expect("an instruction");
    match last.flow_control() {
        FlowControl::Next | FlowControl::ConditionalBranch => {
            assert_eq!(end.mnemonic(), Mnemonic::Jmp);
            assert_eq!(end.near_branch_target(), planned.end().0);
        }
        _ => assert_eq!(end.mnemonic(), Mnemonic::Jmp),
    }
}

/// Whether any branch of the function leads behind the first byte of a place.
fn leads_inside(planned: &JumpSite, function: &[Instruction]) -> bool {
    let inside = planned.site.0 + 1..planned.end().0;
    let mut targets = function.iter().map(Instruction::near_branch_target);
    targets.any(|target| target != 0 && inside.contains(&target))
}

/// The instructions of moved code, one for each position, without gaps.
fn decoded(relocated: &Relocated, to: Address) -> Vec<Instruction> {
    let mut offset = 0;
    let mut instructions = Vec::new();
    for position in &relocated.positions {
        assert_eq!(position.offset, offset, "{relocated:x?}");
        let here = Address(to.0 + offset);
        let bytes = &relocated.bytes[offset as usize..];
        let instruction = decode(here, bytes).expect("an instruction");
        offset += instruction.len() as u64;
        instructions.push(instruction);
    }
    let constants = relocated.bytes.len() as u64 - offset;
    assert!(constants <= 7 + 8, "{constants} bytes");
    instructions
}

/// Checks that moved code starts with what an instruction does. Gives whether that takes several instructions.
fn is_same(original: &Instruction, moved: &[Instruction], positions: &[Position]) -> bool {
    let first = &moved[0];
    match original.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall => {
            assert_eq!(first.mnemonic(), Mnemonic::Push);
            let jump = &moved[1];
            assert_eq!(jump.mnemonic(), Mnemonic::Jmp);
            assert_eq!(jump.near_branch_target(), original.near_branch_target());
            assert_eq!(jump.op0_kind(), original.op0_kind());
            assert_eq!(positions[1].pushed, 8);
            same_operand(original, jump);
            return true;
        }
        FlowControl::ConditionalBranch if !original.code().is_jcc_short_or_near() => {
            assert_eq!(first.mnemonic(), original.mnemonic());
            assert_eq!(first.near_branch_target(), moved[2].ip());
            assert_eq!(moved[1].near_branch_target(), moved[2].next_ip());
            let target = original.near_branch_target();
            assert_eq!(moved[2].near_branch_target(), target);
            assert_eq!(positions[2].original, Address(target));
            return true;
        }
        _ => {}
    }
    assert_eq!(first.mnemonic(), original.mnemonic());
    assert_eq!(first.near_branch_target(), original.near_branch_target());
    assert_eq!(first.op_count(), original.op_count());
    same_operand(original, first);
    false
}

/// Checks that operands relative to the instruction pointer mean the same address.
fn same_operand(original: &Instruction, moved: &Instruction) {
    let address = |one: &Instruction| {
        let relative = one.is_ip_rel_memory_operand();
        relative.then(|| one.ip_rel_memory_address())
    };
    assert_eq!(address(original), address(moved), "at {:#x}", original.ip());
}

#[test]
fn each_place_of_real_functions_is_planned_soundly_or_refused_for_a_reason() {
    let mut counts = Counts::default();
    for path in files() {
        sweep(&path, LARGEST, &mut counts);
    }
    let Counts {
        functions,
        places,
        planned,
        expanded,
        flags_dead,
        reasons,
    } = &counts;
    println!(
        "{functions} functions, {places} places, {planned} planned, {flags_dead} of these with dead flags; {expanded} instructions expanded; {reasons:?}"
    );
    assert!(*functions >= 2000, "only {functions} functions");
    // Most code isn't made of jump targets.
    assert!(planned * 2 > *places, "{planned} of {places}");
    let known: BTreeSet<&str> = reasons.keys().map(String::as_str).collect();
    for never in [Unfit::Outside, Unfit::NotAnInstruction] {
        assert!(!known.contains(format!("{never:?}").as_str()));
    }
}
