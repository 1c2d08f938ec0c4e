//! 32-bit files of Arm, of both instruction sets, compared with what the compiler must have written and with binutils.

mod support;

use dapple_arch::Machine;
use dapple_arch::instruction_set::InstructionSet;
use dapple_symbols::cfi::{CfaRule, RegisterRule};
use dapple_symbols::fixed_location::FixedLocation;
use dapple_symbols::location::{LocationContext, Place, evaluate_cfi};
use dapple_symbols::scopes::Variable;
use dapple_symbols::types::TypeKind;
use dapple_symbols::{FileAddress, Module};
use std::collections::BTreeMap;
use std::process::Command;
use support::seen::seen;
use support::{Fixture, compile_by, run};

const GCC: &str = "arm-linux-gnueabihf-gcc";
const GXX: &str = "arm-linux-gnueabihf-g++";
const OBJDUMP: &str = "arm-linux-gnueabihf-objdump";

/// DWARF numbers.
const SP: u16 = 13;
const LR: u16 = 14;

/// Whether there is a compiler for Arm; says so if not.
fn is_missing() -> bool {
    let output = Command::new(GXX).arg("--version").output();
    let is_missing = !output.is_ok_and(|output| output.status.success());
    if is_missing {
        eprintln!("skipped: there is no {GXX}");
    }
    is_missing
}

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int counter = 7;
static __thread int of_thread = 3;
struct pair { char *name; long number; long long wide; long double most; void *few[3]; };
struct pair global = { "x", 1, 2, 3, { 0 } };
__attribute__((noinline)) int twice(int x) {
    int y = 2 * x;
    of_thread += y; // stop: twice
    return y;
}
__attribute__((noinline, target("arm"))) int in_arm(int x) { return x * 3 + counter; }
__attribute__((noinline)) double half(double x, float f) {
    volatile double saved = x / 2 + f; // stop: floats
    puts("half");
    return saved + x;
}
int main(int argc, char **argv) {
    int total = twice(argc) + in_arm(argc);
    printf("%d %f %s\n", total, half(argc, 2.0f), global.name);
    free(malloc(4));
    return 0;
}
"#;

/// A library for processors without floating-point numbers, for which there are no headers.
const PLAIN: &str = r#"
int puts(const char *);
int one(int);
int two(int);
int work(int x) { return puts("x") + one(x); }
__attribute__((target("arm"))) int in_arm(int x) { return puts("y") + two(x); }
"#;

/// A frame of Arm with the registers `r0` = 0x1000, `r1` = 0x2000, ….
struct Frame;

const CFA: u64 = 0xbeff_0000;
const BIAS: u64 = 0xb6f0_0000;

impl LocationContext for Frame {
    fn register(&self, register: u16) -> Option<u64> {
        Some(0x1000 * u64::from(register + 1))
    }
    fn read(&self, address: u64, _: &mut [u8]) -> Result<(), u64> {
        Err(address)
    }
    fn cfa(&self) -> Option<u64> {
        Some(CFA)
    }
    fn address_size(&self) -> u8 {
        4
    }
    fn load_bias(&self) -> u64 {
        BIAS
    }
    fn thread_local(&self, offset: u64) -> Result<u64, &'static str> {
        Ok(0x6000_0000 + offset)
    }
}

fn variable(module: &Module, address: FileAddress, name: &str) -> Variable {
    let mut all = module.variables_at(address, 0);
    all.extend(module.statics_at(address));
    let found = all.into_iter().find(|variable| variable.name == name);
    found.unwrap_or_else(|| panic!("{name} at {address:?}"))
}

fn places(module: &Module, address: FileAddress, name: &str) -> Vec<Place> {
    let variable = variable(module, address, name);
    let pieces = module.locate(&variable, address, &Frame).unwrap();
    pieces.into_iter().map(|piece| piece.place).collect()
}

