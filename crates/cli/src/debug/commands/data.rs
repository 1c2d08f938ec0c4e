//! Commands that show and change values, and `info`.

use anyhow::{Context, bail};
use dapple_adapter::DecidedRequest;
use dapple_dap::message::Empty;
use dapple_dap::types::{
    EvaluateArguments, EvaluateArgumentsContext, EvaluateRequest, EvaluateResponse,
    ModulesArguments, ModulesRequest, Scope, ScopePresentationHint, ScopesArguments, ScopesRequest,
    StackFrame, Variable, VariablesArguments, VariablesArgumentsFilter, VariablesRequest,
};

use super::expression_text::unquoted;
use super::value_history::{Remembered, variable_name};
use super::{Argument, Command, Flow, assigning, number_format};
use crate::debug::render;
use crate::debug::results::{self, Item, Values};
use crate::debug::screen::printable;
use crate::debug::session::Session;
use crate::debug::value_tree;

/// The subjects of `info`. Those from [`LATER`] on come after the others where an abbreviation fits several.
pub const TOPICS: &[&str] = &[
    "breakpoints",
    "locals",
    "args",
    "threads",
    "processes",
    "registers",
    "modules",
    "locks",
    "tasks",
    "functions",
    "variables",
    "types",
    "line",
    "symbol",
    "source",
    "sources",
    "mappings",
];

/// The index of the first subject that comes after the others.
const LATER: usize = 7;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "print",
        aliases: &["p"],
        usage: "EXPRESSION",
        summary: "show a value",
        details: "Such as `p order.items[0]` or `p *next`. What does not fit on a line is opened up. `p/x flags` shows numbers in hexadecimal, `p *pointer@3` three of what it points to. `p -full text` leaves nothing out. `$` is the value that was printed last, `$$` the one before, `$1` the first: `p $ + 1`; `show values` lists them.",
        argument: Argument::Expression,
        repeats: false,
        run: print,
    },
    Command {
        name: "type",
        aliases: &["ptype", "whatis"],
        usage: "EXPRESSION",
        summary: "show the type of a value, and of its fields, or what a type or function is",
        details: "Such as `type order.items`, `type Order`, `type main`.",
        argument: Argument::Expression,
        repeats: false,
        run: type_of,
    },
    Command {
        name: "set",
        aliases: &[],
        usage: "PLACE = VALUE",
        summary: "give a variable another value",
        details: "Such as `set order.count = 3`, `set flags |= 1` or `set $rax = 0`; both sides are expressions. What does not fit is refused, and changes nothing. `set $i = 3` keeps a value as `$i`, for later expressions. `set args …`, `set cwd DIRECTORY` and `set env NAME=VALUE` are for the next `run`.",
        argument: Argument::Expression,
        repeats: false,
        run: set,
    },
    Command {
        name: "info",
        aliases: &["i", "in"],
        usage: "SUBJECT",
        summary: "list what there is of these",
        details: "Of the program's state: breakpoints, locals, args, threads, processes, registers, modules, locks, tasks, mappings. Of its code: `info functions REGEX`, \
                  `info variables REGEX`, `info types REGEX`, `info line 12`, `info symbol ADDRESS`, `info source`, `info sources TEXT`. The start of the word is \
                  enough: `i b`, `i lo` (locals). `info locks` lists the threads that wait for a mutex or for another thread, with who \
                  holds it, and marks circles of them as deadlocks.",
        argument: Argument::Topic(TOPICS),
        repeats: false,
        run: info,
    },
];

/// The option that shows a value in full.
const FULL: &str = "-full";

