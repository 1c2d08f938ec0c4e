//! Answers one lookup: an address, a line of a file, or a name.

use std::path::Path;

use anyhow::{Result, bail};
use dapple_symbols::lines::{LineLocation, LineLookup};
use dapple_symbols::module::demangle_short;
use dapple_symbols::names::{NamePattern, short_name};
use dapple_symbols::queries::{FoundFunction, Instance};
use dapple_symbols::{FileAddress, Module};

use super::report::{
    Answer, Frame, Function, Location, Place, SymbolOffset, Type, Variable, hex, language, place,
    text,
};

/// Answers a query.
///
/// # Errors
/// The query is malformed. That nothing was found is no error, but [`Answer::NotFound`].
pub fn answer(module: &Module, query: &str) -> Result<Answer> {
    if let Some(digits) = query.strip_prefix("0x") {
        let Ok(address) = u64::from_str_radix(digits, 16) else {
            bail!("{query}: not an address");
        };
        return Ok(at_address(module, FileAddress(address)));
    }
    if let Some((file, line)) = query.rsplit_once(':')
        && !file.is_empty()
        && !file.ends_with(':')
        && line.starts_with(|first: char| first.is_ascii_digit())
    {
        return match line.parse() {
            Ok(line) if line > 0 => Ok(at_line(module, file, line)),
            _ => bail!("{query}: {line} is not a line; lines count from 1"),
        };
    }
    if query.trim().is_empty() {
        bail!("--lookup needs an address, a line or a name");
    }
    Ok(named(module, query))
}

fn not_found(message: String, similar: Vec<String>) -> Answer {
    let meant = match similar.as_slice() {
        [] => String::new(),
        similar => format!("; did you mean {}?", similar.join(" or ")),
    };
    Answer::NotFound {
        message: message + &meant,
        similar,
    }
}

fn at_address(module: &Module, address: FileAddress) -> Answer {
    let Some(section) = module.section_at(address) else {
        return not_found(
            format!("no section of {} has {address}", module.path().display()),
            Vec::new(),
        );
    };
    let symbol = module.symbol_at(address).map(|symbol| SymbolOffset {
        name: demangle_short(&symbol.name),
        offset: address.0 - symbol.address.0,
    });
    let unit = module.unit_at(address);
    Answer::Address {
        address: hex(address),
        section: Some(section.to_owned()),
        symbol,
        language: unit.as_ref().map(|unit| language(unit.language)),
        unit: unit.map(|unit| text(&unit.name)),
        frames: frames(module, address),
    }
}

/// The calls inlined at an address, innermost first, and then the function. Empty if neither a function nor a line is known there.
fn frames(module: &Module, address: FileAddress) -> Vec<Frame> {
    let mut place_inside = row_place(module, address);
    let mut frames = Vec::new();
    for call in module.inlined_at(address).into_iter().rev() {
        let site = call.call_site.as_ref().map(place);
        frames.push(Frame {
            function: short_name(&call.name),
            inlined: true,
            place: std::mem::replace(&mut place_inside, site),
        });
    }
    let function = module.function_at(address);
    if function.is_some() || place_inside.is_some() {
        frames.push(Frame {
            function: function.map_or_else(String::new, |function| short_name(&function.name)),
            inlined: false,
            place: place_inside,
        });
    }
    frames
}

fn row_place(module: &Module, address: FileAddress) -> Option<Place> {
    let row = module.row_at(address).filter(|row| row.line != 0)?;
    Some(Place {
        file: text(&row.file),
        line: row.line,
        column: row.column,
    })
}

fn at_line(module: &Module, file: &str, line: u32) -> Answer {
    match module.lookup_line(Path::new(file), line) {
        LineLookup::Found(found) => {
            let located = found.into_iter().map(|found| location(module, found));
            Answer::Line {
                locations: located.collect(),
            }
        }
        LineLookup::NoCode { before, after } => {
            let nearest = match (before, after) {
                (Some(before), Some(after)) => {
                    format!("; the nearest lines that have some are {before} and {after}")
                }
                (Some(nearest), None) | (None, Some(nearest)) => {
                    format!("; the nearest line that has some is {nearest}")
                }
                (None, None) => String::new(),
            };
            not_found(
                format!("there is no code on line {line} of {file}{nearest}"),
                Vec::new(),
            )
        }
        LineLookup::NoFile { similar } => not_found(
            format!("{} was not made from {file}", module.path().display()),
            similar.iter().map(|path| text(path)).collect(),
        ),
    }
}

fn location(module: &Module, found: LineLocation) -> Location {
    let place = Place {
        file: text(&found.file),
        line: found.line,
        column: found.column,
    };
    // Several inlined calls may begin at this address, one within the other. The frame whose position is at `stop_line` is the right one.
    let frames = frames(module, found.address);
    let on_line = |frame: &&Frame| {
        let at = frame.place.as_ref();
        at.is_some_and(|at| at.file == place.file && at.line == found.stop_line)
    };
    let frame = frames.iter().find(on_line).or(frames.last());
    Location {
        address: hex(found.address),
        stop_line: found.stop_line,
        function: frame.map(|frame| frame.function.clone()),
        place,
    }
}

fn named(module: &Module, name: &str) -> Answer {
    let pattern = NamePattern::new(name);
    let functions = module.find_functions(&pattern);
    let functions: Vec<Function> = functions
        .into_iter()
        .map(|found| function(module, found))
        .collect();
    let types: Vec<Type> = module
        .find_types(&pattern)
        .into_iter()
        .map(|found| Type {
            name: found.short_name,
            full_name: found.name,
            language: language(found.language),
            size: found.size,
            only_declared: found.only_declared,
            declaration: found.declaration.as_ref().map(place),
        })
        .collect();
    let variables: Vec<Variable> = module
        .find_variables(&pattern)
        .into_iter()
        .map(|found| Variable {
            name: short_name(&found.variable.name),
            type_name: found
                .variable
                .type_id
                .and_then(|id| module.type_of(id).ok())
                .map(|found| short_name(&found.name)),
            language: language(found.language),
            address: found.address.map(hex),
            declaration: found.variable.declaration.as_ref().map(place),
        })
        .collect();
    if functions.is_empty() && types.is_empty() && variables.is_empty() {
        return not_found(
            format!("{} has no {name}", module.path().display()),
            module
                .similar_names(&pattern)
                .into_iter()
                .map(|similar| similar.name)
                .collect(),
        );
    }
    Answer::Name {
        functions,
        types,
        variables,
    }
}

fn function(module: &Module, found: FoundFunction) -> Function {
    let (instance, inlined_into) = match found.instance {
        Instance::Function(_) => ("function", None),
        Instance::Inlined { into, .. } => ("inlined", Some(short_name(&into))),
        Instance::Symbol => ("symbol", None),
    };
    Function {
        name: found.short_name,
        full_name: found.name,
        parameters: found.parameters.map(|list| short_name(&list)),
        linkage_name: found.linkage_name,
        language: language(found.language),
        instance,
        inlined_into,
        entry: hex(found.entry),
        breakpoint: hex(found.breakpoint),
        place: row_place(module, found.breakpoint),
        declaration: found.declaration.as_ref().map(place),
    }
}