#[test]
fn headers_and_symbols_are_read() {
    if is_missing() {
        return;
    }
    for set in ["-mthumb", "-marm"] {
        for linked in ["-pie", "-static"] {
            let module = compile_by(GCC, "arm.c", PROGRAM, &["-g", set, linked]).open();
            assert_eq!(module.machine(), Machine::Arm);
            let entry = module.entry();
            assert_eq!(entry.0 % 2, 0);
            assert_eq!(module.symbol_at(entry).unwrap().name, "_start");
            assert_eq!(module.section_at(entry), Some(".text"));
            assert_eq!(
                module.interpreter().is_some() && module.dynamic().is_some(),
                linked == "-pie"
            );
            assert_eq!(module.build_id().map(<[u8]>::len), Some(20));
            let twice = module.symbol_named("twice").unwrap();
            assert!(twice.function && twice.size > 0 && twice.address.0.is_multiple_of(2));
            let inside = FileAddress(twice.address.0 + twice.size - 1);
            assert_eq!(module.symbol_at(inside).unwrap().name, "twice");
            assert_eq!(module.function_at(inside).unwrap().name, "twice");
            let counter = module.symbol_named("counter").unwrap();
            assert_eq!((counter.size, counter.function), (4, false));
            assert_eq!(module.bytes_at(counter.address, 4), [7, 0, 0, 0]);
            assert!(module.thread_local_named("of_thread").is_some());
            for mark in ["$a", "$t", "$d"] {
                assert_eq!(module.symbol_named(mark), None);
            }
            for segment in module.segments() {
                for address in (segment.address.0..segment.address.0 + segment.size).step_by(2) {
                    if let Some(found) = module.symbol_at(FileAddress(address)) {
                        assert!(!found.name.starts_with('$'), "{found:?}");
                    }
                }
            }
            assert!(module.warnings().is_empty(), "{:?}", module.warnings());
        }
    }
}

/// The functions in a disassembly, each with whether its first instruction is Thumb.
fn disassembled(fixture: &Fixture, section: &str) -> BTreeMap<u64, (String, InstructionSet)> {
    let path = fixture.binary.to_str().unwrap();
    let text = run(OBJDUMP, &["-d", "-j", section, path]);
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.windows(2).filter_map(|pair| {
        let (address, name) = pair[0].strip_suffix(">:")?.split_once(" <")?;
        let address = u64::from_str_radix(address, 16).ok()?;
        // ` 454:	e28fc600 	add	ip, pc, #0`; Thumb code is written in groups of four digits.
        let code = pair[1].split('\t').nth(1)?.trim();
        let set = match code.split(' ').next()?.len() {
            4 => InstructionSet::Thumb,
            _ => InstructionSet::Arm,
        };
        Some((address, (name.to_owned(), set)))
    });
    pairs.collect()
}

#[test]
fn instruction_sets_are_those_of_a_disassembler() {
    if is_missing() {
        return;
    }
    for flags in [
        &["-g", "-mthumb"][..],
        &["-g", "-marm"],
        &["-mthumb", "-static"],
        &["-marm", "-static"],
    ] {
        let fixture = compile_by(GCC, "arm.c", PROGRAM, flags);
        let module = fixture.open();
        let functions = disassembled(&fixture, ".text");
        assert!(functions.len() > 5);
        for (address, (name, set)) in &functions {
            let found = module.instruction_set(FileAddress(*address));
            assert_eq!(found, *set, "{name} at {address:#x}");
        }
        let named = |name| module.instruction_set(module.symbol_named(name).unwrap().address);
        assert_eq!(named("in_arm"), InstructionSet::Arm);
        assert_eq!(
            named("twice") == InstructionSet::Thumb,
            flags.contains(&"-mthumb")
        );
    }
}

#[test]
fn instruction_sets_are_known_without_mapping_symbols() {
    if is_missing() {
        return;
    }
    let flags = ["-mthumb", "-O1", "-rdynamic"];
    let whole = compile_by(GCC, "arm.c", PROGRAM, &flags).open();
    let stripped = compile_by(GCC, "arm.c", PROGRAM, &[&flags[..], &["-s"]].concat()).open();
    for name in ["twice", "in_arm", "half", "main"] {
        let symbol = stripped.symbol_named(name).unwrap();
        assert_eq!(symbol, whole.symbol_named(name).unwrap());
        let last = FileAddress(symbol.address.0 + symbol.size - 2);
        for address in [symbol.address, last] {
            let set = stripped.instruction_set(address);
            assert_eq!(set, whole.instruction_set(address), "{name}");
            assert_eq!(set == InstructionSet::Arm, name == "in_arm");
        }
    }
    // Nothing but the entry point and the stubs' section is known.
    let bare = compile_by(GCC, "arm.c", PROGRAM, &["-mthumb", "-s"]).open();
    assert_eq!(bare.instruction_set(bare.entry()), InstructionSet::Thumb);
    let stub = (0..0x10000).find(|at| bare.section_at(FileAddress(*at)) == Some(".plt"));
    let stub = FileAddress(stub.expect("a section"));
    assert_eq!(bare.instruction_set(stub), InstructionSet::Arm);
}