fn print(session: &mut Session, expression: &str) -> anyhow::Result<Flow> {
    if expression.is_empty() {
        bail!("print what? `p order.items[0]`");
    }
    let (is_full, expression) = match expression.strip_prefix(FULL) {
        Some(rest) if rest.starts_with(char::is_whitespace) => (true, rest.trim()),
        _ => (false, expression),
    };
    if let Some(at) = assigns(expression).filter(|_| !expression.starts_with('/')) {
        return assign(session, expression, at);
    }
    if let Some(value) = session.values.named(expression)?.cloned() {
        session
            .screen
            .print(&format!("{expression} = {}", value.text));
        session
            .values
            .remember(&value.text, value.type_name.as_deref());
        return Ok(Flow::Go);
    }
    let letter = format_elsewhere(session, expression);
    let (name, expression) = match letter {
        Some((_, expression)) => in_notation_of_adapter(session, expression)?,
        None => in_notation_of_adapter(session, expression)?,
    };
    if let Some(at) = assigns(&expression) {
        return assign(session, &expression, at);
    }
    let frame = session.stop()?.frame().map(|frame| frame.id);
    let mut arguments = EvaluateArguments::new(expression);
    arguments.frame_id = frame;
    // In other adapters, `repl` takes the adapter's own commands, and `p x` is one of lldb's.
    arguments.context = Some(match is_full {
        true => EvaluateArgumentsContext::Clipboard,
        false => EvaluateArgumentsContext::Watch,
    });
    let mut answer = session.request_that_runs::<EvaluateRequest>(arguments)?;
    session
        .values
        .remember(&answer.result, answer.r#type.as_deref());
    if let Some((letter, _)) = letter {
        let shown = number_format::formatted(&answer.result, answer.r#type.as_deref(), letter);
        answer.result = shown.with_context(|| {
            format!(
                "`/{letter}` shows whole numbers only, and this is {}",
                answer.result
            )
        })?;
    }
    if is_full {
        session.screen.print(&format!("{name} = {}", answer.result));
        return Ok(Flow::Go);
    }
    let value = value_tree::Value::from(&answer).of_expression(name);
    let shown = value_tree::open(session, name, &value);
    session.screen.show(Item::Value(shown));
    Ok(Flow::Go)
}

/// The letter of gdb's format in front of an expression, and the expression, for adapters without formats.
fn format_elsewhere<'e>(session: &Session, expression: &'e str) -> Option<(&'e str, &'e str)> {
    let format = expression.strip_prefix('/')?;
    let (letter, expression) = format.split_once(char::is_whitespace)?;
    let is_known = matches!(letter, "x" | "a" | "o" | "t" | "u" | "d" | "c");
    (is_known && !session.is_own_adapter()).then(|| (letter, expression.trim()))
}

/// An expression without gdb's format, and as the adapter takes it: with a format as in `/x flags`, or for a number of elements as in
/// `numbers[2]@3`.
pub(super) fn in_notation_of_adapter<'e>(
    session: &Session,
    expression: &'e str,
) -> anyhow::Result<(&'e str, String)> {
    let (name, expression) = match expression.strip_prefix('/') {
        Some(format) => with_format(session, format)?,
        None => (expression, expression.to_owned()),
    };
    let expression = session.values.expanded(&expression)?;
    let elements = at_sign(&expression).filter(|_| session.is_own_adapter());
    let elements = elements.map(|(first, count)| format!("&({first}),[{count}]"));
    Ok((name, elements.unwrap_or(expression)))
}

/// Splits gdb's `numbers[2]@3`, which means three elements from `numbers[2]` on. An `@` inside a string doesn't count.
fn at_sign(text: &str) -> Option<(&str, &str)> {
    let at = { unquoted(text).filter(|(_, c, _)| *c == '@') }.last();
    let found = at.map(|(at, ..)| (text[..at].trim(), text[at + 1..].trim()));
    found.filter(|(first, count)| !first.is_empty() && !count.is_empty())
}

/// Translates `/x flags`, the notation of gdb and lldb, into Dapple's `flags,x`; also returns the expression alone as the name.
fn with_format<'f>(session: &Session, format: &'f str) -> anyhow::Result<(&'f str, String)> {
    let (letter, expression) = format
        .split_once(char::is_whitespace)
        .context("print what? `p/x flags`")?;
    if !session.is_own_adapter() {
        bail!(
            "`/{letter}` is a format of Dapple's adapter only; use the notation that this adapter documents"
        );
    }
    // `a` (address) is shown as hexadecimal; gdb's `t` (two) means binary.
    let letter = match letter {
        "a" => "x",
        "t" => "b",
        letter => letter,
    };
    let expression = expression.trim();
    Ok((expression, format!("{expression},{letter}")))
}

/// Evaluates an expression in the selected frame; the names of printed values in it are replaced.
pub(super) fn evaluate(
    session: &mut Session,
    expression: &str,
) -> anyhow::Result<EvaluateResponse> {
    let mut arguments = EvaluateArguments::new(session.values.expanded(expression)?);
    arguments.frame_id = session.stop()?.frame().map(|frame| frame.id);
    arguments.context = Some(EvaluateArgumentsContext::Watch);
    session.request_that_runs::<EvaluateRequest>(arguments)
}

