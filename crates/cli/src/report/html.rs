//! Writes a report as a page of HTML that stands alone: no scripts, no links, no files beside it. Without CSS it is still in order, since the long
//! parts are `<details>` with preformatted text.

use std::fmt::{self, Write};

use dapple_trace::html::escaped;

use super::model::{FrameVariables, Report, Stack, Variable};
use super::text;

/// The style. The policy in front of it lets a browser load and run nothing.
const HEAD: &str = r#"<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em; }
h1 { font-size: 1.4em; } h2, summary { font-size: 1.1em; font-weight: 600; margin: 1.2em 0 .4em; }
pre, td, code { font-family: ui-monospace, monospace; font-size: 13px; }
pre { overflow-x: auto; margin: .4em 0; }
th { text-align: left; vertical-align: top; padding-right: 1.5em; font-weight: 600; }
td { white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; }
.own, .current { font-weight: 600; }
</style>
"#;

/// The report.
pub fn page(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a `String` can't fail.
    let _ = write_page(&mut out, report);
    out
}

fn write_page(out: &mut String, report: &Report) -> fmt::Result {
    let summary = text::summary(report);
    let title = report
        .cause
        .as_ref()
        .map_or("Report", |it| it.sentence.as_str());
    let title = escaped(title.lines().next().unwrap_or_default());
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n{HEAD}<title>{title}</title>"
    )?;
    writeln!(out, "</head>\n<body>\n<h1>{title}</h1>\n<table>")?;
    for (name, value) in summary {
        writeln!(out, "<tr><th>{name}</th><td>{}</td></tr>", escaped(&value))?;
    }
    writeln!(out, "</table>")?;
    if !report.notes.is_empty() {
        writeln!(out, "<h2>Notes</h2>\n<ul>")?;
        for text in &report.notes {
            writeln!(out, "<li>{}</li>", escaped(text.as_str()))?;
        }
        writeln!(out, "</ul>")?;
    }
    write_thread(out, report)?;
    let others = report.stacks.get(1..).unwrap_or_default();
    if !others.is_empty() || report.more_threads > 0 {
        open(out, "Other threads")?;
        for stack in others {
            writeln!(out, "<h3>{}</h3>", escaped(&text::threads(&stack.threads)))?;
            write_stack(out, stack)?;
        }
        left_out(out, report.more_threads, "threads")?;
        close(out)?;
    }
    write_memory(out, report)?;
    writeln!(out, "</body>\n</html>")
}

/// What is there of the thread that crashed.
fn write_thread(out: &mut String, report: &Report) -> fmt::Result {
    if let Some(stack) = report.stacks.first() {
        let title = escaped(&text::stack_title(report, stack));
        writeln!(out, "<h2>{title}</h2>")?;
        write_stack(out, stack)?;
    }
    if !report.variables.is_empty() {
        writeln!(out, "<h2>Variables</h2>")?;
        report
            .variables
            .iter()
            .try_for_each(|of| write_variables(out, of))?;
        if report.more_variables {
            writeln!(out, "<p>Those of further frames are left out.</p>")?;
        }
    }
    if !report.registers.is_empty() {
        open(out, "Registers")?;
        writeln!(out, "<table>")?;
        for register in &report.registers {
            let (name, value) = (&register.name, &register.value);
            let (name, value) = (escaped(name.as_str()), escaped(value.as_str()));
            writeln!(out, "<tr><th>{name}</th><td>{value}</td></tr>")?;
        }
        writeln!(out, "</table>")?;
        close(out)?;
    }
    if !report.instructions.is_empty() {
        open(out, "Instructions")?;
        write!(out, "<pre>")?;
        for one in &report.instructions {
            line(
                out,
                &text::instruction(one),
                one.current.then_some("current"),
            )?;
        }
        writeln!(out, "</pre>")?;
        close(out)?;
    }
    Ok(())
}

/// The modules and the memory map.
fn write_memory(out: &mut String, report: &Report) -> fmt::Result {
    if !report.modules.is_empty() {
        open(out, "Modules")?;
        writeln!(out, "<table>")?;
        for module in &report.modules {
            let start = module.start.as_ref().map_or("", |start| start.as_str());
            let end = module.end.as_ref().map_or("", |end| end.as_str());
            let path = escaped(module.path.as_str());
            let facts = escaped(&text::facts(module).join("\n"));
            writeln!(
                out,
                "<tr><th>{path}</th><td>{start}-{end}\n{facts}</td></tr>"
            )?;
        }
        writeln!(out, "</table>")?;
        left_out(out, report.more_modules, "modules")?;
        close(out)?;
    }
    if !report.mappings.is_empty() {
        open(out, "Memory map")?;
        write!(out, "<pre>")?;
        for mapping in &report.mappings {
            line(out, &text::mapping(mapping), None)?;
        }
        writeln!(out, "</pre>")?;
        left_out(out, report.more_mappings, "mappings")?;
        close(out)?;
    }
    Ok(())
}

fn write_stack(out: &mut String, stack: &Stack) -> fmt::Result {
    write!(out, "<pre>")?;
    if let Some(problem) = &stack.problem {
        line(out, &format!("can't be read: {problem}"), None)?;
    }
    for frame in &stack.frames {
        line(out, &text::frame(frame), frame.own.then_some("own"))?;
    }
    if stack.more_frames {
        line(out, "… more frames further out are left out", None)?;
    }
    writeln!(out, "</pre>")
}

fn write_variables(out: &mut String, of: &FrameVariables) -> fmt::Result {
    writeln!(out, "<h3>{}</h3>", escaped(&text::variables_title(of)))?;
    writeln!(out, "<table>")?;
    let row = |out: &mut String, variable: &Variable, indent: &str| {
        let name = escaped(variable.name.as_str());
        let value = escaped(variable.value.as_str());
        writeln!(out, "<tr><th>{indent}{name}</th><td>{value}</td></tr>")
    };
    for variable in of.arguments.iter().chain(&of.locals) {
        row(out, variable, "")?;
        for part in &variable.parts {
            row(out, part, "&emsp;")?;
        }
        if variable.more_parts {
            writeln!(out, "<tr><th>&emsp;…</th><td></td></tr>")?;
        }
    }
    writeln!(out, "</table>")?;
    match (of.more, of.arguments.len() + of.locals.len()) {
        (true, _) => writeln!(out, "<p>More are left out.</p>"),
        (false, 0) => writeln!(out, "<p>None.</p>"),
        _ => Ok(()),
    }
}

/// A line of preformatted text.
fn line(out: &mut String, text: &str, class: Option<&str>) -> fmt::Result {
    let text = escaped(text);
    match class {
        Some(class) => writeln!(out, "<span class=\"{class}\">{text}</span>"),
        None => writeln!(out, "{text}"),
    }
}

fn open(out: &mut String, title: &str) -> fmt::Result {
    writeln!(out, "<details>\n<summary>{title}</summary>")
}

fn close(out: &mut String) -> fmt::Result {
    writeln!(out, "</details>")
}

fn left_out(out: &mut String, count: usize, of: &str) -> fmt::Result {
    match count {
        0 => Ok(()),
        count => writeln!(out, "<p>{count} more {of} are left out.</p>"),
    }
}
