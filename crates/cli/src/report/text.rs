//! Writes a report as lines of text.

use std::fmt::{self, Write};

use super::model::{
    Frame, FrameVariables, Instruction, Mapping, Module, Report, Stack, Subject, Thread, Variable,
};

/// How many threads are named that have the same stack.
const NAMED: usize = 20;

/// The report.
pub fn page(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a `String` can't fail.
    let _ = write_page(&mut out, report);
    out
}

fn write_page(out: &mut String, report: &Report) -> fmt::Result {
    for (name, value) in summary(report) {
        let mut lines = value.lines();
        writeln!(out, "{name:<10}{}", lines.next().unwrap_or_default())?;
        for line in lines {
            writeln!(out, "{:10}{line}", "")?;
        }
    }
    section(out, "Notes", &report.notes, |out, text| {
        writeln!(out, "  {text}")
    })?;
    let mut stacks = report.stacks.iter();
    if let Some(first) = stacks.next() {
        writeln!(out, "\n{}", stack_title(report, first))?;
        write_stack(out, first)?;
    }
    section(out, "Variables", &report.variables, write_variables)?;
    if report.more_variables {
        writeln!(out, "  … those of further frames are left out")?;
    }
    write_registers(out, report)?;
    section(out, "Instructions", &report.instructions, write_instruction)?;
    for stack in stacks {
        writeln!(out, "\n{}", threads(&stack.threads))?;
        write_stack(out, stack)?;
    }
    if report.more_threads > 0 {
        writeln!(out, "\n… {} more threads are left out", report.more_threads)?;
    }
    section(out, "Modules", &report.modules, write_module)?;
    more(out, report.more_modules)?;
    section(out, "Memory map", &report.mappings, write_mapping)?;
    more(out, report.more_mappings)
}

fn section<T>(
    out: &mut String,
    title: &str,
    items: &[T],
    write: impl Fn(&mut String, &T) -> fmt::Result,
) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    items.iter().try_for_each(|item| write(out, item))
}

fn more(out: &mut String, count: usize) -> fmt::Result {
    match count {
        0 => Ok(()),
        count => writeln!(out, "  … {count} more are left out"),
    }
}

/// The first lines of a report, each with its name.
pub fn summary(report: &Report) -> Vec<(&'static str, String)> {
    let subject = &report.subject;
    let mut lines = Vec::new();
    match &report.cause {
        Some(cause) => {
            lines.push(("Crash", cause.sentence.to_string()));
            let exception = cause.exception.as_ref();
            lines.extend(exception.map(|name| ("Exception", name.to_string())));
            let details = cause.details.as_ref();
            lines.extend(details.map(|text| ("Details", text.to_string())));
        }
        None if subject.core.is_some() => lines.push((
            "Crash",
            "none: the core file was written while the program ran".to_owned(),
        )),
        None => lines.push(("Crash", "none: a running process".to_owned())),
    }
    let program = subject.program.as_ref();
    lines.extend(program.map(|path| ("Program", path.to_string())));
    if let Some(command) = &subject.command {
        let cut = if subject.command_is_cut { "…" } else { "" };
        lines.push(("Command", format!("{command}{cut}")));
    }
    let process = subject.process;
    lines.extend(process.map(|id| ("Process", id.to_string())));
    lines.push(("Thread", thread(&report.thread)));
    lines.extend(core_file(subject).map(|text| ("Core file", text)));
    let host = &report.host;
    let system = host.system.as_ref();
    let system = system.map(|name| format!(", {name}")).unwrap_or_default();
    // The machine of a core file may be another one.
    let made = format!(
        "{} UTC by {} on {}{system}",
        host.time, host.made_by, host.kernel
    );
    lines.push(("Report", made));
    if report.without_values {
        lines.push((
            "Values",
            "left out (--no-values): nothing here comes from the program's memory".to_owned(),
        ));
    }
    lines
}

/// `core, written 2026-01-31 12:00:00 UTC`.
fn core_file(subject: &Subject) -> Option<String> {
    let file = subject.core.as_ref()?;
    Some(match &subject.written {
        Some(time) => format!("{file}, written {time} UTC"),
        None => file.to_string(),
    })
}

/// `4711 "worker"`.
fn thread(thread: &Thread) -> String {
    match &thread.name {
        Some(name) => format!("{} \"{name}\"", thread.id),
        None => thread.id.to_string(),
    }
}

/// The title of the first stack.
pub fn stack_title(report: &Report, stack: &Stack) -> String {
    let of = match report.cause {
        Some(_) => "Stack of the thread that crashed",
        None => "Stack",
    };
    match stack.threads.len() {
        0 | 1 => format!("{of}: {}", threads(&stack.threads)),
        _ => format!("{of}; equal ones: {}", threads(&stack.threads)),
    }
}

