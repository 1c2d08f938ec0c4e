//! What the adapter knows of the program's functions and source files, for completion at the prompt.
//!
//! The line editor's thread asks, at a Tab. In a large program, the answer may take seconds, so it is waited for only as long as nobody minds; it is
//! there at a later Tab. No answer is asked for twice.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use dapple_adapter::{SymbolKind, SymbolsArguments, SymbolsRequest, SymbolsResponse};
use dapple_dap::client::{Client, Pending};
use dapple_dap::message::Request;
use dapple_dap::types::{
    CancelArguments, CancelRequest, LoadedSourcesArguments, LoadedSourcesRequest,
    LoadedSourcesResponse,
};

/// How long a Tab waits.
const PATIENCE: Duration = Duration::from_millis(200);

/// Asks the adapter of one run.
#[derive(Debug, Default)]
pub struct NameSearch {
    client: Weak<Client>,
    /// Other adapters don't know the request for functions.
    lists_functions: bool,
    functions: Option<Asked>,
    files: Option<Asked>,
}

/// What was asked for.
#[derive(Debug)]
struct Asked {
    /// What the names begin with.
    start: String,
    /// The number of the request.
    request: i64,
    answer: Receiver<Names>,
    /// The answer, once it has come.
    names: Option<Names>,
}

#[derive(Debug, Default)]
struct Names {
    names: Vec<String>,
    /// Whether no name was left out.
    are_all: bool,
}

impl NameSearch {
    /// A search by a connection. `lists_functions`: it is to Dapple's adapter.
    pub fn new(client: &Arc<Client>, lists_functions: bool) -> Self {
        Self {
            client: Arc::downgrade(client),
            lists_functions,
            ..Self::default()
        }
    }

    /// The functions and the files' names that begin with a word, as far as they are known soon. Of a function's full name, the shortest end that begins
    /// with the word: `total` and `cart::total` of `shop::cart::total`.
    pub fn places(&mut self, word: &str) -> Vec<String> {
        self.ask_for_functions(word);
        self.ask_for_files();
        let until = Instant::now() + PATIENCE;
        let mut places = Vec::new();
        if let Some(files) = &mut self.files {
            let names = files.known(until).iter();
            places.extend(names.filter(|name| name.starts_with(word)).cloned());
        }
        if let Some(functions) = &mut self.functions {
            let names = functions.known(until).iter();
            places.extend(
                names
                    .filter_map(|name| end_of(name, word))
                    .map(str::to_owned),
            );
        }
        places
    }

    /// Asks for functions, unless the answer to what was asked before has them.
    fn ask_for_functions(&mut self, word: &str) {
        let has_them = |asked: &Asked| {
            word.starts_with(&asked.start) && asked.names.as_ref().is_none_or(|it| it.are_all)
                || word == asked.start
        };
        if self.functions.as_ref().is_some_and(has_them) {
            return;
        }
        let client = self.client.upgrade().filter(|_| self.lists_functions);
        let Some(client) = client else {
            return;
        };
        if let Some(asked) = self.functions.take().filter(|asked| asked.names.is_none()) {
            let arguments = CancelArguments::new().with_request_id(asked.request);
            // The adapter may have answered by now.
            let _ = client.send::<CancelRequest>(arguments);
        }
        let arguments = SymbolsArguments {
            kind: SymbolKind::Functions,
            // No names with generic arguments: nobody types those.
            pattern: Some(format!("^([\\w:]*::)?{}[\\w:~$]*$", escaped(word))),
        };
        let pending = client.send::<SymbolsRequest>(arguments).ok();
        self.functions = pending.map(|pending| Asked::new(word, pending, function_names));
    }

    fn ask_for_files(&mut self) {
        let client = self.client.upgrade().filter(|_| self.files.is_none());
        let Some(client) = client else {
            return;
        };
        if client.capabilities().supports_loaded_sources_request == Some(true) {
            let pending = client.send::<LoadedSourcesRequest>(LoadedSourcesArguments::new());
            self.files = { pending.ok() }.map(|pending| Asked::new("", pending, file_names));
        }
    }
}

impl Asked {
    fn new<R: Request>(
        start: &str,
        pending: Pending<R>,
        names: impl FnOnce(R::Response) -> Names + Send + 'static,
    ) -> Self
    where
        Pending<R>: Send + 'static,
    {
        let (sender, answer) = bounded(1);
        let request = pending.seq();
        thread::spawn(move || {
            // A request that fails is not made again.
            let answer = pending.wait_at_most(Duration::MAX).map(names);
            // Nobody may be interested any more.
            let _ = sender.send(answer.unwrap_or(Names {
                are_all: true,
                ..Names::default()
            }));
        });
        Self {
            start: start.to_owned(),
            request,
            answer,
            names: None,
        }
    }

    /// The names, if they are known by then.
    fn known(&mut self, until: Instant) -> &[String] {
        if self.names.is_none() {
            self.names = self.answer.recv_deadline(until).ok();
        }
        self.names.as_ref().map_or(&[], |known| &known.names)
    }
}

/// The names of functions that can be typed, without their parameters.
fn function_names(answer: SymbolsResponse) -> Names {
    let is_typed = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '~' | '$');
    let names = answer
        .symbols
        .into_iter()
        .map(|one| match one.name.split_once('(') {
            Some((name, _)) => name.to_owned(),
            None => one.name,
        });
    Names {
        names: names.filter(|name| name.chars().all(is_typed)).collect(),
        are_all: answer.omitted == 0,
    }
}

/// `file.c:` for each of the user's own source files.
fn file_names(answer: LoadedSourcesResponse) -> Names {
    let own = answer.sources.into_iter().filter(|it| it.origin.is_none());
    let names = own.filter_map(|source| {
        let path = source.path?;
        Some(format!("{}:", path.rsplit('/').next()?))
    });
    Names {
        names: names.collect(),
        are_all: true,
    }
}

/// The shortest end of a function's full name that begins with a word.
fn end_of<'n>(name: &'n str, word: &str) -> Option<&'n str> {
    let parts = name.match_indices("::").map(|(at, _)| at + 2);
    let ends = [0].into_iter().chain(parts).map(|at| &name[at..]);
    ends.filter(|end| end.starts_with(word)).last()
}

/// A word as a regular expression for itself.
fn escaped(word: &str) -> String {
    let mut text = String::new();
    for c in word.chars() {
        if !(c.is_alphanumeric() || c == '_' || c == ':') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_completed_from_the_part_that_was_begun() {
        let end = |word| end_of("shop::cart::total", word);
        assert_eq!(end("to"), Some("total"));
        assert_eq!(end("ca"), Some("cart::total"));
        assert_eq!(end("cart::"), Some("cart::total"));
        assert_eq!(end("s"), Some("shop::cart::total"));
        assert_eq!(end(""), Some("total"));
        assert_eq!(end("otal"), None);
    }

    #[test]
    fn what_is_typed_is_no_expression() {
        assert_eq!(escaped("a::b_1"), "a::b_1");
        assert_eq!(escaped("tour.c"), "tour\\.c");
        assert_eq!(escaped("(*"), "\\(\\*");
    }
}