/// Shows a value's type, and the types of its fields.
fn type_of(session: &mut Session, expression: &str) -> anyhow::Result<Flow> {
    if expression.is_empty() {
        bail!("the type of what? `type order.items`");
    }
    let answer = evaluate(session, expression)?;
    let Some(type_name) = answer.r#type.filter(|name| !name.is_empty()) else {
        bail!("the type of `{expression}` is not known");
    };
    let mut lines = vec![type_name];
    if answer.variables_reference > 0 && answer.named_variables != Some(0) {
        let fields = VariablesArguments::new(answer.variables_reference)
            .with_filter(VariablesArgumentsFilter::Named);
        let fields = session.request::<VariablesRequest>(fields)?.variables;
        let fields = fields.iter().filter(|field| !field.name.starts_with('['));
        lines.extend(fields.filter_map(|field| {
            let of = field.r#type.as_ref().filter(|name| !name.is_empty())?;
            Some(format!("  {}: {of}", field.name))
        }));
    }
    session.screen.print(&printable(&lines.join("\n")));
    Ok(Flow::Go)
}

fn set(session: &mut Session, assignment: &str) -> anyhow::Result<Flow> {
    // gdb also has `set variable`.
    let words = ["variable ", "var "];
    let rest = words.iter().find_map(|word| assignment.strip_prefix(word));
    if rest.is_none() && super::launching::set(session, assignment)? {
        return Ok(Flow::Go);
    }
    let assignment = rest.unwrap_or(assignment).trim();
    match assigns(assignment) {
        Some(at) => assign(session, assignment, at),
        None => bail!("set what? `set order.count = 3`"),
    }
}

/// The end of an assignment's operator: after the first `=` that is no part of a comparison, arrow or string, and in no brackets. `None`: it is
/// no assignment.
fn assigns(text: &str) -> Option<usize> {
    let is_operator = |at: usize| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        // `<=` compares, `<<=` shifts.
        let compares = before.ends_with(['=', '!'])
            || after.starts_with('=')
            || (before.ends_with(['<', '>']) && !before.ends_with("<<") && !before.ends_with(">>"));
        !compares && !after.starts_with('>')
    };
    let mut signs = unquoted(text).filter(|(_, c, depth)| (*c, *depth) == ('=', 0));
    let found = signs.find(|(at, ..)| is_operator(*at))?;
    Some(found.0 + 1)
}

fn assign(session: &mut Session, assignment: &str, at: usize) -> anyhow::Result<Flow> {
    const OPERATORS: [char; 10] = ['+', '-', '*', '/', '%', '&', '|', '^', '<', '>'];
    let (head, value) = assignment.split_at(at);
    let place = head.trim_end_matches('=').trim();
    let (operator, value) = (
        &place[place.trim_end_matches(OPERATORS).len()..],
        value.trim(),
    );
    let name = place.trim_end_matches(OPERATORS).trim();
    if let Some(variable) = variable_name(name)
        && is_own_variable(session, variable)
    {
        return set_own(session, variable, operator, value);
    }
    session.stop()?;
    // Only Dapple's adapter is known to evaluate assignments.
    let (value, text, type_name) = match session.is_own_adapter() {
        true => assigning::evaluate(session, assignment)?,
        false if operator.is_empty() => assigning::set(session, name, value)?,
        false => assigning::set(session, name, &format!("{name} {operator} ({value})"))?,
    };
    session.values.remember(&text, type_name.as_deref());
    let shown = value_tree::open(session, name, &value);
    session.screen.show(Item::Value(shown));
    Ok(Flow::Go)
}

/// Whether a name behind a `$` is a variable of the user's own, and no register or the like of the adapter's.
fn is_own_variable(session: &Session, name: &str) -> bool {
    if session.values.has(name) {
        return true;
    }
    let Ok(stop) = session.stop() else {
        return true;
    };
    let mut arguments = EvaluateArguments::new(format!("${name}"));
    arguments.frame_id = stop.frame().map(|frame| frame.id);
    arguments.context = Some(EvaluateArgumentsContext::Hover);
    session.request::<EvaluateRequest>(arguments).is_err()
}