#[test]
fn all_code_of_a_microcontroller_is_thumb() {
    if is_missing() {
        return;
    }
    let cpu = ["-mcpu=cortex-m3", "-mfloat-abi=soft", "-mthumb"];
    let bare = ["-nostdlib", "-static", "-Wl,-e,0"];
    let program = "static int k; int work(int x) { k += x; return k; }";
    for stripped in ["-g", "-s"] {
        let flags = [&cpu[..], &bare, &[stripped]].concat();
        let module = compile_by(GCC, "arm.c", program, &flags).open();
        let mut segments = module.segments().iter();
        let code = segments.find(|segment| segment.executable).expect("code");
        let set = module.instruction_set(FileAddress(code.address.0 + code.size - 2));
        assert_eq!(set, InstructionSet::Thumb, "{stripped}");
    }
}

#[test]
fn linkage_stubs_are_named_after_their_targets() {
    if is_missing() {
        return;
    }
    let library = ["-mfloat-abi=soft", "-shared", "-fPIC", "-nostdlib"];
    let v4 = [&library[..], &["-march=armv4t", "-mthumb"]].concat();
    let v5 = [&library[..], &["-march=armv5t", "-marm"]].concat();
    for (program, flags) in [
        (PROGRAM, &["-mthumb"][..]),
        (PROGRAM, &["-marm"]),
        (PROGRAM, &["-mthumb", "-s"]),
        (PROGRAM, &["-mthumb", "-Wl,--long-plt"]),
        (PLAIN, &v4),
        (PLAIN, &v5),
    ] {
        let fixture = compile_by(GCC, "arm.c", program, flags);
        let module = fixture.open();
        let stubs = disassembled(&fixture, ".plt");
        let mut named = 0;
        for (address, (name, _)) in stubs.iter().filter(|(_, (name, _))| name.ends_with("@plt")) {
            let symbol = module.symbol_at(FileAddress(*address));
            let symbol = symbol.unwrap_or_else(|| panic!("{name} at {address:#x}"));
            assert_eq!(&symbol.name, name, "{flags:?}");
            let end = FileAddress(address + symbol.size);
            assert_ne!(
                module.symbol_at(end).map(|it| it.name).as_ref(),
                Some(name),
                "{flags:?}"
            );
            named += 1;
        }
        assert!(named >= 3, "{named} of {flags:?}");
        let slots = module.slots_of("puts");
        assert_eq!(slots.len(), 1, "{flags:?}");
        let initial = module.section_at(FileAddress(slots[0].initial));
        assert_eq!(initial, Some(".plt"), "{flags:?}");
    }
}

const INDIRECT: &str = r#"
int one(void) { return 1; }
static int (*choose(void))(void) { return one; }
int chosen(void) __attribute__((ifunc("choose")));
int main(void) { return chosen(); }
"#;

/// The address of the resolver is in the slot itself, with the bit of Thumb.
#[test]
fn slots_of_indirect_functions_are_found() {
    if is_missing() {
        return;
    }
    for flags in [
        ["-mthumb", "-static"],
        ["-mthumb", "-pie"],
        ["-marm", "-pie"],
    ] {
        let module = compile_by(GCC, "indirect.c", INDIRECT, &flags).open();
        let chosen = module.symbol_named("chosen").unwrap();
        assert!(chosen.indirect && chosen.function && chosen.address.0.is_multiple_of(2));
        assert_eq!(
            module.symbol_named("choose").unwrap().address,
            chosen.address
        );
        let slots = module.indirect_slots(chosen.address);
        assert_eq!(slots.len(), 1, "{flags:?}");
        assert_eq!(slots[0].initial & !1, chosen.address.0, "{flags:?}");
    }
}

