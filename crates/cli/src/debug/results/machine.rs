//! Instructions, memory and modules.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::is_false;
use crate::debug::screen::printable;
use crate::debug::style::{Role, Style};

/// Instructions, one behind the other.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Instructions {
    /// They.
    pub instructions: Vec<Instruction>,
}

/// An instruction.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Instruction {
    /// Its address.
    pub address: String,
    /// The function that it is in, and where there: `main+0x4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The instruction, as the adapter writes it.
    pub text: String,
    /// The source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line in it, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Whether it is the next one of the selected frame.
    #[serde(default, skip_serializing_if = "is_false")]
    pub next: bool,
}

impl Instruction {
    /// `→ 0x1139 <main+4>  mov eax, 1`
    pub fn text(&self, style: Style) -> String {
        let symbol = self.symbol.as_ref().map(|name| format!(" <{name}>"));
        let symbol = symbol.unwrap_or_default();
        let mark = match self.next {
            true => style.paint(Role::Current, "→"),
            false => " ".to_owned(),
        };
        let instruction = printable(&format!("{}{symbol}  {}", self.address, self.text));
        format!("{mark} {instruction}")
    }

    /// `main.c:12`, for the line above the instructions of a source line.
    fn place(&self, style: Style) -> Option<String> {
        let path = Path::new(self.path.as_ref()?);
        let name = path.file_name().unwrap_or(path.as_os_str());
        let place = format!("{}:{}", printable(&name.to_string_lossy()), self.line?);
        Some(style.paint(Role::Location, &place))
    }
}

impl Instructions {
    /// A line for each, below those of the source.
    pub fn text(&self, style: Style) -> String {
        let (mut lines, mut last) = (Vec::new(), None);
        for one in &self.instructions {
            if one.line != last {
                last = one.line;
                lines.extend(one.place(style));
            }
            lines.push(one.text(style));
        }
        lines.join("\n")
    }
}

/// Memory, as `x` shows it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Where it begins.
    pub address: String,
    /// The bytes that were read, each as two hexadecimal digits. Missing for texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The lines in the format that was asked for.
    pub lines: Vec<String>,
}

/// A file that is loaded: the program or a library.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Module {
    /// Its path, or the name that the adapter has for it.
    pub path: String,
    /// Its addresses, as the adapter writes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// Which debug information there is of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbols: Option<String>,
}

impl Module {
    /// `0x400000-0x401000  /usr/bin/true  no debug information`
    pub fn text(&self, style: Style) -> String {
        let range = { self.range.as_ref() }.map_or_else(String::new, |range| format!("{range}  "));
        let symbols = { self.symbols.as_ref() }.map(|symbols| format!("  {symbols}"));
        let symbols = printable(&symbols.unwrap_or_default());
        let symbols = style.paint(Role::Aside, &symbols);
        format!("{}{}{symbols}", printable(&range), printable(&self.path))
    }
}
