//! Call frame information, compared with what the compiler must have written.

mod support;

use dapple_arch::registers::{FP, PC, SP};
use dapple_symbols::FileAddress;
use dapple_symbols::cfi::{CfaRule, RegisterRule};
use support::compile;

const PROGRAM: &str = "int twice(int x) { return 2 * x; }\nint main(void) { return twice(4); }\n";

/// `push rbp; mov rbp, rsp; …`: the rules after each of the two.
#[test]
fn a_frame_pointer_prologue_is_followed() {
    let variants: [&[&str]; 3] = [
        &[
            "-g",
            "-O0",
            "-fno-omit-frame-pointer",
            "-fcf-protection=none",
        ],
        &["-g", "-O0", "-fcf-protection=none", "-Wl,--no-eh-frame-hdr"],
        &[
            "-g",
            "-O0",
            "-fcf-protection=none",
            "-fno-asynchronous-unwind-tables",
        ],
    ];
    for flags in variants {
        let module = compile("frame.c", PROGRAM, flags).open();
        let entry = module.symbol_named("twice").unwrap().address;
        let rules = |offset| {
            module
                .unwind_rules(FileAddress(entry.0 + offset))
                .unwrap()
                .unwrap()
        };
        assert_eq!(rules(0).cfa, CfaRule::RegisterOffset(SP, 8), "{flags:?}");
        assert_eq!(rules(0).range, entry..FileAddress(entry.0 + 1), "{flags:?}");
        assert_eq!(rules(1).cfa, CfaRule::RegisterOffset(SP, 16), "{flags:?}");
        let body = rules(4);
        assert_eq!(body.cfa, CfaRule::RegisterOffset(FP, 16), "{flags:?}");
        assert!(
            body.registers.contains(&(FP, RegisterRule::Offset(-16))),
            "{flags:?}: {body:?}"
        );
        assert!(
            body.registers.contains(&(PC, RegisterRule::Offset(-8))),
            "{flags:?}: {body:?}"
        );
        assert_eq!((body.return_address, body.signal_frame), (PC, false));
        assert!(std::sync::Arc::ptr_eq(&body, &rules(5)), "rules are kept");
    }
}

#[test]
fn addresses_without_an_entry_have_no_rules() {
    let module = compile("frame.c", PROGRAM, &["-g"]).open();
    assert_eq!(module.unwind_rules(FileAddress(0)).unwrap(), None);
    assert_eq!(module.unwind_rules(FileAddress(u64::MAX)).unwrap(), None);
}
