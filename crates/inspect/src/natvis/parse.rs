//! Parses a Natvis file. A part that is wrong is reported with its line, and the rest is used.

use super::code::{Code, Intrinsic};
use super::model::{Choice, Expand, Guard, Part, Place, Text, TypeEntry, Version};
use super::patterns::Pattern;
use roxmltree::{Document, Node, ParsingOptions};
use std::path::Path;
use std::sync::Arc;

mod items;

/// The largest file, in bytes.
pub(super) const MAX_FILE: u64 = 8 << 20;
/// The most XML elements and texts in a file.
const MAX_NODES: u32 = 500_000;
/// The most problems reported for one file.
const MAX_PROBLEMS: usize = 20;
/// The deepest nesting of `<Expand>` and of the steps in `<CustomListItems>`.
const MAX_DEPTH: usize = 16;

/// The contents of a parsed file.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub types: Vec<TypeEntry>,
    /// Problems: sentences with the file and the line.
    pub problems: Vec<String>,
}

/// Parses a file's text.
pub(crate) fn parse(text: &str, file: &Path) -> File {
    let file: Arc<Path> = file.into();
    // Without a DTD, a file can't define entities, which could expand endlessly.
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = match Document::parse_with_options(text, options) {
        Ok(document) => document,
        Err(error) => {
            let place = Place {
                file,
                line: error.pos().row,
            };
            return File {
                types: Vec::new(),
                problems: vec![format!("{place}: {error}")],
            };
        }
    };
    let mut reading = Reading {
        file,
        problems: Vec::new(),
        more: 0,
        intrinsics: Vec::new(),
        depth: 0,
        lines: text.match_indices('\n').map(|(at, _)| at).collect(),
    };
    let types = reading.document(&document);
    if reading.more > 0 {
        let place = reading.file.display();
        let more = reading.more;
        reading
            .problems
            .push(format!("{place}: and {more} more such problems"));
    }
    File {
        types,
        problems: reading.problems,
    }
}

struct Reading {
    file: Arc<Path>,
    problems: Vec<String>,
    /// The number of problems beyond the limit.
    more: usize,
    /// The intrinsic functions in scope.
    intrinsics: Vec<Intrinsic>,
    depth: usize,
    /// The offsets of the line ends in the text.
    lines: Vec<usize>,
}

/// The element's name without its namespace.
fn name<'a>(node: Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}

fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

/// The text in an element, without that of its child elements.
fn text_of(node: Node<'_, '_>) -> String {
    let texts = node.children().filter(|child| child.is_text());
    texts.filter_map(|child| child.text()).collect()
}

fn is_true(text: Option<&str>) -> bool {
    matches!(text, Some("true" | "1"))
}

