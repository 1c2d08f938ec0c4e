//! `CustomListItems`: elements found by a small program in the file, with variables, loops and conditions. The number of steps is limited.
//! If the number of elements is known, that program ends as soon as the requested page is full. Else it runs on to count the elements, up
//! to a limit.

use super::evaluate::{Evaluator, failure, loaded, reason};
use super::expand::Group;
use super::model::{Custom, Step};
use super::nodes::{Ended, MAX_COUNTED, key, walked};
use crate::eval::scope::Failure;
use crate::pages::PageCache;
use crate::values::Value;
use crate::values::entries::{Entry, Page};
use crate::values::view::Limit;

/// The most steps of one program.
const MAX_STEPS: u64 = 1 << 20;

/// How a list of steps ended.
enum Flow {
    On,
    /// Leaves the innermost loop.
    Break,
    /// Ends the program: the page is full.
    Done,
}

struct Running<'a> {
    evaluator: &'a Evaluator<'a>,
    object: &'a Value,
    page: Page,
    length: Option<u64>,
    steps: u64,
    is_longer: bool,
}

pub(super) fn elements(
    evaluator: &Evaluator<'_>,
    object: &Value,
    custom: &Custom,
    limit: Limit,
) -> Result<Group, Failure> {
    let pages = PageCache::new(evaluator.reader.memory);
    let evaluator = &evaluator.over(&pages);
    for (name, code) in &custom.variables {
        let value = loaded(&evaluator.reader, evaluator.plain(object, code)?);
        let variable = (name.clone(), value);
        evaluator.variables.borrow_mut().push(variable);
    }
    let length = evaluator.size(object, &custom.size)?;
    let has_names = has_names(&custom.steps);
    let mut running = Running {
        evaluator,
        object,
        page: Page::new(limit, has_names),
        length,
        steps: 0,
        is_longer: false,
    };
    let walk = running.run(&custom.steps);
    let is_longer = running.is_longer;
    let walk = match walk {
        Ok(flow) => match (length, flow) {
            (Some(length), Flow::On | Flow::Break) if running.page.position() < length => {
                let found = running.page.position();
                Err(failure(format!(
                    "it ends after {found} of {length} elements"
                )))
            }
            _ => Ok(Ended { is_longer }),
        },
        Err(failed) => Err(failed),
    };
    walked(running.page, length, walk, !has_names && !custom.is_set)
}

fn has_names(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::If(branches) => branches.iter().any(|(_, steps)| has_names(steps)),
        Step::Loop(_, steps) => has_names(steps),
        Step::Item { name, .. } => name.is_some(),
        Step::Break(_) | Step::Change(..) => false,
    })
}

impl Running<'_> {
    fn run(&mut self, steps: &[Step]) -> Result<Flow, Failure> {
        for step in steps {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(failure("too far in to be walked to"));
            }
            let enough = self.page.is_full(self.length.unwrap_or(u64::MAX));
            if enough && (self.length.is_some() || self.page.position() >= MAX_COUNTED) {
                self.is_longer = self.length.is_none();
                return Ok(Flow::Done);
            }
            match self.step(step)? {
                Flow::On => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    fn holds(&self, condition: Option<&super::code::Code>) -> Result<bool, Failure> {
        self.evaluator.holds(self.object, condition)
    }

    fn step(&mut self, step: &Step) -> Result<Flow, Failure> {
        match step {
            Step::If(branches) => {
                for (condition, steps) in branches {
                    if self.holds(condition.as_ref())? {
                        return self.run(steps);
                    }
                }
                Ok(Flow::On)
            }
            Step::Loop(condition, steps) => {
                while self.holds(condition.as_ref())? {
                    self.steps += 1;
                    if self.steps > MAX_STEPS {
                        return Err(failure("too far in to be walked to"));
                    }
                    match self.run(steps)? {
                        Flow::On => {}
                        Flow::Break => break,
                        Flow::Done => return Ok(Flow::Done),
                    }
                }
                Ok(Flow::On)
            }
            Step::Break(condition) => Ok(match self.holds(condition.as_ref())? {
                true => Flow::Break,
                false => Flow::On,
            }),
            Step::Change(condition, code) => {
                if self.holds(condition.as_ref())? {
                    self.change(code)?;
                }
                Ok(Flow::On)
            }
            Step::Item {
                condition,
                name,
                value,
            } => {
                if !self.holds(condition.as_ref())? {
                    return Ok(Flow::On);
                }
                let (evaluator, object) = (self.evaluator, self.object);
                let mut failed = None;
                let taken = self.page.next(|| {
                    let value = match evaluator.value(object, value) {
                        // Later steps may change the variables, so the value is read now.
                        Ok(value) => loaded(&evaluator.reader, value),
                        Err(why) if why.is_unknown => {
                            failed = Some(why);
                            return None;
                        }
                        Err(why) => reason(object, &why.message),
                    };
                    let key = name.as_ref().map(|parts| key(evaluator, object, parts));
                    Some(Entry { key, value })
                });
                match (taken, failed) {
                    (None, Some(failed)) => Err(failed),
                    _ => Ok(Flow::On),
                }
            }
        }
    }

    fn change(&mut self, code: &super::code::Code) -> Result<(), Failure> {
        use super::code::What;
        let name = match &code.what {
            Ok(What::Change(change)) => change.variable().to_owned(),
            Ok(What::Value(_)) => return Err(failure("an assignment was expected")),
            Err(why) => return Err(failure(&**why)),
        };
        let evaluator = self.evaluator;
        let value = loaded(&evaluator.reader, evaluator.plain(self.object, code)?);
        let mut variables = evaluator.variables.borrow_mut();
        match variables.iter_mut().rev().find(|(own, _)| **own == *name) {
            Some((_, variable)) => {
                *variable = value;
                Ok(())
            }
            None => Err(Failure {
                message: format!("`{name}` is no variable here"),
                is_unknown: true,
            }),
        }
    }
}