#[test]
fn types_have_the_sizes_of_32_bit_programs() {
    if is_missing() {
        return;
    }
    let module = compile_by(GCC, "arm.c", PROGRAM, &["-g", "-mthumb"]).open();
    let main = module.symbol_named("main").unwrap().address;
    let global = variable(&module, main, "global").type_id.unwrap();
    let found = module.type_of(global).unwrap();
    let TypeKind::Aggregate(aggregate) = &found.kind else {
        panic!("{found:?}");
    };
    let sizes: Vec<_> = { aggregate.members.iter() }
        .map(|it| (it.offset, module.type_of(it.type_id).unwrap().size.unwrap()))
        .collect();
    assert_eq!(sizes, [(0, 4), (4, 4), (8, 8), (16, 8), (24, 12)]);
    assert_eq!(found.size, Some(40));
}

const POINTERS: &str = r#"
struct Base { virtual ~Base() {} virtual int f() { return 1; } int member = 2; };
struct Derived : virtual Base { int f() override { return 3; } };
int main() {
    Derived object;
    int (Base::*method)() = &Base::f;
    int Base::*data = &Base::member;
    decltype(nullptr) nothing = nullptr;
    Base &reference = object;
    return (reference.*method)() + reference.*data + (nothing == nullptr); // stop: here
}
"#;

#[test]
fn pointers_without_a_size_have_that_of_an_address() {
    if is_missing() {
        return;
    }
    for flags in [["-g", "-mthumb"], ["-g", "-marm"]] {
        let fixture = compile_by(GXX, "pointers.cpp", POINTERS, &flags);
        let module = fixture.open();
        let address = fixture.address(&module, "here");
        let size = |name| {
            let id = variable(&module, address, name).type_id.unwrap();
            module.type_of(id).unwrap().size.unwrap()
        };
        assert_eq!((size("method"), size("data")), (8, 4));
        assert_eq!((size("nothing"), size("reference")), (4, 4));
    }
}

#[test]
fn unoptimised_variables_are_located() {
    if is_missing() {
        return;
    }
    for flags in [
        ["-O0", "-gdwarf-4", "-mthumb"],
        ["-O0", "-gdwarf-5", "-marm"],
    ] {
        let fixture = compile_by(GCC, "arm.c", PROGRAM, &flags);
        let module = fixture.open();
        let address = fixture.address(&module, "twice");
        assert_eq!(module.row_at(address).unwrap().line, fixture.line("twice"));
        let counter = module.symbol_named("counter").unwrap().address;
        assert_eq!(
            places(&module, address, "counter"),
            [Place::Memory(counter.0 + BIAS)]
        );
        assert_eq!(
            places(&module, address, "of_thread"),
            [Place::Memory(0x6000_0000)]
        );
        for name in ["x", "y"] {
            let of = variable(&module, address, name);
            let fixed = module.fixed_location(&of, address);
            let Some(FixedLocation::FrameOffset(offset @ -64..0)) = fixed else {
                panic!("{fixed:?}");
            };
            assert_eq!(
                places(&module, address, name),
                [Place::Memory(CFA.wrapping_add_signed(offset))]
            );
        }
    }
}

#[test]
fn single_registers_are_halves_of_the_double_ones() {
    if is_missing() {
        return;
    }
    let fixture = compile_by(GCC, "arm.c", PROGRAM, &["-O2", "-g", "-mthumb"]);
    let module = fixture.open();
    let entry = module.symbol_named("half").unwrap().address;
    let half = |register, bit_offset| Place::Register {
        register,
        bit_offset,
    };
    assert_eq!(places(&module, entry, "x"), [half(256, 0), half(256, 32)]);
    assert_eq!(places(&module, entry, "f"), [half(257, 0)]);
    let f = variable(&module, entry, "f");
    assert_eq!(module.fixed_location(&f, entry), None);
}

