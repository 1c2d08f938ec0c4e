//! The data breakpoints that the client has requested, and the meaning of a `dataId`.
//!
//! A `dataId` has one of three forms:
//! - `static:LANGUAGE:MODE:LENGTH:EXPRESSION` is static data. It is valid before a launch, in later sessions, and after the program is rebuilt.
//! - `address:MODE:LENGTH:ADDRESS` is memory. It is accepted in every process, but stands for the same data only while its process lives.
//! - `target:PROCESS:MODE:NUMBER` is data found at a stop, such as a local variable or an object on the heap. It is kept here by its number.
//!
//! The mode says what counts as a write: `change` (the default) means writes that change the value, `write` means all writes.

use crate::breakpoints::{Breakpoints, Wanted};
use dapple_dap::types::{BreakpointMode, BreakpointModeApplicability, DataBreakpointAccessType};
use dapple_engine::Address;
use dapple_engine::session::BreakpointOptions;
use dapple_engine::session::watching::{Access, DataTarget, Language, WatchedData};

/// What counts as a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A write that changes the value.
    Change,
    /// Every write.
    Write,
}

const CHANGE: &str = "change";
const WRITE: &str = "write";

impl Mode {
    /// The mode with this name; the default without a name.
    pub fn named(name: Option<&str>) -> Result<Mode, String> {
        match name {
            None | Some(CHANGE) => Ok(Mode::Change),
            Some(WRITE) => Ok(Mode::Write),
            Some(other) => Err(format!(
                "there is no mode `{other}` for breakpoints on data; there are `{CHANGE}` and `{WRITE}`"
            )),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Mode::Change => CHANGE,
            Mode::Write => WRITE,
        }
    }

    fn access(self, wanted: Option<&DataBreakpointAccessType>) -> Access {
        match (wanted, self) {
            (Some(DataBreakpointAccessType::Read), _) => Access::Read,
            (Some(DataBreakpointAccessType::ReadWrite), _) => Access::ReadWrite,
            (_, Mode::Change) => Access::Change,
            (_, Mode::Write) => Access::Write,
        }
    }
}

/// The modes of data breakpoints, the default first.
pub fn modes() -> Vec<BreakpointMode> {
    let mode = |mode: Mode, label: &str, description: &str| {
        BreakpointMode::new(mode.name(), label, vec![BreakpointModeApplicability::Data])
            .with_description(description)
    };
    vec![
        mode(
            Mode::Change,
            "Value changes",
            "A write counts when it changes the value",
        ),
        mode(
            Mode::Write,
            "Every write",
            "A write of the value that was there counts, too",
        ),
    ]
}

/// The requested data breakpoints, and the data that handles stand for.
#[derive(Debug, Default)]
pub struct DataBreakpoints {
    targets: Vec<DataTarget>,
    wanted: Vec<Wanted<Asked>>,
}

/// A data breakpoint as the client requests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The handle (`dataId`).
    pub data_id: String,
    /// The kind of access.
    pub access: Option<DataBreakpointAccessType>,
    /// The condition and hit condition.
    pub options: BreakpointOptions,
}

impl DataBreakpoints {
    /// Makes the handle for data found in `process`.
    pub fn handle(&mut self, target: DataTarget, mode: Mode, process: i32) -> String {
        let mode = mode.name();
        let DataTarget {
            name,
            address,
            length,
            ..
        } = &target;
        if let Some(language) = target.persistent.and_then(language_name) {
            return format!("static:{language}:{mode}:{length}:{name}");
        }
        if target.value.is_none() && target.frame.is_none() {
            return format!("address:{mode}:{length}:{address}");
        }
        let same = |known: &DataTarget| {
            (&known.name, known.address, known.length, known.frame)
                == (&target.name, target.address, target.length, target.frame)
        };
        let number = match self.targets.iter().position(same) {
            Some(number) => {
                self.targets[number] = target;
                number
            }
            None => {
                self.targets.push(target);
                self.targets.len() - 1
            }
        };
        format!("target:{process}:{mode}:{number}")
    }

    /// The data that a handle stands for.
    ///
    /// # Errors
    /// A message that says why it stands for none.
    pub fn read(
        &self,
        data_id: &str,
        access: Option<&DataBreakpointAccessType>,
        process: Option<i32>,
    ) -> Result<(WatchedData, Access), String> {
        let unknown = || format!("`{data_id}` is no handle of data that was given out");
        let (kind, rest) = data_id.split_once(':').ok_or_else(unknown)?;
        let mut parts = rest.splitn(4, ':');
        let mut part = || parts.next().ok_or_else(unknown);
        match kind {
            "static" => {
                let language = language_of(part()?).ok_or_else(unknown)?;
                let mode = Mode::named(Some(part()?))?;
                let length = part()?.parse().map_err(|_| unknown())?;
                let name = part()?.to_owned();
                let data = WatchedData::Static {
                    name,
                    language,
                    length: Some(length),
                };
                Ok((data, mode.access(access)))
            }
            "address" => {
                let mode = Mode::named(Some(part()?))?;
                let length = part()?.parse().map_err(|_| unknown())?;
                let address = part()?;
                let data = WatchedData::Target(Box::new(DataTarget {
                    name: address.to_owned(),
                    address: number(address).map(Address).ok_or_else(unknown)?,
                    length,
                    value: None,
                    type_name: String::new(),
                    frame: None,
                    moves: false,
                    persistent: None,
                }));
                Ok((data, mode.access(access)))
            }
            "target" => {
                let of = part()?.parse::<i32>().map_err(|_| unknown())?;
                let mode = Mode::named(Some(part()?))?;
                let number = part()?.parse::<usize>().map_err(|_| unknown())?;
                if process != Some(of) {
                    return Err("the data was in a process that has ended".to_owned());
                }
                let target = self.targets.get(number).ok_or_else(unknown)?.clone();
                Ok((WatchedData::Target(Box::new(target)), mode.access(access)))
            }
            _ => Err(unknown()),
        }
    }

