//! Names of frames in the client's format (`StackFrameFormat`): `tour!mean(const double * values = 0x…, int count = 3) Line 12`.
//!
//! Used only for requests with a format, because reading the parameters of each frame takes time.

use crate::adapter::Adapter;
use crate::function_names::FunctionNames;
use crate::to_dap;
use crate::to_dap::OrFail;
use dapple_dap::server::Failure;
use dapple_dap::types::StackFrameFormat;
use dapple_engine::frame::Frame;
use dapple_engine::frame::Language;
use dapple_engine::values::{Format, NamedValue, Rendered};

/// Which parts of parameters are shown.
#[derive(Debug, Clone, Copy)]
struct Parameters {
    types: bool,
    names: bool,
    values: bool,
}

/// Which parts of parameters the client wants. `None`: no parameter list at all. `parameters` alone means their names.
fn parameters(format: &StackFrameFormat) -> Option<Parameters> {
    let is = |flag: Option<bool>| flag == Some(true);
    let (types, names) = (is(format.parameter_types), is(format.parameter_names));
    let values = is(format.parameter_values);
    let any = types || names || values;
    match format.parameters {
        Some(false) => None,
        None if !any => None,
        _ => Some(Parameters {
            types,
            names: names || !any,
            values,
        }),
    }
}

/// How functions are named: whole if the client asks for types, of which a name's generic arguments are, or for everything.
pub fn names(format: Option<&StackFrameFormat>, usual: FunctionNames) -> FunctionNames {
    let asks = |format: &StackFrameFormat| {
        [format.parameter_types, format.include_all].contains(&Some(true))
    };
    match format.is_some_and(asks) {
        true => FunctionNames::Whole,
        false => usual,
    }
}

/// A frame's name in a format. `name` is the name without a format.
///
/// # Errors
/// The engine's.
pub fn written(
    adapter: &Adapter,
    frame: &Frame,
    name: String,
    format: &StackFrameFormat,
) -> Result<String, Failure> {
    let mut text = String::new();
    if format.module == Some(true)
        && let Some(module) = &frame.physical.module
    {
        text = format!("{}!", to_dap::file_name(module.module.path()));
    }
    text.push_str(&name);
    // Parameters need debug information. A demangled symbol name has a list of parameter types already.
    let whole = frame.function.as_deref();
    if let Some(wanted) = parameters(format)
        && frame.language != Language::Other
        && whole.is_none_or(|whole| !whole.ends_with(')'))
    {
        let hex = match format.hex == Some(true) {
            true => Format::Hexadecimal,
            false => Format::Natural,
        };
        let parameters = adapter
            .partly_stopped()?
            .parameters(frame.id, hex)
            .or_fail()?;
        let shown: Vec<String> = parameters
            .iter()
            .map(|parameter| parameter_text(parameter, wanted, frame.language))
            .collect();
        text.push_str(&format!("({})", shown.join(", ")));
    }
    if format.line == Some(true)
        && let Some(position) = &frame.position
        && position.line != 0
    {
        text.push_str(&format!(" Line {}", position.line));
    }
    Ok(text)
}

/// The wanted parts of `int count = 3`, or in Rust `count: i32 = 3`.
fn parameter_text(
    (named, rendered): &(NamedValue, Rendered),
    wanted: Parameters,
    language: Language,
) -> String {
    let name = wanted.names.then_some(named.name.as_str());
    let of = Some(rendered.type_name.as_str());
    let of = of.filter(|name| wanted.types && !name.is_empty());
    let mut text = match (of, name) {
        (Some(of), Some(name)) if language == Language::Rust => format!("{name}: {of}"),
        // In C, the name of a function pointer stands inside its type.
        (Some(of), Some(name)) if of.contains("(*)") => {
            of.replacen("(*)", &format!("(*{name})"), 1)
        }
        (Some(of), Some(name)) => format!("{of} {name}"),
        (of, name) => of.or(name).unwrap_or_default().to_owned(),
    };
    if wanted.values {
        if !text.is_empty() {
            text.push_str(" = ");
        }
        text.push_str(&rendered.text);
    }
    text
}
