//! Values as a tree: which are opened, which have changed since the last stop.
//!
//! A place in the tree is known by the names on the way to it, so that what is opened stays so from stop to stop. What the adapter knows a value
//! by is valid for one stop only: until the parts have come anew, the old ones are shown, and can't be opened.

use std::collections::{HashMap, HashSet};

use crate::debug::results::Value;

/// How many parts are asked for at once.
pub const PAGE: usize = 100;
/// Of how many functions it is known what was last seen there.
const SCOPES: usize = 32;

/// Between the names on the way to a value; no name has it.
const BETWEEN: char = '\u{1}';

/// A value in the tree.
#[derive(Debug, Clone)]
pub struct Node {
    /// The value, without its parts.
    pub value: Value,
    /// The number of the display that it is.
    pub display: Option<u32>,
    /// Whether it differs from what was seen here at the last stop.
    pub is_changed: bool,
    /// The way to it.
    pub path: String,
    parts: Vec<Node>,
    state: Parts,
}

/// What is known of a value's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// Nothing, or only what they were at the last stop.
    Unknown,
    /// Some of them, and more are wanted.
    Wanted,
    /// There are more of them.
    Some,
    /// All of them.
    All,
}

/// A row of the tree.
#[derive(Debug)]
pub enum Row<'t> {
    /// A value, at a depth.
    Value(&'t Node, usize),
    /// There are more parts of the value with this path.
    More(&'t str, usize),
}

/// Parts that are to be asked for: of the value with this path and reference, from this one on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedParts {
    /// The way to the value.
    pub path: String,
    /// By what the adapter knows it.
    pub reference: i64,
    /// The number of the first part.
    pub from: usize,
}

/// The tree.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    opened: HashSet<String>,
    /// The function that the values are of.
    scope: String,
    /// What was seen in a function at the last stop there, by the path; and those functions, the oldest first.
    seen: HashMap<String, HashMap<String, String>>,
    scopes: Vec<String>,
}

impl Tree {
    /// The program goes on: what is seen from now on is compared with what is there.
    pub fn resumes(&mut self) {
        if self.nodes.is_empty() {
            return;
        }
        let mut seen = HashMap::new();
        note(&self.nodes, &mut seen);
        self.scopes.retain(|scope| *scope != self.scope);
        if self.scopes.len() == SCOPES {
            self.seen.remove(&self.scopes.remove(0));
        }
        self.scopes.push(self.scope.clone());
        self.seen.insert(self.scope.clone(), seen);
    }

    /// Takes the values of a stop, in a function.
    pub fn fill(&mut self, scope: &str, values: Vec<(Option<u32>, Value)>) {
        let is_same = self.scope == scope;
        scope.clone_into(&mut self.scope);
        let old = std::mem::take(&mut self.nodes);
        let old = if is_same { old } else { Vec::new() };
        let seen = self.seen.get(scope);
        self.nodes = grown("", values, old, seen);
    }

    /// Takes parts, and whether there are more of them.
    pub fn fill_parts(&mut self, wanted: &WantedParts, values: Vec<Value>) {
        let seen = self.seen.get(&self.scope);
        let Some(node) = find(&mut self.nodes, &wanted.path) else {
            return;
        };
        let is_whole = values.len() < PAGE;
        let values = values.into_iter().map(|value| (None, value)).collect();
        let old = std::mem::take(&mut node.parts);
        if wanted.from == 0 {
            node.parts = grown(&wanted.path, values, old, seen);
        } else {
            node.parts = old;
            node.parts.truncate(wanted.from);
            node.parts
                .extend(grown(&wanted.path, values, Vec::new(), seen));
        }
        node.state = if is_whole { Parts::All } else { Parts::Some };
    }

    /// The parts that are to be asked for next.
    pub fn wanted(&self) -> Option<WantedParts> {
        self.wanted_in(&self.nodes)
    }

