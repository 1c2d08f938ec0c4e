//! How a request fails, at either end.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use crate::message::excerpt::of_name;
use crate::message::{self, Raw};
use crate::transport::Outgoing;
use crate::types::{ErrorResponse, Message};

/// Why a request failed, for its error response: a sentence for people, and sometimes a keyword for programs.
///
/// `?` turns any [`std::error::Error`] into a failure; the texts of the error's sources are appended to its own. Errors of the standard
/// library don't name the file or the text at fault, which the user wants to know:
///
/// ```
/// use dapple_dap::Failure;
///
/// fn program(path: &str) -> Result<String, Failure> {
///     std::fs::read_to_string(path).map_err(|error| Failure::new(format!("{path}: {error}")))
/// }
/// fn line_count(path: &str) -> Result<i64, Failure> {
///     Ok(program(path)?.lines().count().try_into()?)
/// }
/// let failure = line_count("/no/such/file").unwrap_err();
/// assert!(failure.sentence().starts_with("/no/such/file: No such file"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// A keyword for programs, sent as the response's `message` in place of the sentence.
    keyword: Option<&'static str>,
    error: Box<Message>,
}

/// The id of errors without one of their own.
const ID: i64 = 1;

impl Failure {
    /// A failure explained by a sentence. Clients show it where the request was made, such as in a hover or a console.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self {
            keyword: None,
            error: Box::new(Message::new(ID, sentence)),
        }
    }

    /// The request needs a stopped debuggee. Clients do not show this failure but ask again after the next stop.
    pub fn not_stopped() -> Self {
        Self {
            keyword: Some("notStopped"),
            ..Self::new("the debuggee is running; pause it first")
        }
    }

    /// The client cancelled the request.
    pub fn cancelled() -> Self {
        Self {
            keyword: Some("cancelled"),
            ..Self::new("cancelled")
        }
    }

    /// The request's command is not known.
    pub(crate) fn unknown_command(command: &str) -> Self {
        let command = of_name(command);
        Self::new(format!("the request `{command}` is not supported here"))
    }

    /// Sets `showUser`: clients show the sentence to the user in a dialog.
    #[must_use]
    pub fn show_user(mut self) -> Self {
        self.error.show_user = Some(true);
        self
    }

    /// Leaves it to the client where the sentence is shown; undoes [`show_user`](Self::show_user).
    #[must_use]
    pub fn in_place(mut self) -> Self {
        self.error.show_user = None;
        self
    }

    /// The same failure with another sentence.
    #[must_use]
    pub fn with_sentence(mut self, sentence: impl Into<String>) -> Self {
        self.error.format = sentence.into();
        self
    }

    /// Gives the error an id by which it can be looked up.
    #[must_use]
    pub fn with_id(mut self, id: i32) -> Self {
        self.error.id = id.into();
        self
    }

    /// Points to a page that says more.
    #[must_use]
    pub fn with_url(mut self, url: impl Into<String>, label: impl Into<String>) -> Self {
        self.error.url = Some(url.into());
        self.error.url_label = Some(label.into());
        self
    }

    /// The sentence.
    pub fn sentence(&self) -> &str {
        &self.error.format
    }

    /// The response's `message` and `body`.
    pub(crate) fn into_parts(self) -> (String, Option<Raw>) {
        let message = self
            .keyword
            .map_or_else(|| self.error.format.clone(), str::to_owned);
        let body = Raw::new(&ErrorResponse::new().with_error(*self.error)).ok();
        (message, body)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::from_error(&error)
    }
}

impl Failure {
    /// A failure from anything that converts to a boxed error, such as a `String` or an `anyhow::Error`. Other errors need only `?`.
    ///
    /// ```
    /// use dapple_dap::Failure;
    ///
    /// fn parse(text: &str) -> Result<u8, String> {
    ///     text.parse().map_err(|_| format!("{text:?} is no small number"))
    /// }
    /// fn line(text: &str) -> Result<u8, Failure> {
    ///     Ok(parse(text).map_err(Failure::of)?)
    /// }
    /// assert_eq!(line("many").unwrap_err().sentence(), "\"many\" is no small number");
    /// ```
    pub fn of(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::from_error(&*error.into())
    }

    fn from_error(error: &(dyn std::error::Error + '_)) -> Self {
        let mut sentence = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            // Many errors already say what their source says.
            if !sentence.contains(&cause_text) {
                sentence.push_str(": ");
                sentence.push_str(&cause_text);
            }
            source = cause.source();
        }
        Self::new(sentence)
    }
}

/// The response to a request.
pub(crate) fn response(
    request_seq: i64,
    command: impl Into<Cow<'static, str>>,
    result: Result<Option<Raw>, Failure>,
) -> Outgoing {
    match result {
        Ok(body) => Outgoing::success(request_seq, command, body),
        Err(failure) => {
            let (message, body) = failure.into_parts();
            Outgoing::failure(request_seq, command, message, body)
        }
    }
}

/// The error message of a failed response.
pub(crate) fn failure_text(message: Option<&str>, body: Option<&RawValue>) -> String {
    let details = body.and_then(|body| message::decode::<ErrorResponse>(body).ok());
    let sentence = details
        .and_then(|details| details.error)
        .map(|error| fill_in(&error));
    sentence
        .or_else(|| message.map(str::to_owned))
        .unwrap_or_else(|| "the request failed, and no reason was given".to_owned())
}

/// A message's text with its variables filled in.
fn fill_in(error: &Message) -> String {
    let mut text = error.format.clone();
    for (name, value) in error.variables.iter().flatten() {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}
