//! Inspection through gdb's machine interface, with variable objects and pretty-printers, as its clients do.

use anyhow::Context;

use super::session::{Below, Look, Page};
use crate::bench::run::mi::Mi;

/// The variable object that is open.
const OPEN: &str = "opened";

impl Look for Mi {
    fn locals(&mut self) -> anyhow::Result<usize> {
        let answer = self.answer("-stack-list-variables --all-values")?;
        Ok(answer.matches("{name=").count())
    }

    fn open(&mut self, local: &str) -> anyhow::Result<String> {
        self.answer("-enable-pretty-printing")?;
        // This fails the first time, when there is none.
        let _ = self.answer(&format!("-var-delete {OPEN}"));
        self.answer(&format!("-var-create {OPEN} * {local}"))?;
        Ok(OPEN.to_owned())
    }

    fn page(&mut self, opened: &str, below: Below, start: u64, count: u64) -> anyhow::Result<Page> {
        let each = match below {
            Below::Elements => 1,
            Below::Entries => 2,
        };
        let (from, to) = (each * start, each * (start + count));
        let answer = self.answer(&format!(
            "-var-list-children --all-values {opened} {from} {to}"
        ))?;
        let children = children(&answer);
        Ok(Page {
            count: children.len() as u64 / each,
            last: children
                .last()
                .map(|child| child.value.to_owned())
                .unwrap_or_default(),
            opened: None,
        })
    }

    fn last(&mut self, page: &Page) -> anyhow::Result<String> {
        Ok(page.last.clone())
    }

    fn walk(&mut self, opened: &str) -> anyhow::Result<usize> {
        let mut count = 0;
        let mut open = vec![opened.to_owned()];
        while let Some(node) = open.pop() {
            // gdb groups the fields of a C++ structure by access (`public`). The groups are opened, too, but are no nodes.
            let is_group = node.ends_with(".public");
            count += usize::from(!is_group);
            let answer = self.answer(&format!("-var-list-children --all-values {node}"))?;
            let below = children(&answer).into_iter().filter(|child| {
                let is_node = child.name.ends_with(".left") || child.name.ends_with(".right");
                child.name.ends_with(".public") || (is_node && child.value != "0x0")
            });
            open.extend(below.map(|child| child.name.to_owned()));
        }
        Ok(count)
    }

    fn evaluate(&mut self, expression: &str) -> anyhow::Result<String> {
        let answer = self.answer(&format!("-data-evaluate-expression \"{expression}\""))?;
        let value = field(&answer, "value=\"").context("no value")?;
        Ok(value.to_owned())
    }

    fn frames(&mut self, most: Option<i64>) -> anyhow::Result<usize> {
        let answer = match most {
            Some(most) => self.answer(&format!("-stack-list-frames 0 {}", most - 1))?,
            None => self.answer("-stack-list-frames")?,
        };
        Ok(answer.matches("frame={").count())
    }
}

/// A child of a variable object.
struct Child<'a> {
    name: &'a str,
    value: &'a str,
}

fn children(answer: &str) -> Vec<Child<'_>> {
    let children = answer.split("child={").skip(1);
    children
        .map(|text| Child {
            name: field(text, "name=\"").unwrap_or_default(),
            value: field(text, "value=\"").unwrap_or_default(),
        })
        .collect()
}

/// The text after `key`, up to the next quotation mark that isn't escaped.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(key)?;
    let mut escaped = false;
    let end = rest.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    rest.get(..end)
}