    fn wanted_in(&self, nodes: &[Node]) -> Option<WantedParts> {
        nodes.iter().find_map(|node| {
            if node.value.reference == 0 || !self.opened.contains(&node.path) {
                return None;
            }
            let from = match node.state {
                Parts::Unknown => 0,
                Parts::Wanted => node.parts.len(),
                Parts::Some | Parts::All => return self.wanted_in(&node.parts),
            };
            Some(WantedParts {
                path: node.path.clone(),
                reference: node.value.reference,
                from,
            })
        })
    }

    /// The rows that are shown.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        self.push_rows(&self.nodes, 0, &mut rows);
        rows
    }

    fn push_rows<'t>(&'t self, nodes: &'t [Node], depth: usize, rows: &mut Vec<Row<'t>>) {
        for node in nodes {
            rows.push(Row::Value(node, depth));
            if self.is_open(node) {
                self.push_rows(&node.parts, depth + 1, rows);
                if matches!(node.state, Parts::Some | Parts::Wanted) {
                    rows.push(Row::More(&node.path, depth + 1));
                }
            }
        }
    }

    /// Whether a value's parts are shown.
    pub fn is_open(&self, node: &Node) -> bool {
        node.value.has_parts && self.opened.contains(&node.path)
    }

    /// Opens a value, or shows more of one whose parts are too many.
    pub fn open(&mut self, path: &str) {
        if let Some(node) = find(&mut self.nodes, path) {
            match node.state {
                Parts::Some if self.opened.contains(path) => node.state = Parts::Wanted,
                _ => {}
            }
            self.opened.insert(path.to_owned());
        }
    }

    /// Closes a value.
    pub fn close(&mut self, path: &str) {
        self.opened.remove(path);
    }

    /// Parts can't be read: none are there.
    pub fn has_no_parts(&mut self, path: &str) {
        if let Some(node) = find(&mut self.nodes, path) {
            node.parts.clear();
            node.state = Parts::All;
        }
    }
}

/// The path of the value around one.
pub fn around(path: &str) -> Option<&str> {
    path.rsplit_once(BETWEEN).map(|(outer, _)| outer)
}

fn note(nodes: &[Node], seen: &mut HashMap<String, String>) {
    for node in nodes {
        seen.insert(node.path.clone(), node.value.value.clone());
        note(&node.parts, seen);
    }
}

fn find<'t>(nodes: &'t mut [Node], path: &str) -> Option<&'t mut Node> {
    let is_on_the_way = |node: &Node| {
        let rest = path.strip_prefix(&*node.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(BETWEEN))
    };
    let node = nodes.iter_mut().find(|node| is_on_the_way(node))?;
    match node.path == path {
        true => Some(node),
        false => find(&mut node.parts, path),
    }
}

/// Nodes of values that belong together. `old`: those that were there before, whose parts are shown until new ones are known.
fn grown(
    outer: &str,
    values: Vec<(Option<u32>, Value)>,
    old: Vec<Node>,
    seen: Option<&HashMap<String, String>>,
) -> Vec<Node> {
    let mut old: HashMap<String, Vec<Node>> = { old.into_iter() }
        .map(|node| (node.path, node.parts))
        .collect();
    let mut names: HashMap<String, usize> = HashMap::new();
    let nodes = values.into_iter().map(|(display, mut value)| {
        value.parts.clear();
        // An inner variable may have the name of an outer one.
        let count = names.entry(value.name.clone()).or_default();
        *count += 1;
        let name = value.name.replace(BETWEEN, "·");
        let name = match *count {
            1 => name,
            count => format!("{name}#{count}"),
        };
        let path = match outer {
            "" => name,
            outer => format!("{outer}{BETWEEN}{name}"),
        };
        let before = seen.and_then(|seen| seen.get(&path));
        let mut parts = old.remove(&path).unwrap_or_default();
        forget_references(&mut parts);
        Node {
            is_changed: before.is_some_and(|before| *before != value.value),
            parts,
            state: Parts::Unknown,
            display,
            value,
            path,
        }
    });
    nodes.collect()
}