/// `thread 4711 "worker"`, or `2 threads: 4711 "worker", 4712 "worker"`.
pub fn threads(of: &[Thread]) -> String {
    let names: Vec<String> = of.iter().take(NAMED).map(thread).collect();
    let names = names.join(", ");
    match of.len() {
        1 => format!("thread {names}"),
        count @ ..=NAMED => format!("{count} threads: {names}"),
        count => format!("{count} threads: {names} and {} more", count - NAMED),
    }
}

fn write_stack(out: &mut String, stack: &Stack) -> fmt::Result {
    if let Some(problem) = &stack.problem {
        writeln!(out, "  can't be read: {problem}")?;
    }
    stack
        .frames
        .iter()
        .try_for_each(|one| writeln!(out, "  {}", frame(one)))?;
    match stack.more_frames {
        true => writeln!(out, "  … more frames further out are left out"),
        false => Ok(()),
    }
}

/// `#3  main at /src/main.c:12`, with the address where no line is known.
pub fn frame(frame: &Frame) -> String {
    let mut text = match frame.label {
        true => String::new(),
        false => format!("#{:<3}", frame.index),
    };
    let function = frame.function.as_ref();
    text += function.map_or("an unknown function", |name| name.as_str());
    match (&frame.path, frame.line) {
        (Some(path), Some(line)) => text += &format!(" at {path}:{line}"),
        (Some(path), None) => text += &format!(" in {path}"),
        _ => {}
    }
    let is_at_line = frame.line.is_some();
    match (&frame.module, &frame.module_offset, &frame.address) {
        _ if is_at_line => {}
        (Some(module), Some(offset), _) => text += &format!(" in {module}+{offset}"),
        (_, _, Some(address)) => text += &format!(" at {address}"),
        _ => {}
    }
    text
}

fn write_variables(out: &mut String, of: &FrameVariables) -> fmt::Result {
    writeln!(out, "  {}", variables_title(of))?;
    let all = of.arguments.iter().chain(&of.locals);
    for variable in all.clone() {
        writeln!(out, "    {}", assignment(variable))?;
        for part in &variable.parts {
            writeln!(out, "      {}", assignment(part))?;
        }
        if variable.more_parts {
            writeln!(out, "      …")?;
        }
    }
    match (of.more, all.count()) {
        (true, _) => writeln!(out, "    … more are left out"),
        (false, 0) => writeln!(out, "    none"),
        _ => Ok(()),
    }
}

/// `#3  main`.
pub fn variables_title(of: &FrameVariables) -> String {
    let function = of.function.as_ref().map_or("", |name| name.as_str());
    format!("#{:<3}{function}", of.frame)
}

/// `name = value`.
pub fn assignment(variable: &Variable) -> String {
    format!("{} = {}", variable.name, variable.value)
}

fn write_registers(out: &mut String, report: &Report) -> fmt::Result {
    section(out, "Registers", &report.registers, |out, register| {
        writeln!(out, "  {:<10}{}", register.name.as_str(), register.value)
    })
}

fn write_instruction(out: &mut String, one: &Instruction) -> fmt::Result {
    writeln!(out, "{}", instruction(one))
}

/// `→ 0x401136 <main+0x4>  mov eax, [rdi]`.
pub fn instruction(one: &Instruction) -> String {
    let mark = if one.current { "→" } else { " " };
    let symbol = one.symbol.as_ref();
    let symbol = symbol.map(|name| format!(" <{name}>")).unwrap_or_default();
    format!("{mark} {}{symbol}  {}", one.address, one.text)
}

fn write_module(out: &mut String, module: &Module) -> fmt::Result {
    let text = |one: &Option<super::plain::Plain>| {
        one.as_ref().map_or("?", |text| text.as_str()).to_owned()
    };
    writeln!(
        out,
        "  {}-{}  {}",
        text(&module.start),
        text(&module.end),
        module.path
    )?;
    writeln!(out, "    {}", facts(module).join(", "))
}

/// What is known of a module beside its place.
pub fn facts(module: &Module) -> Vec<String> {
    let mut facts = vec![match &module.build_id {
        Some(id) => format!("build id {id}"),
        None => "no build id".to_owned(),
    }];
    facts.extend(module.symbols.as_ref().map(ToString::to_string));
    let from = module.debug_file.as_ref();
    facts.extend(from.map(|file| format!("from {file}")));
    facts.extend(module.compiler.as_ref().map(ToString::to_string));
    facts
}

fn write_mapping(out: &mut String, mapping: &Mapping) -> fmt::Result {
    writeln!(out, "  {}", self::mapping(mapping))
}

/// `0x400000-0x401000 r-- 0x0 /bin/app`.
pub fn mapping(one: &Mapping) -> String {
    let Mapping {
        start,
        end,
        rights,
        offset,
        name,
    } = one;
    let name = name.as_ref().map_or("", |name| name.as_str());
    format!("{start}-{end} {rights} {offset} {name}")
        .trim_end()
        .to_owned()
}
