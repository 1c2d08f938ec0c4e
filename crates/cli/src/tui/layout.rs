//! Which panes are on the screen, and where: a pure function of the size and of what the user has chosen.
//!
//! The screen is divided into groups of panes, of which one is shown each: the one that was chosen last. Above each group is a line with their
//! names; `│` is between groups beside each other.

use ratatui::layout::Rect;

use super::pane::Pane;

/// The smallest screen that shows anything.
pub const LEAST: (u16, u16) = (40, 10);
/// From so many columns on there are three columns of panes.
const WIDE: u16 = 160;

/// What the screen is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Source and variables.
    #[default]
    Source,
    /// Instructions, registers and memory.
    Machine,
    /// Threads and their stacks.
    Threads,
}

impl Purpose {
    /// The one after this.
    pub fn next(self) -> Purpose {
        match self {
            Purpose::Source => Purpose::Machine,
            Purpose::Machine => Purpose::Threads,
            Purpose::Threads => Purpose::Source,
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Purpose::Source => "source",
            Purpose::Machine => "machine",
            Purpose::Threads => "threads",
        }
    }
}

/// A group of panes on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// All of it; its first row is the line with the names.
    pub area: Rect,
    /// The panes.
    pub panes: &'static [Pane],
    /// The one that is shown.
    pub shown: Pane,
}

impl Group {
    /// Where the pane itself is.
    pub fn inner(&self) -> Rect {
        Rect {
            y: self.area.y + 1,
            height: self.area.height.saturating_sub(1),
            ..self.area
        }
    }
}

/// The groups for a screen of this size. `recent`: the panes that were chosen, the last one first. `zoomed`: the only one. There are none on a
/// screen that is too small.
pub fn groups(size: Rect, purpose: Purpose, recent: &[Pane], zoomed: Option<Pane>) -> Vec<Group> {
    if size.width < LEAST.0 || size.height < LEAST.1 {
        return Vec::new();
    }
    // The topmost row says what the program does, the lowest has keys.
    let body = Rect {
        y: size.y + 1,
        height: size.height - 2,
        ..size
    };
    if let Some(pane) = zoomed {
        return vec![group_of(body, alone_of(pane), recent)];
    }
    let lower = (body.height * 3 / 10).clamp(3, 16);
    let (upper, lower) = rows(body, body.height - lower);
    let mut areas = match size.width >= WIDE {
        true => wide(upper, purpose),
        false => usual(upper, purpose),
    };
    if size.width >= WIDE {
        let (prompt, output) = columns(lower, lower.width * 6 / 10);
        areas.push(at(prompt, &[Pane::Prompt]));
        areas.push(at(output, &[Pane::Output]));
    } else {
        areas.push(at(lower, &[Pane::Prompt, Pane::Output]));
    }
    let groups = areas.into_iter();
    groups
        .map(|(area, panes)| group_of(area, panes, recent))
        .collect()
}

fn group_of(area: Rect, panes: &'static [Pane], recent: &[Pane]) -> Group {
    let chosen = recent.iter().find(|pane| panes.contains(pane));
    Group {
        area,
        panes,
        shown: chosen.copied().unwrap_or(panes[0]),
    }
}

/// A list of one pane.
fn alone_of(pane: Pane) -> &'static [Pane] {
    let at = Pane::ALL.iter().position(|one| *one == pane).unwrap_or(0);
    // A slice of a constant lives for ever.
    const ALL: &[Pane] = &Pane::ALL;
    &ALL[at..=at]
}

