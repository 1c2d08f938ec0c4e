//! Lists and trees, walked only as far as the requested page.
//!
//! If a link is a plain member, its offset is determined once, and the walk then reads pointers directly. Otherwise its expression is
//! evaluated for each node. A walk ends whatever the memory contains: cycles are detected, and the number of steps is limited.

use super::code::Code;
use super::evaluate::{Evaluator, Wanted, failure, reason};
use super::expand::Group;
use super::model::{List, Node, Part, Tree};
use crate::Address;
use crate::eval::scope::Failure;
use crate::pages::PageCache;
use crate::values::entries::{Entries, Entry, Page};
use crate::values::view::Limit;
use crate::values::{Contents, Value};
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::{PointerKind, TypeKind};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The most elements counted one by one if the file doesn't specify their number.
pub(super) const MAX_COUNTED: u64 = 1 << 17;
/// The most nodes visited in one walk.
const MAX_STEPS: u64 = 1 << 24;
/// The deepest tree. A degenerate tree is as deep as it has nodes.
const MAX_DEPTH: usize = 1 << 16;

/// A link from one node to another.
struct Link<'c> {
    code: &'c Code,
    /// The offset of the pointer in a node, if the link leads to a node of the same type.
    offset: Option<u64>,
    /// Whether the offset was determined.
    is_known: bool,
}