impl Reading {
    fn place(&self, node: Node<'_, '_>) -> Place {
        let at = node.range().start;
        let before = self.lines.partition_point(|end| *end < at);
        Place {
            file: Arc::clone(&self.file),
            line: u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1),
        }
    }

    fn problem(&mut self, node: Node<'_, '_>, what: &str) {
        let place = self.place(node);
        self.tell(&place, what);
    }

    fn tell(&mut self, place: &Place, what: &str) {
        match self.problems.len() < MAX_PROBLEMS {
            true => self.problems.push(format!("{place}: {what}")),
            false => self.more += 1,
        }
    }

    fn unknown(&mut self, node: Node<'_, '_>) {
        let what = format!("`<{}>` is not known here, and left out", name(node));
        self.problem(node, &what);
    }

    fn document(&mut self, document: &Document<'_>) -> Vec<TypeEntry> {
        let root = document.root_element();
        if name(root) != "AutoVisualizer" {
            let what = format!("`<AutoVisualizer>` was expected, not `<{}>`", name(root));
            self.problem(root, &what);
            return Vec::new();
        }
        for node in elements(root).filter(|node| name(*node) == "Intrinsic") {
            self.intrinsic(node);
        }
        let mut types = Vec::new();
        for node in elements(root) {
            match name(node) {
                "Type" => types.extend(self.type_entry(node)),
                "Intrinsic" | "HResult" | "UIVisualizer" | "CustomVisualizer" | "Version"
                | "LocalizedStrings" => {}
                _ => self.unknown(node),
            }
        }
        types
    }

    /// A required attribute. Reports it if it is missing.
    fn attribute<'a>(&mut self, node: Node<'a, '_>, wanted: &str) -> Option<&'a str> {
        let value = node.attribute(wanted);
        if value.is_none() {
            let what = format!("`<{}>` has no `{wanted}`", name(node));
            self.problem(node, &what);
        }
        value
    }

    fn intrinsic(&mut self, node: Node<'_, '_>) {
        // An intrinsic without an expression is implemented by an extension of another debugger (`SourceId`), so it is skipped. Of one with
        // several forms, the attribute has the first form.
        let Some(expression) = node.attribute("Expression") else {
            if node.attribute("SourceId").is_none() {
                self.problem(node, "`<Intrinsic>` has no `Expression`");
            }
            return;
        };
        let Some(own) = self.attribute(node, "Name") else {
            return;
        };
        let parameters = elements(node).filter(|inner| name(*inner) == "Parameter");
        let parameters = parameters.filter_map(|inner| inner.attribute("Name"));
        let intrinsic = Intrinsic {
            name: own.to_owned(),
            parameters: parameters.map(str::to_owned).collect(),
            expression: expression.to_owned(),
        };
        self.intrinsics.push(intrinsic);
    }

    fn type_entry(&mut self, node: Node<'_, '_>) -> Option<TypeEntry> {
        let files_own = self.intrinsics.len();
        let intrinsics = elements(node).filter(|inner| name(*inner) == "Intrinsic");
        for inner in intrinsics {
            self.intrinsic(inner);
        }
        // While the type is parsed, its own intrinsic functions come before the file's, and so hide those with the same name.
        self.intrinsics.rotate_left(files_own);
        let entry = self.type_inside(node);
        let own = self.intrinsics.len() - files_own;
        self.intrinsics.drain(..own);
        entry
    }

    fn type_inside(&mut self, node: Node<'_, '_>) -> Option<TypeEntry> {
        let mut patterns = Vec::new();
        let alternative = elements(node).filter(|inner| name(*inner) == "AlternativeType");
        for named in std::iter::once(node).chain(alternative) {
            let Some(text) = self.attribute(named, "Name") else {
                continue;
            };
            match Pattern::new(text) {
                Ok(pattern) => patterns.push(pattern),
                Err(what) => self.problem(named, &what),
            }
        }
        let mut entry = TypeEntry {
            place: self.place(node),
            patterns,
            priority: match node.attribute("Priority") {
                Some("High") => 2,
                Some("MediumHigh") => 1,
                None | Some("Medium") => 0,
                Some("MediumLow") => -1,
                Some("Low") => -2,
                Some(other) => {
                    let what = format!("`{other}` is no `Priority`");
                    self.problem(node, &what);
                    0
                }
            },
            inheritable: node
                .attribute("Inheritable")
                .is_none_or(|text| is_true(Some(text))),
            guard: self.guard(node),
            versions: (
                self.version(node, "MinVersion"),
                self.version(node, "BeforeVersion"),
            ),
            pointer: None,
            pointer_notes: Vec::new(),
            transparent: Vec::new(),
            texts: Vec::new(),
            expand: None,
        };
        for inner in elements(node) {
            match name(inner) {
                "DisplayString" => entry.texts.extend(self.text(inner)),
                "Expand" => entry.expand = Some(self.expand(inner)),
                "Transparent" => {
                    let guard = self.guard(inner);
                    let code = self.code(inner);
                    entry.transparent.push(Choice { guard, code });
                }
                "SmartPointer" => entry.pointer = Some(self.code(inner)),
                "PointerNote" => entry.pointer_notes.extend(self.text(inner)),
                // A string viewer is not supported, but its expression is still checked.
                "StringView" => drop(self.code(inner)),
                "AlternativeType" | "Intrinsic" | "UIVisualizer" | "CustomVisualizer"
                | "Version" | "MostDerivedType" => {}
                _ => self.unknown(inner),
            }
        }
        let says = !entry.texts.is_empty()
            || !entry.transparent.is_empty()
            || entry.expand.is_some()
            || entry.pointer.is_some();
        (says && !entry.patterns.is_empty()).then_some(entry)
    }

    fn version(&mut self, node: Node<'_, '_>, name: &str) -> Option<Version> {
        let text = node.attribute(name)?;
        let version = version(text);
        if version.is_none() {
            let what = format!("`{text}` is no version");
            self.problem(node, &what);
        }
        version
    }

    fn guard(&mut self, node: Node<'_, '_>) -> Guard {
        let views = |text: Option<&str>| {
            let names = text.unwrap_or_default().split(';').map(str::trim);
            names
                .filter(|name| !name.is_empty())
                .map(Arc::from)
                .collect()
        };
        Guard {
            condition: self.condition(node),
            optional: is_true(node.attribute("Optional")),
            include: views(node.attribute("IncludeView")),
            exclude: views(node.attribute("ExcludeView")),
        }
    }

    fn condition(&mut self, node: Node<'_, '_>) -> Option<Code> {
        let text = node.attribute("Condition")?;
        Some(self.expression(node, text))
    }

    /// An element's text, parsed as an expression.
    fn code(&mut self, node: Node<'_, '_>) -> Code {
        self.expression(node, &text_of(node))
    }

    fn expression(&mut self, node: Node<'_, '_>, text: &str) -> Code {
        let place = self.place(node);
        let code = Code::new(text, &place, &self.intrinsics);
        self.check(&place, &code);
        if let Some(count) = &code.shown.count {
            self.check(&place, count);
        }
        code
    }

    fn check(&mut self, place: &Place, code: &Code) {
        if let Err(why) = &code.what {
            self.tell(place, why);
        }
    }

    fn text(&mut self, node: Node<'_, '_>) -> Option<Text> {
        let text = text_of(node);
        let text = text.trim();
        Some(Text {
            place: self.place(node),
            guard: self.guard(node),
            parts: self.parts(node, text)?,
        })
    }

    /// Parses a text with expressions in braces; a doubled brace stands for a single one. `None`: a brace doesn't match, which is
    /// reported.
    fn parts(&mut self, node: Node<'_, '_>, text: &str) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            literal.push_str(before);
            if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
                literal.push_str(&from[..1]);
                rest = after;
                continue;
            }
            let end = match from.starts_with('{') {
                true => end_of_braces(from),
                false => None,
            };
            let Some(end) = end else {
                let brace = &from[..1];
                let what = format!("`{text}`: the `{brace}` has no other; two stand for one");
                self.problem(node, &what);
                return None;
            };
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            let code = self.expression(node, &from[1..end]);
            parts.push(Part::Value(Box::new(code)));
            rest = &from[end + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Some(parts)
    }

    fn expand(&mut self, node: Node<'_, '_>) -> Expand {
        let mut expand = Expand {
            hides_raw: is_true(node.attribute("HideRawView")),
            record: node.attribute("Record").map(Arc::from),
            items: Vec::new(),
        };
        if self.depth >= MAX_DEPTH {
            self.problem(node, "it is nested too deep");
            return expand;
        }
        self.depth += 1;
        for inner in elements(node) {
            expand.items.extend(self.item(inner));
        }
        self.depth -= 1;
        expand
    }
}

/// A version without what follows its three numbers: `1.2.3-beta.4` is as `1.2.3`.
pub(super) fn version(text: &str) -> Option<Version> {
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let mut numbers = text[..end].split('.').map(|number| number.parse().ok());
    let version = (numbers.next()??, numbers.next()??, numbers.next()??);
    numbers.next().is_none().then_some(version)
}

/// The position of the brace that closes the one at the start of a text.
fn end_of_braces(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
