//! Which exceptions and signals the user wants to stop at, as choices among the adapter's filters.

use dapple_dap::types::{Capabilities, ExceptionBreakpointsFilter, ExceptionFilterOptions};

/// Dapple's filter whose condition lists signals.
pub const SIGNALS: &str = "signals";

/// The user's choice for a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    id: String,
    on: bool,
    condition: Option<String>,
}

/// The user's choices, kept from run to run. Filters without a choice have the adapter's default.
#[derive(Debug, Default)]
pub struct Exceptions {
    choices: Vec<Choice>,
    /// Signals with the words that the user gave to `handle`.
    signals: Vec<(String, String)>,
    /// All filters that were ever offered. A library may bring in another language and its filters, and choices made earlier apply then.
    known: Vec<ExceptionBreakpointsFilter>,
}

impl Exceptions {
    /// Switches a filter on or off. For the filter of signals, this forgets all words given to `handle`.
    pub fn choose(&mut self, id: &str, on: bool, condition: Option<String>) {
        self.choices.retain(|choice| choice.id != id);
        if id == SIGNALS {
            self.signals.clear();
        }
        self.choices.push(Choice {
            id: id.to_owned(),
            on,
            condition,
        });
    }

    /// Sets how to treat a signal, by words such as `nostop pass`.
    pub fn handle(&mut self, signal: &str, words: &[&str]) {
        let signal = signal.to_ascii_uppercase();
        let known = self.signals.iter_mut().find(|(name, _)| *name == signal);
        let words = words.join(":").to_ascii_lowercase();
        match known {
            Some((_, before)) => *before = format!("{before}:{words}"),
            None => self.signals.push((signal, words)),
        }
    }

    /// Forgets all words for a signal after the adapter refused some.
    pub fn forget(&mut self, signal: &str) {
        self.signals
            .retain(|(name, _)| !name.eq_ignore_ascii_case(signal));
    }

    /// Forgets the choice for a filter after the adapter refused it.
    pub fn forget_filter(&mut self, id: &str) {
        self.choices.retain(|choice| choice.id != id);
    }

    /// The words for all signals, one line per signal.
    pub fn signals(&self) -> impl Iterator<Item = String> {
        self.signals
            .iter()
            .map(|(name, words)| format!("{name}: {}", words.replace(':', " ")))
    }

    /// Whether a filter is on, and its condition.
    pub fn state_of(&self, filter: &ExceptionBreakpointsFilter) -> (bool, Option<String>) {
        let chosen = self
            .choices
            .iter()
            .find(|choice| choice.id == filter.filter);
        let (on, mut condition) = match chosen {
            Some(choice) => (choice.on, choice.condition.clone()),
            None => (filter.default == Some(true), None),
        };
        if filter.filter != SIGNALS || self.signals.is_empty() {
            return (on, condition);
        }
        let entries = self
            .signals
            .iter()
            .map(|(name, words)| format!("{name}:{words}"));
        let before = condition.take().filter(|_| on).into_iter();
        let all: Vec<String> = before.chain(entries).collect();
        (true, Some(all.join(", ")))
    }

    /// Records the filters that an adapter offers.
    pub fn note_offered(&mut self, capabilities: &Capabilities) {
        for filter in capabilities.exception_breakpoint_filters.iter().flatten() {
            match self
                .known
                .iter_mut()
                .find(|known| known.filter == filter.filter)
            {
                Some(known) => *known = filter.clone(),
                None => self.known.push(filter.clone()),
            }
        }
    }

    /// All filters that were ever offered.
    pub fn known(&self) -> &[ExceptionBreakpointsFilter] {
        &self.known
    }

    /// The filters to send to the adapter: all that are on, with their conditions, including those that the adapter doesn't offer for the
    /// program yet.
    pub fn to_send(&self) -> Vec<ExceptionFilterOptions> {
        let filters = self.known.iter();
        let on = filters.filter_map(|filter| {
            let (on, condition) = self.state_of(filter);
            let mut option = ExceptionFilterOptions::new(filter.filter.clone());
            option.condition = condition;
            on.then_some(option)
        });
        on.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities() -> Capabilities {
        let filters = vec![
            ExceptionBreakpointsFilter::new("uncaught", "Uncaught").with_default(true),
            ExceptionBreakpointsFilter::new(SIGNALS, "Signals"),
        ];
        Capabilities::new().with_exception_breakpoint_filters(filters)
    }

    fn sent(exceptions: &mut Exceptions) -> Vec<(String, Option<String>)> {
        exceptions.note_offered(&capabilities());
        let sent = exceptions.to_send().into_iter();
        sent.map(|option| (option.filter_id, option.condition))
            .collect()
    }

    #[test]
    fn the_defaults_hold_until_something_else_is_said() {
        let mut exceptions = Exceptions::default();
        assert_eq!(sent(&mut exceptions), [("uncaught".to_owned(), None)]);
        exceptions.choose("uncaught", false, None);
        assert_eq!(sent(&mut exceptions), []);
        exceptions.choose("uncaught", true, Some("std::*".to_owned()));
        assert_eq!(
            sent(&mut exceptions),
            [("uncaught".to_owned(), Some("std::*".to_owned()))]
        );
    }

    #[test]
    fn a_filter_that_is_no_longer_offered_is_sent_all_the_same() {
        let mut exceptions = Exceptions::default();
        exceptions.note_offered(&capabilities());
        exceptions.choose("uncaught", true, Some("std::*".to_owned()));
        let fewer = Capabilities::new().with_exception_breakpoint_filters(Vec::new());
        exceptions.note_offered(&fewer);
        let sent = exceptions.to_send();
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].condition.as_deref(), Some("std::*"));
    }

    #[test]
    fn what_is_said_of_signals_comes_together_in_one_condition() {
        let mut exceptions = Exceptions::default();
        exceptions.choose("uncaught", false, None);
        exceptions.handle("sigusr1", &["nostop", "print"]);
        exceptions.handle("SIGCHLD", &["nopass"]);
        exceptions.handle("SIGUSR1", &["pass"]);
        let condition = "SIGUSR1:nostop:print:pass, SIGCHLD:nopass";
        assert_eq!(
            sent(&mut exceptions),
            [(SIGNALS.to_owned(), Some(condition.to_owned()))]
        );
    }
}
