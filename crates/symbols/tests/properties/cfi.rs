//! Unwind rules: the rules found for an address apply to it, and a second query finds the same rules.

use super::elf_file::program;
use super::module::Everything;
use dapple_symbols::cfi::{CfaRule, RegisterRule};
use dapple_symbols::location::evaluate_cfi;
use dapple_symbols::{FileAddress, Module};

/// The first byte selects the section and the number of following bytes that are `.eh_frame_hdr`. The rest is the section.
pub fn any_frame_section_is_answered_for(input: &[u8]) {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let name = if choice & 1 == 0 {
        ".eh_frame"
    } else {
        ".debug_frame"
    };
    let (header, section) = rest.split_at(usize::from(choice >> 1).min(rest.len()));
    let sections = [(".eh_frame_hdr", header), (name, section)];
    let sections = &sections[usize::from(header.is_empty())..];
    let module = Module::from_bytes("frames", program(sections)).expect("a program");
    // The functions of an object file are at its section's address, or at 0.
    let near = (0..200).map(|step| step * 5);
    let far = [0x10_0000, u64::MAX, u64::MAX / 2];
    for address in near.chain(far).map(FileAddress) {
        match module.unwind_rules(address) {
            Ok(None) => {}
            Ok(Some(rules)) => {
                assert!(rules.range.contains(&address), "{rules:?} for {address:?}");
                let again = module.unwind_rules(address).expect("as before");
                assert_eq!(Some(&rules), again.as_ref());
                if let CfaRule::Expression(bytes) = &rules.cfa {
                    let _ = evaluate_cfi(bytes, None, &Everything);
                }
                for (_, rule) in &rules.registers {
                    if let RegisterRule::Expression(bytes) | RegisterRule::ValueExpression(bytes) =
                        rule
                    {
                        let _ = evaluate_cfi(bytes, Some(1), &Everything);
                    }
                }
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("frames: ."), "{text}");
            }
        }
    }
}