#[test]
fn call_frame_information_is_followed() {
    if is_missing() {
        return;
    }
    // All is in `.debug_frame`; with exceptions, C++ has `.ARM.exidx` besides.
    for (gcc, name) in [(GCC, "arm.c"), (GXX, "arm.cpp")] {
        let flags = ["-O2", "-g", "-mthumb", "-fno-toplevel-reorder"];
        let program = PROGRAM.replace("__thread", "thread_local");
        let program = match name {
            "arm.c" => PROGRAM,
            _ => &program,
        };
        let module = compile_by(gcc, name, program, &flags).open();
        let functions = module.functions_with("half");
        let [half] = &functions[..] else {
            panic!("{functions:?}");
        };
        let rules = |offset| {
            let address = FileAddress(half.address.0 + offset);
            module.unwind_rules(address).unwrap().unwrap()
        };
        let first = rules(0);
        assert_eq!(first.cfa, CfaRule::RegisterOffset(SP, 0));
        assert_eq!(first.return_address, LR);
        assert_eq!(first.registers, [(LR, RegisterRule::SameValue)]);
        let call = (0..half.size).step_by(2).map(rules);
        let deepest = call.max_by_key(|it| match it.cfa {
            CfaRule::RegisterOffset(_, offset) => offset,
            CfaRule::Expression(_) => 0,
        });
        let deepest = deepest.unwrap();
        assert!(
            deepest.registers.contains(&(LR, RegisterRule::Offset(-4))),
            "{deepest:?}"
        );
        // `d8`, of which the rules have both halves.
        assert!(
            deepest
                .registers
                .contains(&(264, RegisterRule::Offset(-12))),
            "{deepest:?}"
        );
        assert!(deepest.registers.iter().all(|(number, _)| *number != 81));
        assert!(module.warnings().is_empty(), "{:?}", module.warnings());
    }
}

#[test]
fn numbers_of_call_frame_information_have_32_bits() {
    // DW_OP_plus_uconst 0x10; DW_OP_lit0, DW_OP_not.
    let sum = evaluate_cfi(&[0x23, 0x10], Some(0xffff_fff8), &Frame);
    assert_eq!(sum, Ok(8));
    assert_eq!(evaluate_cfi(&[0x30, 0x20], None, &Frame), Ok(0xffff_ffff));
}

#[test]
fn compressed_sections_show_the_same() {
    if is_missing() {
        return;
    }
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let texts = ["-gz=none", "-gz=zlib"].map(|form| {
            let fixture = compile_by(GCC, "arm.c", PROGRAM, &[version, form, "-mthumb"]);
            let module = fixture.open();
            assert_eq!(module.compressed_size() > 0, form == "-gz=zlib");
            let sections = module.debug_sections();
            let inflated = sections
                .iter()
                .filter_map(|it| it.inflated_size)
                .sum::<u64>();
            assert_eq!(inflated, module.compressed_size());
            seen(&module, &fixture, &["twice", "floats"])
        });
        assert_eq!(texts[0], texts[1]);
        assert!(texts[0].contains("in twice"));
    }
}

#[test]
fn a_32_bit_file_of_another_processor_is_refused() {
    let mut header = vec![0x7f, b'E', b'L', b'F', 1, 1, 1];
    header.resize(64, 0);
    header[16] = 3;
    let opened = |class: u8, encoding: u8, machine: u8, length: usize| {
        let mut bytes = header.clone();
        (bytes[4], bytes[5], bytes[18]) = (class, encoding, machine);
        if encoding == 2 {
            bytes.swap(18, 19);
        }
        bytes.truncate(length);
        Module::from_bytes("file", bytes).map_err(|error| error.to_string())
    };
    for machine in [3, 62, 183, 243] {
        let error = opened(1, 1, machine, 64).unwrap_err();
        assert!(error.contains("is a 32-bit ELF file"), "{error}");
    }
    let error = opened(2, 1, 40, 64).unwrap_err();
    assert!(error.contains("for machine number 40"), "{error}");
    let error = opened(1, 2, 40, 64).unwrap_err();
    assert!(error.contains("big-endian"), "{error}");
    for length in [8, 20, 51] {
        let error = opened(1, 1, 40, length).unwrap_err();
        assert!(error.contains("the file ends after"), "{error}");
    }
    assert!(opened(1, 1, 40, 52).is_ok());
}
