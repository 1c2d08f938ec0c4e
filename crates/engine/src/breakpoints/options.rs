//! What a breakpoint's options make it do: its condition, the hits on which it acts, and the message that it writes instead of stopping.

use super::condition::{Expression, Here, language_at};
use super::hits::HitCondition;
use super::log::{LogMessage, Message, Recording};
use super::passes::Passes;
use crate::{Address, Error};
use dapple_arch::decision::Truth;
use dapple_inspect::modules::Modules;
use rustc_hash::FxHashSet;

/// What the user asked of a breakpoint besides its place. The default stops each time.
///
/// A hit counts only if the condition holds. The count begins anew when the condition or the hit condition is changed, but not when only
/// the message is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BreakpointOptions {
    /// An expression in the language of the code at the breakpoint, which acts only if the expression is true. If the expression can't be
    /// evaluated, the program stops, and the stop says why.
    pub condition: Option<String>,
    /// The hits to act on: `5` or `== 5`, `!= 5`, `>= 5`, `> 5`, `<= 5`, `< 5`, `% 3` (each third).
    pub hits: Option<String>,
    /// A message to write instead of stopping. `{expression}` is shown as a variable is, `{expression:x}` in a format;
    /// `{{` and `}}` are braces.
    pub log: Option<String>,
}

/// A breakpoint's options, parsed, with their state: the hit count and what was checked.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    asked: BreakpointOptions,
    condition: Option<Expression>,
    hits: Option<HitCondition>,
    log: Option<LogMessage>,
    /// What is wrong with the options in any language.
    problem: Option<String>,
    /// What is wrong with the expressions in the language of one of the breakpoint's places.
    place_problem: Option<String>,
    /// The places for which the expressions can be parsed.
    checked: FxHashSet<Address>,
    /// The number of hits so far whose condition held.
    count: u64,
    /// Whether the user was told that the options call functions of the program.
    calls_told: bool,
}

/// What the program needs to decide by itself whether a breakpoint acts.
#[derive(Debug)]
pub(crate) struct Decision {
    /// Whether it acts on a thread.
    pub(crate) truth: Truth,
    /// If a thread's id has to be known: how far from the thread pointer it has it.
    pub(crate) own_id: Option<u64>,
    /// Its message. `None`: the debugger writes the message, or stops the program.
    pub(crate) message: Option<Recording>,
}

/// What a breakpoint does on a hit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Nothing: the thread goes on.
    GoOn,
    Stop,
    /// The thread goes on once the caller has written this message.
    Log(Message),
    /// The condition can't be evaluated: the thread stops, for this reason.
    Undecided(String),
    /// The condition has to call a function: it is evaluated when all threads have stopped.
    Call,
    /// The thread goes on, but the message has to call a function: it is written when all threads have stopped.
    LogCalling,
}

impl Rules {
    pub(crate) fn new(asked: BreakpointOptions) -> Rules {
        let given = |text: &Option<String>| {
            let text = text.as_deref()?;
            (!text.trim().is_empty()).then(|| text.to_owned())
        };
        let mut problem = None;
        let mut keep = |error| problem = problem.take().or(Some(error));
        let hits = given(&asked.hits).and_then(|text| {
            let hits = HitCondition::parse(&text);
            hits.map_err(&mut keep).ok()
        });
        let log = asked.log.as_deref().filter(|text| !text.is_empty());
        let log = log.and_then(|text| LogMessage::parse(text).map_err(&mut keep).ok());
        let condition = given(&asked.condition).map(|text| Expression::new(&text));
        Rules {
            asked,
            condition,
            hits,
            log,
            problem,
            ..Rules::default()
        }
    }

    pub(crate) fn asked(&self) -> &BreakpointOptions {
        &self.asked
    }

    /// Replaces the options. The hit count stays if neither the condition nor the hit condition changes.
    pub(crate) fn replace(&mut self, asked: BreakpointOptions) {
        if self.asked == asked {
            return;
        }
        let count = if self.counts_as(&asked) {
            self.count
        } else {
            0
        };
        *self = Rules {
            count,
            ..Rules::new(asked)
        };
    }

    /// Checks whether the expressions can be parsed in the languages of these places. [`Rules::problem`] has the result.
    pub(crate) fn check(&mut self, places: &[Address], modules: &Modules) {
        self.place_problem = None;
        if self.problem.is_some() || (self.condition.is_none() && self.log.is_none()) {
            return;
        }
        for place in places {
            if self.checked.contains(place) {
                continue;
            }
            if let Err(problem) = self.check_at(*place, modules) {
                self.place_problem = Some(problem);
                return;
            }
            self.checked.insert(*place);
        }
    }

    fn check_at(&mut self, place: Address, modules: &Modules) -> Result<(), String> {
        let language = language_at(modules, place);
        if let Some(condition) = &self.condition {
            condition.check(language).map_err(|error| {
                format!(
                    "the condition `{}` can't be read: {error}",
                    condition.text()
                )
            })?;
        }
        match &mut self.log {
            Some(log) => log.check(language),
            None => Ok(()),
        }
    }