/// The adapter knows these values no more by what it has told.
fn forget_references(nodes: &mut [Node]) {
    for node in nodes {
        node.value.reference = 0;
        node.state = Parts::Unknown;
        forget_references(&mut node.parts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str, text: &str, reference: i64) -> Value {
        Value {
            name: name.to_owned(),
            value: text.to_owned(),
            has_parts: reference > 0,
            reference,
            ..Value::default()
        }
    }

    fn plain(values: Vec<Value>) -> Vec<(Option<u32>, Value)> {
        values.into_iter().map(|value| (None, value)).collect()
    }

    /// The rows, with `*` for what has changed.
    fn shown(tree: &Tree) -> Vec<String> {
        let rows = tree.rows();
        let row = |row: &Row<'_>| match row {
            Row::Value(node, depth) => {
                let mark = if node.is_changed { "*" } else { "" };
                let (name, text) = (&node.value.name, &node.value.value);
                format!("{}{mark}{name}={text}", " ".repeat(*depth))
            }
            Row::More(_, depth) => format!("{}…", " ".repeat(*depth)),
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn what_is_opened_stays_so_and_what_changes_is_marked() {
        let mut tree = Tree::default();
        tree.fill("f", plain(vec![value("a", "1", 0), value("s", "{…}", 5)]));
        assert_eq!(tree.wanted(), None);
        tree.open("s");
        let wanted = tree.wanted().expect("the parts of s");
        assert_eq!((wanted.reference, wanted.from), (5, 0));
        tree.fill_parts(&wanted, vec![value("x", "1", 0), value("y", "2", 7)]);
        assert_eq!(shown(&tree), ["a=1", "s={…}", " x=1", " y=2"]);
        tree.resumes();
        tree.fill("f", plain(vec![value("a", "2", 0), value("s", "{…}", 6)]));
        // The old parts are there, but can't be opened.
        tree.open("s\u{1}y");
        assert_eq!(shown(&tree), ["*a=2", "s={…}", " x=1", " y=2"]);
        let wanted = tree.wanted().expect("the parts of s");
        assert_eq!(wanted.reference, 6);
        tree.fill_parts(&wanted, vec![value("x", "1", 0), value("y", "3", 8)]);
        assert_eq!(shown(&tree), ["*a=2", "s={…}", " x=1", " *y=3"]);
        assert_eq!(tree.wanted().map(|it| it.reference), Some(8));
        // In another function, the names mean something else.
        tree.resumes();
        tree.fill("g", plain(vec![value("a", "9", 0)]));
        assert_eq!(shown(&tree), ["a=9"]);
        tree.resumes();
        tree.fill("f", plain(vec![value("a", "2", 0), value("s", "{…}", 6)]));
        assert_eq!(shown(&tree), ["a=2", "s={…}"]);
    }

    #[test]
    fn many_parts_come_by_pages() {
        let mut tree = Tree::default();
        tree.fill("f", plain(vec![value("v", "len = 150", 5)]));
        tree.open("v");
        let page = |from: usize, to: usize| {
            let values = (from..to).map(|index| value(&format!("[{index}]"), "0", 0));
            values.collect::<Vec<_>>()
        };
        let wanted = tree.wanted().expect("the first page");
        tree.fill_parts(&wanted, page(0, PAGE));
        assert_eq!(tree.rows().len(), 1 + PAGE + 1);
        assert_eq!(tree.wanted(), None);
        tree.open("v");
        let wanted = tree.wanted().expect("the second page");
        assert_eq!(wanted.from, PAGE);
        tree.fill_parts(&wanted, page(PAGE, 150));
        assert_eq!(tree.rows().len(), 151);
        tree.close("v");
        assert_eq!(tree.rows().len(), 1);
    }

    #[test]
    fn values_of_one_name_are_told_apart() {
        let mut tree = Tree::default();
        tree.fill("f", plain(vec![value("i", "1", 3), value("i", "2", 4)]));
        tree.open("i#2");
        assert_eq!(tree.wanted().map(|it| it.reference), Some(4));
        assert_eq!(around("a\u{1}b"), Some("a"));
    }
}