/// Sets a variable of the user's own to the value of an expression.
fn set_own(session: &mut Session, name: &str, operator: &str, value: &str) -> anyhow::Result<Flow> {
    let value = match operator {
        "" => value.to_owned(),
        operator => format!("${name} {operator} ({value})"),
    };
    let known = session.values.named(&value)?.cloned();
    let is_number = value.parse::<i64>().is_ok();
    let new = match known {
        Some(known) => known,
        // This needs no program.
        None if is_number => Remembered {
            text: value,
            type_name: None,
        },
        None => {
            let answer = evaluate(session, &value)?;
            Remembered {
                text: answer.result,
                type_name: answer.r#type,
            }
        }
    };
    session.screen.print(&format!("${name} = {}", new.text));
    session.values.set(name, new);
    Ok(Flow::Go)
}

fn info(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (topic, rest) = { argument.split_once(char::is_whitespace) }.unwrap_or((argument, ""));
    let rest = rest.trim();
    let matching = topics(topic);
    if let [known] = matching[..]
        && super::symbols::show(session, known, rest)?
    {
        return Ok(Flow::Go);
    }
    let takes_more = matches!(
        matching[..],
        [&("modules" | "registers" | "tasks" | "threads")]
    ) || rest == "all" && matches!(matching[..], [&"locals"]);
    let (topic, matching) = match rest.is_empty() || takes_more {
        true => (topic, matching),
        false => (argument, Vec::new()),
    };
    match matching[..] {
        [&"breakpoints"] => breakpoints(session),
        [&"locals"] if rest == "all" => variables_and_arguments(session)?,
        [&"locals"] => variables(session, &ScopePresentationHint::Locals, "locals")?,
        [&"args"] => variables(session, &ScopePresentationHint::Arguments, "arguments")?,
        [&"threads"] => super::threads::list(session, rest)?,
        [&"processes"] => {
            let listed = session.listed_processes();
            if listed.is_empty() {
                let none = "the program is not running; `run` starts it";
                session.screen.print(none);
            }
            for process in listed {
                session.screen.show(Item::ProcessLine(process));
            }
        }
        [&"registers"] => drop(super::machine::show_registers(session, rest)?),
        [&"modules"] => modules(session, rest)?,
        [&"locks"] => super::locks::show(session)?,
        [&"tasks"] => return super::tasks::tasks(session, rest),
        _ if topic.is_empty() => bail!("info about what? {}", TOPICS.join(", ")),
        [] => {
            let similar = TOPICS
                .iter()
                .map(|known| (strsim::levenshtein(topic, known), *known))
                .min();
            if let Some((distance, known)) = similar
                && distance <= known.len().div_ceil(3)
            {
                bail!("there is no info about `{topic}`; did you mean `info {known}`?");
            }
            bail!(
                "there is no info about `{topic}`, only about {}",
                TOPICS.join(", ")
            )
        }
        _ => bail!(
            "`{topic}` could be any of {}",
            matching
                .iter()
                .map(|topic| **topic)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
    Ok(Flow::Go)
}

/// The subjects that a word may stand for: the one of that name, or those that begin with it.
pub(super) fn topics(word: &str) -> Vec<&'static &'static str> {
    if let Some(known) = TOPICS.iter().find(|known| **known == word) {
        return vec![known];
    }
    // Also accepts `regs` and `vars`. `i v` are the locals, as `v` is; `i var` are the variables.
    let is_begun = |known: &&'static str| word.len() > 1 && known.starts_with(word);
    let known = match TOPICS.iter().any(is_begun) {
        true => None,
        false => super::foreign_commands::single_words()
            .find(|(other, _)| *other == word)
            .and_then(|(_, command)| command.strip_prefix("info ")),
    };
    let word = match known.unwrap_or(word) {
        "regs" => "registers",
        word => word,
    };
    let starting = |of: &'static [&'static str]| -> Vec<_> {
        of.iter().filter(|known| known.starts_with(word)).collect()
    };
    let (first, later) = TOPICS.split_at(LATER);
    match starting(first) {
        none if none.is_empty() => starting(later),
        some => some,
    }
}

fn breakpoints(session: &mut Session) {
    // Without a running program, nothing is decided yet.
    let asked = session.is_own_adapter().then(|| {
        let asked = session.request::<DecidedRequest>(Empty);
        asked.unwrap_or_default()
    });
    let answer = asked.unwrap_or_default();
    let decided = &answer.breakpoints;
    let style = session.screen.style;
    let all: Vec<results::Breakpoint> = { session.breakpoints.iter() }
        .map(|this| {
            let answer = session.breakpoints.answer(this.number);
            let id = answer.and_then(|answer| answer.id);
            let decided = decided.iter().find(|decided| Some(decided.id) == id);
            let how = decided.map_or_else(String::new, render::decided);
            results::Breakpoint::of(this, answer, style).listed(&how)
        })
        .collect();
    let watched = super::watching::shown(session);
    if all.is_empty() && watched.is_empty() && answer.memory == 0 {
        session.screen.print("there are no breakpoints");
    }
    let all = all.into_iter().map(Item::Breakpoint);
    for one in all.chain(watched) {
        session.screen.show(one);
    }
    if answer.memory > 0 {
        let text = format!(
            "what is decided in the program takes {} KB of its memory",
            answer.memory.div_ceil(1024)
        );
        session.screen.print(&text);
    }
}

fn hint(scope: &Scope) -> Option<&ScopePresentationHint> {
    scope.presentation_hint.as_ref()
}

/// Whether a scope is one of these. Some adapters tell it by the scope's name alone.
pub(super) fn is_scope(scope: &Scope, wanted: &ScopePresentationHint) -> bool {
    let name = scope.name.to_ascii_lowercase();
    match hint(scope) {
        // js-debug 1.105 says so of closures, too.
        Some(ScopePresentationHint::Arguments) if !name.contains("arg") => false,
        Some(hint) => hint == wanted,
        None => match wanted {
            ScopePresentationHint::Locals => matches!(&*name, "local" | "locals"),
            ScopePresentationHint::Arguments => matches!(&*name, "arguments" | "args"),
            ScopePresentationHint::Registers => name.ends_with("registers"),
            _ => false,
        },
    }
}

pub(super) fn scopes(session: &Session, frame: &StackFrame) -> anyhow::Result<Vec<Scope>> {
    Ok(session
        .request::<ScopesRequest>(ScopesArguments::new(frame.id))?
        .scopes)
}

pub(super) fn children(session: &Session, reference: i64) -> anyhow::Result<Vec<Variable>> {
    Ok(session
        .request::<VariablesRequest>(VariablesArguments::new(reference))?
        .variables)
}

pub(super) fn selected(session: &Session) -> anyhow::Result<StackFrame> {
    session
        .stop()?
        .frame()
        .cloned()
        .context("this thread has no frames")
}

fn variables(
    session: &mut Session,
    wanted: &ScopePresentationHint,
    what: &str,
) -> anyhow::Result<()> {
    let frame = selected(session)?;
    let mut values = Vec::new();
    let all = scopes(session, &frame)?;
    let fitting: Vec<&Scope> = { all.iter() }
        .filter(|scope| is_scope(scope, wanted))
        .collect();
    if fitting.is_empty()
        && *wanted == ScopePresentationHint::Arguments
        && !session.is_own_adapter()
    {
        bail!("this adapter shows arguments among the locals: `info locals`");
    }
    for scope in fitting {
        for variable in children(session, scope.variables_reference)? {
            let value = value_tree::Value::from(&variable);
            values.push(value_tree::line(session, &variable.name, &value));
        }
    }
    let what = what.to_owned();
    session.screen.show(Item::Values(Values { what, values }));
    Ok(())
}

/// `info locals all`: the arguments as well, as in the record of a stop.
fn variables_and_arguments(session: &mut Session) -> anyhow::Result<()> {
    let frame = selected(session)?;
    let all = variables_of_frame(session, &frame);
    let line = |one: &Variable| value_tree::line(session, &one.name, &value_tree::Value::from(one));
    let values = all.iter().map(line).collect();
    let what = "locals".to_owned();
    session.screen.show(Item::Values(Values { what, values }));
    Ok(())
}

/// A frame's arguments and variables. There are none where they can't be read.
pub(super) fn variables_of_frame(session: &Session, frame: &StackFrame) -> Vec<Variable> {
    let mut all = Vec::new();
    for scope in scopes(session, frame).unwrap_or_default() {
        let is_of_frame = is_scope(&scope, &ScopePresentationHint::Locals)
            || is_scope(&scope, &ScopePresentationHint::Arguments);
        if is_of_frame && !scope.expensive {
            all.extend(children(session, scope.variables_reference).unwrap_or_default());
        }
    }
    all
}

/// The first variables of the selected frame, without their parts, and how many more there are.
pub fn locals_at_stop(session: &Session, most: usize) -> (Vec<results::Value>, usize) {
    let Ok(frame) = selected(session) else {
        return (Vec::new(), 0);
    };
    let all = variables_of_frame(session, &frame);
    let shown = all.iter().take(most);
    let line = |one: &Variable| value_tree::line(session, &one.name, &value_tree::Value::from(one));
    (shown.map(line).collect(), all.len().saturating_sub(most))
}

/// The names of a frame's variables, for completion, without those in expensive scopes.
pub fn variables_of(session: &Session, frame: &StackFrame) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for scope in scopes(session, frame)?
        .iter()
        .filter(|scope| !scope.expensive)
    {
        names.extend(
            children(session, scope.variables_reference)?
                .into_iter()
                .map(|variable| variable.name),
        );
    }
    Ok(names)
}