impl<'c> Link<'c> {
    fn new(code: &'c Code) -> Link<'c> {
        Link {
            code,
            offset: None,
            is_known: false,
        }
    }

    /// The node that the link in `node` leads to. `None`: `node` is the last.
    fn follow(
        &mut self,
        evaluator: &Evaluator<'_>,
        node: &Value,
    ) -> Result<Option<Value>, Failure> {
        if let (Some(offset), Some(at)) = (self.offset, node.contents.address()) {
            let at = Address(at.0.wrapping_add(offset));
            let word = evaluator.reader.memory.read_address(at);
            let word = word.map_err(|at| unreadable(evaluator, at))?;
            let next = || {
                let mut next = node.clone();
                next.contents = Contents::Memory(Address(word));
                next
            };
            return Ok((word != 0).then(next));
        }
        let link = evaluator.plain(node, self.code)?;
        if !std::mem::replace(&mut self.is_known, true) {
            self.offset = self.offset_of(evaluator, node, &link);
        }
        evaluator.target(link)
    }

    fn offset_of(&self, evaluator: &Evaluator<'_>, node: &Value, link: &Value) -> Option<u64> {
        use super::code::What;
        match &self.code.what {
            Ok(What::Value(parsed)) if parsed.is_plain_member() => {}
            _ => return None,
        }
        let type_ = evaluator.reader.resolve(link)?.type_;
        let TypeKind::Pointer(PointerKind::Pointer, Some(target)) = type_.kind else {
            return None;
        };
        let strip = |id| node.module.module.strip_aliases(id).ok().flatten();
        if strip(target)?.id != strip(node.type_id?)?.id {
            return None;
        }
        let (from, to) = (node.contents.address()?, link.contents.address()?);
        to.0.checked_sub(from.0)
    }
}

fn unreadable(evaluator: &Evaluator<'_>, at: Address) -> Failure {
    let why = evaluator.reader.reason(&Unavailable::Unreadable(at.0));
    failure(why.trim_matches(['<', '>']))
}

/// How a node is shown. Fails only if `code` has an unknown name.
fn shown(
    evaluator: &Evaluator<'_>,
    node: &Value,
    name: Option<&[Part]>,
    code: &Code,
) -> Result<Entry, Failure> {
    let value = match evaluator.value(node, code) {
        Ok(value) => value,
        Err(failed) if failed.is_unknown => return Err(failed),
        Err(failed) => reason(node, &failed.message),
    };
    let key = name.map(|parts| key(evaluator, node, parts));
    Ok(Entry { key, value })
}

/// A name from the file as an entry's key, without the brackets that are added when it is displayed.
pub(super) fn key(evaluator: &Evaluator<'_>, object: &Value, parts: &[Part]) -> Value {
    let name = evaluator.name(object, parts, crate::values::view::SHORT);
    let inner = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    let name = inner.unwrap_or(&name).to_owned();
    Value {
        natvis_format: Some(Arc::new(Wanted::Literal(name))),
        ..reason(object, "")
    }
}

/// The elements that a walk has collected in `page`. If the walk failed, they are followed by the reason. Fails itself if the walk failed
/// for an unknown name, or before its first element.
pub(super) fn walked(
    page: Page,
    length: Option<u64>,
    walk: Result<Ended, Failure>,
    is_list: bool,
) -> Result<Group, Failure> {
    let mut entries: Entries = match walk {
        Ok(Ended { is_longer }) => {
            let found = page.position();
            let mut entries = page.of(length.unwrap_or(found));
            entries.is_longer = is_longer;
            entries
        }
        Err(failed) if failed.is_unknown => return Err(failed),
        Err(failed) => {
            let length = length.unwrap_or(page.position() + 1);
            match page.until(length, &failed.message) {
                Some(entries) => entries,
                None => return Err(failed),
            }
        }
    };
    entries.is_list = is_list;
    Ok(Group::apart(entries))
}

/// How a walk ended.
pub(super) struct Ended {
    /// The walk has stopped counting before the last element.
    pub is_longer: bool,
}

fn short(found: u64, length: u64) -> Failure {
    failure(format!("it ends after {found} of {length} elements"))
}

fn too_far() -> Failure {
    failure("too far in to be walked to")
}

pub(super) fn list(
    evaluator: &Evaluator<'_>,
    object: &Value,
    list: &List,
    limit: Limit,
) -> Result<Group, Failure> {
    let pages = PageCache::new(evaluator.reader.memory);
    let evaluator = &evaluator.over(&pages);
    let length = evaluator.size(object, &list.size)?;
    let mut page = Page::new(limit, list.node.name.is_some());
    let walk = walk_list(evaluator, object, list, length, &mut page);
    let walk = walk.map_err(|failed| match pages.are_used_up() {
        true => too_far(),
        false => failed,
    });
    walked(page, length, walk, true)
}

fn walk_list(
    evaluator: &Evaluator<'_>,
    object: &Value,
    list: &List,
    length: Option<u64>,
    page: &mut Page,
) -> Result<Ended, Failure> {
    let first = match length {
        Some(0) => None,
        _ => evaluator.target(evaluator.plain(object, &list.head)?)?,
    };
    let head = first.as_ref().and_then(|node| node.contents.address());
    let mut next = first;
    let mut link = Link::new(&list.next);
    // Detects cycles by Brent's algorithm: the mark is moved after 1, 2, 4, … steps.
    let (mut mark, mut until) = (None, 1);
    for found in 0.. {
        let enough = page.is_full(length.unwrap_or(u64::MAX));
        match length {
            Some(_) if enough => return Ok(Ended { is_longer: false }),
            None if enough && found >= MAX_COUNTED => return Ok(Ended { is_longer: true }),
            _ if found >= MAX_STEPS => return Err(too_far()),
            _ => {}
        }
        let Some(node) = next else {
            return match length {
                Some(length) => Err(short(found, length)),
                None => Ok(Ended { is_longer: false }),
            };
        };
        let at = node.contents.address();
        if found > 0 && length.is_none() && at == head {
            return Ok(Ended { is_longer: false });
        }
        if found > 0 && at == mark {
            let at = at.unwrap_or_default();
            return Err(failure(format!("it goes round at {at}")));
        }
        if found == until {
            (mark, until) = (at, until * 2);
        }
        if evaluator.holds(&node, list.node.condition.as_ref())? {
            take(evaluator, &node, &list.node, page)?;
        }
        next = link.follow(evaluator, &node)?;
    }
    Err(too_far())
}

fn take(
    evaluator: &Evaluator<'_>,
    at: &Value,
    node: &Node,
    page: &mut Page,
) -> Result<(), Failure> {
    let mut failed = None;
    let taken = page.next(|| {
        let entry = shown(evaluator, at, node.name.as_deref(), &node.value);
        entry.map_err(|why| failed = Some(why)).ok()
    });
    match (taken, failed) {
        (None, Some(failed)) => Err(failed),
        _ => Ok(()),
    }
}

pub(super) fn tree(
    evaluator: &Evaluator<'_>,
    object: &Value,
    tree: &Tree,
    limit: Limit,
) -> Result<Group, Failure> {
    let pages = PageCache::new(evaluator.reader.memory);
    let evaluator = &evaluator.over(&pages);
    let length = evaluator.size(object, &tree.size)?;
    let mut page = Page::new(limit, tree.node.name.is_some());
    let walk = walk_tree(evaluator, object, tree, length, &mut page);
    let walk = walk.map_err(|failed| match pages.are_used_up() {
        true => too_far(),
        false => failed,
    });
    walked(page, length, walk, false)
}

fn walk_tree(
    evaluator: &Evaluator<'_>,
    object: &Value,
    tree: &Tree,
    length: Option<u64>,
    page: &mut Page,
) -> Result<Ended, Failure> {
    let mut next = match length {
        Some(0) => None,
        _ => evaluator.target(evaluator.plain(object, &tree.head)?)?,
    };
    let (mut left, mut right) = (Link::new(&tree.left), Link::new(&tree.right));
    // The nodes whose left side is being visited, from the root on, and their addresses.
    let mut path: Vec<Value> = Vec::new();
    let mut on_path = FxHashSet::default();
    for steps in 0.. {
        let found = page.position();
        let enough = page.is_full(length.unwrap_or(u64::MAX));
        match length {
            Some(_) if enough => return Ok(Ended { is_longer: false }),
            None if enough && found >= MAX_COUNTED => return Ok(Ended { is_longer: true }),
            _ if steps >= MAX_STEPS => return Err(too_far()),
            _ => {}
        }
        while let Some(node) = next.take() {
            if !evaluator.holds(&node, tree.node.condition.as_ref())? {
                break;
            }
            let at = node.contents.address();
            if !on_path.insert(at) {
                let at = at.unwrap_or_default();
                return Err(failure(format!("it goes round at {at}")));
            }
            if path.len() >= MAX_DEPTH {
                return Err(failure("its nodes go too deep"));
            }
            next = left.follow(evaluator, &node)?;
            path.push(node);
        }
        let Some(node) = path.pop() else {
            return match length {
                Some(length) if found < length => Err(short(found, length)),
                _ => Ok(Ended { is_longer: false }),
            };
        };
        on_path.remove(&node.contents.address());
        take(evaluator, &node, &tree.node, page)?;
        next = right.follow(evaluator, &node)?;
    }
    Err(too_far())
}
