//! Runs functions whose instructions are replaced by jumps, and compares what they return with what they return untouched.

mod cases;

use cases::{ALL, Case};
use dapple_arch::Address;
use dapple_arch::jump_site::{Code, Indirect, JUMP, JumpSite, flags_are_dead, jump, plan};
use memmap2::{Mmap, MmapMut, MmapOptions};

/// Where the moved code is in a mapping whose function is at its start.
const MOVED: usize = 0x1000;

/// Inverts all status flags; changes nothing else, the red zone included.
const INVERT_FLAGS: [u8; 23] = [
    0x48, 0x8d, 0x64, 0x24, 0x80, // lea rsp, [rsp - 128]
    0x9c, // pushfq
    0x48, 0x81, 0x34, 0x24, 0xd5, 0x08, 0, 0,    // xor qword ptr [rsp], 0x8d5
    0x9d, // popfq
    0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0, // lea rsp, [rsp + 128]
];

/// Calls the function at `offset` of a mapping.
fn call(mapping: &Mmap, offset: usize, arguments: (u64, u64)) -> u64 {
    let code = mapping[offset..].as_ptr();
    // SAFETY: The mapping has a whole function there, which takes two integers and returns one. That jumps in it lead to code that does
    // the same is what the tests are about.
    let function: unsafe extern "sysv64" fn(u64, u64) -> u64 = unsafe { std::mem::transmute(code) };
    // SAFETY: As above.
    unsafe { function(arguments.0, arguments.1) }
}

fn address(mapping: &MmapMut, offset: usize) -> Address {
    Address(mapping[offset..].as_ptr() as u64)
}

/// A mapping that has a case's code at `offset`.
fn mapped(case: &Case, offset: usize, length: usize) -> MmapMut {
    let mut options = MmapOptions::new();
    let options = options.len(length).no_reserve_swap();
    let mut mapping = options.map_anon().expect("memory");
    mapping[offset..offset + case.code.len()].copy_from_slice(case.code);
    mapping
}

/// The place at `inner` of a case's function that is at `offset` of a mapping, if it can be replaced, and whether flags are dead there.
fn planned(
    case: &Case,
    mapping: &MmapMut,
    offset: usize,
    inner: usize,
) -> Option<(JumpSite, bool)> {
    let start = address(mapping, offset);
    let code = [Code {
        start,
        bytes: &case.code[..case.function],
    }];
    let enters = |address: Address| case.jumped_to.contains(&(address.0 - start.0));
    let site = start.offset(inner as i64);
    let planned = plan(site, &code, Indirect::Known, &enters).ok()?;
    Some((planned, flags_are_dead(site, &code)))
}

/// Replaces a place of a function that is at `offset` of a mapping; what it did is done at `moved`, behind `before`.
fn replace(mapping: &mut MmapMut, offset: usize, site: &JumpSite, moved: usize, before: &[u8]) {
    let to = address(mapping, moved);
    let code = site
        .relocated(to.offset(before.len() as i64))
        .expect("code in reach");
    let at = offset + (site.site.0 - address(mapping, offset).0) as usize;
    // Nothing executes what is left of the replaced instructions.
    mapping[at..at + site.length as usize].fill(0xcc);
    let jump = jump(site.site, to).expect("a jump in reach");
    mapping[at..at + JUMP].copy_from_slice(&jump);
    mapping[moved..moved + before.len()].copy_from_slice(before);
    let moved = moved + before.len();
    mapping[moved..moved + code.bytes.len()].copy_from_slice(&code.bytes);
}

/// Numbers with all kinds of high and low bits, always the same.
fn inputs() -> impl Iterator<Item = (u64, u64)> {
    let edges = [
        0,
        1,
        2,
        3,
        7,
        8,
        0x7f,
        1 << 31,
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ];
    let pairs = edges.into_iter().flat_map(move |a| edges.map(|b| (a, b)));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> (state % 64)
    };
    pairs.chain((0..400).map(move |_| (random(), random())))
}

fn results(mapping: &Mmap, offset: usize) -> Vec<u64> {
    inputs().map(|pair| call(mapping, offset, pair)).collect()
}

/// Compares a function with itself with each of its places replaced that can be. Gives the places.
fn compare(case: &Case) -> Vec<usize> {
    let untouched = mapped(case, 0, 2 * MOVED).make_exec().expect("code");
    let expected = results(&untouched, 0);
    let mut places = Vec::new();
    for inner in 0..case.function {
        let mut mapping = mapped(case, 0, 2 * MOVED);
        let Some((site, flags_are_dead)) = planned(case, &mapping, 0, inner) else {
            continue;
        };
        let before: &[u8] = if flags_are_dead { &INVERT_FLAGS } else { &[] };
        replace(&mut mapping, 0, &site, MOVED, before);
        let replaced = mapping.make_exec().expect("code");
        for (index, pair) in inputs().enumerate() {
            let result = call(&replaced, 0, pair);
            assert_eq!(
                result, expected[index],
                "{} of {pair:x?}, replaced at {inner:#x}, flags dead: {flags_are_dead}",
                case.name
            );
        }
        places.push(inner);
    }
    places
}

#[test]
fn a_function_with_replaced_instructions_returns_the_same() {
    for case in ALL {
        let places = compare(case);
        assert_eq!(places, case.places, "{}: {places:#x?}", case.name);
    }
}

#[test]
fn what_is_out_of_reach_of_moved_code_is_reached_by_constants() {
    const GIBIBYTE: usize = 1 << 30;
    // call -1 GiB; lea rcx, [rip - 12]; sub rax, rcx; ret. The callee returns its return address.
    let code = [
        &[0xe8][..],
        &(-(GIBIBYTE as i32)).to_le_bytes(),
        &[0x48, 0x8d, 0x0d, 0xf4, 0xff, 0xff, 0xff],
        &[0x48, 0x29, 0xc8, 0xc3],
    ];
    let code = code.concat();
    // mov rax, [rsp]; ret
    let callee = [0x48, 0x8b, 0x04, 0x24, 0xc3];
    let case = Case {
        name: "far",
        function: code.len(),
        jumped_to: &[],
        places: &[],
        code: &code,
    };
    let offset = 3 * GIBIBYTE / 2;
    let mut mapping = mapped(&case, offset, 4 * GIBIBYTE);
    let at = offset + 5 - GIBIBYTE;
    mapping[at..at + callee.len()].copy_from_slice(&callee);
    let (site, _) = planned(&case, &mapping, offset, 0).expect("a place");
    // Reachable from the function, but 2.5 GiB from the callee.
    let moved = offset + 3 * GIBIBYTE / 2;
    replace(&mut mapping, offset, &site, moved, &[]);
    let replaced = mapping.make_exec().expect("code");
    assert_eq!(call(&replaced, offset, (0, 0)), 5);
    drop(results(&replaced, offset));
}