    /// Replaces all data breakpoints. A breakpoint for the same access to the same data keeps its id. New ids come from `all`.
    pub fn replace<Source: Clone>(
        &mut self,
        wanted: Vec<Asked>,
        all: &mut Breakpoints<Source>,
    ) -> Vec<Wanted<Asked>> {
        let before = std::mem::take(&mut self.wanted);
        let same = |one: &Asked, other: &Asked| {
            (&one.data_id, &one.access) == (&other.data_id, &other.access)
        };
        self.wanted = all.with_ids(wanted, before, same);
        self.wanted.clone()
    }

    /// The requested data breakpoints.
    pub fn wanted(&self) -> &[Wanted<Asked>] {
        &self.wanted
    }

    /// Removes a breakpoint whose data is gone. If the client requests it again, it gets a new id.
    pub fn forget(&mut self, id: i64) {
        self.wanted.retain(|wanted| wanted.id != id);
    }
}

/// An address as clients write it: hexadecimal with `0x`, or decimal.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

const LANGUAGES: [(Language, &str); 3] = [
    (Language::C, "c"),
    (Language::Cpp, "c++"),
    (Language::Rust, "rust"),
];

fn language_name(language: Language) -> Option<&'static str> {
    LANGUAGES
        .iter()
        .find(|(l, _)| *l == language)
        .map(|(_, name)| *name)
}

fn language_of(name: &str) -> Option<Language> {
    LANGUAGES
        .iter()
        .find(|(_, n)| *n == name)
        .map(|(language, _)| *language)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(persistent: Option<Language>) -> DataTarget {
        DataTarget {
            name: "a::b[0]".into(),
            address: Address(0x1000),
            length: 4,
            value: None,
            type_name: String::new(),
            frame: None,
            moves: false,
            persistent,
        }
    }

    #[test]
    fn handles_of_statics_and_addresses_say_all_that_is_needed() {
        let mut table = DataBreakpoints::default();
        let handle = table.handle(target(Some(Language::Cpp)), Mode::Write, 7);
        assert_eq!(handle, "static:c++:write:4:a::b[0]");
        let elsewhere = DataBreakpoints::default();
        let (data, access) = elsewhere.read(&handle, None, None).expect("a static");
        assert!(
            matches!(data, WatchedData::Static { name, length: Some(4), .. } if name == "a::b[0]")
        );
        assert_eq!(access, Access::Write);
        let handle = table.handle(target(None), Mode::Change, 7);
        assert_eq!(handle, "address:change:4:0x1000");
        let read = elsewhere.read(&handle, Some(&DataBreakpointAccessType::Read), None);
        assert!(
            matches!(read, Ok((WatchedData::Target(t), Access::Read)) if t.address == Address(0x1000))
        );
    }

    #[test]
    fn handles_that_were_never_given_out_are_told_so() {
        let table = DataBreakpoints::default();
        for handle in [
            "",
            "x",
            "static:",
            "static:c:change:x:y",
            "target:7:change:0",
            "address:change:4:zz",
            "static:go:change:4:x",
        ] {
            let read = table.read(handle, None, Some(7));
            assert!(read.is_err_and(|why| why.contains("no handle")), "{handle}");
        }
        assert!(
            table
                .read("target:8:change:0", None, Some(7))
                .is_err_and(|why| why.contains("has ended"))
        );
    }

    #[test]
    fn what_is_wanted_again_keeps_its_id() {
        let mut table = DataBreakpoints::default();
        let mut all: Breakpoints<()> = Breakpoints::default();
        let mut set = |table: &mut DataBreakpoints, ids: &[&str]| -> Vec<i64> {
            let wanted = ids.iter().map(|id| Asked {
                data_id: id.to_string(),
                access: None,
                options: BreakpointOptions::default(),
            });
            let set = table.replace(wanted.collect(), &mut all);
            set.iter().map(|wanted| wanted.id).collect()
        };
        assert_eq!(set(&mut table, &["a", "b"]), [1, 2]);
        assert_eq!(set(&mut table, &["b", "c"]), [2, 3]);
        table.forget(2);
        assert_eq!(set(&mut table, &["b"]), [4]);
    }
}
