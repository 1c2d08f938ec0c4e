//! How a unit was compiled: its language, and whether it was optimised.

use crate::dwarf::Part;
use crate::dwarf::functions::Language;
use gimli::{AttributeValue, constants as dw};

/// What a unit's root entry says about how it was compiled.
pub(crate) struct Compilation {
    pub language: Language,
    /// Whether the unit was compiled with optimisation, from the command line that gcc records. `None`: none is
    /// recorded.
    pub optimised: Option<bool>,
}

impl Compilation {
    pub fn read(part: &Part<'_>) -> Compilation {
        let (mut language, mut optimised) = (Language::Other, None);
        if let Ok(root) = part.dw.entry(part.dw.header.root_offset()) {
            if let Some(AttributeValue::Language(code)) = root.attr_value(dw::DW_AT_language) {
                language = language_of(code);
            }
            let producer = root
                .attr_value(dw::DW_AT_producer)
                .and_then(|producer| part.source.sections.attr_string(&part.dw, producer).ok());
            optimised = producer.and_then(|producer| is_optimised(producer.slice()));
        }
        Compilation {
            language,
            optimised,
        }
    }
}

fn language_of(code: gimli::DwLang) -> Language {
    match code {
        dw::DW_LANG_C | dw::DW_LANG_C89 | dw::DW_LANG_C99 | dw::DW_LANG_C11 | dw::DW_LANG_C17 => {
            Language::C
        }
        dw::DW_LANG_C_plus_plus
        | dw::DW_LANG_C_plus_plus_03
        | dw::DW_LANG_C_plus_plus_11
        | dw::DW_LANG_C_plus_plus_14
        | dw::DW_LANG_C_plus_plus_17
        | dw::DW_LANG_C_plus_plus_20 => Language::Cpp,
        dw::DW_LANG_Rust => Language::Rust,
        _ => Language::Other,
    }
}

/// gcc records its command line behind its version: `GNU C17 12.2.0 -mtune=generic -g -O2`.
fn is_optimised(producer: &[u8]) -> Option<bool> {
    let producer = std::str::from_utf8(producer).ok()?;
    if !producer.starts_with("GNU ") || !producer.contains(" -") {
        return None;
    }
    let level = producer
        .split_ascii_whitespace()
        .rfind(|switch| switch.starts_with("-O"));
    Some(level.is_some_and(|level| level != "-O0"))
}
