//! Registers for display: in groups, with their parts.

use super::Registers;
use super::extended::Extended;
use super::named::FLAGS;
use super::user::UserRegisters;
use crate::{Address, Machine};
use std::fmt::Display;

mod others;

/// A group of registers, a register, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShownRegister {
    /// Its name.
    pub name: String,
    /// Its value, or in angle brackets the reason why there is none; empty for a group.
    pub text: String,
    /// An expression that evaluates to it, if there is one.
    pub expression: Option<String>,
    /// Its value as an address, if it may be one.
    pub memory: Option<Address>,
    /// The registers of a group, or the parts of a register.
    pub parts: Vec<ShownRegister>,
}

/// The registers of a thread that the unwinder doesn't recover, so they are known in the innermost frame only.
pub struct Rest<'a> {
    /// In the kernel's layout, for the flags, and on x86-64 the segment registers and bases.
    pub registers: &'a UserRegisters,
    /// The state of the units for floating-point numbers and vectors ([`super::state`]).
    pub extended: &'a [u8],
}

/// The numbers of the general registers in the customary order, which isn't DWARF's.
const ORDER: [u16; 17] = [0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// Values below this are not shown as addresses.
const LOWEST: u64 = 0x1_0000;

/// The bits of `mxcsr` (Intel SDM vol. 1, 10.2.3): exception flags (`…E`), exception masks (`…M`), and two modes.
const MXCSR: [(u32, &str); 14] = [
    (0, "IE"),
    (1, "DE"),
    (2, "ZE"),
    (3, "OE"),
    (4, "UE"),
    (5, "PE"),
    (6, "DAZ"),
    (7, "IM"),
    (8, "DM"),
    (9, "ZM"),
    (10, "OM"),
    (11, "UM"),
    (12, "PM"),
    (15, "FZ"),
];

/// The registers of a frame in groups. `rest` is `None` for all but the innermost frame.
pub fn groups(general: &Registers, rest: Option<&Rest<'_>>) -> Vec<ShownRegister> {
    match general.machine() {
        Machine::X86_64 => groups_on_x86(general, rest),
        machine => others::groups(machine, general, rest),
    }
}

fn groups_on_x86(general: &Registers, rest: Option<&Rest<'_>>) -> Vec<ShownRegister> {
    let mut groups = vec![
        group(
            "General",
            ORDER.map(|number| general_register(general, number)).into(),
        ),
        group("Flags", flags(rest.map(|rest| rest.registers.flags()))),
    ];
    if let Some(rest) = rest {
        let segments = rest.registers.segments();
        let segments = segments.map(|(name, value)| spoken(name, format!("{value:#x}")));
        groups.push(group("Segment", segments.into()));
        if let Some(extended) = Extended::parse(rest.extended) {
            groups.extend(extended_groups(&extended));
        }
        return groups;
    }
    let lost = |kind: &str, count: usize| {
        let names = (0..count).map(|number| format!("{kind}{number}"));
        names
            .map(|name| plain(&name, was_not_saved(&name)))
            .collect()
    };
    groups.push(group("SSE", lost("xmm", 16)));
    groups
}

fn group(name: &str, parts: Vec<ShownRegister>) -> ShownRegister {
    ShownRegister {
        name: name.to_owned(),
        parts,
        ..ShownRegister::default()
    }
}

fn plain(name: &str, text: String) -> ShownRegister {
    ShownRegister {
        name: name.to_owned(),
        text,
        ..ShownRegister::default()
    }
}

/// A register that expressions know by the same name.
fn spoken(name: &str, text: String) -> ShownRegister {
    ShownRegister {
        expression: Some(format!("${name}")),
        ..plain(name, text)
    }
}

fn was_not_saved(name: &str) -> String {
    format!("<register {name} was not saved>")
}

fn general_register(general: &Registers, number: u16) -> ShownRegister {
    let name = general.machine().name_of(number).unwrap_or_default();
    let value = general.get(number);
    let text = value.map_or_else(|| was_not_saved(name), |value| format!("{value:#x}"));
    ShownRegister {
        memory: value.filter(|value| *value >= LOWEST).map(Address),
        ..spoken(name, text)
    }
}

fn flags(flags: Option<u64>) -> Vec<ShownRegister> {
    let Some(flags) = flags else {
        return vec![plain("eflags", was_not_saved("eflags"))];
    };
    let mut eflags = decoded("eflags", flags, &FLAGS);
    for flag in &mut eflags.parts {
        flag.expression = Some(format!("${}", flag.name.to_lowercase()));
    }
    vec![eflags]
}

/// A register whose bits have names. Its text lists the bits that are set; its parts are all bits.
fn decoded(name: &str, value: u64, bits: &[(u32, &str)]) -> ShownRegister {
    let is_set = |bit: u32| value >> bit & 1;
    let set = bits.iter().filter(|(bit, _)| is_set(*bit) == 1);
    let set: Vec<&str> = set.map(|(_, name)| *name).collect();
    let part = |(bit, name): &(u32, &str)| plain(name, is_set(*bit).to_string());
    ShownRegister {
        parts: bits.iter().map(part).collect(),
        ..spoken(name, format!("{value:#x} [{}]", set.join(" ")))
    }
}

fn extended_groups(extended: &Extended) -> Vec<ShownRegister> {
    let mut sse: Vec<ShownRegister> = Vec::new();
    for (number, low) in extended.xmm.iter().enumerate() {
        sse.push(vector(&format!("xmm{number}"), &low.to_le_bytes()));
    }
    sse.push(decoded("mxcsr", extended.mxcsr.into(), &MXCSR));
    let mut groups = vec![group("SSE", sse)];
    if let Some(upper) = &extended.upper {
        let halves = extended.xmm.iter().zip(upper).enumerate();
        let wide = halves.map(|(number, (low, high))| {
            let bytes = [low.to_le_bytes(), high.to_le_bytes()].concat();
            vector(&format!("ymm{number}"), &bytes)
        });
        groups.push(group("AVX", wide.collect()));
    }
    groups.push(group("x87", x87(extended)));
    groups
}

/// A vector register, divided into lanes in the usual ways.
fn vector(name: &str, bytes: &[u8]) -> ShownRegister {
    let digits: String = bytes
        .iter()
        .rev()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let mut parts = vec![
        lanes("f32", bytes, |lane| {
            format!("{:?}", f32::from_le_bytes(lane))
        }),
        lanes("f64", bytes, |lane| {
            format!("{:?}", f64::from_le_bytes(lane))
        }),
        lanes("u8", bytes, |lane| u8::from_le_bytes(lane).to_string()),
        lanes("i16", bytes, |lane| i16::from_le_bytes(lane).to_string()),
        lanes("i32", bytes, |lane| i32::from_le_bytes(lane).to_string()),
        lanes("i64", bytes, |lane| i64::from_le_bytes(lane).to_string()),
    ];
    for kind in &mut parts {
        for lane in &mut kind.parts {
            lane.expression = Some(format!("${name}.{}{}", kind.name, lane.name));
        }
    }
    // Expressions have no integers wider than 16 bytes.
    let expression = (bytes.len() == 16).then(|| format!("${name}"));
    ShownRegister {
        parts,
        expression,
        ..plain(name, format!("0x{digits}"))
    }
}

fn lanes<const SIZE: usize>(
    kind: &str,
    bytes: &[u8],
    text: impl Fn([u8; SIZE]) -> String,
) -> ShownRegister {
    let (lanes, _) = bytes.as_chunks();
    let texts: Vec<String> = lanes.iter().map(|lane| text(*lane)).collect();
    let part = |(index, text): (usize, &String)| plain(&format!("[{index}]"), text.clone());
    ShownRegister {
        parts: texts.iter().enumerate().map(part).collect(),
        ..plain(kind, format!("[{}]", texts.join(", ")))
    }
}

fn x87(extended: &Extended) -> Vec<ShownRegister> {
    let stack = extended.stack.iter().enumerate().map(|(number, value)| {
        let text = value.map_or("<empty>".to_owned(), |value| format!("{value:?}"));
        spoken(&format!("st{number}"), text)
    });
    let word = |name: &str, value: &dyn Display| spoken(name, value.to_string());
    let control = format!("{:#x}", extended.control);
    let status = format!("{:#x}", extended.status);
    let mut all: Vec<ShownRegister> = stack.collect();
    all.push(word("fctrl", &control));
    all.push(word("fstat", &status));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<'a>(list: &'a [ShownRegister], name: &str) -> &'a ShownRegister {
        let found = list.iter().find(|register| register.name == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    }

    #[test]
    fn flags_are_named_and_lanes_are_read_from_the_low_end() {
        let eflags = &flags(Some(0x246))[0];
        assert_eq!(eflags.text, "0x246 [PF ZF IF]");
        assert_eq!(named(&eflags.parts, "CF").text, "0");
        assert_eq!(named(&eflags.parts, "ZF").text, "1");
        let bytes = [1.5_f32, -2.0, 0.0, f32::INFINITY]
            .map(f32::to_le_bytes)
            .concat();
        let xmm = vector("xmm3", &bytes);
        assert_eq!(xmm.text, "0x7f80000000000000c00000003fc00000");
        assert_eq!(named(&xmm.parts, "f32").text, "[1.5, -2.0, 0.0, inf]");
        assert_eq!(
            named(&named(&xmm.parts, "i32").parts, "[1]").text,
            "-1073741824"
        );
        assert_eq!(named(&xmm.parts, "u8").parts.len(), 16);
    }

    #[test]
    fn an_outer_frame_says_what_is_lost() {
        let mut general = Registers::of(Machine::X86_64);
        general.set(7, Some(0x7fff_0000_1000));
        let groups = groups(&general, None);
        let of = |group: &str, name: &str| named(&named(&groups, group).parts, name).clone();
        assert_eq!(of("General", "rsp").text, "0x7fff00001000");
        assert_eq!(of("General", "rax").text, "<register rax was not saved>");
        assert_eq!(
            of("Flags", "eflags").text,
            "<register eflags was not saved>"
        );
        assert_eq!(of("SSE", "xmm0").text, "<register xmm0 was not saved>");
    }
}
