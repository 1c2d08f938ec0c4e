//! Prints a report as text.

use std::fmt;
use std::io::{self, Write};

use super::report::{Answer, Function, Lookup, Place, Report, SourceFile, Summary};

/// Prints a report.
pub fn report(out: &mut impl Write, report: &Report) -> io::Result<()> {
    if let Some(found) = &report.summary {
        summary(out, &report.file, found)?;
    }
    if let Some(found) = &report.sources {
        sources(out, found)?;
    }
    for (number, found) in report.lookups.iter().enumerate() {
        if number > 0 || report.sources.is_some() {
            writeln!(out)?;
        }
        lookup(out, found)?;
    }
    Ok(())
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            0 => Ok(()),
            column => write!(f, ":{column}"),
        }
    }
}

/// A number of bytes with a unit: whole bytes, or one decimal of a larger unit.
fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB"] {
        if value < 1024.0 {
            return match unit {
                "B" => format!("{bytes} B"),
                unit => format!("{value:.1} {unit}"),
            };
        }
        value /= 1024.0;
    }
    format!("{value:.1} GiB")
}

fn summary(out: &mut impl Write, file: &str, summary: &Summary) -> io::Result<()> {
    let kind = match summary.kind {
        "executable" => "executable at fixed addresses",
        "pie" => "position-independent executable",
        _ => "shared library",
    };
    writeln!(out, "{file}: {kind}")?;
    if let Some(id) = &summary.build_id {
        writeln!(out, "build id: {id}")?;
    }
    let what = match summary.debug_info {
        "dwarf" => "DWARF",
        "symbols" => "none but a symbol table; compile with -g for more",
        _ => "none, not even a symbol table; it was stripped",
    };
    match &summary.debug_file {
        Some(debug) => writeln!(out, "debug information: {what}, in {debug}")?,
        None => writeln!(out, "debug information: {what}")?,
    }
    if !summary.units.is_empty() {
        writeln!(out, "\nunits")?;
        for units in &summary.units {
            let producer = match units.producer.as_str() {
                "" => "unknown compiler",
                producer => producer,
            };
            write!(
                out,
                "  {:>6}  {}, DWARF {}: {producer}",
                units.count, units.language, units.version
            )?;
            match units.type_units {
                0 => writeln!(out)?,
                types => writeln!(out, " ({types} of them for types)")?,
            }
        }
        writeln!(out, "  from {} source files", summary.source_files)?;
    }
    if !summary.sections.is_empty() {
        writeln!(out, "\nsections")?;
        for section in &summary.sections {
            write!(out, "  {:<20} {:>10}", section.name, size(section.size))?;
            if let Some(inflated) = section.inflated_size {
                write!(out, ", {} inflated", size(inflated))?;
            }
            if summary.debug_file.as_ref() == Some(&section.file) {
                write!(out, ", in the file with the debug information")?;
            }
            writeln!(out)?;
        }
    }
    companions(out, summary)?;
    if !summary.warnings.is_empty() {
        writeln!(out, "\nwarnings")?;
        for warning in &summary.warnings {
            writeln!(out, "  {warning}")?;
        }
    }
    Ok(())
}

fn companions(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    if summary.companions.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nseparate files")?;
    for file in &summary.companions {
        let kind = match file.kind {
            "splitUnit" => "split unit",
            "package" => "package of split units",
            "miniDebugInfo" => "compressed symbols",
            "supplementary" => "shared entries",
            _ => "debug information",
        };
        write!(out, "  {kind}: {}: ", file.path)?;
        match &file.reason {
            Some(reason) => writeln!(out, "{}, {reason}", file.outcome)?,
            None => writeln!(out, "{}", file.outcome)?,
        }
    }
    Ok(())
}

fn sources(out: &mut impl Write, sources: &[SourceFile]) -> io::Result<()> {
    for source in sources {
        let status = match source.status {
            // The file exists, and there is no checksum to compare.
            "unknown" => "here",
            status => status,
        };
        write!(out, "{status:<8} {}", source.path)?;
        match &source.found {
            Some(found) if *found != source.path => writeln!(out, " → {found}")?,
            _ => writeln!(out)?,
        }
    }
    Ok(())
}

fn lookup(out: &mut impl Write, lookup: &Lookup) -> io::Result<()> {
    writeln!(out, "{}", lookup.query)?;
    match &lookup.answer {
        Answer::Address {
            section,
            symbol,
            unit,
            language,
            frames,
            ..
        } => {
            for frame in frames {
                let function = match frame.function.as_str() {
                    "" => "unknown function",
                    function => function,
                };
                write!(out, "  {function}")?;
                if let Some(place) = &frame.place {
                    write!(out, " at {place}")?;
                }
                writeln!(out, "{}", if frame.inlined { ", inlined into" } else { "" })?;
            }
            if let Some(symbol) = symbol {
                match symbol.offset {
                    0 => writeln!(out, "  symbol {}", symbol.name)?,
                    offset => writeln!(out, "  symbol {} + {offset:#x}", symbol.name)?,
                }
            }
            if let (Some(unit), Some(language)) = (unit, language) {
                writeln!(out, "  unit {unit}, {language}")?;
            }
            if let Some(section) = section {
                writeln!(out, "  section {section}")?;
            }
        }
        Answer::Line { locations } => {
            for location in locations {
                write!(out, "  {}", location.address)?;
                if let Some(function) = location.function.as_ref().filter(|name| !name.is_empty()) {
                    write!(out, " in {function}")?;
                }
                write!(out, " at {}:{}", location.place.file, location.place.line)?;
                match location.stop_line == location.place.line {
                    true => writeln!(out)?,
                    false => writeln!(out, ", stops on line {}", location.stop_line)?,
                }
            }
        }
        Answer::Name {
            functions,
            types,
            variables,
        } => {
            functions
                .iter()
                .try_for_each(|found| function(out, found))?;
            for found in types {
                write!(out, "  type {}", found.name)?;
                match (found.size, found.only_declared) {
                    (_, true) => write!(out, ", only declared")?,
                    (Some(size), _) => write!(out, ", {size} bytes")?,
                    (None, _) => {}
                }
                end_with(out, found.declaration.as_ref())?;
            }
            for found in variables {
                write!(out, "  variable {}", found.name)?;
                if let Some(name) = &found.type_name {
                    write!(out, ": {name}")?;
                }
                if let Some(address) = &found.address {
                    write!(out, ", {address}")?;
                }
                end_with(out, found.declaration.as_ref())?;
            }
        }
        Answer::NotFound { .. } => writeln!(out, "  not found")?,
    }
    Ok(())
}

fn function(out: &mut impl Write, found: &Function) -> io::Result<()> {
    write!(out, "  {} {}", found.instance, found.name)?;
    if let Some(parameters) = &found.parameters {
        write!(out, "({parameters})")?;
    }
    if let Some(into) = &found.inlined_into {
        write!(out, " into {into}")?;
    }
    write!(out, ", {}", found.entry)?;
    if found.breakpoint != found.entry {
        write!(out, ", breakpoint {}", found.breakpoint)?;
    }
    end_with(out, found.place.as_ref())
}

fn end_with(out: &mut impl Write, place: Option<&Place>) -> io::Result<()> {
    match place {
        Some(place) => writeln!(out, " at {place}"),
        None => writeln!(out),
    }
}