    /// Notes that the options call a function of the program. Returns whether this is the first time.
    pub(crate) fn calls(&mut self) -> bool {
        !std::mem::replace(&mut self.calls_told, true)
    }

    pub(crate) fn log(&self) -> Option<&LogMessage> {
        self.log.as_ref()
    }

    /// Why the breakpoint can't be set with these options. `None`: it can.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref().or(self.place_problem.as_deref())
    }

    /// Forgets what was parsed and checked. Call after modules were loaded or unloaded: names may mean something else.
    pub(crate) fn forget(&mut self) {
        self.checked.clear();
        if let Some(condition) = &mut self.condition {
            condition.forget();
        }
        if let Some(log) = &mut self.log {
            log.forget();
        }
    }

    /// Whether there is neither a condition nor a message, so that a hit can be decided without looking at the thread.
    pub(crate) fn look_at_nothing(&self) -> bool {
        self.condition.is_none() && self.log.is_none()
    }

    /// Counts a hit for which the condition holds, and decides by the hit condition whether to stop or to go on. `passes`: by what the program
    /// counts hits.
    pub(crate) fn count_hit(&mut self, passes: Option<&Passes>) -> Act {
        if let Some(passes) = passes {
            if passes.take() {
                return Act::GoOn;
            }
            self.count_more(passes.used());
        }
        self.count_more(1);
        let Some(hits) = self.hits else {
            return Act::Stop;
        };
        if let Some(passes) = passes {
            passes.give(hits.skips_after(self.count));
        }
        match hits.holds(self.count) {
            true => Act::Stop,
            false => Act::GoOn,
        }
    }

    /// What the program needs to decide by itself.
    ///
    /// # Errors
    /// Why it can't, as a clause.
    pub(crate) fn decision(&mut self, here: &Here<'_>) -> Result<Decision, String> {
        let message = match &mut self.log {
            Some(log) if self.hits.is_none() => Some(log.recorded(here)),
            _ => None,
        };
        let always = (Truth::Constant(true), None);
        let (truth, own_id) = match (&mut self.condition, &message) {
            (Some(condition), _) => condition.decision(here)?,
            (None, Some(Ok(_))) => always,
            (None, _) if self.hits.is_some() => always,
            (None, Some(Err(reason))) => return Err(reason.clone()),
            (None, None) => return Err("it has neither a condition nor hits to count".to_owned()),
        };
        let message = message.and_then(Result::ok);
        let for_message = message.as_ref().and_then(|message| message.own_id);
        Ok(Decision {
            truth,
            own_id: own_id.or(for_message),
            message,
        })
    }

    /// If hits are to be counted: how many come before the next on which the breakpoint acts.
    pub(crate) fn skips(&self) -> Option<u64> {
        Some(self.hits?.skips_after(self.count))
    }

    /// Whether hits that were counted under other options count under these.
    pub(crate) fn counts_as(&self, other: &BreakpointOptions) -> bool {
        self.asked.condition == other.condition && self.asked.hits == other.hits
    }

    /// How often the condition has held.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// More hits were counted elsewhere.
    pub(crate) fn count_more(&mut self, count: u64) {
        self.count = self.count.saturating_add(count);
    }

    /// From now on, so many hits were before.
    pub(crate) fn count_from(&mut self, count: u64) {
        self.count = count;
    }

    /// Which hits count.
    pub(crate) fn hit_condition(&self) -> Option<HitCondition> {
        self.hits
    }

    /// Decides what to do with a thread that has reached the breakpoint. `holds` is the condition's value, if an inferior call has
    /// found it already. `passes`: as of [`Rules::count_hit`].
    pub(crate) fn decide(
        &mut self,
        here: &Here<'_>,
        holds: Option<Result<bool, Error>>,
        passes: Option<&Passes>,
    ) -> Act {
        let holds = match (holds, &mut self.condition) {
            (Some(holds), _) => holds.map(Some),
            (None, Some(condition)) => condition.holds(here),
            (None, None) => Ok(Some(true)),
        };
        match (self.decided(holds, passes), &mut self.log) {
            (Act::Stop, Some(log)) => log.message(here).map_or(Act::LogCalling, Act::Log),
            (act, _) => act,
        }
    }

    /// Decides what to do, given the condition's value. `Ok(None)`: not known, since evaluating it would call a function of the program.
    /// Disregards the log message: [`Act::Stop`] may mean to write it instead.
    pub(crate) fn decided(
        &mut self,
        holds: Result<Option<bool>, Error>,
        passes: Option<&Passes>,
    ) -> Act {
        match holds {
            Ok(Some(true)) => self.count_hit(passes),
            Ok(Some(false)) => Act::GoOn,
            Ok(None) => Act::Call,
            Err(error) => {
                let text = self.condition.as_ref().map_or("", Expression::text);
                Act::Undecided(format!(
                    "the breakpoint's condition `{text}` can't be evaluated: {error}"
                ))
            }
        }
    }
}