type Areas = Vec<(Rect, &'static [Pane])>;

fn at(area: Rect, panes: &'static [Pane]) -> (Rect, &'static [Pane]) {
    (area, panes)
}

/// Two columns.
fn usual(area: Rect, purpose: Purpose) -> Areas {
    let (left, right) = columns(area, area.width * 58 / 100);
    let (above, below) = rows(right, right.height.div_ceil(2));
    match purpose {
        Purpose::Source => vec![
            at(left, &[Pane::Source, Pane::Disassembly]),
            at(
                above,
                &[Pane::Locals, Pane::Watches, Pane::Registers, Pane::Memory],
            ),
            at(
                below,
                &[
                    Pane::Stack,
                    Pane::Threads,
                    Pane::Breakpoints,
                    Pane::Exceptions,
                ],
            ),
        ],
        Purpose::Machine => {
            let (source, code) = rows(left, left.height * 4 / 10);
            vec![
                at(source, &[Pane::Source]),
                at(code, &[Pane::Disassembly]),
                at(above, &[Pane::Registers, Pane::Locals, Pane::Watches]),
                at(
                    below,
                    &[
                        Pane::Memory,
                        Pane::Stack,
                        Pane::Threads,
                        Pane::Breakpoints,
                        Pane::Exceptions,
                    ],
                ),
            ]
        }
        Purpose::Threads => {
            let (threads, stack) = columns(area, area.width / 2);
            let (source, threads) = rows(threads, threads.height / 2);
            let (stack, values) = rows(stack, stack.height / 2);
            vec![
                at(source, &[Pane::Source, Pane::Disassembly]),
                at(
                    threads,
                    &[Pane::Threads, Pane::Breakpoints, Pane::Exceptions],
                ),
                at(stack, &[Pane::Stack]),
                at(
                    values,
                    &[Pane::Locals, Pane::Watches, Pane::Registers, Pane::Memory],
                ),
            ]
        }
    }
}

/// Three columns.
fn wide(area: Rect, purpose: Purpose) -> Areas {
    let (left, others) = columns(area, area.width * 42 / 100);
    let (middle, right) = columns(others, others.width / 2);
    let (values, watches) = rows(middle, middle.height * 6 / 10);
    let (stack, rest) = rows(right, right.height / 2);
    let (threads, breakpoints) = rows(rest, rest.height / 2);
    match purpose {
        Purpose::Source => vec![
            at(left, &[Pane::Source, Pane::Disassembly]),
            at(values, &[Pane::Locals, Pane::Registers]),
            at(watches, &[Pane::Watches, Pane::Memory]),
            at(stack, &[Pane::Stack]),
            at(threads, &[Pane::Threads]),
            at(breakpoints, &[Pane::Breakpoints, Pane::Exceptions]),
        ],
        Purpose::Machine => {
            let (source, code) = rows(left, left.height * 4 / 10);
            vec![
                at(source, &[Pane::Source]),
                at(code, &[Pane::Disassembly]),
                at(values, &[Pane::Registers, Pane::Locals]),
                at(watches, &[Pane::Memory, Pane::Watches]),
                at(stack, &[Pane::Stack]),
                at(rest, &[Pane::Threads, Pane::Breakpoints, Pane::Exceptions]),
            ]
        }
        Purpose::Threads => {
            let (source, values) = rows(left, left.height / 2);
            vec![
                at(source, &[Pane::Source, Pane::Disassembly]),
                at(
                    values,
                    &[Pane::Locals, Pane::Watches, Pane::Registers, Pane::Memory],
                ),
                at(middle, &[Pane::Threads]),
                at(stack, &[Pane::Stack]),
                at(rest, &[Pane::Breakpoints, Pane::Exceptions]),
            ]
        }
    }
}

/// Divides an area: the first `height` rows, and the rest.
fn rows(area: Rect, height: u16) -> (Rect, Rect) {
    let height = height.min(area.height);
    let above = Rect { height, ..area };
    let below = Rect {
        y: area.y + height,
        height: area.height - height,
        ..area
    };
    (above, below)
}

/// Divides an area: the first `width` columns, and the rest without the column of the line between them.
fn columns(area: Rect, width: u16) -> (Rect, Rect) {
    let width = width.min(area.width);
    let left = Rect { width, ..area };
    let gap = u16::from(width < area.width);
    let right = Rect {
        x: area.x + width + gap,
        width: area.width - width - gap,
        ..area
    };
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pane_can_be_reached_at_any_size_and_none_overlaps_another() {
        let purposes = [Purpose::Source, Purpose::Machine, Purpose::Threads];
        for (width, height) in [
            (40, 10),
            (80, 24),
            (159, 13),
            (160, 10),
            (300, 100),
            (500, 11),
        ] {
            let size = Rect::new(0, 0, width, height);
            for purpose in purposes {
                let groups = groups(size, purpose, &[], None);
                for pane in Pane::ALL {
                    let places = groups.iter().filter(|group| group.panes.contains(&pane));
                    assert_eq!(places.count(), 1, "{pane:?} at {width}×{height}");
                }
                for (at, group) in groups.iter().enumerate() {
                    let area = group.area;
                    assert!(size.contains(area.as_position()), "{group:?}");
                    let others = groups.iter().skip(at + 1);
                    let overlapping = others.filter(|other| other.area.intersects(area));
                    assert_eq!(overlapping.count(), 0, "{group:?} at {width}×{height}");
                }
            }
        }
        assert!(groups(Rect::new(0, 0, 39, 24), Purpose::Source, &[], None).is_empty());
    }

    #[test]
    fn the_pane_that_was_chosen_last_is_shown() {
        let size = Rect::new(0, 0, 80, 24);
        let recent = [Pane::Output, Pane::Watches, Pane::Locals];
        let groups = groups(size, Purpose::Source, &recent, None);
        let shown: Vec<Pane> = groups.iter().map(|group| group.shown).collect();
        let expected = [Pane::Source, Pane::Watches, Pane::Stack, Pane::Output];
        assert_eq!(shown, expected);
    }
}
