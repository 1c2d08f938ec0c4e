//! The arguments of `launch` and `attach` as types of the adapter's own.
//!
//! The protocol leaves these arguments to each adapter, so the generated types keep them by name, in `other`. Here they are made from a
//! type of yours and decoded as one, all at once. An adapter and its client may share the type:
//!
//! ```
//! use dapple_dap::types::LaunchRequestArguments;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! #[serde(rename_all = "camelCase")]
//! struct Launch {
//!     program: String,
//!     #[serde(default)]
//!     stop_on_entry: bool,
//! }
//!
//! // The client:
//! let launch = Launch { program: "/bin/true".to_owned(), stop_on_entry: true };
//! let arguments = LaunchRequestArguments::of(&launch)?;
//! assert_eq!(arguments.other["stopOnEntry"].text(), "true");
//! // The adapter, in its handler of `launch`:
//! let launch: Launch = arguments.decode()?;
//! assert_eq!(launch.program, "/bin/true");
//! # Ok::<(), dapple_dap::message::DecodeError>(())
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::message::{DecodeError, Raw, Request, excerpt};
use crate::types::{
    AttachRequest, AttachRequestArguments, LaunchRequest, LaunchRequestArguments,
    StartDebuggingRequestArguments, StartDebuggingRequestArgumentsRequest,
};

macro_rules! typed_arguments {
    ($($arguments:ident $request:ident $command:literal;)*) => {
        $(
            impl $arguments {
                #[doc = concat!("The arguments of `", $command, "` with the fields of `value`: a struct, a map, or JSON as a [`Raw`].")]
                ///
                /// A field that is `None` is written as `null`, unless serde is told to skip it.
                ///
                /// # Errors
                /// `value` cannot be written as JSON, is no JSON object, or `noDebug` in it is neither true nor false.
                pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, DecodeError> {
                    object_of::<$request>(value)?.decode()
                }

                /// Decodes all fields, as the client has sent them, as a `T`. Fields that `T` lacks are ignored: editors send some of
                /// their own, such as `name` and `type`.
                ///
                /// # Errors
                /// A field is missing or has the wrong shape; the error names it. In a handler, `?` makes it the answer to the request.
                pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
                    raw(self)?.decode()
                }
            }
        )*
    };
}

typed_arguments! {
    LaunchRequestArguments LaunchRequest "launch";
    AttachRequestArguments AttachRequest "attach";
}

/// The request that starts a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// `launch`.
    Launch(LaunchRequestArguments),
    /// `attach`.
    Attach(AttachRequestArguments),
}

impl From<LaunchRequestArguments> for Start {
    fn from(arguments: LaunchRequestArguments) -> Self {
        Self::Launch(arguments)
    }
}

impl From<AttachRequestArguments> for Start {
    fn from(arguments: AttachRequestArguments) -> Self {
        Self::Attach(arguments)
    }
}

impl StartDebuggingRequestArguments {
    /// The request that starts the session which the adapter asks for.
    ///
    /// # Errors
    /// The adapter asks for something else than `launch` or `attach`, or `noDebug` in the configuration is neither true nor false.
    pub fn start(&self) -> Result<Start, DecodeError> {
        match &self.request {
            StartDebuggingRequestArgumentsRequest::Launch => {
                LaunchRequestArguments::of(&self.configuration).map(Start::Launch)
            }
            StartDebuggingRequestArgumentsRequest::Attach => {
                AttachRequestArguments::of(&self.configuration).map(Start::Attach)
            }
            StartDebuggingRequestArgumentsRequest::Other(request) => Err(wrong(format!(
                "`{}` is not a request that starts a session",
                excerpt::of_name(request)
            ))),
        }
    }
}

/// The JSON of what is to be the arguments of a request.
fn object_of<R: Request>(value: &(impl Serialize + ?Sized)) -> Result<Raw, DecodeError> {
    let raw = raw(value)?;
    if raw.text().trim_start().starts_with('{') {
        return Ok(raw);
    }
    let found = excerpt::of_name(raw.text());
    let command = R::COMMAND;
    Err(wrong(format!(
        "the arguments of `{command}` are a JSON object, not {found}"
    )))
}

fn raw(value: &(impl Serialize + ?Sized)) -> Result<Raw, DecodeError> {
    Raw::new(value).map_err(|error| wrong(format!("cannot be written as JSON: {error}")))
}

fn wrong(message: String) -> DecodeError {
    DecodeError {
        path: String::new(),
        message,
    }
}
