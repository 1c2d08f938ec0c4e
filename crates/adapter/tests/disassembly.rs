//! Code as instructions, forwards and backwards from any address.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;
use std::process::Command;

fn number(reference: &str) -> u64 {
    u64::from_str_radix(reference.trim_start_matches("0x"), 16).expect("an address")
}

fn at(stop: &Stopped) -> String {
    let reference = stop.top.instruction_pointer_reference.clone();
    reference.expect("a reference")
}

#[track_caller]
fn listed(session: &Session, at: &str, first: i64, count: i64) -> Vec<DisassembledInstruction> {
    let arguments = DisassembleArguments::new(at, count)
        .with_instruction_offset(first)
        .with_resolve_symbols(true);
    let listed = session.ok::<DisassembleRequest>(arguments).instructions;
    assert_eq!(
        listed.len() as i64,
        count,
        "exactly as many as were asked for"
    );
    listed
}

fn addresses(instructions: &[DisassembledInstruction]) -> Vec<u64> {
    instructions
        .iter()
        .map(|one| number(&one.address))
        .collect()
}

fn is_invalid(instruction: &DisassembledInstruction) -> bool {
    instruction.presentation_hint == Some(DisassembledInstructionPresentationHint::Invalid)
}

/// The addresses of the instructions in `.text` according to objdump, as addresses in the file.
fn by_objdump(fixture: &Fixture) -> Vec<(u64, String)> {
    let output = Command::new("objdump")
        .args(["-d", "-j", ".text", "--no-show-raw-insn", "-Mintel"])
        .arg(&fixture.binary)
        .output()
        .expect("objdump is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |line: &str| {
        let (address, rest) = line.strip_prefix(' ')?.split_once(":\t")?;
        let address = u64::from_str_radix(address.trim(), 16).ok()?;
        Some((address, rest.split_whitespace().next()?.to_owned()))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn code_has_names_bytes_and_lines_and_shows_no_breakpoint() {
    let fixture = Fixture::new("code.c");
    let session = Session::started(&fixture, json!({}), &["call", "added"]);
    let stop = session.stopped_at(&fixture, "call", StoppedEventReason::Breakpoint);
    let main = listed(&session, &at(&stop), 0, 3);
    let texts: Vec<&str> = main.iter().map(|one| &*one.instruction).collect();
    let bytes = main[0].instruction_bytes.as_deref();
    assert_eq!((texts[0], bytes), ("mov edi, 4", Some("bf 04 00 00 00")));
    assert!(
        texts[1].starts_with("call 0x") && texts[1].ends_with(" <add>"),
        "{texts:?}"
    );
    assert_eq!(
        main[0].symbol.as_deref().map(|s| s.starts_with("main+0x")),
        Some(true)
    );

    // The first instruction of a line has the line, and only the first instruction of all has the file.
    let line = fixture.line("call");
    assert_eq!(
        main.iter().map(|one| one.line).collect::<Vec<_>>(),
        [Some(line); 3]
    );
    let file = main[0]
        .location
        .as_ref()
        .and_then(|source| source.path.clone());
    assert_eq!(file, Some(fixture.path()));
    assert!(main[1].location.is_none() && main[2].location.is_none());

    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "added", StoppedEventReason::Breakpoint);
    let add = listed(&session, &at(&stop), 0, 1);
    let text = &*add[0].instruction;
    assert!(
        text.starts_with("mov eax, [0x") && text.ends_with(" <total>"),
        "{text}"
    );
    assert!(
        add[0]
            .instruction_bytes
            .as_deref()
            .is_some_and(|b| b.starts_with("8b 05"))
    );
    let before = listed(&session, &at(&stop), -1, 1);
    assert!(before[0].instruction.starts_with("mov [0x"), "{before:?}");
    assert_eq!(before[0].line, Some(fixture.line("added") - 1));

    // By default, an instruction's text has no symbol for the address that it refers to.
    let bare = session.ok::<DisassembleRequest>(DisassembleArguments::new(at(&stop), 1));
    assert!(!bare.instructions[0].instruction.contains('<'), "{bare:?}");
    session.disconnect();
}

#[test]
fn windows_in_both_directions_have_the_instructions_of_the_whole_program() {
    for (optimization, linking) in [
        (Optimization::None, Linking::Pie),
        (Optimization::Full, Linking::Fixed),
    ] {
        let fixture = Fixture::built("code.c", optimization, linking);
        let session = Session::new();
        session.launch(&fixture, json!({"stopOnEntry": true}));
        session.configured();
        session.wait_for::<StoppedEvent>();
        let modules = session
            .ok::<ModulesRequest>(ModulesArguments::new())
            .modules;
        let range = modules[0].address_range.clone().expect("a range");
        let base = match linking {
            Linking::Pie => number(range.split_once('-').expect("two addresses").0),
            _ => 0,
        };
        let code = by_objdump(&fixture);
        let no_code = code
            .iter()
            .position(|(_, name)| name == "(bad)")
            .expect("no_code");
        let code: Vec<u64> = code.iter().map(|(address, _)| base + address).collect();
        // Leaves out the bytes that are no code: objdump decodes them differently, because it doesn't end the last instruction at the
        // symbol's end.
        for part in [&code[..no_code], &code[no_code + 3..]] {
            let count = part.len() as i64;
            assert!(count > 5, "{count}");
            let first = format!("{:#x}", part[0]);
            assert_eq!(addresses(&listed(&session, &first, 0, count)), part);
            // From each instruction back to the first one, and on to the end.
            for (index, address) in part.iter().enumerate() {
                let address = format!("{address:#x}");
                let all = listed(&session, &address, -(index as i64), count);
                assert_eq!(addresses(&all), part, "from {address}");
                assert!(!all.iter().any(is_invalid));
            }
        }
        // Counts backwards across the bytes that are no code: these are listed as bad, and the instructions in front of them are right.
        let behind = format!("{:#x}", code[no_code + 3]);
        let across = listed(&session, &behind, -6, 12);
        let texts: Vec<&str> = across.iter().map(|one| &*one.instruction).collect();
        assert_eq!(texts[3..6], ["(bad)"; 3], "{texts:?}");
        assert!(across[3..6].iter().all(is_invalid));
        assert_eq!(across[3].symbol.as_deref(), Some("no_code"));
        assert_eq!(addresses(&across[..3]), code[no_code - 3..no_code]);
        session.disconnect();
    }
}

#[test]
fn a_window_is_filled_where_there_is_no_code() {
    let fixture = Fixture::new("code.c");
    let session = Session::started(&fixture, json!({}), &["call"]);
    let stop = session.stopped_at(&fixture, "call", StoppedEventReason::Breakpoint);
    let null = listed(&session, "0x0", -4, 12);
    assert!(null.iter().all(is_invalid));
    assert_eq!(addresses(&null), [0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(null.iter().all(|one| one.instruction_bytes.is_none()));
    assert_eq!(listed(&session, "0xffffffffffffffff", 0, 3).len(), 3);
    assert_eq!(listed(&session, &at(&stop), 0, 0), []);

    // Addresses only increase across functions, padding, pages without code and gaps.
    let wide = listed(&session, &at(&stop), -3000, 8000);
    let wide = addresses(&wide);
    assert!(wide.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(wide[3000], number(&at(&stop)));
    // The same window has the same instructions, wherever the count begins.
    let near = addresses(&listed(&session, &at(&stop), -20, 40));
    assert_eq!(wide[2980..3020], near);
    let offset = format!("{:#x}", near[30]);
    assert_eq!(addresses(&listed(&session, &offset, -30, 40)), near);
    session.disconnect();
}

#[test]
fn what_cannot_be_listed_is_refused_with_a_reason() {
    let session = Session::new();
    let early = DisassembleArguments::new("0x1000", 1);
    let refusal = session.refused::<DisassembleRequest>(early);
    assert_eq!(refusal.sentence, "no program is launched yet");
    let fixture = Fixture::new("code.c");
    session.launch(&fixture, json!({"stopOnEntry": true}));
    session.configured();
    session.wait_for::<StoppedEvent>();
    let wanted = DisassembleArguments::new;
    for (arguments, part) in [
        (wanted("main", 1), "`main` is no reference to memory"),
        (wanted("0x10", 1).with_offset(-17), "there can be no memory"),
        (
            wanted("0x1000", 1 << 30),
            "1073741824 instructions can't be listed",
        ),
        (
            wanted("0x1000", 1).with_instruction_offset(1 << 40),
            "no further than 65536 from an address",
        ),
        (
            wanted("0x1000", 1).with_instruction_offset(-(1 << 40)),
            "and not -1099511627776",
        ),
    ] {
        let message = session.refused::<DisassembleRequest>(arguments).sentence;
        assert!(message.contains(part), "{message}");
    }
    session.disconnect();
}

#[test]
fn code_is_listed_while_the_program_runs() {
    let fixture = Fixture::new("flood.c");
    let session = Session::started(&fixture, json!({"args": ["count"]}), &[]);
    let wanted = vec![FunctionBreakpoint::new("main")];
    let arguments = SetFunctionBreakpointsArguments::new(wanted);
    let set = session.ok::<SetFunctionBreakpointsRequest>(arguments);
    let main = set.breakpoints[0].instruction_reference.clone();
    let main = listed(&session, &main.expect("a reference"), 0, 5);
    assert!(
        main.iter()
            .all(|one| !is_invalid(one) && one.instruction != "int3"),
        "{main:?}"
    );
    session.disconnect();
}