/// The modules, or those with a text in their paths.
fn modules(session: &mut Session, wanted: &str) -> anyhow::Result<()> {
    let answer = session.request::<ModulesRequest>(ModulesArguments::default())?;
    let mut is_any = false;
    for module in answer.modules {
        let path = module.path.unwrap_or(module.name);
        if !path.contains(wanted) {
            continue;
        }
        is_any = true;
        session.screen.show(Item::Module(results::Module {
            path,
            range: module.address_range,
            symbols: module.symbol_status,
        }));
    }
    if !is_any {
        let text = match wanted {
            "" => "there are no modules yet".to_owned(),
            _ => format!("no module has `{wanted}` in its path"),
        };
        session.screen.print(&text);
    }
    Ok(())
}

/// Whether a variable among the locals is the value that was returned: `(Return Value)` of lldb, `[return value]` of CodeLLDB, `(return) total` of
/// debugpy, `Return value` of js-debug.
fn is_return_value(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(
        &*name,
        "(return value)" | "[return value]" | "return value" | "(return)"
    ) || name.starts_with("(return) ")
}

/// Shows the return value of the function that a step left, if the adapter provides it.
pub fn returned(session: &mut Session) -> anyhow::Result<()> {
    session.load_frames(1)?;
    let Some(frame) = session.stop()?.frames.first().map(|frame| frame.id) else {
        return Ok(());
    };
    let scopes = session
        .request::<ScopesRequest>(ScopesArguments::new(frame))?
        .scopes;
    let of_hint = |hint: &ScopePresentationHint| scopes.iter().find(|it| is_scope(it, hint));
    let of_return = of_hint(&ScopePresentationHint::ReturnValue);
    let Some(scope) = of_return.or_else(|| of_hint(&ScopePresentationHint::Locals)) else {
        return Ok(());
    };
    let arguments = VariablesArguments::new(scope.variables_reference);
    for variable in session.request::<VariablesRequest>(arguments)?.variables {
        if of_return.is_none() && !is_return_value(&variable.name) {
            continue;
        }
        let value = value_tree::Value::from(&variable);
        let value = value_tree::line(session, &variable.name, &value);
        session
            .screen
            .show(Item::Returned(results::Returned { value }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{assigns, at_sign};

    #[test]
    fn an_at_sign_counts_and_one_in_a_text_is_none() {
        assert_eq!(at_sign("*argv@argc - 1"), Some(("*argv", "argc - 1")));
        assert_eq!(at_sign("names[\"a@b\"]"), None);
        assert_eq!(at_sign("c == '@'"), None);
        assert_eq!(at_sign("x@"), None);
    }

    #[test]
    fn what_assigns_is_told_from_what_compares() {
        for text in [
            "x = 3",
            "x=3",
            "a[1] += 2",
            "x <<= 1",
            "x >>= 1",
            "s = \"a == b\"",
        ] {
            assert!(assigns(text).is_some(), "{text}");
        }
        for text in [
            "x == 3",
            "x != 3",
            "x <= 3",
            "x >= 3",
            "s == \"a = b\"",
            "c == '='",
            "x",
            // In Python and JavaScript.
            "sorted(names, reverse=True)",
            "a === b || a !== c",
            "names.map(name => name.length)",
        ] {
            assert!(assigns(text).is_none(), "{text}");
        }
    }
}
