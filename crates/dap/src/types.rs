//! The protocol's types, one item for each definition.
//!
//! Written by `cargo xtask codegen` from the definition file of the `schema` crate: change that file, not this one.
//! An `XRequest` or `XEvent` is a marker that implements [`Request`] or [`Event`]; an `XResponse` is the response's body.
//! [`AnyRequest`], [`AnyResponse`] and [`AnyEvent`] hold a message of whatever kind comes.

use crate::message::{self, DecodeError, Direction, Event, Request, read_object, string_enum};
pub use crate::message::{Empty, IntegerOrString, Raw};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// What every message on the wire starts with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProtocolMessage {
    /// Counts a sender's own messages up from 1 in steps of one; answers and cancellations name a
    /// message by it.
    ///
    /// Range: 1..=2147483647.
    pub seq: i64,
    /// Which of the three kinds this message is.
    pub r#type: ProtocolMessageType,
}

impl ProtocolMessage {
    /// What is required set, nothing else.
    pub fn new(seq: i64, r#type: ProtocolMessageType) -> Self {
        Self { seq, r#type }
    }
}

read_object! {
    ProtocolMessage {
        0 seq "seq" required,
        1 r#type "type" required,
    }
}

string_enum! {
    /// The values of `type` in `ProtocolMessage`.
    open ProtocolMessageType {
        /// `request`.
        Request = "request",
        /// `response`.
        Response = "response",
        /// `event`.
        Event = "event",
    }
}

/// Asks the other side to do something; either side may send one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RequestMessage {
    /// Counts a sender's own messages up from 1 in steps of one; answers and cancellations name a
    /// message by it.
    ///
    /// Range: 1..=2147483647.
    pub seq: i64,
    /// The protocol's `type`.
    pub r#type: RequestMessageType,
    /// Name of what is asked for.
    pub command: String,
    /// Input of the command; its shape depends on `command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Raw>,
}

impl RequestMessage {
    /// What is required set, nothing else.
    pub fn new(seq: i64, command: impl Into<String>) -> Self {
        Self {
            seq,
            r#type: RequestMessageType::Request,
            command: command.into(),
            arguments: None,
        }
    }

    /// Sets [`arguments`](Self::arguments).
    #[must_use]
    pub fn with_arguments(mut self, arguments: Raw) -> Self {
        self.arguments = Some(arguments);
        self
    }
}

read_object! {
    RequestMessage {
        0 seq "seq" required,
        1 r#type "type" required,
        2 command "command" required,
        3 arguments "arguments" any,
    }
}

string_enum! {
    /// The values of `type` in `Request`.
    closed RequestMessageType {
        /// `request`.
        Request = "request",
    }
}

/// News from the adapter that nobody has to answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventMessage {
    /// Counts a sender's own messages up from 1 in steps of one; answers and cancellations name a
    /// message by it.
    ///
    /// Range: 1..=2147483647.
    pub seq: i64,
    /// The protocol's `type`.
    pub r#type: EventMessageType,
    /// Name of what happened.
    pub event: String,
    /// Details, shaped by `event`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Raw>,
}

impl EventMessage {
    /// What is required set, nothing else.
    pub fn new(seq: i64, event: impl Into<String>) -> Self {
        Self {
            seq,
            r#type: EventMessageType::Event,
            event: event.into(),
            body: None,
        }
    }

    /// Sets [`body`](Self::body).
    #[must_use]
    pub fn with_body(mut self, body: Raw) -> Self {
        self.body = Some(body);
        self
    }
}

read_object! {
    EventMessage {
        0 seq "seq" required,
        1 r#type "type" required,
        2 event "event" required,
        3 body "body" any,
    }
}

string_enum! {
    /// The values of `type` in `Event`.
    closed EventMessageType {
        /// `event`.
        Event = "event",
    }
}

/// Answers exactly one earlier request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResponseMessage {
    /// Counts a sender's own messages up from 1 in steps of one; answers and cancellations name a
    /// message by it.
    ///
    /// Range: 1..=2147483647.
    pub seq: i64,
    /// The protocol's `type`.
    pub r#type: ResponseMessageType,
    /// The `seq` of what is being answered.
    ///
    /// Range: 1..=2147483647.
    pub request_seq: i64,
    /// Whether it worked: true makes `body` a result, false makes `message` the error and `body`
    /// its details.
    pub success: bool,
    /// Repeats the command of the request answered.
    pub command: String,
    /// On failure, a short error code meant for programs rather than for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<ResponseMessageMessage>,
    /// The result on success, the details of the error on failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Raw>,
}

impl ResponseMessage {
    /// What is required set, nothing else.
    pub fn new(seq: i64, request_seq: i64, success: bool, command: impl Into<String>) -> Self {
        Self {
            seq,
            r#type: ResponseMessageType::Response,
            request_seq,
            success,
            command: command.into(),
            message: None,
            body: None,
        }
    }

    /// Sets [`message`](Self::message).
    #[must_use]
    pub fn with_message(mut self, message: ResponseMessageMessage) -> Self {
        self.message = Some(message);
        self
    }

    /// Sets [`body`](Self::body).
    #[must_use]
    pub fn with_body(mut self, body: Raw) -> Self {
        self.body = Some(body);
        self
    }
}

read_object! {
    ResponseMessage {
        0 seq "seq" required,
        1 r#type "type" required,
        2 request_seq "request_seq" required,
        3 success "success" required,
        4 command "command" required,
        5 message "message" optional,
        6 body "body" any,
    }
}

string_enum! {
    /// The values of `type` in `Response`.
    closed ResponseMessageType {
        /// `response`.
        Response = "response",
    }
}

string_enum! {
    /// The values of `message` in `Response`.
    open ResponseMessageMessage {
        /// Somebody cancelled this request.
        Cancelled = "cancelled",
        /// Needs a stopped debuggee; worth repeating after the next stop.
        NotStopped = "notStopped",
    }
}

/// Answer to a request that failed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ErrorResponse {
    /// The error in a form that can be shown to a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Message>,
}

impl ErrorResponse {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`error`](Self::error).
    #[must_use]
    pub fn with_error(mut self, error: Message) -> Self {
        self.error = Some(error);
        self
    }
}

read_object! {
    ErrorResponse {
        0 error "error" optional,
    }
}

/// Gives up an earlier request or a progress; only with `supportsCancelRequest`. A hint: the
/// adapter may ignore it, the cancelled request is still answered and the cancelled progress
/// still ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelRequest;

impl Request for CancelRequest {
    const COMMAND: &'static str = "cancel";
    const CAPABILITY: Option<&'static str> = Some("supportsCancelRequest");
    type Arguments = CancelArguments;
    type Response = CancelResponse;
}

/// What `cancel` takes.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct CancelArguments {
    /// The `seq` of the request to give up; absent leaves all requests alone. May go together with
    /// `progressId`.
    ///
    /// Range: 1..=2147483647.
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    pub request_id: Option<i64>,
    /// The progress to give up; absent leaves all progress alone. May go together with `requestId`.
    #[serde(rename = "progressId", skip_serializing_if = "Option::is_none")]
    pub progress_id: Option<String>,
}

impl CancelArguments {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`request_id`](Self::request_id).
    #[must_use]
    pub fn with_request_id(mut self, request_id: i64) -> Self {
        self.request_id = Some(request_id);
        self
    }

    /// Sets [`progress_id`](Self::progress_id).
    #[must_use]
    pub fn with_progress_id(mut self, progress_id: impl Into<String>) -> Self {
        self.progress_id = Some(progress_id.into());
        self
    }
}

read_object! {
    CancelArguments {
        0 request_id "requestId" optional,
        1 progress_id "progressId" optional,
    }
}

/// Confirms `cancel`, with an empty body.
pub type CancelResponse = Empty;

/// The adapter accepts configuration from now on. Sent once after the answer to `initialize`;
/// the client then sends its breakpoints of all kinds and closes with `configurationDone`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitializedEvent;

impl Event for InitializedEvent {
    const EVENT: &'static str = "initialized";
    type Body = Empty;
}

/// The body of \[`StoppedEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StoppedEventBody {
    /// Why it halted, as a code; displayed untranslated when `description` is absent.
    pub reason: StoppedEventReason,
    /// Why it halted, as a sentence for people, possibly translated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Thread that caused the halt.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId", skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<i64>,
    /// True asks the client to leave its selection where it is.
    #[serde(rename = "preserveFocusHint", skip_serializing_if = "Option::is_none")]
    pub preserve_focus_hint: Option<bool>,
    /// More for the user, such as the name of the exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// True when every thread is halted and can be inspected; otherwise only `threadId` is.
    #[serde(rename = "allThreadsStopped", skip_serializing_if = "Option::is_none")]
    pub all_threads_stopped: Option<bool>,
    /// Breakpoints that were hit; several when they share one location.
    ///
    /// Range of each: -2147483648..=2147483647.
    #[serde(rename = "hitBreakpointIds", skip_serializing_if = "Option::is_none")]
    pub hit_breakpoint_ids: Option<Vec<i64>>,
}

impl StoppedEventBody {
    /// What is required set, nothing else.
    pub fn new(reason: StoppedEventReason) -> Self {
        Self {
            reason,
            description: None,
            thread_id: None,
            preserve_focus_hint: None,
            text: None,
            all_threads_stopped: None,
            hit_breakpoint_ids: None,
        }
    }

    /// Sets [`description`](Self::description).
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets [`thread_id`](Self::thread_id).
    #[must_use]
    pub fn with_thread_id(mut self, thread_id: i64) -> Self {
        self.thread_id = Some(thread_id);
        self
    }

    /// Sets [`preserve_focus_hint`](Self::preserve_focus_hint).
    #[must_use]
    pub fn with_preserve_focus_hint(mut self, preserve_focus_hint: bool) -> Self {
        self.preserve_focus_hint = Some(preserve_focus_hint);
        self
    }

    /// Sets [`text`](Self::text).
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Sets [`all_threads_stopped`](Self::all_threads_stopped).
    #[must_use]
    pub fn with_all_threads_stopped(mut self, all_threads_stopped: bool) -> Self {
        self.all_threads_stopped = Some(all_threads_stopped);
        self
    }

    /// Sets [`hit_breakpoint_ids`](Self::hit_breakpoint_ids).
    #[must_use]
    pub fn with_hit_breakpoint_ids(mut self, hit_breakpoint_ids: Vec<i64>) -> Self {
        self.hit_breakpoint_ids = Some(hit_breakpoint_ids);
        self
    }
}

read_object! {
    StoppedEventBody {
        0 reason "reason" required,
        1 description "description" optional,
        2 thread_id "threadId" optional,
        3 preserve_focus_hint "preserveFocusHint" optional,
        4 text "text" optional,
        5 all_threads_stopped "allThreadsStopped" optional,
        6 hit_breakpoint_ids "hitBreakpointIds" optional_list,
    }
}

string_enum! {
    /// The values of `reason` in `StoppedEvent`.
    open StoppedEventReason {
        /// `step`.
        Step = "step",
        /// `breakpoint`.
        Breakpoint = "breakpoint",
        /// `exception`.
        Exception = "exception",
        /// `pause`.
        Pause = "pause",
        /// `entry`.
        Entry = "entry",
        /// `goto`.
        Goto = "goto",
        /// `function breakpoint`.
        FunctionBreakpoint = "function breakpoint",
        /// `data breakpoint`.
        DataBreakpoint = "data breakpoint",
        /// `instruction breakpoint`.
        InstructionBreakpoint = "instruction breakpoint",
    }
}

/// The debuggee came to a halt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoppedEvent;

impl Event for StoppedEvent {
    const EVENT: &'static str = "stopped";
    type Body = StoppedEventBody;
}

/// The body of \[`ContinuedEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ContinuedEventBody {
    /// Thread that runs again.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
    /// False when some threads stay halted; absent counts as true.
    #[serde(
        rename = "allThreadsContinued",
        skip_serializing_if = "Option::is_none"
    )]
    pub all_threads_continued: Option<bool>,
}

impl ContinuedEventBody {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64) -> Self {
        Self {
            thread_id,
            all_threads_continued: None,
        }
    }

    /// Sets [`all_threads_continued`](Self::all_threads_continued).
    #[must_use]
    pub fn with_all_threads_continued(mut self, all_threads_continued: bool) -> Self {
        self.all_threads_continued = Some(all_threads_continued);
        self
    }
}

read_object! {
    ContinuedEventBody {
        0 thread_id "threadId" required,
        1 all_threads_continued "allThreadsContinued" optional,
    }
}

/// The debuggee runs again without a request having asked for it; not sent after `continue`,
/// `launch` and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContinuedEvent;

impl Event for ContinuedEvent {
    const EVENT: &'static str = "continued";
    type Body = ContinuedEventBody;
}

/// The body of \[`ExitedEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExitedEventBody {
    /// Code the debuggee ended with.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "exitCode")]
    pub exit_code: i64,
}

impl ExitedEventBody {
    /// What is required set, nothing else.
    pub fn new(exit_code: i64) -> Self {
        Self { exit_code }
    }
}

read_object! {
    ExitedEventBody {
        0 exit_code "exitCode" required,
    }
}

/// The debuggee ended by itself and this is its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitedEvent;

impl Event for ExitedEvent {
    const EVENT: &'static str = "exited";
    type Body = ExitedEventBody;
}

/// The body of \[`TerminatedEvent`\].
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct TerminatedEventBody {
    /// Anything but false asks for a new session; handed back untouched as `__restart` in the next
    /// `launch` or `attach`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<Raw>,
}

impl TerminatedEventBody {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`restart`](Self::restart).
    #[must_use]
    pub fn with_restart(mut self, restart: Raw) -> Self {
        self.restart = Some(restart);
        self
    }
}

read_object! {
    TerminatedEventBody {
        0 restart "restart" any,
    }
}

/// The session has nothing left to debug, although the debuggee may live on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminatedEvent;

impl Event for TerminatedEvent {
    const EVENT: &'static str = "terminated";
    type Body = TerminatedEventBody;
}

/// The body of \[`ThreadEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ThreadEventBody {
    /// Which of the two happened.
    pub reason: ThreadEventReason,
    /// Thread concerned.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
}

impl ThreadEventBody {
    /// What is required set, nothing else.
    pub fn new(reason: ThreadEventReason, thread_id: i64) -> Self {
        Self { reason, thread_id }
    }
}

read_object! {
    ThreadEventBody {
        0 reason "reason" required,
        1 thread_id "threadId" required,
    }
}

string_enum! {
    /// The values of `reason` in `ThreadEvent`.
    open ThreadEventReason {
        /// `started`.
        Started = "started",
        /// `exited`.
        Exited = "exited",
    }
}

/// A thread appeared or went away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadEvent;

impl Event for ThreadEvent {
    const EVENT: &'static str = "thread";
    type Body = ThreadEventBody;
}

/// The body of \[`OutputEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutputEventBody {
    /// Where the text belongs; absent or unknown means `console`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<OutputEventCategory>,
    /// The text. Escape sequences count as style only when both sides announced
    /// `supportsANSIStyling`, else they appear as they are.
    pub output: String,
    /// Opens or closes an indented group of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<OutputEventGroup>,
    /// Above zero, values to expand with `variables` until the debuggee runs again.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "variablesReference", skip_serializing_if = "Option::is_none")]
    pub variables_reference: Option<i64>,
    /// Source that printed the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Line in `source` that printed it.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Column in `line`, in UTF-16 units, counted from 0 or 1 as the client chose with
    /// `columnsStartAt1`.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Extra data: displayed as JSON, or forwarded when the category is `telemetry`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Raw>,
    /// Handle for `locations` leading to the printed value's declaration; lives as long as
    /// `variablesReference`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "locationReference", skip_serializing_if = "Option::is_none")]
    pub location_reference: Option<i64>,
}

impl OutputEventBody {
    /// What is required set, nothing else.
    pub fn new(output: impl Into<String>) -> Self {
        Self {
            category: None,
            output: output.into(),
            group: None,
            variables_reference: None,
            source: None,
            line: None,
            column: None,
            data: None,
            location_reference: None,
        }
    }

    /// Sets [`category`](Self::category).
    #[must_use]
    pub fn with_category(mut self, category: OutputEventCategory) -> Self {
        self.category = Some(category);
        self
    }

    /// Sets [`group`](Self::group).
    #[must_use]
    pub fn with_group(mut self, group: OutputEventGroup) -> Self {
        self.group = Some(group);
        self
    }

    /// Sets [`variables_reference`](Self::variables_reference).
    #[must_use]
    pub fn with_variables_reference(mut self, variables_reference: i64) -> Self {
        self.variables_reference = Some(variables_reference);
        self
    }

    /// Sets [`source`](Self::source).
    #[must_use]
    pub fn with_source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// Sets [`line`](Self::line).
    #[must_use]
    pub fn with_line(mut self, line: i64) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`data`](Self::data).
    #[must_use]
    pub fn with_data(mut self, data: Raw) -> Self {
        self.data = Some(data);
        self
    }

    /// Sets [`location_reference`](Self::location_reference).
    #[must_use]
    pub fn with_location_reference(mut self, location_reference: i64) -> Self {
        self.location_reference = Some(location_reference);
        self
    }
}

read_object! {
    OutputEventBody {
        0 category "category" optional,
        1 output "output" required,
        2 group "group" optional,
        3 variables_reference "variablesReference" optional,
        4 source "source" optional,
        5 line "line" optional,
        6 column "column" optional,
        7 data "data" any,
        8 location_reference "locationReference" optional,
    }
}

string_enum! {
    /// The values of `category` in `OutputEvent`.
    open OutputEventCategory {
        /// Notes of the debugger itself, kept apart from what the debuggee prints.
        Console = "console",
        /// The debugger has something the user must not miss; a client may treat it as `console`.
        Important = "important",
        /// What the debuggee printed normally.
        Stdout = "stdout",
        /// What the debuggee printed as errors.
        Stderr = "stderr",
        /// For usage statistics only, never displayed.
        Telemetry = "telemetry",
    }
}

string_enum! {
    /// The values of `group` in `OutputEvent`.
    closed OutputEventGroup {
        /// Opens a group that is shown unfolded; `output` is its heading.
        Start = "start",
        /// Opens a group that is shown folded; `output` is its heading.
        StartCollapsed = "startCollapsed",
        /// Closes the innermost group; `output`, if any, is its unindented last line.
        End = "end",
    }
}

/// Text from the debuggee or the debugger for the user to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputEvent;

impl Event for OutputEvent {
    const EVENT: &'static str = "output";
    type Body = OutputEventBody;
}

/// The body of \[`BreakpointEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BreakpointEventBody {
    /// What happened to it.
    pub reason: BreakpointEventReason,
    /// The breakpoint as it is now, recognised by its `id`.
    pub breakpoint: Breakpoint,
}

impl BreakpointEventBody {
    /// What is required set, nothing else.
    pub fn new(reason: BreakpointEventReason, breakpoint: Breakpoint) -> Self {
        Self { reason, breakpoint }
    }
}

read_object! {
    BreakpointEventBody {
        0 reason "reason" required,
        1 breakpoint "breakpoint" required,
    }
}

string_enum! {
    /// The values of `reason` in `BreakpointEvent`.
    open BreakpointEventReason {
        /// `changed`.
        Changed = "changed",
        /// `new`.
        New = "new",
        /// `removed`.
        Removed = "removed",
    }
}

/// A breakpoint became known, changed or vanished. Clients keep sending what the user asked
/// for, never the adjusted values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakpointEvent;

impl Event for BreakpointEvent {
    const EVENT: &'static str = "breakpoint";
    type Body = BreakpointEventBody;
}

/// The body of \[`ModuleEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModuleEventBody {
    /// What happened to the module.
    pub reason: ModuleEventReason,
    /// The module concerned; for `removed` its `id` suffices.
    pub module: Module,
}

impl ModuleEventBody {
    /// What is required set, nothing else.
    pub fn new(reason: ModuleEventReason, module: Module) -> Self {
        Self { reason, module }
    }
}

read_object! {
    ModuleEventBody {
        0 reason "reason" required,
        1 module "module" required,
    }
}

string_enum! {
    /// The values of `reason` in `ModuleEvent`.
    closed ModuleEventReason {
        /// `new`.
        New = "new",
        /// `changed`.
        Changed = "changed",
        /// `removed`.
        Removed = "removed",
    }
}

/// A module was loaded, changed or unloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleEvent;

impl Event for ModuleEvent {
    const EVENT: &'static str = "module";
    type Body = ModuleEventBody;
}

/// The body of \[`LoadedSourceEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LoadedSourceEventBody {
    /// What happened to the entry.
    pub reason: LoadedSourceEventReason,
    /// The source concerned.
    pub source: Source,
}

impl LoadedSourceEventBody {
    /// What is required set, nothing else.
    pub fn new(reason: LoadedSourceEventReason, source: Source) -> Self {
        Self { reason, source }
    }
}

read_object! {
    LoadedSourceEventBody {
        0 reason "reason" required,
        1 source "source" required,
    }
}

string_enum! {
    /// The values of `reason` in `LoadedSourceEvent`.
    closed LoadedSourceEventReason {
        /// `new`.
        New = "new",
        /// `changed`.
        Changed = "changed",
        /// `removed`.
        Removed = "removed",
    }
}

/// The list of loaded sources changed by one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadedSourceEvent;

impl Event for LoadedSourceEvent {
    const EVENT: &'static str = "loadedSource";
    type Body = LoadedSourceEventBody;
}

/// The body of \[`ProcessEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProcessEventBody {
    /// What to call the process, mostly the path of its executable.
    pub name: String,
    /// Process number in the operating system; absent where there is none.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "systemProcessId", skip_serializing_if = "Option::is_none")]
    pub system_process_id: Option<i64>,
    /// Whether it lives on the adapter's own machine.
    #[serde(rename = "isLocalProcess", skip_serializing_if = "Option::is_none")]
    pub is_local_process: Option<bool>,
    /// How the process came under control.
    #[serde(rename = "startMethod", skip_serializing_if = "Option::is_none")]
    pub start_method: Option<ProcessEventStartMethod>,
    /// Width of its pointers in bits, for formatting addresses.
    ///
    /// Range: 0..=4294967295.
    #[serde(rename = "pointerSize", skip_serializing_if = "Option::is_none")]
    pub pointer_size: Option<i64>,
}

impl ProcessEventBody {
    /// What is required set, nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            system_process_id: None,
            is_local_process: None,
            start_method: None,
            pointer_size: None,
        }
    }

    /// Sets [`system_process_id`](Self::system_process_id).
    #[must_use]
    pub fn with_system_process_id(mut self, system_process_id: i64) -> Self {
        self.system_process_id = Some(system_process_id);
        self
    }

    /// Sets [`is_local_process`](Self::is_local_process).
    #[must_use]
    pub fn with_is_local_process(mut self, is_local_process: bool) -> Self {
        self.is_local_process = Some(is_local_process);
        self
    }

    /// Sets [`start_method`](Self::start_method).
    #[must_use]
    pub fn with_start_method(mut self, start_method: ProcessEventStartMethod) -> Self {
        self.start_method = Some(start_method);
        self
    }

    /// Sets [`pointer_size`](Self::pointer_size).
    #[must_use]
    pub fn with_pointer_size(mut self, pointer_size: i64) -> Self {
        self.pointer_size = Some(pointer_size);
        self
    }
}

read_object! {
    ProcessEventBody {
        0 name "name" required,
        1 system_process_id "systemProcessId" optional,
        2 is_local_process "isLocalProcess" optional,
        3 start_method "startMethod" optional,
        4 pointer_size "pointerSize" optional,
    }
}

string_enum! {
    /// The values of `startMethod` in `ProcessEvent`.
    closed ProcessEventStartMethod {
        /// The debugger started it.
        Launch = "launch",
        /// It was running before and the debugger joined.
        Attach = "attach",
        /// Some other launcher started it halted and called the debugger.
        AttachForSuspendedLaunch = "attachForSuspendedLaunch",
    }
}

/// A process is now being debugged, launched or attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessEvent;

impl Event for ProcessEvent {
    const EVENT: &'static str = "process";
    type Body = ProcessEventBody;
}

/// The body of \[`CapabilitiesEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CapabilitiesEventBody {
    /// New values; whatever is absent stays as it was.
    pub capabilities: Capabilities,
}

impl CapabilitiesEventBody {
    /// What is required set, nothing else.
    pub fn new(capabilities: Capabilities) -> Self {
        Self { capabilities }
    }
}

read_object! {
    CapabilitiesEventBody {
        0 capabilities "capabilities" required,
    }
}

/// Some capabilities changed after `initialize`. Only the changed ones are listed, and a client
/// may be too late to honour them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapabilitiesEvent;

impl Event for CapabilitiesEvent {
    const EVENT: &'static str = "capabilities";
    type Body = CapabilitiesEventBody;
}

/// The body of \[`ProgressStartEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProgressStartEventBody {
    /// Name by which later progress events mean this one; never reused in a session.
    #[serde(rename = "progressId")]
    pub progress_id: String,
    /// What is being done, in a few words for the user.
    pub title: String,
    /// The request behind the work, which ends with it; absent means the adapter does it on its own
    /// account.
    ///
    /// Range: 1..=2147483647.
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    pub request_id: Option<i64>,
    /// True when `cancel` may give the work up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancellable: Option<bool>,
    /// The detail being worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How far it is, from 0 to 100; absent when unknown.
    ///
    /// Range: 0..=100.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "message::optional_number"
    )]
    pub percentage: Option<f64>,
}

impl ProgressStartEventBody {
    /// What is required set, nothing else.
    pub fn new(progress_id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            progress_id: progress_id.into(),
            title: title.into(),
            request_id: None,
            cancellable: None,
            message: None,
            percentage: None,
        }
    }

    /// Sets [`request_id`](Self::request_id).
    #[must_use]
    pub fn with_request_id(mut self, request_id: i64) -> Self {
        self.request_id = Some(request_id);
        self
    }

    /// Sets [`cancellable`](Self::cancellable).
    #[must_use]
    pub fn with_cancellable(mut self, cancellable: bool) -> Self {
        self.cancellable = Some(cancellable);
        self
    }

    /// Sets [`message`](Self::message).
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets [`percentage`](Self::percentage).
    #[must_use]
    pub fn with_percentage(mut self, percentage: f64) -> Self {
        self.percentage = Some(percentage);
        self
    }
}

read_object! {
    ProgressStartEventBody {
        0 progress_id "progressId" required,
        1 title "title" required,
        2 request_id "requestId" optional,
        3 cancellable "cancellable" optional,
        4 message "message" optional,
        5 percentage "percentage" optional,
    }
}

/// Something slow begins; the client may show it, after a delay, with a way to give up. Only
/// with `supportsProgressReporting`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgressStartEvent;

impl Event for ProgressStartEvent {
    const EVENT: &'static str = "progressStart";
    type Body = ProgressStartEventBody;
}

/// The body of \[`ProgressUpdateEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProgressUpdateEventBody {
    /// Which work, as named at its start.
    #[serde(rename = "progressId")]
    pub progress_id: String,
    /// The detail now worked on; absent keeps the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How far it is now, from 0 to 100; absent when unknown.
    ///
    /// Range: 0..=100.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "message::optional_number"
    )]
    pub percentage: Option<f64>,
}

impl ProgressUpdateEventBody {
    /// What is required set, nothing else.
    pub fn new(progress_id: impl Into<String>) -> Self {
        Self {
            progress_id: progress_id.into(),
            message: None,
            percentage: None,
        }
    }

    /// Sets [`message`](Self::message).
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets [`percentage`](Self::percentage).
    #[must_use]
    pub fn with_percentage(mut self, percentage: f64) -> Self {
        self.percentage = Some(percentage);
        self
    }
}

read_object! {
    ProgressUpdateEventBody {
        0 progress_id "progressId" required,
        1 message "message" optional,
        2 percentage "percentage" optional,
    }
}

/// Work under way got further; the client may draw it later but must remember it. Only with
/// `supportsProgressReporting`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgressUpdateEvent;

impl Event for ProgressUpdateEvent {
    const EVENT: &'static str = "progressUpdate";
    type Body = ProgressUpdateEventBody;
}

/// The body of \[`ProgressEndEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProgressEndEventBody {
    /// The work, named as when it began.
    #[serde(rename = "progressId")]
    pub progress_id: String,
    /// A closing remark; absent leaves the last one standing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl ProgressEndEventBody {
    /// What is required set, nothing else.
    pub fn new(progress_id: impl Into<String>) -> Self {
        Self {
            progress_id: progress_id.into(),
            message: None,
        }
    }

    /// Sets [`message`](Self::message).
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

read_object! {
    ProgressEndEventBody {
        0 progress_id "progressId" required,
        1 message "message" optional,
    }
}

/// The work is over, done or cancelled. Only with `supportsProgressReporting`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgressEndEvent;

impl Event for ProgressEndEvent {
    const EVENT: &'static str = "progressEnd";
    type Body = ProgressEndEventBody;
}

/// The body of \[`InvalidatedEvent`\].
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct InvalidatedEventBody {
    /// What is stale, as a hint; absent, empty or unknown means everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub areas: Option<Vec<InvalidatedAreas>>,
    /// Limits the staleness to one thread.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId", skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<i64>,
    /// Limits the staleness to one frame, whatever `threadId` says.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "stackFrameId", skip_serializing_if = "Option::is_none")]
    pub stack_frame_id: Option<i64>,
}

impl InvalidatedEventBody {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`areas`](Self::areas).
    #[must_use]
    pub fn with_areas(mut self, areas: Vec<InvalidatedAreas>) -> Self {
        self.areas = Some(areas);
        self
    }

    /// Sets [`thread_id`](Self::thread_id).
    #[must_use]
    pub fn with_thread_id(mut self, thread_id: i64) -> Self {
        self.thread_id = Some(thread_id);
        self
    }

    /// Sets [`stack_frame_id`](Self::stack_frame_id).
    #[must_use]
    pub fn with_stack_frame_id(mut self, stack_frame_id: i64) -> Self {
        self.stack_frame_id = Some(stack_frame_id);
        self
    }
}

read_object! {
    InvalidatedEventBody {
        0 areas "areas" optional_list,
        1 thread_id "threadId" optional,
        2 stack_frame_id "stackFrameId" optional,
    }
}

/// What the client fetched earlier is stale for reasons other than a stop, such as a new number
/// format. Only with `supportsInvalidatedEvent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidatedEvent;

impl Event for InvalidatedEvent {
    const EVENT: &'static str = "invalidated";
    type Body = InvalidatedEventBody;
}

/// The body of \[`MemoryEvent`\].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MemoryEventBody {
    /// Base of the bytes that changed.
    #[serde(rename = "memoryReference")]
    pub memory_reference: String,
    /// Distance in bytes from the base, possibly below zero.
    ///
    /// Range: -9007199254740991..=9007199254740991.
    pub offset: i64,
    /// How many bytes changed.
    ///
    /// Range: 0..=9007199254740991.
    pub count: i64,
}

impl MemoryEventBody {
    /// What is required set, nothing else.
    pub fn new(memory_reference: impl Into<String>, offset: i64, count: i64) -> Self {
        Self {
            memory_reference: memory_reference.into(),
            offset,
            count,
        }
    }
}

read_object! {
    MemoryEventBody {
        0 memory_reference "memoryReference" required,
        1 offset "offset" required,
        2 count "count" required,
    }
}

/// Memory was written by a request such as `setVariable`, so views that overlap it should read
/// again. Not for the debuggee's own writes; only with `supportsMemoryEvent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryEvent;

impl Event for MemoryEvent {
    const EVENT: &'static str = "memory";
    type Body = MemoryEventBody;
}

/// Asks the client to start a command in one of its terminals, mostly the debuggee. Only with
/// the client's `supportsRunInTerminalRequest`. Arguments arrive unchanged: a client that goes
/// through a shell quotes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunInTerminalRequest;

impl Request for RunInTerminalRequest {
    const COMMAND: &'static str = "runInTerminal";
    const CAPABILITY: Option<&'static str> = Some("supportsRunInTerminalRequest");
    const DIRECTION: Direction = Direction::ToClient;
    type Arguments = RunInTerminalRequestArguments;
    type Response = RunInTerminalResponse;
}

/// What `runInTerminal` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunInTerminalRequestArguments {
    /// Where the terminal appears; absent means inside the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<RunInTerminalRequestArgumentsKind>,
    /// Caption for the terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Directory to start in; a file URI when the session's `pathFormat` is `uri`.
    pub cwd: String,
    /// The command, followed by what is passed to it.
    pub args: Vec<String>,
    /// Changes to the inherited environment, by variable name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, Option<String>>>,
    /// True leaves special characters to a shell, unquoted and at the user's own risk. Only with
    /// `supportsArgsCanBeInterpretedByShell`.
    #[serde(
        rename = "argsCanBeInterpretedByShell",
        skip_serializing_if = "Option::is_none"
    )]
    pub args_can_be_interpreted_by_shell: Option<bool>,
}

impl RunInTerminalRequestArguments {
    /// What is required set, nothing else.
    pub fn new(cwd: impl Into<String>, args: Vec<String>) -> Self {
        Self {
            kind: None,
            title: None,
            cwd: cwd.into(),
            args,
            env: None,
            args_can_be_interpreted_by_shell: None,
        }
    }

    /// Sets [`kind`](Self::kind).
    #[must_use]
    pub fn with_kind(mut self, kind: RunInTerminalRequestArgumentsKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets [`title`](Self::title).
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets [`env`](Self::env).
    #[must_use]
    pub fn with_env(mut self, env: BTreeMap<String, Option<String>>) -> Self {
        self.env = Some(env);
        self
    }

    /// Sets [`args_can_be_interpreted_by_shell`](Self::args_can_be_interpreted_by_shell).
    #[must_use]
    pub fn with_args_can_be_interpreted_by_shell(
        mut self,
        args_can_be_interpreted_by_shell: bool,
    ) -> Self {
        self.args_can_be_interpreted_by_shell = Some(args_can_be_interpreted_by_shell);
        self
    }
}

read_object! {
    RunInTerminalRequestArguments {
        0 kind "kind" optional,
        1 title "title" optional,
        2 cwd "cwd" required,
        3 args "args" list,
        4 env "env" optional,
        5 args_can_be_interpreted_by_shell "argsCanBeInterpretedByShell" optional,
    }
}

string_enum! {
    /// The values of `kind` in `RunInTerminalRequestArguments`.
    closed RunInTerminalRequestArgumentsKind {
        /// `integrated`.
        Integrated = "integrated",
        /// `external`.
        External = "external",
    }
}

/// What was started in the terminal.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct RunInTerminalResponse {
    /// Number of the new process, if known.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "processId", skip_serializing_if = "Option::is_none")]
    pub process_id: Option<i64>,
    /// Number of the shell around it, if known.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "shellProcessId", skip_serializing_if = "Option::is_none")]
    pub shell_process_id: Option<i64>,
}

impl RunInTerminalResponse {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`process_id`](Self::process_id).
    #[must_use]
    pub fn with_process_id(mut self, process_id: i64) -> Self {
        self.process_id = Some(process_id);
        self
    }

    /// Sets [`shell_process_id`](Self::shell_process_id).
    #[must_use]
    pub fn with_shell_process_id(mut self, shell_process_id: i64) -> Self {
        self.shell_process_id = Some(shell_process_id);
        self
    }
}

read_object! {
    RunInTerminalResponse {
        0 process_id "processId" optional,
        1 shell_process_id "shellProcessId" optional,
    }
}

/// Asks the client for a further session of the same kind, such as for a child process. Only
/// with the client's `supportsStartDebuggingRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartDebuggingRequest;

impl Request for StartDebuggingRequest {
    const COMMAND: &'static str = "startDebugging";
    const CAPABILITY: Option<&'static str> = Some("supportsStartDebuggingRequest");
    const DIRECTION: Direction = Direction::ToClient;
    type Arguments = StartDebuggingRequestArguments;
    type Response = StartDebuggingResponse;
}

/// What `startDebugging` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StartDebuggingRequestArguments {
    /// What to send as launch or attach arguments, free of anything only a client would understand.
    pub configuration: BTreeMap<String, Raw>,
    /// Whether the child's output joins the parent's or stands apart; a hint.
    #[serde(rename = "outputPresentation", skip_serializing_if = "Option::is_none")]
    pub output_presentation: Option<StartDebuggingRequestArgumentsOutputPresentation>,
    /// Which of the two begins the new session.
    pub request: StartDebuggingRequestArgumentsRequest,
}

impl StartDebuggingRequestArguments {
    /// What is required set, nothing else.
    pub fn new(
        configuration: BTreeMap<String, Raw>,
        request: StartDebuggingRequestArgumentsRequest,
    ) -> Self {
        Self {
            configuration,
            output_presentation: None,
            request,
        }
    }

    /// Sets [`output_presentation`](Self::output_presentation).
    #[must_use]
    pub fn with_output_presentation(
        mut self,
        output_presentation: StartDebuggingRequestArgumentsOutputPresentation,
    ) -> Self {
        self.output_presentation = Some(output_presentation);
        self
    }
}

read_object! {
    StartDebuggingRequestArguments {
        0 configuration "configuration" required,
        1 output_presentation "outputPresentation" optional,
        2 request "request" required,
    }
}

string_enum! {
    /// The values of `outputPresentation` in `StartDebuggingRequestArguments`.
    closed StartDebuggingRequestArgumentsOutputPresentation {
        /// `separate`.
        Separate = "separate",
        /// `mergeWithParent`.
        MergeWithParent = "mergeWithParent",
    }
}

string_enum! {
    /// The values of `request` in `StartDebuggingRequestArguments`.
    closed StartDebuggingRequestArgumentsRequest {
        /// `launch`.
        Launch = "launch",
        /// `attach`.
        Attach = "attach",
    }
}

/// Confirms `startDebugging`, with an empty body.
pub type StartDebuggingResponse = Empty;

/// Opens the conversation, once and before anything else: both sides say what they can do, and
/// neither sends more until it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitializeRequest;

impl Request for InitializeRequest {
    const COMMAND: &'static str = "initialize";
    type Arguments = InitializeRequestArguments;
    type Response = InitializeResponse;
}

/// What `initialize` takes: who the client is and what it can do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InitializeRequestArguments {
    /// Short code for the client program.
    #[serde(rename = "clientID", skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Name of the client for people to read.
    #[serde(rename = "clientName", skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    /// Kind of adapter the client believes it talks to.
    #[serde(rename = "adapterID")]
    pub adapter_id: String,
    /// Language for texts to the user, such as `de-CH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Whether line numbers count from 1, as they do when absent, or from 0.
    #[serde(rename = "linesStartAt1", skip_serializing_if = "Option::is_none")]
    pub lines_start_at1: Option<bool>,
    /// Whether columns count from 1, as they do when absent, or from 0.
    #[serde(rename = "columnsStartAt1", skip_serializing_if = "Option::is_none")]
    pub columns_start_at1: Option<bool>,
    /// Whether sources are named by native path, as when absent, or by URI.
    #[serde(rename = "pathFormat", skip_serializing_if = "Option::is_none")]
    pub path_format: Option<InitializeRequestArgumentsPathFormat>,
    /// Shows the `type` of variables.
    #[serde(
        rename = "supportsVariableType",
        skip_serializing_if = "Option::is_none"
    )]
    pub supports_variable_type: Option<bool>,
    /// Can fetch children of a variable in slices.
    #[serde(
        rename = "supportsVariablePaging",
        skip_serializing_if = "Option::is_none"
    )]
    pub supports_variable_paging: Option<bool>,
    /// Answers `runInTerminal`.
    #[serde(
        rename = "supportsRunInTerminalRequest",
        skip_serializing_if = "Option::is_none"
    )]
    pub supports_run_in_terminal_request: Option<bool>,
    /// Understands references to memory.
    #[serde(
        rename = "supportsMemoryReferences",
        skip_serializing_if = "Option::is_none"
    )]
    pub supports_memory_references: Option<bool>,
    /// Shows progress events.
    #[serde(
        rename = "supportsProgressReporting",
        skip_serializing_if = "Option::is_none"
    )]
    pub supports_progress_reporting: Option<bool>,
    /// Fetches anew on `invalidated`.
    #[serde(
        rename = "supportsInvalidatedEvent",
        skip_serializing_if = "Option::is_none"
    )]
    pub supports_invalidated_event: Option<bool>,
    /// Reads again on `memory`.
    #[serde(
        rename = "supportsMemoryEvent",
        skip_serializing_if = "Option::is_none"
    )]
    pub supports_memory_event: Option<bool>,
    /// Honours `argsCanBeInterpretedByShell` when running a command in a terminal.
    #[serde(
        rename = "supportsArgsCanBeInterpretedByShell",
        skip_serializing_if = "Option::is_none"
    )]
    pub supports_args_can_be_interpreted_by_shell: Option<bool>,
    /// Answers `startDebugging`.
    #[serde(
        rename = "supportsStartDebuggingRequest",
        skip_serializing_if = "Option::is_none"
    )]
    pub supports_start_debugging_request: Option<bool>,
    /// Renders escape sequences in output and variable values, provided the adapter announces the
    /// same.
    #[serde(
        rename = "supportsANSIStyling",
        skip_serializing_if = "Option::is_none"
    )]
    pub supports_ansi_styling: Option<bool>,
}

impl InitializeRequestArguments {
    /// What is required set, nothing else.
    pub fn new(adapter_id: impl Into<String>) -> Self {
        Self {
            client_id: None,
            client_name: None,
            adapter_id: adapter_id.into(),
            locale: None,
            lines_start_at1: None,
            columns_start_at1: None,
            path_format: None,
            supports_variable_type: None,
            supports_variable_paging: None,
            supports_run_in_terminal_request: None,
            supports_memory_references: None,
            supports_progress_reporting: None,
            supports_invalidated_event: None,
            supports_memory_event: None,
            supports_args_can_be_interpreted_by_shell: None,
            supports_start_debugging_request: None,
            supports_ansi_styling: None,
        }
    }

    /// Sets [`client_id`](Self::client_id).
    #[must_use]
    pub fn with_client_id(mut self, client_id: impl Into<String>) -> Self {
        self.client_id = Some(client_id.into());
        self
    }

    /// Sets [`client_name`](Self::client_name).
    #[must_use]
    pub fn with_client_name(mut self, client_name: impl Into<String>) -> Self {
        self.client_name = Some(client_name.into());
        self
    }

    /// Sets [`locale`](Self::locale).
    #[must_use]
    pub fn with_locale(mut self, locale: impl Into<String>) -> Self {
        self.locale = Some(locale.into());
        self
    }

    /// Sets [`lines_start_at1`](Self::lines_start_at1).
    #[must_use]
    pub fn with_lines_start_at1(mut self, lines_start_at1: bool) -> Self {
        self.lines_start_at1 = Some(lines_start_at1);
        self
    }

    /// Sets [`columns_start_at1`](Self::columns_start_at1).
    #[must_use]
    pub fn with_columns_start_at1(mut self, columns_start_at1: bool) -> Self {
        self.columns_start_at1 = Some(columns_start_at1);
        self
    }

    /// Sets [`path_format`](Self::path_format).
    #[must_use]
    pub fn with_path_format(mut self, path_format: InitializeRequestArgumentsPathFormat) -> Self {
        self.path_format = Some(path_format);
        self
    }

    /// Sets [`supports_variable_type`](Self::supports_variable_type).
    #[must_use]
    pub fn with_supports_variable_type(mut self, supports_variable_type: bool) -> Self {
        self.supports_variable_type = Some(supports_variable_type);
        self
    }

    /// Sets [`supports_variable_paging`](Self::supports_variable_paging).
    #[must_use]
    pub fn with_supports_variable_paging(mut self, supports_variable_paging: bool) -> Self {
        self.supports_variable_paging = Some(supports_variable_paging);
        self
    }

    /// Sets [`supports_run_in_terminal_request`](Self::supports_run_in_terminal_request).
    #[must_use]
    pub fn with_supports_run_in_terminal_request(
        mut self,
        supports_run_in_terminal_request: bool,
    ) -> Self {
        self.supports_run_in_terminal_request = Some(supports_run_in_terminal_request);
        self
    }

    /// Sets [`supports_memory_references`](Self::supports_memory_references).
    #[must_use]
    pub fn with_supports_memory_references(mut self, supports_memory_references: bool) -> Self {
        self.supports_memory_references = Some(supports_memory_references);
        self
    }

    /// Sets [`supports_progress_reporting`](Self::supports_progress_reporting).
    #[must_use]
    pub fn with_supports_progress_reporting(mut self, supports_progress_reporting: bool) -> Self {
        self.supports_progress_reporting = Some(supports_progress_reporting);
        self
    }

    /// Sets [`supports_invalidated_event`](Self::supports_invalidated_event).
    #[must_use]
    pub fn with_supports_invalidated_event(mut self, supports_invalidated_event: bool) -> Self {
        self.supports_invalidated_event = Some(supports_invalidated_event);
        self
    }

    /// Sets [`supports_memory_event`](Self::supports_memory_event).
    #[must_use]
    pub fn with_supports_memory_event(mut self, supports_memory_event: bool) -> Self {
        self.supports_memory_event = Some(supports_memory_event);
        self
    }

    /// Sets [`supports_args_can_be_interpreted_by_shell`](Self::supports_args_can_be_interpreted_by_shell).
    #[must_use]
    pub fn with_supports_args_can_be_interpreted_by_shell(
        mut self,
        supports_args_can_be_interpreted_by_shell: bool,
    ) -> Self {
        self.supports_args_can_be_interpreted_by_shell =
            Some(supports_args_can_be_interpreted_by_shell);
        self
    }

    /// Sets [`supports_start_debugging_request`](Self::supports_start_debugging_request).
    #[must_use]
    pub fn with_supports_start_debugging_request(
        mut self,
        supports_start_debugging_request: bool,
    ) -> Self {
        self.supports_start_debugging_request = Some(supports_start_debugging_request);
        self
    }

    /// Sets [`supports_ansi_styling`](Self::supports_ansi_styling).
    #[must_use]
    pub fn with_supports_ansi_styling(mut self, supports_ansi_styling: bool) -> Self {
        self.supports_ansi_styling = Some(supports_ansi_styling);
        self
    }
}

read_object! {
    InitializeRequestArguments {
        0 client_id "clientID" optional,
        1 client_name "clientName" optional,
        2 adapter_id "adapterID" required,
        3 locale "locale" optional,
        4 lines_start_at1 "linesStartAt1" optional,
        5 columns_start_at1 "columnsStartAt1" optional,
        6 path_format "pathFormat" optional,
        7 supports_variable_type "supportsVariableType" optional,
        8 supports_variable_paging "supportsVariablePaging" optional,
        9 supports_run_in_terminal_request "supportsRunInTerminalRequest" optional,
        10 supports_memory_references "supportsMemoryReferences" optional,
        11 supports_progress_reporting "supportsProgressReporting" optional,
        12 supports_invalidated_event "supportsInvalidatedEvent" optional,
        13 supports_memory_event "supportsMemoryEvent" optional,
        14 supports_args_can_be_interpreted_by_shell "supportsArgsCanBeInterpretedByShell" optional,
        15 supports_start_debugging_request "supportsStartDebuggingRequest" optional,
        16 supports_ansi_styling "supportsANSIStyling" optional,
    }
}

string_enum! {
    /// The values of `pathFormat` in `InitializeRequestArguments`.
    open InitializeRequestArgumentsPathFormat {
        /// `path`.
        Path = "path",
        /// `uri`.
        Uri = "uri",
    }
}

/// Answer to `initialize`.
pub type InitializeResponse = Capabilities;

/// The client has sent all its breakpoints and settings, so the debuggee may start. Only with
/// `supportsConfigurationDoneRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigurationDoneRequest;

impl Request for ConfigurationDoneRequest {
    const COMMAND: &'static str = "configurationDone";
    const CAPABILITY: Option<&'static str> = Some("supportsConfigurationDoneRequest");
    type Arguments = ConfigurationDoneArguments;
    type Response = ConfigurationDoneResponse;
}

/// What `configurationDone` takes: nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ConfigurationDoneArguments {}

impl ConfigurationDoneArguments {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }
}

read_object! {
    ConfigurationDoneArguments {
    }
}

/// Confirms `configurationDone`, with an empty body.
pub type ConfigurationDoneResponse = Empty;

/// Starts a program, under the debugger unless `noDebug` is true. Everything else about it is
/// the adapter's to define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchRequest;

impl Request for LaunchRequest {
    const COMMAND: &'static str = "launch";
    type Arguments = LaunchRequestArguments;
    type Response = LaunchResponse;
}

/// What `launch` takes: these, and whatever the adapter defines.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct LaunchRequestArguments {
    /// True runs the program freely, without breakpoints or stops.
    pub no_debug: Option<bool>,
    /// What the last session put into `restart` of its `terminated` event, unchanged.
    pub restart: Option<Raw>,
    /// Fields that the protocol does not list, by name.
    pub other: BTreeMap<String, Raw>,
}

impl LaunchRequestArguments {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`no_debug`](Self::no_debug).
    #[must_use]
    pub fn with_no_debug(mut self, no_debug: bool) -> Self {
        self.no_debug = Some(no_debug);
        self
    }

    /// Sets [`restart`](Self::restart).
    #[must_use]
    pub fn with_restart(mut self, restart: Raw) -> Self {
        self.restart = Some(restart);
        self
    }
}

impl<'de> Deserialize<'de> for LaunchRequestArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = LaunchRequestArguments;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("struct LaunchRequestArguments")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<LaunchRequestArguments, A::Error> {
                let mut value = LaunchRequestArguments::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "noDebug" => {
                            value.no_debug = message::lenient::or_dropped(map.next_value())?
                        }
                        "__restart" => value.restart = Some(map.next_value()?),
                        _ => {
                            value.other.insert(key, map.next_value()?);
                        }
                    }
                }
                Ok(value)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for LaunchRequestArguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(value) = &self.no_debug {
            map.serialize_entry("noDebug", value)?;
        }
        if let Some(value) = &self.restart {
            map.serialize_entry("__restart", value)?;
        }
        for (key, value) in &self.other {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Confirms `launch`, with an empty body.
pub type LaunchResponse = Empty;

/// Takes control of a program that runs already. How to find it is the adapter's to define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttachRequest;

impl Request for AttachRequest {
    const COMMAND: &'static str = "attach";
    type Arguments = AttachRequestArguments;
    type Response = AttachResponse;
}

/// What `attach` takes: these, and whatever the adapter defines.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct AttachRequestArguments {
    /// What the last session put into `restart` of its `terminated` event, unchanged.
    pub restart: Option<Raw>,
    /// Fields that the protocol does not list, by name.
    pub other: BTreeMap<String, Raw>,
}

impl AttachRequestArguments {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`restart`](Self::restart).
    #[must_use]
    pub fn with_restart(mut self, restart: Raw) -> Self {
        self.restart = Some(restart);
        self
    }
}

impl<'de> Deserialize<'de> for AttachRequestArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = AttachRequestArguments;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("struct AttachRequestArguments")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<AttachRequestArguments, A::Error> {
                let mut value = AttachRequestArguments::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "__restart" => value.restart = Some(map.next_value()?),
                        _ => {
                            value.other.insert(key, map.next_value()?);
                        }
                    }
                }
                Ok(value)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for AttachRequestArguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(value) = &self.restart {
            map.serialize_entry("__restart", value)?;
        }
        for (key, value) in &self.other {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Confirms `attach`, with an empty body.
pub type AttachResponse = Empty;

/// Begins the debuggee anew within the session. Only with `supportsRestartRequest`; without it
/// the client ends the adapter and launches again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartRequest;

impl Request for RestartRequest {
    const COMMAND: &'static str = "restart";
    const CAPABILITY: Option<&'static str> = Some("supportsRestartRequest");
    type Arguments = RestartArguments;
    type Response = RestartResponse;
}

/// What `restart` takes.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct RestartArguments {
    /// Launch or attach arguments to use from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Raw>,
}

impl RestartArguments {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`arguments`](Self::arguments).
    #[must_use]
    pub fn with_arguments(mut self, arguments: Raw) -> Self {
        self.arguments = Some(arguments);
        self
    }
}

read_object! {
    RestartArguments {
        0 arguments "arguments" optional,
    }
}

/// Confirms `restart`, with an empty body.
pub type RestartResponse = Empty;

/// Ends the session and the adapter. A launched debuggee is killed and an attached one let go,
/// unless `terminateDebuggee` says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DisconnectRequest;

impl Request for DisconnectRequest {
    const COMMAND: &'static str = "disconnect";
    type Arguments = DisconnectArguments;
    type Response = DisconnectResponse;
}

/// What `disconnect` takes.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct DisconnectArguments {
    /// True when a new session is about to follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<bool>,
    /// Whether to kill the debuggee; absent leaves that to the adapter. Only with
    /// `supportTerminateDebuggee`.
    #[serde(rename = "terminateDebuggee", skip_serializing_if = "Option::is_none")]
    pub terminate_debuggee: Option<bool>,
    /// Whether to leave the debuggee halted; absent lets it run. Only with
    /// `supportSuspendDebuggee`.
    #[serde(rename = "suspendDebuggee", skip_serializing_if = "Option::is_none")]
    pub suspend_debuggee: Option<bool>,
}

impl DisconnectArguments {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`restart`](Self::restart).
    #[must_use]
    pub fn with_restart(mut self, restart: bool) -> Self {
        self.restart = Some(restart);
        self
    }

    /// Sets [`terminate_debuggee`](Self::terminate_debuggee).
    #[must_use]
    pub fn with_terminate_debuggee(mut self, terminate_debuggee: bool) -> Self {
        self.terminate_debuggee = Some(terminate_debuggee);
        self
    }

    /// Sets [`suspend_debuggee`](Self::suspend_debuggee).
    #[must_use]
    pub fn with_suspend_debuggee(mut self, suspend_debuggee: bool) -> Self {
        self.suspend_debuggee = Some(suspend_debuggee);
        self
    }
}

read_object! {
    DisconnectArguments {
        0 restart "restart" optional,
        1 terminate_debuggee "terminateDebuggee" optional,
        2 suspend_debuggee "suspendDebuggee" optional,
    }
}

/// Confirms `disconnect`, with an empty body.
pub type DisconnectResponse = Empty;

/// Asks the debuggee to end in its own good time, mostly by a signal; if it refuses, the
/// session goes on and `disconnect` remains. Only with `supportsTerminateRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminateRequest;

impl Request for TerminateRequest {
    const COMMAND: &'static str = "terminate";
    const CAPABILITY: Option<&'static str> = Some("supportsTerminateRequest");
    type Arguments = TerminateArguments;
    type Response = TerminateResponse;
}

/// What `terminate` takes.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct TerminateArguments {
    /// True when the debuggee will be started afresh afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<bool>,
}

impl TerminateArguments {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`restart`](Self::restart).
    #[must_use]
    pub fn with_restart(mut self, restart: bool) -> Self {
        self.restart = Some(restart);
        self
    }
}

read_object! {
    TerminateArguments {
        0 restart "restart" optional,
    }
}

/// Confirms `terminate`, with an empty body.
pub type TerminateResponse = Empty;

/// Lists where in a range of source a breakpoint can be placed. Only with
/// `supportsBreakpointLocationsRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakpointLocationsRequest;

impl Request for BreakpointLocationsRequest {
    const COMMAND: &'static str = "breakpointLocations";
    const CAPABILITY: Option<&'static str> = Some("supportsBreakpointLocationsRequest");
    type Arguments = BreakpointLocationsArguments;
    type Response = BreakpointLocationsResponse;
}

/// What `breakpointLocations` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BreakpointLocationsArguments {
    /// Source to look in, by path or by reference.
    pub source: Source,
    /// First line of the range, and its only one without `endLine`.
    ///
    /// Range: 0..=9007199254740991.
    pub line: i64,
    /// Column to begin at, in UTF-16 units counted from the client's base; absent means the line's
    /// first.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Last line of the range; absent means the same as `line`.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endLine", skip_serializing_if = "Option::is_none")]
    pub end_line: Option<i64>,
    /// Column to stop at, in UTF-16 units counted from the client's base; absent means the line's
    /// last.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endColumn", skip_serializing_if = "Option::is_none")]
    pub end_column: Option<i64>,
}

impl BreakpointLocationsArguments {
    /// What is required set, nothing else.
    pub fn new(source: Source, line: i64) -> Self {
        Self {
            source,
            line,
            column: None,
            end_line: None,
            end_column: None,
        }
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`end_line`](Self::end_line).
    #[must_use]
    pub fn with_end_line(mut self, end_line: i64) -> Self {
        self.end_line = Some(end_line);
        self
    }

    /// Sets [`end_column`](Self::end_column).
    #[must_use]
    pub fn with_end_column(mut self, end_column: i64) -> Self {
        self.end_column = Some(end_column);
        self
    }
}

read_object! {
    BreakpointLocationsArguments {
        0 source "source" required,
        1 line "line" required,
        2 column "column" optional,
        3 end_line "endLine" optional,
        4 end_column "endColumn" optional,
    }
}

/// Places found by `breakpointLocations`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BreakpointLocationsResponse {
    /// The places, in ascending order.
    pub breakpoints: Vec<BreakpointLocation>,
}

impl BreakpointLocationsResponse {
    /// What is required set, nothing else.
    pub fn new(breakpoints: Vec<BreakpointLocation>) -> Self {
        Self { breakpoints }
    }
}

read_object! {
    BreakpointLocationsResponse {
        0 breakpoints "breakpoints" list,
    }
}

/// Makes the listed breakpoints the only ones of one source; an empty list removes all. Hitting
/// one stops with reason `breakpoint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetBreakpointsRequest;

impl Request for SetBreakpointsRequest {
    const COMMAND: &'static str = "setBreakpoints";
    type Arguments = SetBreakpointsArguments;
    type Response = SetBreakpointsResponse;
}

/// What `setBreakpoints` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetBreakpointsArguments {
    /// Source to place them in, by path or by reference.
    pub source: Source,
    /// All breakpoints wanted in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakpoints: Option<Vec<SourceBreakpoint>>,
    /// Bare line numbers, the old form of `breakpoints`; no longer to be used.
    ///
    /// Range of each: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<i64>>,
    /// True when the file was edited, so that its lines have moved.
    #[serde(rename = "sourceModified", skip_serializing_if = "Option::is_none")]
    pub source_modified: Option<bool>,
}

impl SetBreakpointsArguments {
    /// What is required set, nothing else.
    pub fn new(source: Source) -> Self {
        Self {
            source,
            breakpoints: None,
            lines: None,
            source_modified: None,
        }
    }

    /// Sets [`breakpoints`](Self::breakpoints).
    #[must_use]
    pub fn with_breakpoints(mut self, breakpoints: Vec<SourceBreakpoint>) -> Self {
        self.breakpoints = Some(breakpoints);
        self
    }

    /// Sets [`lines`](Self::lines).
    #[must_use]
    pub fn with_lines(mut self, lines: Vec<i64>) -> Self {
        self.lines = Some(lines);
        self
    }

    /// Sets [`source_modified`](Self::source_modified).
    #[must_use]
    pub fn with_source_modified(mut self, source_modified: bool) -> Self {
        self.source_modified = Some(source_modified);
        self
    }
}

read_object! {
    SetBreakpointsArguments {
        0 source "source" required,
        1 breakpoints "breakpoints" optional_list,
        2 lines "lines" optional_list,
        3 source_modified "sourceModified" optional,
    }
}

/// What became of each breakpoint asked for, in the order asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetBreakpointsResponse {
    /// One entry for each breakpoint asked for, in the same order.
    pub breakpoints: Vec<Breakpoint>,
}

impl SetBreakpointsResponse {
    /// What is required set, nothing else.
    pub fn new(breakpoints: Vec<Breakpoint>) -> Self {
        Self { breakpoints }
    }
}

read_object! {
    SetBreakpointsResponse {
        0 breakpoints "breakpoints" list,
    }
}

/// Makes the listed functions the only ones to stop in; an empty list removes all. Stops with
/// reason `function breakpoint`; only with `supportsFunctionBreakpoints`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetFunctionBreakpointsRequest;

impl Request for SetFunctionBreakpointsRequest {
    const COMMAND: &'static str = "setFunctionBreakpoints";
    const CAPABILITY: Option<&'static str> = Some("supportsFunctionBreakpoints");
    type Arguments = SetFunctionBreakpointsArguments;
    type Response = SetFunctionBreakpointsResponse;
}

/// What `setFunctionBreakpoints` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetFunctionBreakpointsArguments {
    /// All functions wanted, by name.
    pub breakpoints: Vec<FunctionBreakpoint>,
}

impl SetFunctionBreakpointsArguments {
    /// What is required set, nothing else.
    pub fn new(breakpoints: Vec<FunctionBreakpoint>) -> Self {
        Self { breakpoints }
    }
}

read_object! {
    SetFunctionBreakpointsArguments {
        0 breakpoints "breakpoints" list,
    }
}

/// What became of each function breakpoint.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetFunctionBreakpointsResponse {
    /// One entry for each function asked for, in the same order.
    pub breakpoints: Vec<Breakpoint>,
}

impl SetFunctionBreakpointsResponse {
    /// What is required set, nothing else.
    pub fn new(breakpoints: Vec<Breakpoint>) -> Self {
        Self { breakpoints }
    }
}

read_object! {
    SetFunctionBreakpointsResponse {
        0 breakpoints "breakpoints" list,
    }
}

/// Chooses which exceptions stop the debuggee, with reason `exception`; each list counts on its
/// own and one match is enough. Only when filters were announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetExceptionBreakpointsRequest;

impl Request for SetExceptionBreakpointsRequest {
    const COMMAND: &'static str = "setExceptionBreakpoints";
    type Arguments = SetExceptionBreakpointsArguments;
    type Response = SetExceptionBreakpointsResponse;
}

/// What `setExceptionBreakpoints` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetExceptionBreakpointsArguments {
    /// Announced filters to switch on plainly, by ID; they add to `filterOptions`.
    pub filters: Vec<String>,
    /// Announced filters to switch on with a condition or mode; they add to `filters`. Only with
    /// `supportsExceptionFilterOptions`.
    #[serde(rename = "filterOptions", skip_serializing_if = "Option::is_none")]
    pub filter_options: Option<Vec<ExceptionFilterOptions>>,
    /// Choices for exceptions in a tree of names. Only with `supportsExceptionOptions`.
    #[serde(rename = "exceptionOptions", skip_serializing_if = "Option::is_none")]
    pub exception_options: Option<Vec<ExceptionOptions>>,
}

impl SetExceptionBreakpointsArguments {
    /// What is required set, nothing else.
    pub fn new(filters: Vec<String>) -> Self {
        Self {
            filters,
            filter_options: None,
            exception_options: None,
        }
    }

    /// Sets [`filter_options`](Self::filter_options).
    #[must_use]
    pub fn with_filter_options(mut self, filter_options: Vec<ExceptionFilterOptions>) -> Self {
        self.filter_options = Some(filter_options);
        self
    }

    /// Sets [`exception_options`](Self::exception_options).
    #[must_use]
    pub fn with_exception_options(mut self, exception_options: Vec<ExceptionOptions>) -> Self {
        self.exception_options = Some(exception_options);
        self
    }
}

read_object! {
    SetExceptionBreakpointsArguments {
        0 filters "filters" list,
        1 filter_options "filterOptions" optional_list,
        2 exception_options "exceptionOptions" optional_list,
    }
}

/// What became of each filter: `verified` says whether it works and `message` why it does not.
/// The body may be missing, in which case nothing is known of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct SetExceptionBreakpointsResponse {
    /// One entry for each element asked for: those of `filters`, then `filterOptions`, then
    /// `exceptionOptions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakpoints: Option<Vec<Breakpoint>>,
}

impl SetExceptionBreakpointsResponse {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`breakpoints`](Self::breakpoints).
    #[must_use]
    pub fn with_breakpoints(mut self, breakpoints: Vec<Breakpoint>) -> Self {
        self.breakpoints = Some(breakpoints);
        self
    }
}

read_object! {
    SetExceptionBreakpointsResponse {
        0 breakpoints "breakpoints" optional_list,
    }
}

/// Asks whether some data can be watched for access. Only with `supportsDataBreakpoints`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataBreakpointInfoRequest;

impl Request for DataBreakpointInfoRequest {
    const COMMAND: &'static str = "dataBreakpointInfo";
    const CAPABILITY: Option<&'static str> = Some("supportsDataBreakpoints");
    type Arguments = DataBreakpointInfoArguments;
    type Response = DataBreakpointInfoResponse;
}

/// What `dataBreakpointInfo` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DataBreakpointInfoArguments {
    /// Container whose child is meant, as given out during this stop.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "variablesReference", skip_serializing_if = "Option::is_none")]
    pub variables_reference: Option<i64>,
    /// Child of the container, or without one an expression, or an address when `asAddress` is set.
    pub name: String,
    /// Frame to evaluate `name` in, or globally when absent; ignored beside `variablesReference`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "frameId", skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<i64>,
    /// How many bytes to watch from there on. Only with `supportsDataBreakpointBytes`.
    ///
    /// Range: 0..=4294967295.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<i64>,
    /// True reads `name` as an address, decimal or with `0x`. Only with
    /// `supportsDataBreakpointBytes`.
    #[serde(rename = "asAddress", skip_serializing_if = "Option::is_none")]
    pub as_address: Option<bool>,
    /// One of the modes the adapter announced in `breakpointModes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

impl DataBreakpointInfoArguments {
    /// What is required set, nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            variables_reference: None,
            name: name.into(),
            frame_id: None,
            bytes: None,
            as_address: None,
            mode: None,
        }
    }

    /// Sets [`variables_reference`](Self::variables_reference).
    #[must_use]
    pub fn with_variables_reference(mut self, variables_reference: i64) -> Self {
        self.variables_reference = Some(variables_reference);
        self
    }

    /// Sets [`frame_id`](Self::frame_id).
    #[must_use]
    pub fn with_frame_id(mut self, frame_id: i64) -> Self {
        self.frame_id = Some(frame_id);
        self
    }

    /// Sets [`bytes`](Self::bytes).
    #[must_use]
    pub fn with_bytes(mut self, bytes: i64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Sets [`as_address`](Self::as_address).
    #[must_use]
    pub fn with_as_address(mut self, as_address: bool) -> Self {
        self.as_address = Some(as_address);
        self
    }

    /// Sets [`mode`](Self::mode).
    #[must_use]
    pub fn with_mode(mut self, mode: impl Into<String>) -> Self {
        self.mode = Some(mode.into());
        self
    }
}

read_object! {
    DataBreakpointInfoArguments {
        0 variables_reference "variablesReference" optional,
        1 name "name" required,
        2 frame_id "frameId" optional,
        3 bytes "bytes" optional,
        4 as_address "asAddress" optional,
        5 mode "mode" optional,
    }
}

/// Whether and how the data can be watched.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DataBreakpointInfoResponse {
    /// Handle for `setDataBreakpoints`, or null when watching is impossible. Valid for this stop if
    /// a frame or container was given, else always; breakpoints made with it may live longer.
    #[serde(rename = "dataId")]
    pub data_id: Option<String>,
    /// Says for people what would be watched, or why nothing can be.
    pub description: String,
    /// Kinds of access that can be watched.
    #[serde(rename = "accessTypes", skip_serializing_if = "Option::is_none")]
    pub access_types: Option<Vec<DataBreakpointAccessType>>,
    /// True when it makes sense to keep it for later sessions.
    #[serde(rename = "canPersist", skip_serializing_if = "Option::is_none")]
    pub can_persist: Option<bool>,
}

impl DataBreakpointInfoResponse {
    /// What is required set, nothing else.
    pub fn new(data_id: Option<String>, description: impl Into<String>) -> Self {
        Self {
            data_id,
            description: description.into(),
            access_types: None,
            can_persist: None,
        }
    }

    /// Sets [`access_types`](Self::access_types).
    #[must_use]
    pub fn with_access_types(mut self, access_types: Vec<DataBreakpointAccessType>) -> Self {
        self.access_types = Some(access_types);
        self
    }

    /// Sets [`can_persist`](Self::can_persist).
    #[must_use]
    pub fn with_can_persist(mut self, can_persist: bool) -> Self {
        self.can_persist = Some(can_persist);
        self
    }
}

read_object! {
    DataBreakpointInfoResponse {
        0 data_id "dataId" required,
        1 description "description" required,
        2 access_types "accessTypes" optional_list,
        3 can_persist "canPersist" optional,
    }
}

/// Makes the listed data the only ones watched; an empty list removes all. Stops with reason
/// `data breakpoint`; only with `supportsDataBreakpoints`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetDataBreakpointsRequest;

impl Request for SetDataBreakpointsRequest {
    const COMMAND: &'static str = "setDataBreakpoints";
    const CAPABILITY: Option<&'static str> = Some("supportsDataBreakpoints");
    type Arguments = SetDataBreakpointsArguments;
    type Response = SetDataBreakpointsResponse;
}

/// What `setDataBreakpoints` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetDataBreakpointsArguments {
    /// All data wanted; empty removes every watch.
    pub breakpoints: Vec<DataBreakpoint>,
}

impl SetDataBreakpointsArguments {
    /// What is required set, nothing else.
    pub fn new(breakpoints: Vec<DataBreakpoint>) -> Self {
        Self { breakpoints }
    }
}

read_object! {
    SetDataBreakpointsArguments {
        0 breakpoints "breakpoints" list,
    }
}

/// What became of each data breakpoint.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetDataBreakpointsResponse {
    /// One entry for each watch asked for, in the same order.
    pub breakpoints: Vec<Breakpoint>,
}

impl SetDataBreakpointsResponse {
    /// What is required set, nothing else.
    pub fn new(breakpoints: Vec<Breakpoint>) -> Self {
        Self { breakpoints }
    }
}

read_object! {
    SetDataBreakpointsResponse {
        0 breakpoints "breakpoints" list,
    }
}

/// Makes the listed instructions the only ones to stop at; an empty list removes all. Stops
/// with reason `instruction breakpoint`; only with `supportsInstructionBreakpoints`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetInstructionBreakpointsRequest;

impl Request for SetInstructionBreakpointsRequest {
    const COMMAND: &'static str = "setInstructionBreakpoints";
    const CAPABILITY: Option<&'static str> = Some("supportsInstructionBreakpoints");
    type Arguments = SetInstructionBreakpointsArguments;
    type Response = SetInstructionBreakpointsResponse;
}

/// What `setInstructionBreakpoints` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetInstructionBreakpointsArguments {
    /// All instructions wanted.
    pub breakpoints: Vec<InstructionBreakpoint>,
}

impl SetInstructionBreakpointsArguments {
    /// What is required set, nothing else.
    pub fn new(breakpoints: Vec<InstructionBreakpoint>) -> Self {
        Self { breakpoints }
    }
}

read_object! {
    SetInstructionBreakpointsArguments {
        0 breakpoints "breakpoints" list,
    }
}

/// What became of each instruction breakpoint.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetInstructionBreakpointsResponse {
    /// One entry for each instruction asked for, in the same order.
    pub breakpoints: Vec<Breakpoint>,
}

impl SetInstructionBreakpointsResponse {
    /// What is required set, nothing else.
    pub fn new(breakpoints: Vec<Breakpoint>) -> Self {
        Self { breakpoints }
    }
}

read_object! {
    SetInstructionBreakpointsResponse {
        0 breakpoints "breakpoints" list,
    }
}

/// Lets the debuggee run. With `singleThread`, where the adapter has
/// `supportsSingleThreadExecutionRequests`, one thread alone; then the answer says false in
/// `allThreadsContinued`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContinueRequest;

impl Request for ContinueRequest {
    const COMMAND: &'static str = "continue";
    type Arguments = ContinueArguments;
    type Response = ContinueResponse;
}

/// What `continue` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ContinueArguments {
    /// Thread the user is looking at, and the only one to run under `singleThread`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
    /// True leaves every other thread halted.
    #[serde(rename = "singleThread", skip_serializing_if = "Option::is_none")]
    pub single_thread: Option<bool>,
}

impl ContinueArguments {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64) -> Self {
        Self {
            thread_id,
            single_thread: None,
        }
    }

    /// Sets [`single_thread`](Self::single_thread).
    #[must_use]
    pub fn with_single_thread(mut self, single_thread: bool) -> Self {
        self.single_thread = Some(single_thread);
        self
    }
}

read_object! {
    ContinueArguments {
        0 thread_id "threadId" required,
        1 single_thread "singleThread" optional,
    }
}

/// Confirms `continue`, and says how far it reached.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ContinueResponse {
    /// False when some threads stay halted; absent counts as true.
    #[serde(
        rename = "allThreadsContinued",
        skip_serializing_if = "Option::is_none"
    )]
    pub all_threads_continued: Option<bool>,
}

impl ContinueResponse {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`all_threads_continued`](Self::all_threads_continued).
    #[must_use]
    pub fn with_all_threads_continued(mut self, all_threads_continued: bool) -> Self {
        self.all_threads_continued = Some(all_threads_continued);
        self
    }
}

read_object! {
    ContinueResponse {
        0 all_threads_continued "allThreadsContinued" optional,
    }
}

/// Steps one thread over calls while the others run, unless `singleThread` holds them. Answered
/// at once; a stop with reason `step` follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextRequest;

impl Request for NextRequest {
    const COMMAND: &'static str = "next";
    type Arguments = NextArguments;
    type Response = NextResponse;
}

/// What `next` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NextArguments {
    /// Thread to step.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
    /// True holds every other thread where it is.
    #[serde(rename = "singleThread", skip_serializing_if = "Option::is_none")]
    pub single_thread: Option<bool>,
    /// How far one step reaches; absent means `statement`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity: Option<SteppingGranularity>,
}

impl NextArguments {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64) -> Self {
        Self {
            thread_id,
            single_thread: None,
            granularity: None,
        }
    }

    /// Sets [`single_thread`](Self::single_thread).
    #[must_use]
    pub fn with_single_thread(mut self, single_thread: bool) -> Self {
        self.single_thread = Some(single_thread);
        self
    }

    /// Sets [`granularity`](Self::granularity).
    #[must_use]
    pub fn with_granularity(mut self, granularity: SteppingGranularity) -> Self {
        self.granularity = Some(granularity);
        self
    }
}

read_object! {
    NextArguments {
        0 thread_id "threadId" required,
        1 single_thread "singleThread" optional,
        2 granularity "granularity" optional,
    }
}

/// Confirms `next`, with an empty body; sent before the step is over.
pub type NextResponse = Empty;

/// Steps one thread into the call on its line, or over the line like `next` if there is none to
/// enter. Answered at once; a stop with reason `step` follows. The other threads run unless
/// `singleThread` holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepInRequest;

impl Request for StepInRequest {
    const COMMAND: &'static str = "stepIn";
    type Arguments = StepInArguments;
    type Response = StepInResponse;
}

/// What `stepIn` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepInArguments {
    /// Thread that steps.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
    /// True holds every other thread where it is.
    #[serde(rename = "singleThread", skip_serializing_if = "Option::is_none")]
    pub single_thread: Option<bool>,
    /// Which of several calls to enter, from `stepInTargets`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "targetId", skip_serializing_if = "Option::is_none")]
    pub target_id: Option<i64>,
    /// How far one step reaches; absent means `statement`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity: Option<SteppingGranularity>,
}

impl StepInArguments {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64) -> Self {
        Self {
            thread_id,
            single_thread: None,
            target_id: None,
            granularity: None,
        }
    }

    /// Sets [`single_thread`](Self::single_thread).
    #[must_use]
    pub fn with_single_thread(mut self, single_thread: bool) -> Self {
        self.single_thread = Some(single_thread);
        self
    }

    /// Sets [`target_id`](Self::target_id).
    #[must_use]
    pub fn with_target_id(mut self, target_id: i64) -> Self {
        self.target_id = Some(target_id);
        self
    }

    /// Sets [`granularity`](Self::granularity).
    #[must_use]
    pub fn with_granularity(mut self, granularity: SteppingGranularity) -> Self {
        self.granularity = Some(granularity);
        self
    }
}

read_object! {
    StepInArguments {
        0 thread_id "threadId" required,
        1 single_thread "singleThread" optional,
        2 target_id "targetId" optional,
        3 granularity "granularity" optional,
    }
}

/// Confirms `stepIn`, with an empty body; sent before the step is over.
pub type StepInResponse = Empty;

/// Runs one thread until its function has returned. Answered at once; a stop with reason `step`
/// follows. The other threads run unless `singleThread` holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepOutRequest;

impl Request for StepOutRequest {
    const COMMAND: &'static str = "stepOut";
    type Arguments = StepOutArguments;
    type Response = StepOutResponse;
}

/// What `stepOut` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepOutArguments {
    /// Thread whose function is to return.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
    /// True holds every other thread where it is.
    #[serde(rename = "singleThread", skip_serializing_if = "Option::is_none")]
    pub single_thread: Option<bool>,
    /// How far one step reaches; absent means `statement`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity: Option<SteppingGranularity>,
}

impl StepOutArguments {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64) -> Self {
        Self {
            thread_id,
            single_thread: None,
            granularity: None,
        }
    }

    /// Sets [`single_thread`](Self::single_thread).
    #[must_use]
    pub fn with_single_thread(mut self, single_thread: bool) -> Self {
        self.single_thread = Some(single_thread);
        self
    }

    /// Sets [`granularity`](Self::granularity).
    #[must_use]
    pub fn with_granularity(mut self, granularity: SteppingGranularity) -> Self {
        self.granularity = Some(granularity);
        self
    }
}

read_object! {
    StepOutArguments {
        0 thread_id "threadId" required,
        1 single_thread "singleThread" optional,
        2 granularity "granularity" optional,
    }
}

/// Confirms `stepOut`, with an empty body; sent before the step is over.
pub type StepOutResponse = Empty;

/// Undoes one step of a thread; the others go back too unless `singleThread` holds them.
/// Answered at once; a stop with reason `step` follows. Only with `supportsStepBack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepBackRequest;

impl Request for StepBackRequest {
    const COMMAND: &'static str = "stepBack";
    const CAPABILITY: Option<&'static str> = Some("supportsStepBack");
    type Arguments = StepBackArguments;
    type Response = StepBackResponse;
}

/// What `stepBack` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepBackArguments {
    /// Thread to take back.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
    /// True holds every other thread where it is.
    #[serde(rename = "singleThread", skip_serializing_if = "Option::is_none")]
    pub single_thread: Option<bool>,
    /// How far back one step reaches; absent means `statement`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity: Option<SteppingGranularity>,
}

impl StepBackArguments {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64) -> Self {
        Self {
            thread_id,
            single_thread: None,
            granularity: None,
        }
    }

    /// Sets [`single_thread`](Self::single_thread).
    #[must_use]
    pub fn with_single_thread(mut self, single_thread: bool) -> Self {
        self.single_thread = Some(single_thread);
        self
    }

    /// Sets [`granularity`](Self::granularity).
    #[must_use]
    pub fn with_granularity(mut self, granularity: SteppingGranularity) -> Self {
        self.granularity = Some(granularity);
        self
    }
}

read_object! {
    StepBackArguments {
        0 thread_id "threadId" required,
        1 single_thread "singleThread" optional,
        2 granularity "granularity" optional,
    }
}

/// Confirms `stepBack`, with an empty body; sent before the step is over.
pub type StepBackResponse = Empty;

/// Runs the debuggee backwards, all threads or with `singleThread` one; then the client is told
/// by `allThreadsContinued`. Only with `supportsStepBack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReverseContinueRequest;

impl Request for ReverseContinueRequest {
    const COMMAND: &'static str = "reverseContinue";
    const CAPABILITY: Option<&'static str> = Some("supportsStepBack");
    type Arguments = ReverseContinueArguments;
    type Response = ReverseContinueResponse;
}

/// What `reverseContinue` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReverseContinueArguments {
    /// Thread the user is looking at, and the only one to go back under `singleThread`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
    /// True leaves every other thread halted.
    #[serde(rename = "singleThread", skip_serializing_if = "Option::is_none")]
    pub single_thread: Option<bool>,
}

impl ReverseContinueArguments {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64) -> Self {
        Self {
            thread_id,
            single_thread: None,
        }
    }

    /// Sets [`single_thread`](Self::single_thread).
    #[must_use]
    pub fn with_single_thread(mut self, single_thread: bool) -> Self {
        self.single_thread = Some(single_thread);
        self
    }
}

read_object! {
    ReverseContinueArguments {
        0 thread_id "threadId" required,
        1 single_thread "singleThread" optional,
    }
}

/// Confirms `reverseContinue`, with an empty body.
pub type ReverseContinueResponse = Empty;

/// Takes a frame back to its beginning. Answered at once; a stop with reason `restart` follows.
/// Only with `supportsRestartFrame`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartFrameRequest;

impl Request for RestartFrameRequest {
    const COMMAND: &'static str = "restartFrame";
    const CAPABILITY: Option<&'static str> = Some("supportsRestartFrame");
    type Arguments = RestartFrameArguments;
    type Response = RestartFrameResponse;
}

/// What `restartFrame` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RestartFrameArguments {
    /// Frame to begin again, as given out during this stop.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "frameId")]
    pub frame_id: i64,
}

impl RestartFrameArguments {
    /// What is required set, nothing else.
    pub fn new(frame_id: i64) -> Self {
        Self { frame_id }
    }
}

read_object! {
    RestartFrameArguments {
        0 frame_id "frameId" required,
    }
}

/// Confirms `restartFrame`, with an empty body.
pub type RestartFrameResponse = Empty;

/// Moves the point where the thread goes on, without running what lies between. Answered at
/// once; a stop with reason `goto` follows. Only with `supportsGotoTargetsRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GotoRequest;

impl Request for GotoRequest {
    const COMMAND: &'static str = "goto";
    const CAPABILITY: Option<&'static str> = Some("supportsGotoTargetsRequest");
    type Arguments = GotoArguments;
    type Response = GotoResponse;
}

/// What `goto` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GotoArguments {
    /// Thread to move.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
    /// Where to move it, from `gotoTargets`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "targetId")]
    pub target_id: i64,
}

impl GotoArguments {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64, target_id: i64) -> Self {
        Self {
            thread_id,
            target_id,
        }
    }
}

read_object! {
    GotoArguments {
        0 thread_id "threadId" required,
        1 target_id "targetId" required,
    }
}

/// Confirms `goto`, with an empty body.
pub type GotoResponse = Empty;

/// Halts the running debuggee. Answered at once; a stop with reason `pause` follows when it has
/// halted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseRequest;

impl Request for PauseRequest {
    const COMMAND: &'static str = "pause";
    type Arguments = PauseArguments;
    type Response = PauseResponse;
}

/// What `pause` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PauseArguments {
    /// Thread to halt.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
}

impl PauseArguments {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64) -> Self {
        Self { thread_id }
    }
}

read_object! {
    PauseArguments {
        0 thread_id "threadId" required,
    }
}

/// Confirms `pause`, with an empty body; the halt comes later.
pub type PauseResponse = Empty;

/// Lists the frames of a halted thread, all or, with `supportsDelayedStackTraceLoading`, a
/// slice. Getting fewer than asked for means the stack ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackTraceRequest;

impl Request for StackTraceRequest {
    const COMMAND: &'static str = "stackTrace";
    type Arguments = StackTraceArguments;
    type Response = StackTraceResponse;
}

/// What `stackTrace` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StackTraceArguments {
    /// Thread whose frames are wanted.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
    /// How many of the innermost frames to leave out; absent means none.
    ///
    /// Range: 0..=4294967295.
    #[serde(rename = "startFrame", skip_serializing_if = "Option::is_none")]
    pub start_frame: Option<i64>,
    /// How many frames at most; 0 or absent means all.
    ///
    /// Range: 0..=4294967295.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<i64>,
    /// What to put into frame names. Only with `supportsValueFormattingOptions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StackFrameFormat>,
}

impl StackTraceArguments {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64) -> Self {
        Self {
            thread_id,
            start_frame: None,
            levels: None,
            format: None,
        }
    }

    /// Sets [`start_frame`](Self::start_frame).
    #[must_use]
    pub fn with_start_frame(mut self, start_frame: i64) -> Self {
        self.start_frame = Some(start_frame);
        self
    }

    /// Sets [`levels`](Self::levels).
    #[must_use]
    pub fn with_levels(mut self, levels: i64) -> Self {
        self.levels = Some(levels);
        self
    }

    /// Sets [`format`](Self::format).
    #[must_use]
    pub fn with_format(mut self, format: StackFrameFormat) -> Self {
        self.format = Some(format);
        self
    }
}

read_object! {
    StackTraceArguments {
        0 thread_id "threadId" required,
        1 start_frame "startFrame" optional,
        2 levels "levels" optional,
        3 format "format" optional,
    }
}

/// The frames, innermost first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StackTraceResponse {
    /// Frames found; none means nothing is known of where the thread is.
    #[serde(rename = "stackFrames")]
    pub stack_frames: Vec<StackFrame>,
    /// How deep the stack is. Absent or too large, clients read on until a slice comes back short;
    /// growing values make them do so.
    ///
    /// Range: 0..=4294967295.
    #[serde(rename = "totalFrames", skip_serializing_if = "Option::is_none")]
    pub total_frames: Option<i64>,
}

impl StackTraceResponse {
    /// What is required set, nothing else.
    pub fn new(stack_frames: Vec<StackFrame>) -> Self {
        Self {
            stack_frames,
            total_frames: None,
        }
    }

    /// Sets [`total_frames`](Self::total_frames).
    #[must_use]
    pub fn with_total_frames(mut self, total_frames: i64) -> Self {
        self.total_frames = Some(total_frames);
        self
    }
}

read_object! {
    StackTraceResponse {
        0 stack_frames "stackFrames" list,
        1 total_frames "totalFrames" optional,
    }
}

/// Lists the groups of variables visible in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopesRequest;

impl Request for ScopesRequest {
    const COMMAND: &'static str = "scopes";
    type Arguments = ScopesArguments;
    type Response = ScopesResponse;
}

/// What `scopes` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScopesArguments {
    /// Frame looked at, as given out during this stop.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "frameId")]
    pub frame_id: i64,
}

impl ScopesArguments {
    /// What is required set, nothing else.
    pub fn new(frame_id: i64) -> Self {
        Self { frame_id }
    }
}

read_object! {
    ScopesArguments {
        0 frame_id "frameId" required,
    }
}

/// The groups of variables found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScopesResponse {
    /// The groups; none means nothing can be shown.
    pub scopes: Vec<Scope>,
}

impl ScopesResponse {
    /// What is required set, nothing else.
    pub fn new(scopes: Vec<Scope>) -> Self {
        Self { scopes }
    }
}

read_object! {
    ScopesResponse {
        0 scopes "scopes" list,
    }
}

/// Lists what is inside a container: a scope or a structured value, in whole or one kind of
/// child alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VariablesRequest;

impl Request for VariablesRequest {
    const COMMAND: &'static str = "variables";
    type Arguments = VariablesArguments;
    type Response = VariablesResponse;
}

/// What `variables` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct VariablesArguments {
    /// Container to open, as given out during this stop.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "variablesReference")]
    pub variables_reference: i64,
    /// Kind of children wanted; absent means both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<VariablesArgumentsFilter>,
    /// First child wanted, from 0, as when absent; beyond the end nothing comes back. Only with
    /// `supportsVariablePaging`.
    ///
    /// Range: 0..=4294967295.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<i64>,
    /// How many children at most; 0 or absent means all, and fewer in return means there are no
    /// more. Only with `supportsVariablePaging`.
    ///
    /// Range: 0..=4294967295.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
    /// How to write the values. Only with `supportsValueFormattingOptions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ValueFormat>,
}

impl VariablesArguments {
    /// What is required set, nothing else.
    pub fn new(variables_reference: i64) -> Self {
        Self {
            variables_reference,
            filter: None,
            start: None,
            count: None,
            format: None,
        }
    }

    /// Sets [`filter`](Self::filter).
    #[must_use]
    pub fn with_filter(mut self, filter: VariablesArgumentsFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sets [`start`](Self::start).
    #[must_use]
    pub fn with_start(mut self, start: i64) -> Self {
        self.start = Some(start);
        self
    }

    /// Sets [`count`](Self::count).
    #[must_use]
    pub fn with_count(mut self, count: i64) -> Self {
        self.count = Some(count);
        self
    }

    /// Sets [`format`](Self::format).
    #[must_use]
    pub fn with_format(mut self, format: ValueFormat) -> Self {
        self.format = Some(format);
        self
    }
}

read_object! {
    VariablesArguments {
        0 variables_reference "variablesReference" required,
        1 filter "filter" optional,
        2 start "start" optional,
        3 count "count" optional,
        4 format "format" optional,
    }
}

string_enum! {
    /// The values of `filter` in `VariablesArguments`.
    closed VariablesArgumentsFilter {
        /// `indexed`.
        Indexed = "indexed",
        /// `named`.
        Named = "named",
    }
}

/// The children of the container.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct VariablesResponse {
    /// The children asked for.
    pub variables: Vec<Variable>,
}

impl VariablesResponse {
    /// What is required set, nothing else.
    pub fn new(variables: Vec<Variable>) -> Self {
        Self { variables }
    }
}

read_object! {
    VariablesResponse {
        0 variables "variables" list,
    }
}

/// Gives a child of a container a new value. Only with `supportsSetVariable`; where
/// `setExpression` is there too, clients prefer it for variables with an `evaluateName`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetVariableRequest;

impl Request for SetVariableRequest {
    const COMMAND: &'static str = "setVariable";
    const CAPABILITY: Option<&'static str> = Some("supportsSetVariable");
    type Arguments = SetVariableArguments;
    type Response = SetVariableResponse;
}

/// What `setVariable` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetVariableArguments {
    /// Container of the variable, as given out during this stop.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "variablesReference")]
    pub variables_reference: i64,
    /// Which child to change.
    pub name: String,
    /// What to put there, as text the adapter reads.
    pub value: String,
    /// How to write the value that comes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ValueFormat>,
}

impl SetVariableArguments {
    /// What is required set, nothing else.
    pub fn new(
        variables_reference: i64,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        Self {
            variables_reference,
            name: name.into(),
            value: value.into(),
            format: None,
        }
    }

    /// Sets [`format`](Self::format).
    #[must_use]
    pub fn with_format(mut self, format: ValueFormat) -> Self {
        self.format = Some(format);
        self
    }
}

read_object! {
    SetVariableArguments {
        0 variables_reference "variablesReference" required,
        1 name "name" required,
        2 value "value" required,
        3 format "format" optional,
    }
}

/// The variable as it is after the change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetVariableResponse {
    /// Its value now, read back.
    pub value: String,
    /// Its type now, mostly shown as a hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// Above zero, a container to open until the debuggee runs. When present it replaces the old
    /// references of the variable and everything below it.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "variablesReference", skip_serializing_if = "Option::is_none")]
    pub variables_reference: Option<i64>,
    /// How many named children it has, for fetching by slices; at most 2^31-1.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "namedVariables", skip_serializing_if = "Option::is_none")]
    pub named_variables: Option<i64>,
    /// How many numbered children it has, for fetching by slices; at most 2^31-1.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "indexedVariables", skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<i64>,
    /// Memory that belongs to it; for a pointer, where it points. Only with the client's
    /// `supportsMemoryReferences`.
    #[serde(rename = "memoryReference", skip_serializing_if = "Option::is_none")]
    pub memory_reference: Option<String>,
    /// Handle for `locations` leading to what the value refers to, such as a function; set only
    /// where that is likely found, and lives as long as `variablesReference`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(
        rename = "valueLocationReference",
        skip_serializing_if = "Option::is_none"
    )]
    pub value_location_reference: Option<i64>,
}

impl SetVariableResponse {
    /// What is required set, nothing else.
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            r#type: None,
            variables_reference: None,
            named_variables: None,
            indexed_variables: None,
            memory_reference: None,
            value_location_reference: None,
        }
    }

    /// Sets [`type`](Self::type).
    #[must_use]
    pub fn with_type(mut self, r#type: impl Into<String>) -> Self {
        self.r#type = Some(r#type.into());
        self
    }

    /// Sets [`variables_reference`](Self::variables_reference).
    #[must_use]
    pub fn with_variables_reference(mut self, variables_reference: i64) -> Self {
        self.variables_reference = Some(variables_reference);
        self
    }

    /// Sets [`named_variables`](Self::named_variables).
    #[must_use]
    pub fn with_named_variables(mut self, named_variables: i64) -> Self {
        self.named_variables = Some(named_variables);
        self
    }

    /// Sets [`indexed_variables`](Self::indexed_variables).
    #[must_use]
    pub fn with_indexed_variables(mut self, indexed_variables: i64) -> Self {
        self.indexed_variables = Some(indexed_variables);
        self
    }

    /// Sets [`memory_reference`](Self::memory_reference).
    #[must_use]
    pub fn with_memory_reference(mut self, memory_reference: impl Into<String>) -> Self {
        self.memory_reference = Some(memory_reference.into());
        self
    }

    /// Sets [`value_location_reference`](Self::value_location_reference).
    #[must_use]
    pub fn with_value_location_reference(mut self, value_location_reference: i64) -> Self {
        self.value_location_reference = Some(value_location_reference);
        self
    }
}

read_object! {
    SetVariableResponse {
        0 value "value" required,
        1 r#type "type" optional,
        2 variables_reference "variablesReference" optional,
        3 named_variables "namedVariables" optional,
        4 indexed_variables "indexedVariables" optional,
        5 memory_reference "memoryReference" optional,
        6 value_location_reference "valueLocationReference" optional,
    }
}

/// Fetches a source text from the adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceRequest;

impl Request for SourceRequest {
    const COMMAND: &'static str = "source";
    type Arguments = SourceArguments;
    type Response = SourceResponse;
}

/// What `source` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SourceArguments {
    /// Source wanted, by path or by reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Number of the source, repeated here for clients from before `source`.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "sourceReference")]
    pub source_reference: i64,
}

impl SourceArguments {
    /// What is required set, nothing else.
    pub fn new(source_reference: i64) -> Self {
        Self {
            source: None,
            source_reference,
        }
    }

    /// Sets [`source`](Self::source).
    #[must_use]
    pub fn with_source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }
}

read_object! {
    SourceArguments {
        0 source "source" optional,
        1 source_reference "sourceReference" required,
    }
}

/// The text of the source.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SourceResponse {
    /// The text itself.
    pub content: String,
    /// Kind of text, as a MIME type.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

impl SourceResponse {
    /// What is required set, nothing else.
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            mime_type: None,
        }
    }

    /// Sets [`mime_type`](Self::mime_type).
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

read_object! {
    SourceResponse {
        0 content "content" required,
        1 mime_type "mimeType" optional,
    }
}

/// Lists the debuggee's threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadsRequest;

impl Request for ThreadsRequest {
    const COMMAND: &'static str = "threads";
    type Arguments = Empty;
    type Response = ThreadsResponse;
}

/// The threads there are.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ThreadsResponse {
    /// Every thread alive now.
    pub threads: Vec<Thread>,
}

impl ThreadsResponse {
    /// What is required set, nothing else.
    pub fn new(threads: Vec<Thread>) -> Self {
        Self { threads }
    }
}

read_object! {
    ThreadsResponse {
        0 threads "threads" list,
    }
}

/// Ends some threads of the debuggee. Only with `supportsTerminateThreadsRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminateThreadsRequest;

impl Request for TerminateThreadsRequest {
    const COMMAND: &'static str = "terminateThreads";
    const CAPABILITY: Option<&'static str> = Some("supportsTerminateThreadsRequest");
    type Arguments = TerminateThreadsArguments;
    type Response = TerminateThreadsResponse;
}

/// What `terminateThreads` takes.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct TerminateThreadsArguments {
    /// Threads to end.
    ///
    /// Range of each: -2147483648..=2147483647.
    #[serde(rename = "threadIds", skip_serializing_if = "Option::is_none")]
    pub thread_ids: Option<Vec<i64>>,
}

impl TerminateThreadsArguments {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`thread_ids`](Self::thread_ids).
    #[must_use]
    pub fn with_thread_ids(mut self, thread_ids: Vec<i64>) -> Self {
        self.thread_ids = Some(thread_ids);
        self
    }
}

read_object! {
    TerminateThreadsArguments {
        0 thread_ids "threadIds" optional_list,
    }
}

/// Confirms `terminateThreads`, with an empty body.
pub type TerminateThreadsResponse = Empty;

/// Lists the loaded modules, all or a slice. Only with `supportsModulesRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModulesRequest;

impl Request for ModulesRequest {
    const COMMAND: &'static str = "modules";
    const CAPABILITY: Option<&'static str> = Some("supportsModulesRequest");
    type Arguments = ModulesArguments;
    type Response = ModulesResponse;
}

/// What `modules` takes.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ModulesArguments {
    /// Index to begin at; absent means 0.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "startModule", skip_serializing_if = "Option::is_none")]
    pub start_module: Option<i64>,
    /// How many modules at most; 0 or absent means all.
    ///
    /// Range: 0..=4294967295.
    #[serde(rename = "moduleCount", skip_serializing_if = "Option::is_none")]
    pub module_count: Option<i64>,
}

impl ModulesArguments {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`start_module`](Self::start_module).
    #[must_use]
    pub fn with_start_module(mut self, start_module: i64) -> Self {
        self.start_module = Some(start_module);
        self
    }

    /// Sets [`module_count`](Self::module_count).
    #[must_use]
    pub fn with_module_count(mut self, module_count: i64) -> Self {
        self.module_count = Some(module_count);
        self
    }
}

read_object! {
    ModulesArguments {
        0 start_module "startModule" optional,
        1 module_count "moduleCount" optional,
    }
}

/// The modules found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModulesResponse {
    /// The modules asked for.
    pub modules: Vec<Module>,
    /// How many there are altogether.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "totalModules", skip_serializing_if = "Option::is_none")]
    pub total_modules: Option<i64>,
}

impl ModulesResponse {
    /// What is required set, nothing else.
    pub fn new(modules: Vec<Module>) -> Self {
        Self {
            modules,
            total_modules: None,
        }
    }

    /// Sets [`total_modules`](Self::total_modules).
    #[must_use]
    pub fn with_total_modules(mut self, total_modules: i64) -> Self {
        self.total_modules = Some(total_modules);
        self
    }
}

read_object! {
    ModulesResponse {
        0 modules "modules" list,
        1 total_modules "totalModules" optional,
    }
}

/// Lists every source the debuggee has loaded. Only with `supportsLoadedSourcesRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadedSourcesRequest;

impl Request for LoadedSourcesRequest {
    const COMMAND: &'static str = "loadedSources";
    const CAPABILITY: Option<&'static str> = Some("supportsLoadedSourcesRequest");
    type Arguments = LoadedSourcesArguments;
    type Response = LoadedSourcesResponse;
}

/// What `loadedSources` takes: nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct LoadedSourcesArguments {}

impl LoadedSourcesArguments {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }
}

read_object! {
    LoadedSourcesArguments {
    }
}

/// The sources found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LoadedSourcesResponse {
    /// Every source loaded now.
    pub sources: Vec<Source>,
}

impl LoadedSourcesResponse {
    /// What is required set, nothing else.
    pub fn new(sources: Vec<Source>) -> Self {
        Self { sources }
    }
}

read_object! {
    LoadedSourcesResponse {
        0 sources "sources" list,
    }
}

/// Computes an expression with the variables a frame can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluateRequest;

impl Request for EvaluateRequest {
    const COMMAND: &'static str = "evaluate";
    type Arguments = EvaluateArguments;
    type Response = EvaluateResponse;
}

/// What `evaluate` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EvaluateArguments {
    /// Text to compute, in a language the adapter knows.
    pub expression: String,
    /// Frame whose variables count; absent means globals only.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "frameId", skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<i64>,
    /// Line the text was taken from; under the mouse, where it begins.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Column the text was taken from, in UTF-16 units counted from the client's base; goes with
    /// `line`.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Source the text was taken from; required beside `line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// What the answer is for, so that the adapter can suit it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<EvaluateArgumentsContext>,
    /// How to write the result. Only with `supportsValueFormattingOptions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ValueFormat>,
}

impl EvaluateArguments {
    /// What is required set, nothing else.
    pub fn new(expression: impl Into<String>) -> Self {
        Self {
            expression: expression.into(),
            frame_id: None,
            line: None,
            column: None,
            source: None,
            context: None,
            format: None,
        }
    }

    /// Sets [`frame_id`](Self::frame_id).
    #[must_use]
    pub fn with_frame_id(mut self, frame_id: i64) -> Self {
        self.frame_id = Some(frame_id);
        self
    }

    /// Sets [`line`](Self::line).
    #[must_use]
    pub fn with_line(mut self, line: i64) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`source`](Self::source).
    #[must_use]
    pub fn with_source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// Sets [`context`](Self::context).
    #[must_use]
    pub fn with_context(mut self, context: EvaluateArgumentsContext) -> Self {
        self.context = Some(context);
        self
    }

    /// Sets [`format`](Self::format).
    #[must_use]
    pub fn with_format(mut self, format: ValueFormat) -> Self {
        self.format = Some(format);
        self
    }
}

read_object! {
    EvaluateArguments {
        0 expression "expression" required,
        1 frame_id "frameId" optional,
        2 line "line" optional,
        3 column "column" optional,
        4 source "source" optional,
        5 context "context" optional,
        6 format "format" optional,
    }
}

string_enum! {
    /// The values of `context` in `EvaluateArguments`.
    open EvaluateArgumentsContext {
        /// A watched expression, computed anew at each stop.
        Watch = "watch",
        /// Typed by the user at a prompt.
        Repl = "repl",
        /// Under the mouse pointer, so without side effects; only with `supportsEvaluateForHovers`.
        Hover = "hover",
        /// To be copied in full; only with `supportsClipboardContext`.
        Clipboard = "clipboard",
        /// Comes from the list of variables.
        Variables = "variables",
    }
}

/// What the expression came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EvaluateResponse {
    /// The value, as text to show.
    pub result: String,
    /// Its type. Only where the client announced `supportsVariableType`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// What kind of value it is, to help draw it.
    #[serde(rename = "presentationHint", skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<VariablePresentationHint>,
    /// Above zero, a container to open until the debuggee runs.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "variablesReference")]
    pub variables_reference: i64,
    /// How many named children it has, for fetching by slices; at most 2^31-1.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "namedVariables", skip_serializing_if = "Option::is_none")]
    pub named_variables: Option<i64>,
    /// How many numbered children it has, for fetching by slices; at most 2^31-1.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "indexedVariables", skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<i64>,
    /// Memory that belongs to it; for a pointer, where it points. Only with the client's
    /// `supportsMemoryReferences`.
    #[serde(rename = "memoryReference", skip_serializing_if = "Option::is_none")]
    pub memory_reference: Option<String>,
    /// Handle for `locations` leading to what the value refers to, such as a function; set only
    /// where that is likely found, and lives as long as `variablesReference`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(
        rename = "valueLocationReference",
        skip_serializing_if = "Option::is_none"
    )]
    pub value_location_reference: Option<i64>,
}

impl EvaluateResponse {
    /// What is required set, nothing else.
    pub fn new(result: impl Into<String>, variables_reference: i64) -> Self {
        Self {
            result: result.into(),
            r#type: None,
            presentation_hint: None,
            variables_reference,
            named_variables: None,
            indexed_variables: None,
            memory_reference: None,
            value_location_reference: None,
        }
    }

    /// Sets [`type`](Self::type).
    #[must_use]
    pub fn with_type(mut self, r#type: impl Into<String>) -> Self {
        self.r#type = Some(r#type.into());
        self
    }

    /// Sets [`presentation_hint`](Self::presentation_hint).
    #[must_use]
    pub fn with_presentation_hint(mut self, presentation_hint: VariablePresentationHint) -> Self {
        self.presentation_hint = Some(presentation_hint);
        self
    }

    /// Sets [`named_variables`](Self::named_variables).
    #[must_use]
    pub fn with_named_variables(mut self, named_variables: i64) -> Self {
        self.named_variables = Some(named_variables);
        self
    }

    /// Sets [`indexed_variables`](Self::indexed_variables).
    #[must_use]
    pub fn with_indexed_variables(mut self, indexed_variables: i64) -> Self {
        self.indexed_variables = Some(indexed_variables);
        self
    }

    /// Sets [`memory_reference`](Self::memory_reference).
    #[must_use]
    pub fn with_memory_reference(mut self, memory_reference: impl Into<String>) -> Self {
        self.memory_reference = Some(memory_reference.into());
        self
    }

    /// Sets [`value_location_reference`](Self::value_location_reference).
    #[must_use]
    pub fn with_value_location_reference(mut self, value_location_reference: i64) -> Self {
        self.value_location_reference = Some(value_location_reference);
        self
    }
}

read_object! {
    EvaluateResponse {
        0 result "result" required,
        1 r#type "type" optional,
        2 presentation_hint "presentationHint" optional,
        3 variables_reference "variablesReference" required,
        4 named_variables "namedVariables" optional,
        5 indexed_variables "indexedVariables" optional,
        6 memory_reference "memoryReference" optional,
        7 value_location_reference "valueLocationReference" optional,
    }
}

/// Computes `value` and stores it where `expression` names a place, both as seen from the
/// frame. Only with `supportsSetExpression`; preferred to `setVariable` for variables with an
/// `evaluateName`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetExpressionRequest;

impl Request for SetExpressionRequest {
    const COMMAND: &'static str = "setExpression";
    const CAPABILITY: Option<&'static str> = Some("supportsSetExpression");
    type Arguments = SetExpressionArguments;
    type Response = SetExpressionResponse;
}

/// What `setExpression` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetExpressionArguments {
    /// The place to change.
    pub expression: String,
    /// What to store there.
    pub value: String,
    /// Frame whose variables count for both; absent means globals only.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "frameId", skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<i64>,
    /// How to write the value that comes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ValueFormat>,
}

impl SetExpressionArguments {
    /// What is required set, nothing else.
    pub fn new(expression: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            expression: expression.into(),
            value: value.into(),
            frame_id: None,
            format: None,
        }
    }

    /// Sets [`frame_id`](Self::frame_id).
    #[must_use]
    pub fn with_frame_id(mut self, frame_id: i64) -> Self {
        self.frame_id = Some(frame_id);
        self
    }

    /// Sets [`format`](Self::format).
    #[must_use]
    pub fn with_format(mut self, format: ValueFormat) -> Self {
        self.format = Some(format);
        self
    }
}

read_object! {
    SetExpressionArguments {
        0 expression "expression" required,
        1 value "value" required,
        2 frame_id "frameId" optional,
        3 format "format" optional,
    }
}

/// The place as it is after the change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetExpressionResponse {
    /// Its value now, read back.
    pub value: String,
    /// Its type. Only where the client announced `supportsVariableType`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// What kind of value it is, to help draw it.
    #[serde(rename = "presentationHint", skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<VariablePresentationHint>,
    /// Above zero, a container to open until the debuggee runs.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "variablesReference", skip_serializing_if = "Option::is_none")]
    pub variables_reference: Option<i64>,
    /// How many named children it has, for fetching by slices; at most 2^31-1.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "namedVariables", skip_serializing_if = "Option::is_none")]
    pub named_variables: Option<i64>,
    /// How many numbered children it has, for fetching by slices; at most 2^31-1.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "indexedVariables", skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<i64>,
    /// Memory that belongs to it; for a pointer, where it points. Only with the client's
    /// `supportsMemoryReferences`.
    #[serde(rename = "memoryReference", skip_serializing_if = "Option::is_none")]
    pub memory_reference: Option<String>,
    /// Handle for `locations` leading to what the value refers to, such as a function; set only
    /// where that is likely found, and lives as long as `variablesReference`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(
        rename = "valueLocationReference",
        skip_serializing_if = "Option::is_none"
    )]
    pub value_location_reference: Option<i64>,
}

impl SetExpressionResponse {
    /// What is required set, nothing else.
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            r#type: None,
            presentation_hint: None,
            variables_reference: None,
            named_variables: None,
            indexed_variables: None,
            memory_reference: None,
            value_location_reference: None,
        }
    }

    /// Sets [`type`](Self::type).
    #[must_use]
    pub fn with_type(mut self, r#type: impl Into<String>) -> Self {
        self.r#type = Some(r#type.into());
        self
    }

    /// Sets [`presentation_hint`](Self::presentation_hint).
    #[must_use]
    pub fn with_presentation_hint(mut self, presentation_hint: VariablePresentationHint) -> Self {
        self.presentation_hint = Some(presentation_hint);
        self
    }

    /// Sets [`variables_reference`](Self::variables_reference).
    #[must_use]
    pub fn with_variables_reference(mut self, variables_reference: i64) -> Self {
        self.variables_reference = Some(variables_reference);
        self
    }

    /// Sets [`named_variables`](Self::named_variables).
    #[must_use]
    pub fn with_named_variables(mut self, named_variables: i64) -> Self {
        self.named_variables = Some(named_variables);
        self
    }

    /// Sets [`indexed_variables`](Self::indexed_variables).
    #[must_use]
    pub fn with_indexed_variables(mut self, indexed_variables: i64) -> Self {
        self.indexed_variables = Some(indexed_variables);
        self
    }

    /// Sets [`memory_reference`](Self::memory_reference).
    #[must_use]
    pub fn with_memory_reference(mut self, memory_reference: impl Into<String>) -> Self {
        self.memory_reference = Some(memory_reference.into());
        self
    }

    /// Sets [`value_location_reference`](Self::value_location_reference).
    #[must_use]
    pub fn with_value_location_reference(mut self, value_location_reference: i64) -> Self {
        self.value_location_reference = Some(value_location_reference);
        self
    }
}

read_object! {
    SetExpressionResponse {
        0 value "value" required,
        1 r#type "type" optional,
        2 presentation_hint "presentationHint" optional,
        3 variables_reference "variablesReference" optional,
        4 named_variables "namedVariables" optional,
        5 indexed_variables "indexedVariables" optional,
        6 memory_reference "memoryReference" optional,
        7 value_location_reference "valueLocationReference" optional,
    }
}

/// Lists the calls a `stepIn` from a frame could enter. Only with
/// `supportsStepInTargetsRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepInTargetsRequest;

impl Request for StepInTargetsRequest {
    const COMMAND: &'static str = "stepInTargets";
    const CAPABILITY: Option<&'static str> = Some("supportsStepInTargetsRequest");
    type Arguments = StepInTargetsArguments;
    type Response = StepInTargetsResponse;
}

/// What `stepInTargets` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepInTargetsArguments {
    /// Frame whose line is looked at.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "frameId")]
    pub frame_id: i64,
}

impl StepInTargetsArguments {
    /// What is required set, nothing else.
    pub fn new(frame_id: i64) -> Self {
        Self { frame_id }
    }
}

read_object! {
    StepInTargetsArguments {
        0 frame_id "frameId" required,
    }
}

/// The calls found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepInTargetsResponse {
    /// Calls one could enter.
    pub targets: Vec<StepInTarget>,
}

impl StepInTargetsResponse {
    /// What is required set, nothing else.
    pub fn new(targets: Vec<StepInTarget>) -> Self {
        Self { targets }
    }
}

read_object! {
    StepInTargetsResponse {
        0 targets "targets" list,
    }
}

/// Lists where execution could be moved to at a place in the source, for `goto`. Only with
/// `supportsGotoTargetsRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GotoTargetsRequest;

impl Request for GotoTargetsRequest {
    const COMMAND: &'static str = "gotoTargets";
    const CAPABILITY: Option<&'static str> = Some("supportsGotoTargetsRequest");
    type Arguments = GotoTargetsArguments;
    type Response = GotoTargetsResponse;
}

/// What `gotoTargets` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GotoTargetsArguments {
    /// Source looked at.
    pub source: Source,
    /// Line looked at.
    ///
    /// Range: 0..=9007199254740991.
    pub line: i64,
    /// Column looked at, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
}

impl GotoTargetsArguments {
    /// What is required set, nothing else.
    pub fn new(source: Source, line: i64) -> Self {
        Self {
            source,
            line,
            column: None,
        }
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }
}

read_object! {
    GotoTargetsArguments {
        0 source "source" required,
        1 line "line" required,
        2 column "column" optional,
    }
}

/// The places found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GotoTargetsResponse {
    /// Places one could move to.
    pub targets: Vec<GotoTarget>,
}

impl GotoTargetsResponse {
    /// What is required set, nothing else.
    pub fn new(targets: Vec<GotoTarget>) -> Self {
        Self { targets }
    }
}

read_object! {
    GotoTargetsResponse {
        0 targets "targets" list,
    }
}

/// Proposes how to go on with what the user is typing. Only with `supportsCompletionsRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletionsRequest;

impl Request for CompletionsRequest {
    const COMMAND: &'static str = "completions";
    const CAPABILITY: Option<&'static str> = Some("supportsCompletionsRequest");
    type Arguments = CompletionsArguments;
    type Response = CompletionsResponse;
}

/// What `completions` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CompletionsArguments {
    /// Frame whose names count; absent means globals only.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "frameId", skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<i64>,
    /// What has been typed so far, possibly several lines.
    pub text: String,
    /// Where the caret is, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    pub column: i64,
    /// Line of the text with the caret; absent means its first.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
}

impl CompletionsArguments {
    /// What is required set, nothing else.
    pub fn new(text: impl Into<String>, column: i64) -> Self {
        Self {
            frame_id: None,
            text: text.into(),
            column,
            line: None,
        }
    }

    /// Sets [`frame_id`](Self::frame_id).
    #[must_use]
    pub fn with_frame_id(mut self, frame_id: i64) -> Self {
        self.frame_id = Some(frame_id);
        self
    }

    /// Sets [`line`](Self::line).
    #[must_use]
    pub fn with_line(mut self, line: i64) -> Self {
        self.line = Some(line);
        self
    }
}

read_object! {
    CompletionsArguments {
        0 frame_id "frameId" optional,
        1 text "text" required,
        2 column "column" required,
        3 line "line" optional,
    }
}

/// The proposals.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CompletionsResponse {
    /// Texts the user can choose from.
    pub targets: Vec<CompletionItem>,
}

impl CompletionsResponse {
    /// What is required set, nothing else.
    pub fn new(targets: Vec<CompletionItem>) -> Self {
        Self { targets }
    }
}

read_object! {
    CompletionsResponse {
        0 targets "targets" list,
    }
}

/// Says more about the exception a thread stopped on. Only with `supportsExceptionInfoRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceptionInfoRequest;

impl Request for ExceptionInfoRequest {
    const COMMAND: &'static str = "exceptionInfo";
    const CAPABILITY: Option<&'static str> = Some("supportsExceptionInfoRequest");
    type Arguments = ExceptionInfoArguments;
    type Response = ExceptionInfoResponse;
}

/// What `exceptionInfo` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExceptionInfoArguments {
    /// Thread that stopped on it.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "threadId")]
    pub thread_id: i64,
}

impl ExceptionInfoArguments {
    /// What is required set, nothing else.
    pub fn new(thread_id: i64) -> Self {
        Self { thread_id }
    }
}

read_object! {
    ExceptionInfoArguments {
        0 thread_id "threadId" required,
    }
}

/// What is known of the exception.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExceptionInfoResponse {
    /// Which exception, as a code or type name.
    #[serde(rename = "exceptionId")]
    pub exception_id: String,
    /// The exception in words for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Which setting made it stop.
    #[serde(rename = "breakMode")]
    pub break_mode: ExceptionBreakMode,
    /// Its inner parts, as far as known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<ExceptionDetails>,
}

impl ExceptionInfoResponse {
    /// What is required set, nothing else.
    pub fn new(exception_id: impl Into<String>, break_mode: ExceptionBreakMode) -> Self {
        Self {
            exception_id: exception_id.into(),
            description: None,
            break_mode,
            details: None,
        }
    }

    /// Sets [`description`](Self::description).
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets [`details`](Self::details).
    #[must_use]
    pub fn with_details(mut self, details: ExceptionDetails) -> Self {
        self.details = Some(details);
        self
    }
}

read_object! {
    ExceptionInfoResponse {
        0 exception_id "exceptionId" required,
        1 description "description" optional,
        2 break_mode "breakMode" required,
        3 details "details" optional,
    }
}

/// Reads raw memory. Only with `supportsReadMemoryRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadMemoryRequest;

impl Request for ReadMemoryRequest {
    const COMMAND: &'static str = "readMemory";
    const CAPABILITY: Option<&'static str> = Some("supportsReadMemoryRequest");
    type Arguments = ReadMemoryArguments;
    type Response = ReadMemoryResponse;
}

/// What `readMemory` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReadMemoryArguments {
    /// Where to count from.
    #[serde(rename = "memoryReference")]
    pub memory_reference: String,
    /// Distance in bytes from there, possibly below zero; absent means none.
    ///
    /// Range: -9007199254740991..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// How many bytes are wanted.
    ///
    /// Range: 0..=9007199254740991.
    pub count: i64,
}

impl ReadMemoryArguments {
    /// What is required set, nothing else.
    pub fn new(memory_reference: impl Into<String>, count: i64) -> Self {
        Self {
            memory_reference: memory_reference.into(),
            offset: None,
            count,
        }
    }

    /// Sets [`offset`](Self::offset).
    #[must_use]
    pub fn with_offset(mut self, offset: i64) -> Self {
        self.offset = Some(offset);
        self
    }
}

read_object! {
    ReadMemoryArguments {
        0 memory_reference "memoryReference" required,
        1 offset "offset" optional,
        2 count "count" required,
    }
}

/// The bytes found, if any.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReadMemoryResponse {
    /// Where the first byte came from, decimal or with `0x`.
    pub address: String,
    /// How many bytes after the last good one cannot be read, so that one may skip them.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "unreadableBytes", skip_serializing_if = "Option::is_none")]
    pub unreadable_bytes: Option<i64>,
    /// The bytes in base64. Fewer than wanted, with no `unreadableBytes`, means memory ends there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

impl ReadMemoryResponse {
    /// What is required set, nothing else.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            unreadable_bytes: None,
            data: None,
        }
    }

    /// Sets [`unreadable_bytes`](Self::unreadable_bytes).
    #[must_use]
    pub fn with_unreadable_bytes(mut self, unreadable_bytes: i64) -> Self {
        self.unreadable_bytes = Some(unreadable_bytes);
        self
    }

    /// Sets [`data`](Self::data).
    #[must_use]
    pub fn with_data(mut self, data: impl Into<String>) -> Self {
        self.data = Some(data.into());
        self
    }
}

read_object! {
    ReadMemoryResponse {
        0 address "address" required,
        1 unreadable_bytes "unreadableBytes" optional,
        2 data "data" optional,
    }
}

/// Writes raw memory. Only with `supportsWriteMemoryRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteMemoryRequest;

impl Request for WriteMemoryRequest {
    const COMMAND: &'static str = "writeMemory";
    const CAPABILITY: Option<&'static str> = Some("supportsWriteMemoryRequest");
    type Arguments = WriteMemoryArguments;
    type Response = WriteMemoryResponse;
}

/// What `writeMemory` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WriteMemoryArguments {
    /// Where to count from.
    #[serde(rename = "memoryReference")]
    pub memory_reference: String,
    /// Distance in bytes from there, possibly below zero; absent means none.
    ///
    /// Range: -9007199254740991..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// True writes as much as can be and tells how much; false or absent writes everything or fails
    /// beforehand.
    #[serde(rename = "allowPartial", skip_serializing_if = "Option::is_none")]
    pub allow_partial: Option<bool>,
    /// The bytes in base64.
    pub data: String,
}

impl WriteMemoryArguments {
    /// What is required set, nothing else.
    pub fn new(memory_reference: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            memory_reference: memory_reference.into(),
            offset: None,
            allow_partial: None,
            data: data.into(),
        }
    }

    /// Sets [`offset`](Self::offset).
    #[must_use]
    pub fn with_offset(mut self, offset: i64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Sets [`allow_partial`](Self::allow_partial).
    #[must_use]
    pub fn with_allow_partial(mut self, allow_partial: bool) -> Self {
        self.allow_partial = Some(allow_partial);
        self
    }
}

read_object! {
    WriteMemoryArguments {
        0 memory_reference "memoryReference" required,
        1 offset "offset" optional,
        2 allow_partial "allowPartial" optional,
        3 data "data" required,
    }
}

/// How much was written.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct WriteMemoryResponse {
    /// For partial writes, where the first written byte lies relative to the reference; possibly
    /// below zero.
    ///
    /// Range: -9007199254740991..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// For partial writes, how many bytes arrived.
    ///
    /// Range: 0..=4294967295.
    #[serde(rename = "bytesWritten", skip_serializing_if = "Option::is_none")]
    pub bytes_written: Option<i64>,
}

impl WriteMemoryResponse {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`offset`](Self::offset).
    #[must_use]
    pub fn with_offset(mut self, offset: i64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Sets [`bytes_written`](Self::bytes_written).
    #[must_use]
    pub fn with_bytes_written(mut self, bytes_written: i64) -> Self {
        self.bytes_written = Some(bytes_written);
        self
    }
}

read_object! {
    WriteMemoryResponse {
        0 offset "offset" optional,
        1 bytes_written "bytesWritten" optional,
    }
}

/// Shows memory as machine instructions. Only with `supportsDisassembleRequest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DisassembleRequest;

impl Request for DisassembleRequest {
    const COMMAND: &'static str = "disassemble";
    const CAPABILITY: Option<&'static str> = Some("supportsDisassembleRequest");
    type Arguments = DisassembleArguments;
    type Response = DisassembleResponse;
}

/// What `disassemble` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DisassembleArguments {
    /// Where to count from.
    #[serde(rename = "memoryReference")]
    pub memory_reference: String,
    /// Distance in bytes from there, possibly below zero; absent means none.
    ///
    /// Range: -9007199254740991..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// Further distance in whole instructions, possibly below zero; absent means none.
    ///
    /// Range: -9007199254740991..=9007199254740991.
    #[serde(rename = "instructionOffset", skip_serializing_if = "Option::is_none")]
    pub instruction_offset: Option<i64>,
    /// How many are wanted. Exactly so many come back; what cannot be decoded is filled with a
    /// stand-in.
    ///
    /// Range: 0..=4294967295.
    #[serde(rename = "instructionCount")]
    pub instruction_count: i64,
    /// True writes addresses as names where possible.
    #[serde(rename = "resolveSymbols", skip_serializing_if = "Option::is_none")]
    pub resolve_symbols: Option<bool>,
}

impl DisassembleArguments {
    /// What is required set, nothing else.
    pub fn new(memory_reference: impl Into<String>, instruction_count: i64) -> Self {
        Self {
            memory_reference: memory_reference.into(),
            offset: None,
            instruction_offset: None,
            instruction_count,
            resolve_symbols: None,
        }
    }

    /// Sets [`offset`](Self::offset).
    #[must_use]
    pub fn with_offset(mut self, offset: i64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Sets [`instruction_offset`](Self::instruction_offset).
    #[must_use]
    pub fn with_instruction_offset(mut self, instruction_offset: i64) -> Self {
        self.instruction_offset = Some(instruction_offset);
        self
    }

    /// Sets [`resolve_symbols`](Self::resolve_symbols).
    #[must_use]
    pub fn with_resolve_symbols(mut self, resolve_symbols: bool) -> Self {
        self.resolve_symbols = Some(resolve_symbols);
        self
    }
}

read_object! {
    DisassembleArguments {
        0 memory_reference "memoryReference" required,
        1 offset "offset" optional,
        2 instruction_offset "instructionOffset" optional,
        3 instruction_count "instructionCount" required,
        4 resolve_symbols "resolveSymbols" optional,
    }
}

/// The instructions found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DisassembleResponse {
    /// The instructions, in order of address.
    pub instructions: Vec<DisassembledInstruction>,
}

impl DisassembleResponse {
    /// What is required set, nothing else.
    pub fn new(instructions: Vec<DisassembledInstruction>) -> Self {
        Self { instructions }
    }
}

read_object! {
    DisassembleResponse {
        0 instructions "instructions" list,
    }
}

/// Says where a location reference leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocationsRequest;

impl Request for LocationsRequest {
    const COMMAND: &'static str = "locations";
    type Arguments = LocationsArguments;
    type Response = LocationsResponse;
}

/// What `locations` takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LocationsArguments {
    /// Reference to follow, as the adapter gave it out.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(rename = "locationReference")]
    pub location_reference: i64,
}

impl LocationsArguments {
    /// What is required set, nothing else.
    pub fn new(location_reference: i64) -> Self {
        Self { location_reference }
    }
}

read_object! {
    LocationsArguments {
        0 location_reference "locationReference" required,
    }
}

/// The place it leads to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LocationsResponse {
    /// Source of the place, by path or by reference.
    pub source: Source,
    /// Line of the place, counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    pub line: i64,
    /// Column of the place, in UTF-16 units counted from the client's base; absent means the line's
    /// first.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// For a range, its last line, counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endLine", skip_serializing_if = "Option::is_none")]
    pub end_line: Option<i64>,
    /// For a range, its last column, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endColumn", skip_serializing_if = "Option::is_none")]
    pub end_column: Option<i64>,
}

impl LocationsResponse {
    /// What is required set, nothing else.
    pub fn new(source: Source, line: i64) -> Self {
        Self {
            source,
            line,
            column: None,
            end_line: None,
            end_column: None,
        }
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`end_line`](Self::end_line).
    #[must_use]
    pub fn with_end_line(mut self, end_line: i64) -> Self {
        self.end_line = Some(end_line);
        self
    }

    /// Sets [`end_column`](Self::end_column).
    #[must_use]
    pub fn with_end_column(mut self, end_column: i64) -> Self {
        self.end_column = Some(end_column);
        self
    }
}

read_object! {
    LocationsResponse {
        0 source "source" required,
        1 line "line" required,
        2 column "column" optional,
        3 end_line "endLine" optional,
        4 end_column "endColumn" optional,
    }
}

/// What an adapter can do; absent means it cannot.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Capabilities {
    /// Wants to be told when configuration is over.
    pub supports_configuration_done_request: Option<bool>,
    /// Stops in functions by name.
    pub supports_function_breakpoints: Option<bool>,
    /// Attaches conditions to breakpoints.
    pub supports_conditional_breakpoints: Option<bool>,
    /// Counts hits of breakpoints against a number.
    pub supports_hit_conditional_breakpoints: Option<bool>,
    /// Computes expressions under the mouse without side effects.
    pub supports_evaluate_for_hovers: Option<bool>,
    /// The kinds of exceptions it can stop on.
    pub exception_breakpoint_filters: Option<Vec<ExceptionBreakpointsFilter>>,
    /// Runs backwards, by steps and freely.
    pub supports_step_back: Option<bool>,
    /// Changes values through `setVariable`.
    pub supports_set_variable: Option<bool>,
    /// Begins frames anew.
    pub supports_restart_frame: Option<bool>,
    /// Finds places to move execution to, and moves it there.
    pub supports_goto_targets_request: Option<bool>,
    /// Finds the calls to step into.
    pub supports_step_in_targets_request: Option<bool>,
    /// Proposes completions.
    pub supports_completions_request: Option<bool>,
    /// Characters that should open completion at a prompt; absent means the dot alone. The client
    /// may ask at others.
    pub completion_trigger_characters: Option<Vec<String>>,
    /// Lists modules.
    pub supports_modules_request: Option<bool>,
    /// Columns it adds to the module list.
    pub additional_module_columns: Option<Vec<ColumnDescriptor>>,
    /// Checksums it can compute over sources.
    pub supported_checksum_algorithms: Option<Vec<ChecksumAlgorithm>>,
    /// Restarts by itself, so the client need not end and launch it again.
    pub supports_restart_request: Option<bool>,
    /// Takes exception choices by tree of names.
    pub supports_exception_options: Option<bool>,
    /// Takes wishes on how to write frames and values.
    pub supports_value_formatting_options: Option<bool>,
    /// Tells more about exceptions.
    pub supports_exception_info_request: Option<bool>,
    /// Lets the client decide whether disconnecting kills.
    pub support_terminate_debuggee: Option<bool>,
    /// Lets the client decide whether disconnecting leaves halted.
    pub support_suspend_debuggee: Option<bool>,
    /// Gives out the stack by slices, and says how deep it is.
    pub supports_delayed_stack_trace_loading: Option<bool>,
    /// Lists loaded sources.
    pub supports_loaded_sources_request: Option<bool>,
    /// Turns breakpoints with a `logMessage` into log lines.
    pub supports_log_points: Option<bool>,
    /// Ends single threads.
    pub supports_terminate_threads_request: Option<bool>,
    /// Stores into any place an expression names.
    pub supports_set_expression: Option<bool>,
    /// Can ask the debuggee to end by itself.
    pub supports_terminate_request: Option<bool>,
    /// Stops when data is accessed.
    pub supports_data_breakpoints: Option<bool>,
    /// Reads raw memory.
    pub supports_read_memory_request: Option<bool>,
    /// Writes raw memory.
    pub supports_write_memory_request: Option<bool>,
    /// Shows machine instructions.
    pub supports_disassemble_request: Option<bool>,
    /// Takes `cancel`.
    pub supports_cancel_request: Option<bool>,
    /// Tells where breakpoints can be placed.
    pub supports_breakpoint_locations_request: Option<bool>,
    /// Evaluates for the clipboard, that is in full.
    pub supports_clipboard_context: Option<bool>,
    /// Honours `granularity` when stepping.
    pub supports_stepping_granularity: Option<bool>,
    /// Stops at single instructions.
    pub supports_instruction_breakpoints: Option<bool>,
    /// Takes conditions and modes for exception filters.
    pub supports_exception_filter_options: Option<bool>,
    /// Honours `singleThread` wherever something runs or steps.
    pub supports_single_thread_execution_requests: Option<bool>,
    /// Watches plain addresses and ranges of bytes.
    pub supports_data_breakpoint_bytes: Option<bool>,
    /// Kinds of breakpoints the user may choose among, such as hardware ones; the first that fits
    /// serves as default.
    pub breakpoint_modes: Option<Vec<BreakpointMode>>,
    /// Puts escape sequences into output and variable values.
    pub supports_ansi_styling: Option<bool>,
    /// Fields that the protocol does not list, by name.
    pub other: BTreeMap<String, Raw>,
}

impl Capabilities {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`supports_configuration_done_request`](Self::supports_configuration_done_request).
    #[must_use]
    pub fn with_supports_configuration_done_request(
        mut self,
        supports_configuration_done_request: bool,
    ) -> Self {
        self.supports_configuration_done_request = Some(supports_configuration_done_request);
        self
    }

    /// Sets [`supports_function_breakpoints`](Self::supports_function_breakpoints).
    #[must_use]
    pub fn with_supports_function_breakpoints(
        mut self,
        supports_function_breakpoints: bool,
    ) -> Self {
        self.supports_function_breakpoints = Some(supports_function_breakpoints);
        self
    }

    /// Sets [`supports_conditional_breakpoints`](Self::supports_conditional_breakpoints).
    #[must_use]
    pub fn with_supports_conditional_breakpoints(
        mut self,
        supports_conditional_breakpoints: bool,
    ) -> Self {
        self.supports_conditional_breakpoints = Some(supports_conditional_breakpoints);
        self
    }

    /// Sets [`supports_hit_conditional_breakpoints`](Self::supports_hit_conditional_breakpoints).
    #[must_use]
    pub fn with_supports_hit_conditional_breakpoints(
        mut self,
        supports_hit_conditional_breakpoints: bool,
    ) -> Self {
        self.supports_hit_conditional_breakpoints = Some(supports_hit_conditional_breakpoints);
        self
    }

    /// Sets [`supports_evaluate_for_hovers`](Self::supports_evaluate_for_hovers).
    #[must_use]
    pub fn with_supports_evaluate_for_hovers(mut self, supports_evaluate_for_hovers: bool) -> Self {
        self.supports_evaluate_for_hovers = Some(supports_evaluate_for_hovers);
        self
    }

    /// Sets [`exception_breakpoint_filters`](Self::exception_breakpoint_filters).
    #[must_use]
    pub fn with_exception_breakpoint_filters(
        mut self,
        exception_breakpoint_filters: Vec<ExceptionBreakpointsFilter>,
    ) -> Self {
        self.exception_breakpoint_filters = Some(exception_breakpoint_filters);
        self
    }

    /// Sets [`supports_step_back`](Self::supports_step_back).
    #[must_use]
    pub fn with_supports_step_back(mut self, supports_step_back: bool) -> Self {
        self.supports_step_back = Some(supports_step_back);
        self
    }

    /// Sets [`supports_set_variable`](Self::supports_set_variable).
    #[must_use]
    pub fn with_supports_set_variable(mut self, supports_set_variable: bool) -> Self {
        self.supports_set_variable = Some(supports_set_variable);
        self
    }

    /// Sets [`supports_restart_frame`](Self::supports_restart_frame).
    #[must_use]
    pub fn with_supports_restart_frame(mut self, supports_restart_frame: bool) -> Self {
        self.supports_restart_frame = Some(supports_restart_frame);
        self
    }

    /// Sets [`supports_goto_targets_request`](Self::supports_goto_targets_request).
    #[must_use]
    pub fn with_supports_goto_targets_request(
        mut self,
        supports_goto_targets_request: bool,
    ) -> Self {
        self.supports_goto_targets_request = Some(supports_goto_targets_request);
        self
    }

    /// Sets [`supports_step_in_targets_request`](Self::supports_step_in_targets_request).
    #[must_use]
    pub fn with_supports_step_in_targets_request(
        mut self,
        supports_step_in_targets_request: bool,
    ) -> Self {
        self.supports_step_in_targets_request = Some(supports_step_in_targets_request);
        self
    }

    /// Sets [`supports_completions_request`](Self::supports_completions_request).
    #[must_use]
    pub fn with_supports_completions_request(mut self, supports_completions_request: bool) -> Self {
        self.supports_completions_request = Some(supports_completions_request);
        self
    }

    /// Sets [`completion_trigger_characters`](Self::completion_trigger_characters).
    #[must_use]
    pub fn with_completion_trigger_characters(
        mut self,
        completion_trigger_characters: Vec<String>,
    ) -> Self {
        self.completion_trigger_characters = Some(completion_trigger_characters);
        self
    }

    /// Sets [`supports_modules_request`](Self::supports_modules_request).
    #[must_use]
    pub fn with_supports_modules_request(mut self, supports_modules_request: bool) -> Self {
        self.supports_modules_request = Some(supports_modules_request);
        self
    }

    /// Sets [`additional_module_columns`](Self::additional_module_columns).
    #[must_use]
    pub fn with_additional_module_columns(
        mut self,
        additional_module_columns: Vec<ColumnDescriptor>,
    ) -> Self {
        self.additional_module_columns = Some(additional_module_columns);
        self
    }

    /// Sets [`supported_checksum_algorithms`](Self::supported_checksum_algorithms).
    #[must_use]
    pub fn with_supported_checksum_algorithms(
        mut self,
        supported_checksum_algorithms: Vec<ChecksumAlgorithm>,
    ) -> Self {
        self.supported_checksum_algorithms = Some(supported_checksum_algorithms);
        self
    }

    /// Sets [`supports_restart_request`](Self::supports_restart_request).
    #[must_use]
    pub fn with_supports_restart_request(mut self, supports_restart_request: bool) -> Self {
        self.supports_restart_request = Some(supports_restart_request);
        self
    }

    /// Sets [`supports_exception_options`](Self::supports_exception_options).
    #[must_use]
    pub fn with_supports_exception_options(mut self, supports_exception_options: bool) -> Self {
        self.supports_exception_options = Some(supports_exception_options);
        self
    }

    /// Sets [`supports_value_formatting_options`](Self::supports_value_formatting_options).
    #[must_use]
    pub fn with_supports_value_formatting_options(
        mut self,
        supports_value_formatting_options: bool,
    ) -> Self {
        self.supports_value_formatting_options = Some(supports_value_formatting_options);
        self
    }

    /// Sets [`supports_exception_info_request`](Self::supports_exception_info_request).
    #[must_use]
    pub fn with_supports_exception_info_request(
        mut self,
        supports_exception_info_request: bool,
    ) -> Self {
        self.supports_exception_info_request = Some(supports_exception_info_request);
        self
    }

    /// Sets [`support_terminate_debuggee`](Self::support_terminate_debuggee).
    #[must_use]
    pub fn with_support_terminate_debuggee(mut self, support_terminate_debuggee: bool) -> Self {
        self.support_terminate_debuggee = Some(support_terminate_debuggee);
        self
    }

    /// Sets [`support_suspend_debuggee`](Self::support_suspend_debuggee).
    #[must_use]
    pub fn with_support_suspend_debuggee(mut self, support_suspend_debuggee: bool) -> Self {
        self.support_suspend_debuggee = Some(support_suspend_debuggee);
        self
    }

    /// Sets [`supports_delayed_stack_trace_loading`](Self::supports_delayed_stack_trace_loading).
    #[must_use]
    pub fn with_supports_delayed_stack_trace_loading(
        mut self,
        supports_delayed_stack_trace_loading: bool,
    ) -> Self {
        self.supports_delayed_stack_trace_loading = Some(supports_delayed_stack_trace_loading);
        self
    }

    /// Sets [`supports_loaded_sources_request`](Self::supports_loaded_sources_request).
    #[must_use]
    pub fn with_supports_loaded_sources_request(
        mut self,
        supports_loaded_sources_request: bool,
    ) -> Self {
        self.supports_loaded_sources_request = Some(supports_loaded_sources_request);
        self
    }

    /// Sets [`supports_log_points`](Self::supports_log_points).
    #[must_use]
    pub fn with_supports_log_points(mut self, supports_log_points: bool) -> Self {
        self.supports_log_points = Some(supports_log_points);
        self
    }

    /// Sets [`supports_terminate_threads_request`](Self::supports_terminate_threads_request).
    #[must_use]
    pub fn with_supports_terminate_threads_request(
        mut self,
        supports_terminate_threads_request: bool,
    ) -> Self {
        self.supports_terminate_threads_request = Some(supports_terminate_threads_request);
        self
    }

    /// Sets [`supports_set_expression`](Self::supports_set_expression).
    #[must_use]
    pub fn with_supports_set_expression(mut self, supports_set_expression: bool) -> Self {
        self.supports_set_expression = Some(supports_set_expression);
        self
    }

    /// Sets [`supports_terminate_request`](Self::supports_terminate_request).
    #[must_use]
    pub fn with_supports_terminate_request(mut self, supports_terminate_request: bool) -> Self {
        self.supports_terminate_request = Some(supports_terminate_request);
        self
    }

    /// Sets [`supports_data_breakpoints`](Self::supports_data_breakpoints).
    #[must_use]
    pub fn with_supports_data_breakpoints(mut self, supports_data_breakpoints: bool) -> Self {
        self.supports_data_breakpoints = Some(supports_data_breakpoints);
        self
    }

    /// Sets [`supports_read_memory_request`](Self::supports_read_memory_request).
    #[must_use]
    pub fn with_supports_read_memory_request(mut self, supports_read_memory_request: bool) -> Self {
        self.supports_read_memory_request = Some(supports_read_memory_request);
        self
    }

    /// Sets [`supports_write_memory_request`](Self::supports_write_memory_request).
    #[must_use]
    pub fn with_supports_write_memory_request(
        mut self,
        supports_write_memory_request: bool,
    ) -> Self {
        self.supports_write_memory_request = Some(supports_write_memory_request);
        self
    }

    /// Sets [`supports_disassemble_request`](Self::supports_disassemble_request).
    #[must_use]
    pub fn with_supports_disassemble_request(mut self, supports_disassemble_request: bool) -> Self {
        self.supports_disassemble_request = Some(supports_disassemble_request);
        self
    }

    /// Sets [`supports_cancel_request`](Self::supports_cancel_request).
    #[must_use]
    pub fn with_supports_cancel_request(mut self, supports_cancel_request: bool) -> Self {
        self.supports_cancel_request = Some(supports_cancel_request);
        self
    }

    /// Sets [`supports_breakpoint_locations_request`](Self::supports_breakpoint_locations_request).
    #[must_use]
    pub fn with_supports_breakpoint_locations_request(
        mut self,
        supports_breakpoint_locations_request: bool,
    ) -> Self {
        self.supports_breakpoint_locations_request = Some(supports_breakpoint_locations_request);
        self
    }

    /// Sets [`supports_clipboard_context`](Self::supports_clipboard_context).
    #[must_use]
    pub fn with_supports_clipboard_context(mut self, supports_clipboard_context: bool) -> Self {
        self.supports_clipboard_context = Some(supports_clipboard_context);
        self
    }

    /// Sets [`supports_stepping_granularity`](Self::supports_stepping_granularity).
    #[must_use]
    pub fn with_supports_stepping_granularity(
        mut self,
        supports_stepping_granularity: bool,
    ) -> Self {
        self.supports_stepping_granularity = Some(supports_stepping_granularity);
        self
    }

    /// Sets [`supports_instruction_breakpoints`](Self::supports_instruction_breakpoints).
    #[must_use]
    pub fn with_supports_instruction_breakpoints(
        mut self,
        supports_instruction_breakpoints: bool,
    ) -> Self {
        self.supports_instruction_breakpoints = Some(supports_instruction_breakpoints);
        self
    }

    /// Sets [`supports_exception_filter_options`](Self::supports_exception_filter_options).
    #[must_use]
    pub fn with_supports_exception_filter_options(
        mut self,
        supports_exception_filter_options: bool,
    ) -> Self {
        self.supports_exception_filter_options = Some(supports_exception_filter_options);
        self
    }

    /// Sets [`supports_single_thread_execution_requests`](Self::supports_single_thread_execution_requests).
    #[must_use]
    pub fn with_supports_single_thread_execution_requests(
        mut self,
        supports_single_thread_execution_requests: bool,
    ) -> Self {
        self.supports_single_thread_execution_requests =
            Some(supports_single_thread_execution_requests);
        self
    }

    /// Sets [`supports_data_breakpoint_bytes`](Self::supports_data_breakpoint_bytes).
    #[must_use]
    pub fn with_supports_data_breakpoint_bytes(
        mut self,
        supports_data_breakpoint_bytes: bool,
    ) -> Self {
        self.supports_data_breakpoint_bytes = Some(supports_data_breakpoint_bytes);
        self
    }

    /// Sets [`breakpoint_modes`](Self::breakpoint_modes).
    #[must_use]
    pub fn with_breakpoint_modes(mut self, breakpoint_modes: Vec<BreakpointMode>) -> Self {
        self.breakpoint_modes = Some(breakpoint_modes);
        self
    }

    /// Sets [`supports_ansi_styling`](Self::supports_ansi_styling).
    #[must_use]
    pub fn with_supports_ansi_styling(mut self, supports_ansi_styling: bool) -> Self {
        self.supports_ansi_styling = Some(supports_ansi_styling);
        self
    }
}

impl<'de> Deserialize<'de> for Capabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Capabilities;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("struct Capabilities")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Capabilities, A::Error> {
                let mut value = Capabilities::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "supportsConfigurationDoneRequest" => {
                            value.supports_configuration_done_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsFunctionBreakpoints" => {
                            value.supports_function_breakpoints =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsConditionalBreakpoints" => {
                            value.supports_conditional_breakpoints =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsHitConditionalBreakpoints" => {
                            value.supports_hit_conditional_breakpoints =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsEvaluateForHovers" => {
                            value.supports_evaluate_for_hovers =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "exceptionBreakpointFilters" => {
                            value.exception_breakpoint_filters = message::optional_list(&mut map)?
                        }
                        "supportsStepBack" => {
                            value.supports_step_back =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsSetVariable" => {
                            value.supports_set_variable =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsRestartFrame" => {
                            value.supports_restart_frame =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsGotoTargetsRequest" => {
                            value.supports_goto_targets_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsStepInTargetsRequest" => {
                            value.supports_step_in_targets_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsCompletionsRequest" => {
                            value.supports_completions_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "completionTriggerCharacters" => {
                            value.completion_trigger_characters = message::optional_list(&mut map)?
                        }
                        "supportsModulesRequest" => {
                            value.supports_modules_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "additionalModuleColumns" => {
                            value.additional_module_columns = message::optional_list(&mut map)?
                        }
                        "supportedChecksumAlgorithms" => {
                            value.supported_checksum_algorithms = message::optional_list(&mut map)?
                        }
                        "supportsRestartRequest" => {
                            value.supports_restart_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsExceptionOptions" => {
                            value.supports_exception_options =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsValueFormattingOptions" => {
                            value.supports_value_formatting_options =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsExceptionInfoRequest" => {
                            value.supports_exception_info_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportTerminateDebuggee" => {
                            value.support_terminate_debuggee =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportSuspendDebuggee" => {
                            value.support_suspend_debuggee =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsDelayedStackTraceLoading" => {
                            value.supports_delayed_stack_trace_loading =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsLoadedSourcesRequest" => {
                            value.supports_loaded_sources_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsLogPoints" => {
                            value.supports_log_points =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsTerminateThreadsRequest" => {
                            value.supports_terminate_threads_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsSetExpression" => {
                            value.supports_set_expression =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsTerminateRequest" => {
                            value.supports_terminate_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsDataBreakpoints" => {
                            value.supports_data_breakpoints =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsReadMemoryRequest" => {
                            value.supports_read_memory_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsWriteMemoryRequest" => {
                            value.supports_write_memory_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsDisassembleRequest" => {
                            value.supports_disassemble_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsCancelRequest" => {
                            value.supports_cancel_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsBreakpointLocationsRequest" => {
                            value.supports_breakpoint_locations_request =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsClipboardContext" => {
                            value.supports_clipboard_context =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsSteppingGranularity" => {
                            value.supports_stepping_granularity =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsInstructionBreakpoints" => {
                            value.supports_instruction_breakpoints =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsExceptionFilterOptions" => {
                            value.supports_exception_filter_options =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsSingleThreadExecutionRequests" => {
                            value.supports_single_thread_execution_requests =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "supportsDataBreakpointBytes" => {
                            value.supports_data_breakpoint_bytes =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        "breakpointModes" => {
                            value.breakpoint_modes = message::optional_list(&mut map)?
                        }
                        "supportsANSIStyling" => {
                            value.supports_ansi_styling =
                                message::lenient::or_dropped(map.next_value())?
                        }
                        _ => {
                            value.other.insert(key, map.next_value()?);
                        }
                    }
                }
                Ok(value)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for Capabilities {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(value) = &self.supports_configuration_done_request {
            map.serialize_entry("supportsConfigurationDoneRequest", value)?;
        }
        if let Some(value) = &self.supports_function_breakpoints {
            map.serialize_entry("supportsFunctionBreakpoints", value)?;
        }
        if let Some(value) = &self.supports_conditional_breakpoints {
            map.serialize_entry("supportsConditionalBreakpoints", value)?;
        }
        if let Some(value) = &self.supports_hit_conditional_breakpoints {
            map.serialize_entry("supportsHitConditionalBreakpoints", value)?;
        }
        if let Some(value) = &self.supports_evaluate_for_hovers {
            map.serialize_entry("supportsEvaluateForHovers", value)?;
        }
        if let Some(value) = &self.exception_breakpoint_filters {
            map.serialize_entry("exceptionBreakpointFilters", value)?;
        }
        if let Some(value) = &self.supports_step_back {
            map.serialize_entry("supportsStepBack", value)?;
        }
        if let Some(value) = &self.supports_set_variable {
            map.serialize_entry("supportsSetVariable", value)?;
        }
        if let Some(value) = &self.supports_restart_frame {
            map.serialize_entry("supportsRestartFrame", value)?;
        }
        if let Some(value) = &self.supports_goto_targets_request {
            map.serialize_entry("supportsGotoTargetsRequest", value)?;
        }
        if let Some(value) = &self.supports_step_in_targets_request {
            map.serialize_entry("supportsStepInTargetsRequest", value)?;
        }
        if let Some(value) = &self.supports_completions_request {
            map.serialize_entry("supportsCompletionsRequest", value)?;
        }
        if let Some(value) = &self.completion_trigger_characters {
            map.serialize_entry("completionTriggerCharacters", value)?;
        }
        if let Some(value) = &self.supports_modules_request {
            map.serialize_entry("supportsModulesRequest", value)?;
        }
        if let Some(value) = &self.additional_module_columns {
            map.serialize_entry("additionalModuleColumns", value)?;
        }
        if let Some(value) = &self.supported_checksum_algorithms {
            map.serialize_entry("supportedChecksumAlgorithms", value)?;
        }
        if let Some(value) = &self.supports_restart_request {
            map.serialize_entry("supportsRestartRequest", value)?;
        }
        if let Some(value) = &self.supports_exception_options {
            map.serialize_entry("supportsExceptionOptions", value)?;
        }
        if let Some(value) = &self.supports_value_formatting_options {
            map.serialize_entry("supportsValueFormattingOptions", value)?;
        }
        if let Some(value) = &self.supports_exception_info_request {
            map.serialize_entry("supportsExceptionInfoRequest", value)?;
        }
        if let Some(value) = &self.support_terminate_debuggee {
            map.serialize_entry("supportTerminateDebuggee", value)?;
        }
        if let Some(value) = &self.support_suspend_debuggee {
            map.serialize_entry("supportSuspendDebuggee", value)?;
        }
        if let Some(value) = &self.supports_delayed_stack_trace_loading {
            map.serialize_entry("supportsDelayedStackTraceLoading", value)?;
        }
        if let Some(value) = &self.supports_loaded_sources_request {
            map.serialize_entry("supportsLoadedSourcesRequest", value)?;
        }
        if let Some(value) = &self.supports_log_points {
            map.serialize_entry("supportsLogPoints", value)?;
        }
        if let Some(value) = &self.supports_terminate_threads_request {
            map.serialize_entry("supportsTerminateThreadsRequest", value)?;
        }
        if let Some(value) = &self.supports_set_expression {
            map.serialize_entry("supportsSetExpression", value)?;
        }
        if let Some(value) = &self.supports_terminate_request {
            map.serialize_entry("supportsTerminateRequest", value)?;
        }
        if let Some(value) = &self.supports_data_breakpoints {
            map.serialize_entry("supportsDataBreakpoints", value)?;
        }
        if let Some(value) = &self.supports_read_memory_request {
            map.serialize_entry("supportsReadMemoryRequest", value)?;
        }
        if let Some(value) = &self.supports_write_memory_request {
            map.serialize_entry("supportsWriteMemoryRequest", value)?;
        }
        if let Some(value) = &self.supports_disassemble_request {
            map.serialize_entry("supportsDisassembleRequest", value)?;
        }
        if let Some(value) = &self.supports_cancel_request {
            map.serialize_entry("supportsCancelRequest", value)?;
        }
        if let Some(value) = &self.supports_breakpoint_locations_request {
            map.serialize_entry("supportsBreakpointLocationsRequest", value)?;
        }
        if let Some(value) = &self.supports_clipboard_context {
            map.serialize_entry("supportsClipboardContext", value)?;
        }
        if let Some(value) = &self.supports_stepping_granularity {
            map.serialize_entry("supportsSteppingGranularity", value)?;
        }
        if let Some(value) = &self.supports_instruction_breakpoints {
            map.serialize_entry("supportsInstructionBreakpoints", value)?;
        }
        if let Some(value) = &self.supports_exception_filter_options {
            map.serialize_entry("supportsExceptionFilterOptions", value)?;
        }
        if let Some(value) = &self.supports_single_thread_execution_requests {
            map.serialize_entry("supportsSingleThreadExecutionRequests", value)?;
        }
        if let Some(value) = &self.supports_data_breakpoint_bytes {
            map.serialize_entry("supportsDataBreakpointBytes", value)?;
        }
        if let Some(value) = &self.breakpoint_modes {
            map.serialize_entry("breakpointModes", value)?;
        }
        if let Some(value) = &self.supports_ansi_styling {
            map.serialize_entry("supportsANSIStyling", value)?;
        }
        for (key, value) in &self.other {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// One kind of exception the user can switch on or off.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExceptionBreakpointsFilter {
    /// Code that `setExceptionBreakpoints` refers to it by.
    pub filter: String,
    /// What the user reads beside the switch.
    pub label: String,
    /// Help for the user, possibly translated, shown on hovering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it is on at first; absent means off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    /// Whether the user may add a condition; absent means no.
    #[serde(rename = "supportsCondition", skip_serializing_if = "Option::is_none")]
    pub supports_condition: Option<bool>,
    /// Help, possibly translated, inside the empty box for the condition.
    #[serde(
        rename = "conditionDescription",
        skip_serializing_if = "Option::is_none"
    )]
    pub condition_description: Option<String>,
}

impl ExceptionBreakpointsFilter {
    /// What is required set, nothing else.
    pub fn new(filter: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            filter: filter.into(),
            label: label.into(),
            description: None,
            default: None,
            supports_condition: None,
            condition_description: None,
        }
    }

    /// Sets [`description`](Self::description).
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets [`default`](Self::default).
    #[must_use]
    pub fn with_default(mut self, default: bool) -> Self {
        self.default = Some(default);
        self
    }

    /// Sets [`supports_condition`](Self::supports_condition).
    #[must_use]
    pub fn with_supports_condition(mut self, supports_condition: bool) -> Self {
        self.supports_condition = Some(supports_condition);
        self
    }

    /// Sets [`condition_description`](Self::condition_description).
    #[must_use]
    pub fn with_condition_description(mut self, condition_description: impl Into<String>) -> Self {
        self.condition_description = Some(condition_description.into());
        self
    }
}

read_object! {
    ExceptionBreakpointsFilter {
        0 filter "filter" required,
        1 label "label" required,
        2 description "description" optional,
        3 default "default" optional,
        4 supports_condition "supportsCondition" optional,
        5 condition_description "conditionDescription" optional,
    }
}

/// An error as a client shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Message {
    /// Number of the error in this adapter, for looking it up.
    ///
    /// Range: -2147483648..=2147483647.
    pub id: i64,
    /// The text, with places like `{name}` to be filled in; names that begin with an underscore
    /// hold nothing private.
    pub format: String,
    /// What to fill in, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<BTreeMap<String, String>>,
    /// True lets usage statistics have it.
    #[serde(rename = "sendTelemetry", skip_serializing_if = "Option::is_none")]
    pub send_telemetry: Option<bool>,
    /// True puts it before the user.
    #[serde(rename = "showUser", skip_serializing_if = "Option::is_none")]
    pub show_user: Option<bool>,
    /// Page that says more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Words the user clicks on to open that page.
    #[serde(rename = "urlLabel", skip_serializing_if = "Option::is_none")]
    pub url_label: Option<String>,
}

impl Message {
    /// What is required set, nothing else.
    pub fn new(id: i64, format: impl Into<String>) -> Self {
        Self {
            id,
            format: format.into(),
            variables: None,
            send_telemetry: None,
            show_user: None,
            url: None,
            url_label: None,
        }
    }

    /// Sets [`variables`](Self::variables).
    #[must_use]
    pub fn with_variables(mut self, variables: BTreeMap<String, String>) -> Self {
        self.variables = Some(variables);
        self
    }

    /// Sets [`send_telemetry`](Self::send_telemetry).
    #[must_use]
    pub fn with_send_telemetry(mut self, send_telemetry: bool) -> Self {
        self.send_telemetry = Some(send_telemetry);
        self
    }

    /// Sets [`show_user`](Self::show_user).
    #[must_use]
    pub fn with_show_user(mut self, show_user: bool) -> Self {
        self.show_user = Some(show_user);
        self
    }

    /// Sets [`url`](Self::url).
    #[must_use]
    pub fn with_url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Sets [`url_label`](Self::url_label).
    #[must_use]
    pub fn with_url_label(mut self, url_label: impl Into<String>) -> Self {
        self.url_label = Some(url_label.into());
        self
    }
}

read_object! {
    Message {
        0 id "id" required,
        1 format "format" required,
        2 variables "variables" optional,
        3 send_telemetry "sendTelemetry" optional,
        4 show_user "showUser" optional,
        5 url "url" optional,
        6 url_label "urlLabel" optional,
    }
}

/// An executable or library of the debuggee, a row in the client's list. Adapters may add
/// fields, which get columns when described by a `ColumnDescriptor`; prefer those given here.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Module {
    /// Tells modules apart, in events too.
    pub id: IntegerOrString,
    /// Short name to show.
    pub name: String,
    /// Where it comes from, mostly its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether it was compiled with optimization.
    #[serde(rename = "isOptimized", skip_serializing_if = "Option::is_none")]
    pub is_optimized: Option<bool>,
    /// Whether it belongs to the user's own program rather than to a library.
    #[serde(rename = "isUserCode", skip_serializing_if = "Option::is_none")]
    pub is_user_code: Option<bool>,
    /// Its version, as it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Says for people whether debug information was found.
    #[serde(rename = "symbolStatus", skip_serializing_if = "Option::is_none")]
    pub symbol_status: Option<String>,
    /// Where its debug information comes from.
    #[serde(rename = "symbolFilePath", skip_serializing_if = "Option::is_none")]
    pub symbol_file_path: Option<String>,
    /// When it was made or last changed, as in RFC 3339.
    #[serde(rename = "dateTimeStamp", skip_serializing_if = "Option::is_none")]
    pub date_time_stamp: Option<String>,
    /// Where it lies in memory.
    #[serde(rename = "addressRange", skip_serializing_if = "Option::is_none")]
    pub address_range: Option<String>,
}

impl Module {
    /// What is required set, nothing else.
    pub fn new(id: IntegerOrString, name: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
            path: None,
            is_optimized: None,
            is_user_code: None,
            version: None,
            symbol_status: None,
            symbol_file_path: None,
            date_time_stamp: None,
            address_range: None,
        }
    }

    /// Sets [`path`](Self::path).
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets [`is_optimized`](Self::is_optimized).
    #[must_use]
    pub fn with_is_optimized(mut self, is_optimized: bool) -> Self {
        self.is_optimized = Some(is_optimized);
        self
    }

    /// Sets [`is_user_code`](Self::is_user_code).
    #[must_use]
    pub fn with_is_user_code(mut self, is_user_code: bool) -> Self {
        self.is_user_code = Some(is_user_code);
        self
    }

    /// Sets [`version`](Self::version).
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets [`symbol_status`](Self::symbol_status).
    #[must_use]
    pub fn with_symbol_status(mut self, symbol_status: impl Into<String>) -> Self {
        self.symbol_status = Some(symbol_status.into());
        self
    }

    /// Sets [`symbol_file_path`](Self::symbol_file_path).
    #[must_use]
    pub fn with_symbol_file_path(mut self, symbol_file_path: impl Into<String>) -> Self {
        self.symbol_file_path = Some(symbol_file_path.into());
        self
    }

    /// Sets [`date_time_stamp`](Self::date_time_stamp).
    #[must_use]
    pub fn with_date_time_stamp(mut self, date_time_stamp: impl Into<String>) -> Self {
        self.date_time_stamp = Some(date_time_stamp.into());
        self
    }

    /// Sets [`address_range`](Self::address_range).
    #[must_use]
    pub fn with_address_range(mut self, address_range: impl Into<String>) -> Self {
        self.address_range = Some(address_range.into());
        self
    }
}

read_object! {
    Module {
        0 id "id" required,
        1 name "name" required,
        2 path "path" optional,
        3 is_optimized "isOptimized" optional,
        4 is_user_code "isUserCode" optional,
        5 version "version" optional,
        6 symbol_status "symbolStatus" optional,
        7 symbol_file_path "symbolFilePath" optional,
        8 date_time_stamp "dateTimeStamp" optional,
        9 address_range "addressRange" optional,
    }
}

/// A column of the module list: which field, under what heading, drawn how.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnDescriptor {
    /// Field of the module that it shows.
    #[serde(rename = "attributeName")]
    pub attribute_name: String,
    /// Its heading.
    pub label: String,
    /// How to draw its values; not settled yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What kind of values it holds; absent means text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<ColumnDescriptorType>,
    /// How many characters wide it might be.
    ///
    /// Range: 0..=4294967295.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
}

impl ColumnDescriptor {
    /// What is required set, nothing else.
    pub fn new(attribute_name: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            attribute_name: attribute_name.into(),
            label: label.into(),
            format: None,
            r#type: None,
            width: None,
        }
    }

    /// Sets [`format`](Self::format).
    #[must_use]
    pub fn with_format(mut self, format: impl Into<String>) -> Self {
        self.format = Some(format.into());
        self
    }

    /// Sets [`type`](Self::type).
    #[must_use]
    pub fn with_type(mut self, r#type: ColumnDescriptorType) -> Self {
        self.r#type = Some(r#type);
        self
    }

    /// Sets [`width`](Self::width).
    #[must_use]
    pub fn with_width(mut self, width: i64) -> Self {
        self.width = Some(width);
        self
    }
}

read_object! {
    ColumnDescriptor {
        0 attribute_name "attributeName" required,
        1 label "label" required,
        2 format "format" optional,
        3 r#type "type" optional,
        4 width "width" optional,
    }
}

string_enum! {
    /// The values of `type` in `ColumnDescriptor`.
    closed ColumnDescriptorType {
        /// `string`.
        String = "string",
        /// `number`.
        Number = "number",
        /// `boolean`.
        Boolean = "boolean",
        /// `unixTimestampUTC`.
        UnixTimestampUtc = "unixTimestampUTC",
    }
}

/// One thread of the debuggee.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Thread {
    /// Number that requests know it by.
    ///
    /// Range: -2147483648..=2147483647.
    pub id: i64,
    /// Name to show for it.
    pub name: String,
}

impl Thread {
    /// What is required set, nothing else.
    pub fn new(id: i64, name: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
        }
    }
}

read_object! {
    Thread {
        0 id "id" required,
        1 name "name" required,
    }
}

/// A text the debuggee was made from, whether a file or given out by the adapter.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Source {
    /// Short name to show; always there when it comes from the adapter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// File to show and, unless there is a `sourceReference`, to load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Above zero, its text comes from `source` even where there is a path. Holds for one session;
    /// at most 2^31-1.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "sourceReference", skip_serializing_if = "Option::is_none")]
    pub source_reference: Option<i64>,
    /// How prominent it is; `deemphasize` marks what is missing or stepped past.
    #[serde(rename = "presentationHint", skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<SourcePresentationHint>,
    /// Where it comes from, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Other sources it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<Source>>,
    /// The adapter's own note, which the client keeps and returns unchanged, even in later
    /// sessions.
    #[serde(rename = "adapterData", skip_serializing_if = "Option::is_none")]
    pub adapter_data: Option<Raw>,
    /// Sums to tell whether a file is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksums: Option<Vec<Checksum>>,
}

impl Source {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`name`](Self::name).
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets [`path`](Self::path).
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets [`source_reference`](Self::source_reference).
    #[must_use]
    pub fn with_source_reference(mut self, source_reference: i64) -> Self {
        self.source_reference = Some(source_reference);
        self
    }

    /// Sets [`presentation_hint`](Self::presentation_hint).
    #[must_use]
    pub fn with_presentation_hint(mut self, presentation_hint: SourcePresentationHint) -> Self {
        self.presentation_hint = Some(presentation_hint);
        self
    }

    /// Sets [`origin`](Self::origin).
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.origin = Some(origin.into());
        self
    }

    /// Sets [`sources`](Self::sources).
    #[must_use]
    pub fn with_sources(mut self, sources: Vec<Source>) -> Self {
        self.sources = Some(sources);
        self
    }

    /// Sets [`adapter_data`](Self::adapter_data).
    #[must_use]
    pub fn with_adapter_data(mut self, adapter_data: Raw) -> Self {
        self.adapter_data = Some(adapter_data);
        self
    }

    /// Sets [`checksums`](Self::checksums).
    #[must_use]
    pub fn with_checksums(mut self, checksums: Vec<Checksum>) -> Self {
        self.checksums = Some(checksums);
        self
    }
}

read_object! {
    Source {
        0 name "name" optional,
        1 path "path" optional,
        2 source_reference "sourceReference" optional,
        3 presentation_hint "presentationHint" optional,
        4 origin "origin" optional,
        5 sources "sources" optional_list,
        6 adapter_data "adapterData" any,
        7 checksums "checksums" optional_list,
    }
}

string_enum! {
    /// The values of `presentationHint` in `Source`.
    closed SourcePresentationHint {
        /// `normal`.
        Normal = "normal",
        /// `emphasize`.
        Emphasize = "emphasize",
        /// `deemphasize`.
        Deemphasize = "deemphasize",
    }
}

/// One call that has not returned.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StackFrame {
    /// Number for `scopes` and the like, not shared with any frame of another thread.
    ///
    /// Range: -2147483648..=2147483647.
    pub id: i64,
    /// What it is called, mostly its function.
    pub name: String,
    /// Where its code comes from; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Line it has reached; 0 without a source, to be ignored.
    ///
    /// Range: 0..=9007199254740991.
    pub line: i64,
    /// Column it has reached, in UTF-16 units counted from the client's base; 0 without a source,
    /// to be ignored.
    ///
    /// Range: 0..=9007199254740991.
    pub column: i64,
    /// Last line of what it is executing.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endLine", skip_serializing_if = "Option::is_none")]
    pub end_line: Option<i64>,
    /// Last column of what it is executing, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endColumn", skip_serializing_if = "Option::is_none")]
    pub end_column: Option<i64>,
    /// Whether `restartFrame` works on it; absent means yes where there is `supportsRestartFrame`.
    #[serde(rename = "canRestart", skip_serializing_if = "Option::is_none")]
    pub can_restart: Option<bool>,
    /// Reference to the instruction it has reached.
    #[serde(
        rename = "instructionPointerReference",
        skip_serializing_if = "Option::is_none"
    )]
    pub instruction_pointer_reference: Option<String>,
    /// Module its code belongs to.
    #[serde(rename = "moduleId", skip_serializing_if = "Option::is_none")]
    pub module_id: Option<IntegerOrString>,
    /// How prominent it is: `label` is a mere heading, `subtle` one to draw faintly.
    #[serde(rename = "presentationHint", skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<StackFramePresentationHint>,
}

impl StackFrame {
    /// What is required set, nothing else.
    pub fn new(id: i64, name: impl Into<String>, line: i64, column: i64) -> Self {
        Self {
            id,
            name: name.into(),
            source: None,
            line,
            column,
            end_line: None,
            end_column: None,
            can_restart: None,
            instruction_pointer_reference: None,
            module_id: None,
            presentation_hint: None,
        }
    }

    /// Sets [`source`](Self::source).
    #[must_use]
    pub fn with_source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// Sets [`end_line`](Self::end_line).
    #[must_use]
    pub fn with_end_line(mut self, end_line: i64) -> Self {
        self.end_line = Some(end_line);
        self
    }

    /// Sets [`end_column`](Self::end_column).
    #[must_use]
    pub fn with_end_column(mut self, end_column: i64) -> Self {
        self.end_column = Some(end_column);
        self
    }

    /// Sets [`can_restart`](Self::can_restart).
    #[must_use]
    pub fn with_can_restart(mut self, can_restart: bool) -> Self {
        self.can_restart = Some(can_restart);
        self
    }

    /// Sets [`instruction_pointer_reference`](Self::instruction_pointer_reference).
    #[must_use]
    pub fn with_instruction_pointer_reference(
        mut self,
        instruction_pointer_reference: impl Into<String>,
    ) -> Self {
        self.instruction_pointer_reference = Some(instruction_pointer_reference.into());
        self
    }

    /// Sets [`module_id`](Self::module_id).
    #[must_use]
    pub fn with_module_id(mut self, module_id: IntegerOrString) -> Self {
        self.module_id = Some(module_id);
        self
    }

    /// Sets [`presentation_hint`](Self::presentation_hint).
    #[must_use]
    pub fn with_presentation_hint(mut self, presentation_hint: StackFramePresentationHint) -> Self {
        self.presentation_hint = Some(presentation_hint);
        self
    }
}

read_object! {
    StackFrame {
        0 id "id" required,
        1 name "name" required,
        2 source "source" optional,
        3 line "line" required,
        4 column "column" required,
        5 end_line "endLine" optional,
        6 end_column "endColumn" optional,
        7 can_restart "canRestart" optional,
        8 instruction_pointer_reference "instructionPointerReference" optional,
        9 module_id "moduleId" optional,
        10 presentation_hint "presentationHint" optional,
    }
}

string_enum! {
    /// The values of `presentationHint` in `StackFrame`.
    closed StackFramePresentationHint {
        /// `normal`.
        Normal = "normal",
        /// `label`.
        Label = "label",
        /// `subtle`.
        Subtle = "subtle",
    }
}

/// A named group of a frame's variables, perhaps tied to a part of the source.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scope {
    /// Heading, possibly translated, such as 'Locals'.
    pub name: String,
    /// What kind of group it is; absent means nothing special.
    #[serde(rename = "presentationHint", skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<ScopePresentationHint>,
    /// Container of its variables, to open until the debuggee runs.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "variablesReference")]
    pub variables_reference: i64,
    /// How many named variables it has, for fetching by slices.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "namedVariables", skip_serializing_if = "Option::is_none")]
    pub named_variables: Option<i64>,
    /// How many numbered variables it has, for fetching by slices.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "indexedVariables", skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<i64>,
    /// True when fetching takes long, so that clients wait for the user to open it.
    pub expensive: bool,
    /// Source it is written in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// First line it covers.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// First column it covers, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Last line it covers.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endLine", skip_serializing_if = "Option::is_none")]
    pub end_line: Option<i64>,
    /// Last column it covers, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endColumn", skip_serializing_if = "Option::is_none")]
    pub end_column: Option<i64>,
}

impl Scope {
    /// What is required set, nothing else.
    pub fn new(name: impl Into<String>, variables_reference: i64, expensive: bool) -> Self {
        Self {
            name: name.into(),
            presentation_hint: None,
            variables_reference,
            named_variables: None,
            indexed_variables: None,
            expensive,
            source: None,
            line: None,
            column: None,
            end_line: None,
            end_column: None,
        }
    }

    /// Sets [`presentation_hint`](Self::presentation_hint).
    #[must_use]
    pub fn with_presentation_hint(mut self, presentation_hint: ScopePresentationHint) -> Self {
        self.presentation_hint = Some(presentation_hint);
        self
    }

    /// Sets [`named_variables`](Self::named_variables).
    #[must_use]
    pub fn with_named_variables(mut self, named_variables: i64) -> Self {
        self.named_variables = Some(named_variables);
        self
    }

    /// Sets [`indexed_variables`](Self::indexed_variables).
    #[must_use]
    pub fn with_indexed_variables(mut self, indexed_variables: i64) -> Self {
        self.indexed_variables = Some(indexed_variables);
        self
    }

    /// Sets [`source`](Self::source).
    #[must_use]
    pub fn with_source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// Sets [`line`](Self::line).
    #[must_use]
    pub fn with_line(mut self, line: i64) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`end_line`](Self::end_line).
    #[must_use]
    pub fn with_end_line(mut self, end_line: i64) -> Self {
        self.end_line = Some(end_line);
        self
    }

    /// Sets [`end_column`](Self::end_column).
    #[must_use]
    pub fn with_end_column(mut self, end_column: i64) -> Self {
        self.end_column = Some(end_column);
        self
    }
}

read_object! {
    Scope {
        0 name "name" required,
        1 presentation_hint "presentationHint" optional,
        2 variables_reference "variablesReference" required,
        3 named_variables "namedVariables" optional,
        4 indexed_variables "indexedVariables" optional,
        5 expensive "expensive" required,
        6 source "source" optional,
        7 line "line" optional,
        8 column "column" optional,
        9 end_line "endLine" optional,
        10 end_column "endColumn" optional,
    }
}

string_enum! {
    /// The values of `presentationHint` in `Scope`.
    open ScopePresentationHint {
        /// What the function was given.
        Arguments = "arguments",
        /// What the function declares itself.
        Locals = "locals",
        /// The machine's registers; at most one such group in a frame.
        Registers = "registers",
        /// What functions have just returned.
        ReturnValue = "returnValue",
    }
}

/// A name with a value, which may hold further variables to be fetched on demand, in slices
/// when they are many.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Variable {
    /// What to call it.
    pub name: String,
    /// Its value in words, maybe several lines; for a structure, a summary in one line. Empty shows
    /// nothing.
    pub value: String,
    /// Its type. Only where the client announced `supportsVariableType`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// What kind of thing it is, to help draw it.
    #[serde(rename = "presentationHint", skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<VariablePresentationHint>,
    /// Expression that `evaluate` would read it by.
    #[serde(rename = "evaluateName", skip_serializing_if = "Option::is_none")]
    pub evaluate_name: Option<String>,
    /// Above zero, a container to open until the debuggee runs.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "variablesReference")]
    pub variables_reference: i64,
    /// How many named children it has, for fetching by slices.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "namedVariables", skip_serializing_if = "Option::is_none")]
    pub named_variables: Option<i64>,
    /// How many numbered children it has, for fetching by slices.
    ///
    /// Range: 0..=2147483647.
    #[serde(rename = "indexedVariables", skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<i64>,
    /// Memory that belongs to it; for a pointer, where it points, and for code, something to
    /// `disassemble`. Only with the client's `supportsMemoryReferences`.
    #[serde(rename = "memoryReference", skip_serializing_if = "Option::is_none")]
    pub memory_reference: Option<String>,
    /// Handle for `locations` leading to its declaration; set only where that is likely found, and
    /// lives as long as `variablesReference`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(
        rename = "declarationLocationReference",
        skip_serializing_if = "Option::is_none"
    )]
    pub declaration_location_reference: Option<i64>,
    /// Handle for `locations` leading to what its value refers to, such as a function; set only
    /// where that is likely found, and lives as long as `variablesReference`.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(
        rename = "valueLocationReference",
        skip_serializing_if = "Option::is_none"
    )]
    pub value_location_reference: Option<i64>,
}

impl Variable {
    /// What is required set, nothing else.
    pub fn new(
        name: impl Into<String>,
        value: impl Into<String>,
        variables_reference: i64,
    ) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            r#type: None,
            presentation_hint: None,
            evaluate_name: None,
            variables_reference,
            named_variables: None,
            indexed_variables: None,
            memory_reference: None,
            declaration_location_reference: None,
            value_location_reference: None,
        }
    }

    /// Sets [`type`](Self::type).
    #[must_use]
    pub fn with_type(mut self, r#type: impl Into<String>) -> Self {
        self.r#type = Some(r#type.into());
        self
    }

    /// Sets [`presentation_hint`](Self::presentation_hint).
    #[must_use]
    pub fn with_presentation_hint(mut self, presentation_hint: VariablePresentationHint) -> Self {
        self.presentation_hint = Some(presentation_hint);
        self
    }

    /// Sets [`evaluate_name`](Self::evaluate_name).
    #[must_use]
    pub fn with_evaluate_name(mut self, evaluate_name: impl Into<String>) -> Self {
        self.evaluate_name = Some(evaluate_name.into());
        self
    }

    /// Sets [`named_variables`](Self::named_variables).
    #[must_use]
    pub fn with_named_variables(mut self, named_variables: i64) -> Self {
        self.named_variables = Some(named_variables);
        self
    }

    /// Sets [`indexed_variables`](Self::indexed_variables).
    #[must_use]
    pub fn with_indexed_variables(mut self, indexed_variables: i64) -> Self {
        self.indexed_variables = Some(indexed_variables);
        self
    }

    /// Sets [`memory_reference`](Self::memory_reference).
    #[must_use]
    pub fn with_memory_reference(mut self, memory_reference: impl Into<String>) -> Self {
        self.memory_reference = Some(memory_reference.into());
        self
    }

    /// Sets [`declaration_location_reference`](Self::declaration_location_reference).
    #[must_use]
    pub fn with_declaration_location_reference(
        mut self,
        declaration_location_reference: i64,
    ) -> Self {
        self.declaration_location_reference = Some(declaration_location_reference);
        self
    }

    /// Sets [`value_location_reference`](Self::value_location_reference).
    #[must_use]
    pub fn with_value_location_reference(mut self, value_location_reference: i64) -> Self {
        self.value_location_reference = Some(value_location_reference);
        self
    }
}

read_object! {
    Variable {
        0 name "name" required,
        1 value "value" required,
        2 r#type "type" optional,
        3 presentation_hint "presentationHint" optional,
        4 evaluate_name "evaluateName" optional,
        5 variables_reference "variablesReference" required,
        6 named_variables "namedVariables" optional,
        7 indexed_variables "indexedVariables" optional,
        8 memory_reference "memoryReference" optional,
        9 declaration_location_reference "declarationLocationReference" optional,
        10 value_location_reference "valueLocationReference" optional,
    }
}

/// What a client may know of a value to draw it well.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct VariablePresentationHint {
    /// What it is. Others are allowed, but these come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<VariablePresentationHintKind>,
    /// What else is true of it. Others are allowed, but these come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<VariablePresentationHintAttributes>>,
    /// Who may use it in the program. Others are allowed, but these come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<VariablePresentationHintVisibility>,
    /// True when reading runs code, so clients wait for the user; the reference then leads to a
    /// single variable with the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lazy: Option<bool>,
}

impl VariablePresentationHint {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`kind`](Self::kind).
    #[must_use]
    pub fn with_kind(mut self, kind: VariablePresentationHintKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets [`attributes`](Self::attributes).
    #[must_use]
    pub fn with_attributes(mut self, attributes: Vec<VariablePresentationHintAttributes>) -> Self {
        self.attributes = Some(attributes);
        self
    }

    /// Sets [`visibility`](Self::visibility).
    #[must_use]
    pub fn with_visibility(mut self, visibility: VariablePresentationHintVisibility) -> Self {
        self.visibility = Some(visibility);
        self
    }

    /// Sets [`lazy`](Self::lazy).
    #[must_use]
    pub fn with_lazy(mut self, lazy: bool) -> Self {
        self.lazy = Some(lazy);
        self
    }
}

read_object! {
    VariablePresentationHint {
        0 kind "kind" optional,
        1 attributes "attributes" optional_list,
        2 visibility "visibility" optional,
        3 lazy "lazy" optional,
    }
}

string_enum! {
    /// The values of `kind` in `VariablePresentationHint`.
    open VariablePresentationHintKind {
        /// Read through a property.
        Property = "property",
        /// A function belonging to it.
        Method = "method",
        /// A type as such.
        Class = "class",
        /// Plain data, such as a field.
        Data = "data",
        /// An event one can subscribe to.
        Event = "event",
        /// The part inherited from a parent type.
        BaseClass = "baseClass",
        /// A type inside another.
        InnerClass = "innerClass",
        /// What it implements.
        Interface = "interface",
        /// The object seen as what it really is.
        MostDerivedClass = "mostDerivedClass",
        /// Made up by the adapter, such as a stretch of a long array.
        Virtual = "virtual",
        /// Is watched; superseded by `hasDataBreakpoint`.
        DataBreakpoint = "dataBreakpoint",
    }
}

string_enum! {
    /// The values of `attributes` in `VariablePresentationHint`.
    open VariablePresentationHintAttributes {
        /// Belongs to the type or module, not to an object.
        Static = "static",
        /// Never changes.
        Constant = "constant",
        /// Cannot be assigned to.
        ReadOnly = "readOnly",
        /// Text to show without unescaping.
        RawString = "rawString",
        /// Has been given a lasting number; a relic outside this protocol.
        HasObjectId = "hasObjectId",
        /// Could be given a lasting number; a relic outside this protocol.
        CanHaveObjectId = "canHaveObjectId",
        /// Reading it changed something.
        HasSideEffects = "hasSideEffects",
        /// A watch on it is set.
        HasDataBreakpoint = "hasDataBreakpoint",
    }
}

string_enum! {
    /// The values of `visibility` in `VariablePresentationHint`.
    open VariablePresentationHintVisibility {
        /// `public`.
        Public = "public",
        /// `private`.
        Private = "private",
        /// `protected`.
        Protected = "protected",
        /// `internal`.
        Internal = "internal",
        /// `final`.
        Final = "final",
    }
}

/// A place where a breakpoint can be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BreakpointLocation {
    /// Its first line.
    ///
    /// Range: 0..=9007199254740991.
    pub line: i64,
    /// Its first column, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Its last line, for a range.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endLine", skip_serializing_if = "Option::is_none")]
    pub end_line: Option<i64>,
    /// Its last column, for a range, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endColumn", skip_serializing_if = "Option::is_none")]
    pub end_column: Option<i64>,
}

impl BreakpointLocation {
    /// What is required set, nothing else.
    pub fn new(line: i64) -> Self {
        Self {
            line,
            column: None,
            end_line: None,
            end_column: None,
        }
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`end_line`](Self::end_line).
    #[must_use]
    pub fn with_end_line(mut self, end_line: i64) -> Self {
        self.end_line = Some(end_line);
        self
    }

    /// Sets [`end_column`](Self::end_column).
    #[must_use]
    pub fn with_end_column(mut self, end_column: i64) -> Self {
        self.end_column = Some(end_column);
        self
    }
}

read_object! {
    BreakpointLocation {
        0 line "line" required,
        1 column "column" optional,
        2 end_line "endLine" optional,
        3 end_column "endColumn" optional,
    }
}

/// A breakpoint or log line wanted in a source.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SourceBreakpoint {
    /// Line it is wanted on.
    ///
    /// Range: 0..=9007199254740991.
    pub line: i64,
    /// Column it is wanted at, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Stops only where this expression holds. Only with `supportsConditionalBreakpoints`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Says, in the adapter's own notation, which hits count; asked after `condition`, and both
    /// must hold. Only with `supportsHitConditionalBreakpoints`.
    #[serde(rename = "hitCondition", skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
    /// When not empty, prints this instead of stopping, with expressions in braces filled in, and
    /// only if the conditions hold. Only with `supportsLogPoints`.
    #[serde(rename = "logMessage", skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
    /// One of the modes the adapter announced in `breakpointModes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

impl SourceBreakpoint {
    /// What is required set, nothing else.
    pub fn new(line: i64) -> Self {
        Self {
            line,
            column: None,
            condition: None,
            hit_condition: None,
            log_message: None,
            mode: None,
        }
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`condition`](Self::condition).
    #[must_use]
    pub fn with_condition(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Sets [`hit_condition`](Self::hit_condition).
    #[must_use]
    pub fn with_hit_condition(mut self, hit_condition: impl Into<String>) -> Self {
        self.hit_condition = Some(hit_condition.into());
        self
    }

    /// Sets [`log_message`](Self::log_message).
    #[must_use]
    pub fn with_log_message(mut self, log_message: impl Into<String>) -> Self {
        self.log_message = Some(log_message.into());
        self
    }

    /// Sets [`mode`](Self::mode).
    #[must_use]
    pub fn with_mode(mut self, mode: impl Into<String>) -> Self {
        self.mode = Some(mode.into());
        self
    }
}

read_object! {
    SourceBreakpoint {
        0 line "line" required,
        1 column "column" optional,
        2 condition "condition" optional,
        3 hit_condition "hitCondition" optional,
        4 log_message "logMessage" optional,
        5 mode "mode" optional,
    }
}

/// A function to stop in.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FunctionBreakpoint {
    /// Which function, by name.
    pub name: String,
    /// Stops only where this expression holds. Only with `supportsConditionalBreakpoints`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Says, in the adapter's own notation, which hits count. Only with
    /// `supportsHitConditionalBreakpoints`.
    #[serde(rename = "hitCondition", skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
}

impl FunctionBreakpoint {
    /// What is required set, nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            condition: None,
            hit_condition: None,
        }
    }

    /// Sets [`condition`](Self::condition).
    #[must_use]
    pub fn with_condition(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Sets [`hit_condition`](Self::hit_condition).
    #[must_use]
    pub fn with_hit_condition(mut self, hit_condition: impl Into<String>) -> Self {
        self.hit_condition = Some(hit_condition.into());
        self
    }
}

read_object! {
    FunctionBreakpoint {
        0 name "name" required,
        1 condition "condition" optional,
        2 hit_condition "hitCondition" optional,
    }
}

string_enum! {
    /// Kinds of access one can watch for.
    closed DataBreakpointAccessType {
        /// `read`.
        Read = "read",
        /// `write`.
        Write = "write",
        /// `readWrite`.
        ReadWrite = "readWrite",
    }
}

/// A watch wanted on some data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DataBreakpoint {
    /// Handle of the data, from `dataBreakpointInfo`.
    #[serde(rename = "dataId")]
    pub data_id: String,
    /// Kind of access to stop on.
    #[serde(rename = "accessType", skip_serializing_if = "Option::is_none")]
    pub access_type: Option<DataBreakpointAccessType>,
    /// Stops only where this expression holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Says, in the adapter's own notation, which hits count.
    #[serde(rename = "hitCondition", skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
}

impl DataBreakpoint {
    /// What is required set, nothing else.
    pub fn new(data_id: impl Into<String>) -> Self {
        Self {
            data_id: data_id.into(),
            access_type: None,
            condition: None,
            hit_condition: None,
        }
    }

    /// Sets [`access_type`](Self::access_type).
    #[must_use]
    pub fn with_access_type(mut self, access_type: DataBreakpointAccessType) -> Self {
        self.access_type = Some(access_type);
        self
    }

    /// Sets [`condition`](Self::condition).
    #[must_use]
    pub fn with_condition(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Sets [`hit_condition`](Self::hit_condition).
    #[must_use]
    pub fn with_hit_condition(mut self, hit_condition: impl Into<String>) -> Self {
        self.hit_condition = Some(hit_condition.into());
        self
    }
}

read_object! {
    DataBreakpoint {
        0 data_id "dataId" required,
        1 access_type "accessType" optional,
        2 condition "condition" optional,
        3 hit_condition "hitCondition" optional,
    }
}

/// An instruction to stop at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InstructionBreakpoint {
    /// Reference to code, from a frame, a value, a goto target or another breakpoint.
    #[serde(rename = "instructionReference")]
    pub instruction_reference: String,
    /// Distance in bytes from there, possibly below zero.
    ///
    /// Range: -9007199254740991..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// Stops only where this expression holds. Only with `supportsConditionalBreakpoints`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Says, in the adapter's own notation, which hits count. Only with
    /// `supportsHitConditionalBreakpoints`.
    #[serde(rename = "hitCondition", skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
    /// One of the modes the adapter announced in `breakpointModes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

impl InstructionBreakpoint {
    /// What is required set, nothing else.
    pub fn new(instruction_reference: impl Into<String>) -> Self {
        Self {
            instruction_reference: instruction_reference.into(),
            offset: None,
            condition: None,
            hit_condition: None,
            mode: None,
        }
    }

    /// Sets [`offset`](Self::offset).
    #[must_use]
    pub fn with_offset(mut self, offset: i64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Sets [`condition`](Self::condition).
    #[must_use]
    pub fn with_condition(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Sets [`hit_condition`](Self::hit_condition).
    #[must_use]
    pub fn with_hit_condition(mut self, hit_condition: impl Into<String>) -> Self {
        self.hit_condition = Some(hit_condition.into());
        self
    }

    /// Sets [`mode`](Self::mode).
    #[must_use]
    pub fn with_mode(mut self, mode: impl Into<String>) -> Self {
        self.mode = Some(mode.into());
        self
    }
}

read_object! {
    InstructionBreakpoint {
        0 instruction_reference "instructionReference" required,
        1 offset "offset" optional,
        2 condition "condition" optional,
        3 hit_condition "hitCondition" optional,
        4 mode "mode" optional,
    }
}

/// What became of a breakpoint the client asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Breakpoint {
    /// Number that later events know it by; needed for them to mean it.
    ///
    /// Range: -2147483648..=2147483647.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// True when it is set, even if elsewhere than asked for.
    pub verified: bool,
    /// What to tell the user about it, such as why it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Source it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Line it really begins on.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Column it really begins at, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Line it really ends on.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endLine", skip_serializing_if = "Option::is_none")]
    pub end_line: Option<i64>,
    /// Column it really ends at, in UTF-16 units counted from the client's base; without `endLine`,
    /// on the first.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endColumn", skip_serializing_if = "Option::is_none")]
    pub end_column: Option<i64>,
    /// Reference to the instruction it is on.
    #[serde(
        rename = "instructionReference",
        skip_serializing_if = "Option::is_none"
    )]
    pub instruction_reference: Option<String>,
    /// Distance from that instruction, possibly below zero.
    ///
    /// Range: -9007199254740991..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// Why it is not set, as a code: `pending` may come later, `failed` needs the user. Absent once
    /// verified, or when nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<BreakpointReason>,
}

impl Breakpoint {
    /// What is required set, nothing else.
    pub fn new(verified: bool) -> Self {
        Self {
            id: None,
            verified,
            message: None,
            source: None,
            line: None,
            column: None,
            end_line: None,
            end_column: None,
            instruction_reference: None,
            offset: None,
            reason: None,
        }
    }

    /// Sets [`id`](Self::id).
    #[must_use]
    pub fn with_id(mut self, id: i64) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets [`message`](Self::message).
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets [`source`](Self::source).
    #[must_use]
    pub fn with_source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// Sets [`line`](Self::line).
    #[must_use]
    pub fn with_line(mut self, line: i64) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`end_line`](Self::end_line).
    #[must_use]
    pub fn with_end_line(mut self, end_line: i64) -> Self {
        self.end_line = Some(end_line);
        self
    }

    /// Sets [`end_column`](Self::end_column).
    #[must_use]
    pub fn with_end_column(mut self, end_column: i64) -> Self {
        self.end_column = Some(end_column);
        self
    }

    /// Sets [`instruction_reference`](Self::instruction_reference).
    #[must_use]
    pub fn with_instruction_reference(mut self, instruction_reference: impl Into<String>) -> Self {
        self.instruction_reference = Some(instruction_reference.into());
        self
    }

    /// Sets [`offset`](Self::offset).
    #[must_use]
    pub fn with_offset(mut self, offset: i64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Sets [`reason`](Self::reason).
    #[must_use]
    pub fn with_reason(mut self, reason: BreakpointReason) -> Self {
        self.reason = Some(reason);
        self
    }
}

read_object! {
    Breakpoint {
        0 id "id" optional,
        1 verified "verified" required,
        2 message "message" optional,
        3 source "source" optional,
        4 line "line" optional,
        5 column "column" optional,
        6 end_line "endLine" optional,
        7 end_column "endColumn" optional,
        8 instruction_reference "instructionReference" optional,
        9 offset "offset" optional,
        10 reason "reason" optional,
    }
}

string_enum! {
    /// The values of `reason` in `Breakpoint`.
    closed BreakpointReason {
        /// `pending`.
        Pending = "pending",
        /// `failed`.
        Failed = "failed",
    }
}

string_enum! {
    /// How far one step goes.
    closed SteppingGranularity {
        /// Up to the end of the statement, as the adapter sees it: several may share a line, such as
        /// the parts of a `for`.
        Statement = "statement",
        /// As far as the line goes.
        Line = "line",
        /// One machine instruction.
        Instruction = "instruction",
    }
}

/// One call that `stepIn` can be told to enter.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepInTarget {
    /// Number that `stepIn` knows it by.
    ///
    /// Range: -2147483648..=2147483647.
    pub id: i64,
    /// What the user chooses it by.
    pub label: String,
    /// Line of the call.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Column where the call begins, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Line where the call ends.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endLine", skip_serializing_if = "Option::is_none")]
    pub end_line: Option<i64>,
    /// Column where the call ends, in UTF-16 units counted from the client's base.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endColumn", skip_serializing_if = "Option::is_none")]
    pub end_column: Option<i64>,
}

impl StepInTarget {
    /// What is required set, nothing else.
    pub fn new(id: i64, label: impl Into<String>) -> Self {
        Self {
            id,
            label: label.into(),
            line: None,
            column: None,
            end_line: None,
            end_column: None,
        }
    }

    /// Sets [`line`](Self::line).
    #[must_use]
    pub fn with_line(mut self, line: i64) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`end_line`](Self::end_line).
    #[must_use]
    pub fn with_end_line(mut self, end_line: i64) -> Self {
        self.end_line = Some(end_line);
        self
    }

    /// Sets [`end_column`](Self::end_column).
    #[must_use]
    pub fn with_end_column(mut self, end_column: i64) -> Self {
        self.end_column = Some(end_column);
        self
    }
}

read_object! {
    StepInTarget {
        0 id "id" required,
        1 label "label" required,
        2 line "line" optional,
        3 column "column" optional,
        4 end_line "endLine" optional,
        5 end_column "endColumn" optional,
    }
}

/// A place that `goto` can move execution to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GotoTarget {
    /// Number that `goto` knows it by.
    ///
    /// Range: -2147483648..=2147483647.
    pub id: i64,
    /// What the user chooses it by.
    pub label: String,
    /// Line of the place.
    ///
    /// Range: 0..=9007199254740991.
    pub line: i64,
    /// Column of the place.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// For a range, the last line.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endLine", skip_serializing_if = "Option::is_none")]
    pub end_line: Option<i64>,
    /// For a range, the last column.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endColumn", skip_serializing_if = "Option::is_none")]
    pub end_column: Option<i64>,
    /// Reference to the instruction of the place.
    #[serde(
        rename = "instructionPointerReference",
        skip_serializing_if = "Option::is_none"
    )]
    pub instruction_pointer_reference: Option<String>,
}

impl GotoTarget {
    /// What is required set, nothing else.
    pub fn new(id: i64, label: impl Into<String>, line: i64) -> Self {
        Self {
            id,
            label: label.into(),
            line,
            column: None,
            end_line: None,
            end_column: None,
            instruction_pointer_reference: None,
        }
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`end_line`](Self::end_line).
    #[must_use]
    pub fn with_end_line(mut self, end_line: i64) -> Self {
        self.end_line = Some(end_line);
        self
    }

    /// Sets [`end_column`](Self::end_column).
    #[must_use]
    pub fn with_end_column(mut self, end_column: i64) -> Self {
        self.end_column = Some(end_column);
        self
    }

    /// Sets [`instruction_pointer_reference`](Self::instruction_pointer_reference).
    #[must_use]
    pub fn with_instruction_pointer_reference(
        mut self,
        instruction_pointer_reference: impl Into<String>,
    ) -> Self {
        self.instruction_pointer_reference = Some(instruction_pointer_reference.into());
        self
    }
}

read_object! {
    GotoTarget {
        0 id "id" required,
        1 label "label" required,
        2 line "line" required,
        3 column "column" optional,
        4 end_line "endLine" optional,
        5 end_column "endColumn" optional,
        6 instruction_pointer_reference "instructionPointerReference" optional,
    }
}

/// One proposal for what the user is typing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CompletionItem {
    /// What the user chooses it by, and what is inserted without `text`.
    pub label: String,
    /// What to insert, if not empty, in place of `label`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What to sort it by, if not empty, in place of `label`.
    #[serde(rename = "sortText", skip_serializing_if = "Option::is_none")]
    pub sort_text: Option<String>,
    /// More about it for people, such as its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What it is, mostly for a picture beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<CompletionItemType>,
    /// Column to insert at, in UTF-16 units counted from the client's base; absent means at the
    /// caret.
    ///
    /// Range: 0..=4294967295.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<i64>,
    /// How many UTF-16 units to overwrite; absent means none.
    ///
    /// Range: 0..=4294967295.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<i64>,
    /// Where to begin selecting in what was inserted, in UTF-16 units from its beginning; absent
    /// means its end.
    ///
    /// Range: 0..=4294967295.
    #[serde(rename = "selectionStart", skip_serializing_if = "Option::is_none")]
    pub selection_start: Option<i64>,
    /// How many UTF-16 units of what was inserted to select; absent means none.
    ///
    /// Range: 0..=4294967295.
    #[serde(rename = "selectionLength", skip_serializing_if = "Option::is_none")]
    pub selection_length: Option<i64>,
}

impl CompletionItem {
    /// What is required set, nothing else.
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: None,
            sort_text: None,
            detail: None,
            r#type: None,
            start: None,
            length: None,
            selection_start: None,
            selection_length: None,
        }
    }

    /// Sets [`text`](Self::text).
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Sets [`sort_text`](Self::sort_text).
    #[must_use]
    pub fn with_sort_text(mut self, sort_text: impl Into<String>) -> Self {
        self.sort_text = Some(sort_text.into());
        self
    }

    /// Sets [`detail`](Self::detail).
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Sets [`type`](Self::type).
    #[must_use]
    pub fn with_type(mut self, r#type: CompletionItemType) -> Self {
        self.r#type = Some(r#type);
        self
    }

    /// Sets [`start`](Self::start).
    #[must_use]
    pub fn with_start(mut self, start: i64) -> Self {
        self.start = Some(start);
        self
    }

    /// Sets [`length`](Self::length).
    #[must_use]
    pub fn with_length(mut self, length: i64) -> Self {
        self.length = Some(length);
        self
    }

    /// Sets [`selection_start`](Self::selection_start).
    #[must_use]
    pub fn with_selection_start(mut self, selection_start: i64) -> Self {
        self.selection_start = Some(selection_start);
        self
    }

    /// Sets [`selection_length`](Self::selection_length).
    #[must_use]
    pub fn with_selection_length(mut self, selection_length: i64) -> Self {
        self.selection_length = Some(selection_length);
        self
    }
}

read_object! {
    CompletionItem {
        0 label "label" required,
        1 text "text" optional,
        2 sort_text "sortText" optional,
        3 detail "detail" optional,
        4 r#type "type" optional,
        5 start "start" optional,
        6 length "length" optional,
        7 selection_start "selectionStart" optional,
        8 selection_length "selectionLength" optional,
    }
}

string_enum! {
    /// What a proposal is; not every client tells all of them apart.
    closed CompletionItemType {
        /// `method`.
        Method = "method",
        /// `function`.
        Function = "function",
        /// `constructor`.
        Constructor = "constructor",
        /// `field`.
        Field = "field",
        /// `variable`.
        Variable = "variable",
        /// `class`.
        Class = "class",
        /// `interface`.
        Interface = "interface",
        /// `module`.
        Module = "module",
        /// `property`.
        Property = "property",
        /// `unit`.
        Unit = "unit",
        /// `value`.
        Value = "value",
        /// `enum`.
        Enum = "enum",
        /// `keyword`.
        Keyword = "keyword",
        /// `snippet`.
        Snippet = "snippet",
        /// `text`.
        Text = "text",
        /// `color`.
        Color = "color",
        /// `file`.
        File = "file",
        /// `reference`.
        Reference = "reference",
        /// `customcolor`.
        Customcolor = "customcolor",
    }
}

string_enum! {
    /// Ways to compute a checksum.
    closed ChecksumAlgorithm {
        /// `MD5`.
        Md5 = "MD5",
        /// `SHA1`.
        Sha1 = "SHA1",
        /// `SHA256`.
        Sha256 = "SHA256",
        /// `timestamp`.
        Timestamp = "timestamp",
    }
}

/// A sum over a source, to recognise it by.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Checksum {
    /// How it was computed.
    pub algorithm: ChecksumAlgorithm,
    /// The sum in hexadecimal.
    pub checksum: String,
}

impl Checksum {
    /// What is required set, nothing else.
    pub fn new(algorithm: ChecksumAlgorithm, checksum: impl Into<String>) -> Self {
        Self {
            algorithm,
            checksum: checksum.into(),
        }
    }
}

read_object! {
    Checksum {
        0 algorithm "algorithm" required,
        1 checksum "checksum" required,
    }
}

/// How the user wants values written.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ValueFormat {
    /// Numbers in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hex: Option<bool>,
}

impl ValueFormat {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`hex`](Self::hex).
    #[must_use]
    pub fn with_hex(mut self, hex: bool) -> Self {
        self.hex = Some(hex);
        self
    }
}

read_object! {
    ValueFormat {
        0 hex "hex" optional,
    }
}

/// What the user wants in the names of frames.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct StackFrameFormat {
    /// Numbers in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hex: Option<bool>,
    /// Shows what the call was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<bool>,
    /// Shows of what type these are.
    #[serde(rename = "parameterTypes", skip_serializing_if = "Option::is_none")]
    pub parameter_types: Option<bool>,
    /// Shows how these are called.
    #[serde(rename = "parameterNames", skip_serializing_if = "Option::is_none")]
    pub parameter_names: Option<bool>,
    /// Shows what these hold.
    #[serde(rename = "parameterValues", skip_serializing_if = "Option::is_none")]
    pub parameter_values: Option<bool>,
    /// Shows the line reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<bool>,
    /// Shows the module it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<bool>,
    /// Leaves out no frame, not even one usually hidden.
    #[serde(rename = "includeAll", skip_serializing_if = "Option::is_none")]
    pub include_all: Option<bool>,
}

impl StackFrameFormat {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`hex`](Self::hex).
    #[must_use]
    pub fn with_hex(mut self, hex: bool) -> Self {
        self.hex = Some(hex);
        self
    }

    /// Sets [`parameters`](Self::parameters).
    #[must_use]
    pub fn with_parameters(mut self, parameters: bool) -> Self {
        self.parameters = Some(parameters);
        self
    }

    /// Sets [`parameter_types`](Self::parameter_types).
    #[must_use]
    pub fn with_parameter_types(mut self, parameter_types: bool) -> Self {
        self.parameter_types = Some(parameter_types);
        self
    }

    /// Sets [`parameter_names`](Self::parameter_names).
    #[must_use]
    pub fn with_parameter_names(mut self, parameter_names: bool) -> Self {
        self.parameter_names = Some(parameter_names);
        self
    }

    /// Sets [`parameter_values`](Self::parameter_values).
    #[must_use]
    pub fn with_parameter_values(mut self, parameter_values: bool) -> Self {
        self.parameter_values = Some(parameter_values);
        self
    }

    /// Sets [`line`](Self::line).
    #[must_use]
    pub fn with_line(mut self, line: bool) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets [`module`](Self::module).
    #[must_use]
    pub fn with_module(mut self, module: bool) -> Self {
        self.module = Some(module);
        self
    }

    /// Sets [`include_all`](Self::include_all).
    #[must_use]
    pub fn with_include_all(mut self, include_all: bool) -> Self {
        self.include_all = Some(include_all);
        self
    }
}

read_object! {
    StackFrameFormat {
        0 hex "hex" optional,
        1 parameters "parameters" optional,
        2 parameter_types "parameterTypes" optional,
        3 parameter_names "parameterNames" optional,
        4 parameter_values "parameterValues" optional,
        5 line "line" optional,
        6 module "module" optional,
        7 include_all "includeAll" optional,
    }
}

/// An exception filter switched on, with what was chosen for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExceptionFilterOptions {
    /// Which announced filter, by ID.
    #[serde(rename = "filterId")]
    pub filter_id: String,
    /// Stops only when this expression is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// One of the modes the adapter announced in `breakpointModes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

impl ExceptionFilterOptions {
    /// What is required set, nothing else.
    pub fn new(filter_id: impl Into<String>) -> Self {
        Self {
            filter_id: filter_id.into(),
            condition: None,
            mode: None,
        }
    }

    /// Sets [`condition`](Self::condition).
    #[must_use]
    pub fn with_condition(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Sets [`mode`](Self::mode).
    #[must_use]
    pub fn with_mode(mut self, mode: impl Into<String>) -> Self {
        self.mode = Some(mode.into());
        self
    }
}

read_object! {
    ExceptionFilterOptions {
        0 filter_id "filterId" required,
        1 condition "condition" optional,
        2 mode "mode" optional,
    }
}

/// What to do about some exceptions of a tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExceptionOptions {
    /// Way down the tree of names, whose first step is mostly a category; absent means all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Vec<ExceptionPathSegment>>,
    /// When to stop on them.
    #[serde(rename = "breakMode")]
    pub break_mode: ExceptionBreakMode,
}

impl ExceptionOptions {
    /// What is required set, nothing else.
    pub fn new(break_mode: ExceptionBreakMode) -> Self {
        Self {
            path: None,
            break_mode,
        }
    }

    /// Sets [`path`](Self::path).
    #[must_use]
    pub fn with_path(mut self, path: Vec<ExceptionPathSegment>) -> Self {
        self.path = Some(path);
        self
    }
}

read_object! {
    ExceptionOptions {
        0 path "path" optional_list,
        1 break_mode "breakMode" required,
    }
}

string_enum! {
    /// When an exception stops the debuggee: not at all, each time, if nothing handles it, or if
    /// the user's own code does not.
    closed ExceptionBreakMode {
        /// `never`.
        Never = "never",
        /// `always`.
        Always = "always",
        /// `unhandled`.
        Unhandled = "unhandled",
        /// `userUnhandled`.
        UserUnhandled = "userUnhandled",
    }
}

/// One step down the tree of exceptions, taken by any of its names or, with `negate`, by all
/// others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExceptionPathSegment {
    /// True takes every name but those listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negate: Option<bool>,
    /// Names to take, or to leave out.
    pub names: Vec<String>,
}

impl ExceptionPathSegment {
    /// What is required set, nothing else.
    pub fn new(names: Vec<String>) -> Self {
        Self {
            negate: None,
            names,
        }
    }

    /// Sets [`negate`](Self::negate).
    #[must_use]
    pub fn with_negate(mut self, negate: bool) -> Self {
        self.negate = Some(negate);
        self
    }
}

read_object! {
    ExceptionPathSegment {
        0 negate "negate" optional,
        1 names "names" list,
    }
}

/// What an exception holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ExceptionDetails {
    /// Its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Its type without namespaces.
    #[serde(rename = "typeName", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// Its type with namespaces.
    #[serde(rename = "fullTypeName", skip_serializing_if = "Option::is_none")]
    pub full_type_name: Option<String>,
    /// Expression that reads the exception in this frame.
    #[serde(rename = "evaluateName", skip_serializing_if = "Option::is_none")]
    pub evaluate_name: Option<String>,
    /// Where it was thrown, as text.
    #[serde(rename = "stackTrace", skip_serializing_if = "Option::is_none")]
    pub stack_trace: Option<String>,
    /// The exceptions that led to it.
    #[serde(rename = "innerException", skip_serializing_if = "Option::is_none")]
    pub inner_exception: Option<Vec<ExceptionDetails>>,
}

impl ExceptionDetails {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`message`](Self::message).
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets [`type_name`](Self::type_name).
    #[must_use]
    pub fn with_type_name(mut self, type_name: impl Into<String>) -> Self {
        self.type_name = Some(type_name.into());
        self
    }

    /// Sets [`full_type_name`](Self::full_type_name).
    #[must_use]
    pub fn with_full_type_name(mut self, full_type_name: impl Into<String>) -> Self {
        self.full_type_name = Some(full_type_name.into());
        self
    }

    /// Sets [`evaluate_name`](Self::evaluate_name).
    #[must_use]
    pub fn with_evaluate_name(mut self, evaluate_name: impl Into<String>) -> Self {
        self.evaluate_name = Some(evaluate_name.into());
        self
    }

    /// Sets [`stack_trace`](Self::stack_trace).
    #[must_use]
    pub fn with_stack_trace(mut self, stack_trace: impl Into<String>) -> Self {
        self.stack_trace = Some(stack_trace.into());
        self
    }

    /// Sets [`inner_exception`](Self::inner_exception).
    #[must_use]
    pub fn with_inner_exception(mut self, inner_exception: Vec<ExceptionDetails>) -> Self {
        self.inner_exception = Some(inner_exception);
        self
    }
}

read_object! {
    ExceptionDetails {
        0 message "message" optional,
        1 type_name "typeName" optional,
        2 full_type_name "fullTypeName" optional,
        3 evaluate_name "evaluateName" optional,
        4 stack_trace "stackTrace" optional,
        5 inner_exception "innerException" optional_list,
    }
}

/// One instruction of the machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DisassembledInstruction {
    /// Where it lies, decimal or with `0x`.
    pub address: String,
    /// Its bytes, written as the adapter likes.
    #[serde(rename = "instructionBytes", skip_serializing_if = "Option::is_none")]
    pub instruction_bytes: Option<String>,
    /// The instruction in assembly, written as the adapter likes.
    pub instruction: String,
    /// Name that belongs to its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Source it was compiled from; present on the first one if known, later absent while it stays
    /// the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Source>,
    /// Line it was compiled from.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Column it was compiled from.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Line where that ends.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endLine", skip_serializing_if = "Option::is_none")]
    pub end_line: Option<i64>,
    /// Column where that ends.
    ///
    /// Range: 0..=9007199254740991.
    #[serde(rename = "endColumn", skip_serializing_if = "Option::is_none")]
    pub end_column: Option<i64>,
    /// How to draw it; `invalid` marks a stand-in that never runs, such as for unreadable memory.
    #[serde(rename = "presentationHint", skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<DisassembledInstructionPresentationHint>,
}

impl DisassembledInstruction {
    /// What is required set, nothing else.
    pub fn new(address: impl Into<String>, instruction: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            instruction_bytes: None,
            instruction: instruction.into(),
            symbol: None,
            location: None,
            line: None,
            column: None,
            end_line: None,
            end_column: None,
            presentation_hint: None,
        }
    }

    /// Sets [`instruction_bytes`](Self::instruction_bytes).
    #[must_use]
    pub fn with_instruction_bytes(mut self, instruction_bytes: impl Into<String>) -> Self {
        self.instruction_bytes = Some(instruction_bytes.into());
        self
    }

    /// Sets [`symbol`](Self::symbol).
    #[must_use]
    pub fn with_symbol(mut self, symbol: impl Into<String>) -> Self {
        self.symbol = Some(symbol.into());
        self
    }

    /// Sets [`location`](Self::location).
    #[must_use]
    pub fn with_location(mut self, location: Source) -> Self {
        self.location = Some(location);
        self
    }

    /// Sets [`line`](Self::line).
    #[must_use]
    pub fn with_line(mut self, line: i64) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets [`column`](Self::column).
    #[must_use]
    pub fn with_column(mut self, column: i64) -> Self {
        self.column = Some(column);
        self
    }

    /// Sets [`end_line`](Self::end_line).
    #[must_use]
    pub fn with_end_line(mut self, end_line: i64) -> Self {
        self.end_line = Some(end_line);
        self
    }

    /// Sets [`end_column`](Self::end_column).
    #[must_use]
    pub fn with_end_column(mut self, end_column: i64) -> Self {
        self.end_column = Some(end_column);
        self
    }

    /// Sets [`presentation_hint`](Self::presentation_hint).
    #[must_use]
    pub fn with_presentation_hint(
        mut self,
        presentation_hint: DisassembledInstructionPresentationHint,
    ) -> Self {
        self.presentation_hint = Some(presentation_hint);
        self
    }
}

read_object! {
    DisassembledInstruction {
        0 address "address" required,
        1 instruction_bytes "instructionBytes" optional,
        2 instruction "instruction" required,
        3 symbol "symbol" optional,
        4 location "location" optional,
        5 line "line" optional,
        6 column "column" optional,
        7 end_line "endLine" optional,
        8 end_column "endColumn" optional,
        9 presentation_hint "presentationHint" optional,
    }
}

string_enum! {
    /// The values of `presentationHint` in `DisassembledInstruction`.
    closed DisassembledInstructionPresentationHint {
        /// `normal`.
        Normal = "normal",
        /// `invalid`.
        Invalid = "invalid",
    }
}

string_enum! {
    /// What an `invalidated` event can make stale.
    open InvalidatedAreas {
        /// Everything.
        All = "all",
        /// Whatever came from frames.
        Stacks = "stacks",
        /// Whatever came from threads.
        Threads = "threads",
        /// Whatever came from variables.
        Variables = "variables",
    }
}

/// A way to implement breakpoints that the user can choose.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BreakpointMode {
    /// Code to pass when setting a breakpoint.
    pub mode: String,
    /// What the user chooses it by.
    pub label: String,
    /// Help, possibly translated, for the user who hovers over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Kinds of breakpoints it can be chosen for.
    #[serde(rename = "appliesTo")]
    pub applies_to: Vec<BreakpointModeApplicability>,
}

impl BreakpointMode {
    /// What is required set, nothing else.
    pub fn new(
        mode: impl Into<String>,
        label: impl Into<String>,
        applies_to: Vec<BreakpointModeApplicability>,
    ) -> Self {
        Self {
            mode: mode.into(),
            label: label.into(),
            description: None,
            applies_to,
        }
    }

    /// Sets [`description`](Self::description).
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

read_object! {
    BreakpointMode {
        0 mode "mode" required,
        1 label "label" required,
        2 description "description" optional,
        3 applies_to "appliesTo" list,
    }
}

string_enum! {
    /// Kinds of breakpoints a mode may be meant for; more may come.
    open BreakpointModeApplicability {
        /// Those on lines of source.
        Source = "source",
        /// Those on exceptions, chosen by filter.
        Exception = "exception",
        /// Those on data that is accessed.
        Data = "data",
        /// Those on single instructions.
        Instruction = "instruction",
    }
}

impl Capabilities {
    /// The names of all flags that say something is supported.
    pub const FLAGS: &[&str] = &[
        "supportsConfigurationDoneRequest",
        "supportsFunctionBreakpoints",
        "supportsConditionalBreakpoints",
        "supportsHitConditionalBreakpoints",
        "supportsEvaluateForHovers",
        "supportsStepBack",
        "supportsSetVariable",
        "supportsRestartFrame",
        "supportsGotoTargetsRequest",
        "supportsStepInTargetsRequest",
        "supportsCompletionsRequest",
        "supportsModulesRequest",
        "supportsRestartRequest",
        "supportsExceptionOptions",
        "supportsValueFormattingOptions",
        "supportsExceptionInfoRequest",
        "supportTerminateDebuggee",
        "supportSuspendDebuggee",
        "supportsDelayedStackTraceLoading",
        "supportsLoadedSourcesRequest",
        "supportsLogPoints",
        "supportsTerminateThreadsRequest",
        "supportsSetExpression",
        "supportsTerminateRequest",
        "supportsDataBreakpoints",
        "supportsReadMemoryRequest",
        "supportsWriteMemoryRequest",
        "supportsDisassembleRequest",
        "supportsCancelRequest",
        "supportsBreakpointLocationsRequest",
        "supportsClipboardContext",
        "supportsSteppingGranularity",
        "supportsInstructionBreakpoints",
        "supportsExceptionFilterOptions",
        "supportsSingleThreadExecutionRequests",
        "supportsDataBreakpointBytes",
        "supportsANSIStyling",
    ];

    /// Whether the flag called `name` is there and true.
    pub fn supports(&self, name: &str) -> bool {
        match name {
            "supportsConfigurationDoneRequest" => {
                self.supports_configuration_done_request.unwrap_or(false)
            }
            "supportsFunctionBreakpoints" => self.supports_function_breakpoints.unwrap_or(false),
            "supportsConditionalBreakpoints" => {
                self.supports_conditional_breakpoints.unwrap_or(false)
            }
            "supportsHitConditionalBreakpoints" => {
                self.supports_hit_conditional_breakpoints.unwrap_or(false)
            }
            "supportsEvaluateForHovers" => self.supports_evaluate_for_hovers.unwrap_or(false),
            "supportsStepBack" => self.supports_step_back.unwrap_or(false),
            "supportsSetVariable" => self.supports_set_variable.unwrap_or(false),
            "supportsRestartFrame" => self.supports_restart_frame.unwrap_or(false),
            "supportsGotoTargetsRequest" => self.supports_goto_targets_request.unwrap_or(false),
            "supportsStepInTargetsRequest" => {
                self.supports_step_in_targets_request.unwrap_or(false)
            }
            "supportsCompletionsRequest" => self.supports_completions_request.unwrap_or(false),
            "supportsModulesRequest" => self.supports_modules_request.unwrap_or(false),
            "supportsRestartRequest" => self.supports_restart_request.unwrap_or(false),
            "supportsExceptionOptions" => self.supports_exception_options.unwrap_or(false),
            "supportsValueFormattingOptions" => {
                self.supports_value_formatting_options.unwrap_or(false)
            }
            "supportsExceptionInfoRequest" => self.supports_exception_info_request.unwrap_or(false),
            "supportTerminateDebuggee" => self.support_terminate_debuggee.unwrap_or(false),
            "supportSuspendDebuggee" => self.support_suspend_debuggee.unwrap_or(false),
            "supportsDelayedStackTraceLoading" => {
                self.supports_delayed_stack_trace_loading.unwrap_or(false)
            }
            "supportsLoadedSourcesRequest" => self.supports_loaded_sources_request.unwrap_or(false),
            "supportsLogPoints" => self.supports_log_points.unwrap_or(false),
            "supportsTerminateThreadsRequest" => {
                self.supports_terminate_threads_request.unwrap_or(false)
            }
            "supportsSetExpression" => self.supports_set_expression.unwrap_or(false),
            "supportsTerminateRequest" => self.supports_terminate_request.unwrap_or(false),
            "supportsDataBreakpoints" => self.supports_data_breakpoints.unwrap_or(false),
            "supportsReadMemoryRequest" => self.supports_read_memory_request.unwrap_or(false),
            "supportsWriteMemoryRequest" => self.supports_write_memory_request.unwrap_or(false),
            "supportsDisassembleRequest" => self.supports_disassemble_request.unwrap_or(false),
            "supportsCancelRequest" => self.supports_cancel_request.unwrap_or(false),
            "supportsBreakpointLocationsRequest" => {
                self.supports_breakpoint_locations_request.unwrap_or(false)
            }
            "supportsClipboardContext" => self.supports_clipboard_context.unwrap_or(false),
            "supportsSteppingGranularity" => self.supports_stepping_granularity.unwrap_or(false),
            "supportsInstructionBreakpoints" => {
                self.supports_instruction_breakpoints.unwrap_or(false)
            }
            "supportsExceptionFilterOptions" => {
                self.supports_exception_filter_options.unwrap_or(false)
            }
            "supportsSingleThreadExecutionRequests" => self
                .supports_single_thread_execution_requests
                .unwrap_or(false),
            "supportsDataBreakpointBytes" => self.supports_data_breakpoint_bytes.unwrap_or(false),
            "supportsANSIStyling" => self.supports_ansi_styling.unwrap_or(false),
            _ => self.other.get(name).is_some_and(|raw| raw.text() == "true"),
        }
    }

    /// Sets the flag called `name` to true; one that the protocol does not list goes to [`other`](Self::other).
    pub fn support(&mut self, name: &str) {
        match name {
            "supportsConfigurationDoneRequest" => {
                self.supports_configuration_done_request = Some(true)
            }
            "supportsFunctionBreakpoints" => self.supports_function_breakpoints = Some(true),
            "supportsConditionalBreakpoints" => self.supports_conditional_breakpoints = Some(true),
            "supportsHitConditionalBreakpoints" => {
                self.supports_hit_conditional_breakpoints = Some(true)
            }
            "supportsEvaluateForHovers" => self.supports_evaluate_for_hovers = Some(true),
            "supportsStepBack" => self.supports_step_back = Some(true),
            "supportsSetVariable" => self.supports_set_variable = Some(true),
            "supportsRestartFrame" => self.supports_restart_frame = Some(true),
            "supportsGotoTargetsRequest" => self.supports_goto_targets_request = Some(true),
            "supportsStepInTargetsRequest" => self.supports_step_in_targets_request = Some(true),
            "supportsCompletionsRequest" => self.supports_completions_request = Some(true),
            "supportsModulesRequest" => self.supports_modules_request = Some(true),
            "supportsRestartRequest" => self.supports_restart_request = Some(true),
            "supportsExceptionOptions" => self.supports_exception_options = Some(true),
            "supportsValueFormattingOptions" => self.supports_value_formatting_options = Some(true),
            "supportsExceptionInfoRequest" => self.supports_exception_info_request = Some(true),
            "supportTerminateDebuggee" => self.support_terminate_debuggee = Some(true),
            "supportSuspendDebuggee" => self.support_suspend_debuggee = Some(true),
            "supportsDelayedStackTraceLoading" => {
                self.supports_delayed_stack_trace_loading = Some(true)
            }
            "supportsLoadedSourcesRequest" => self.supports_loaded_sources_request = Some(true),
            "supportsLogPoints" => self.supports_log_points = Some(true),
            "supportsTerminateThreadsRequest" => {
                self.supports_terminate_threads_request = Some(true)
            }
            "supportsSetExpression" => self.supports_set_expression = Some(true),
            "supportsTerminateRequest" => self.supports_terminate_request = Some(true),
            "supportsDataBreakpoints" => self.supports_data_breakpoints = Some(true),
            "supportsReadMemoryRequest" => self.supports_read_memory_request = Some(true),
            "supportsWriteMemoryRequest" => self.supports_write_memory_request = Some(true),
            "supportsDisassembleRequest" => self.supports_disassemble_request = Some(true),
            "supportsCancelRequest" => self.supports_cancel_request = Some(true),
            "supportsBreakpointLocationsRequest" => {
                self.supports_breakpoint_locations_request = Some(true)
            }
            "supportsClipboardContext" => self.supports_clipboard_context = Some(true),
            "supportsSteppingGranularity" => self.supports_stepping_granularity = Some(true),
            "supportsInstructionBreakpoints" => self.supports_instruction_breakpoints = Some(true),
            "supportsExceptionFilterOptions" => self.supports_exception_filter_options = Some(true),
            "supportsSingleThreadExecutionRequests" => {
                self.supports_single_thread_execution_requests = Some(true)
            }
            "supportsDataBreakpointBytes" => self.supports_data_breakpoint_bytes = Some(true),
            "supportsANSIStyling" => self.supports_ansi_styling = Some(true),
            _ => {
                if let Ok(raw) = Raw::new(&true) {
                    self.other.insert(name.to_owned(), raw);
                }
            }
        }
    }

    /// Takes over whatever `newer` says, as for a `capabilities` event.
    pub fn merge(&mut self, newer: Self) {
        if newer.supports_configuration_done_request.is_some() {
            self.supports_configuration_done_request = newer.supports_configuration_done_request;
        }
        if newer.supports_function_breakpoints.is_some() {
            self.supports_function_breakpoints = newer.supports_function_breakpoints;
        }
        if newer.supports_conditional_breakpoints.is_some() {
            self.supports_conditional_breakpoints = newer.supports_conditional_breakpoints;
        }
        if newer.supports_hit_conditional_breakpoints.is_some() {
            self.supports_hit_conditional_breakpoints = newer.supports_hit_conditional_breakpoints;
        }
        if newer.supports_evaluate_for_hovers.is_some() {
            self.supports_evaluate_for_hovers = newer.supports_evaluate_for_hovers;
        }
        if newer.exception_breakpoint_filters.is_some() {
            self.exception_breakpoint_filters = newer.exception_breakpoint_filters;
        }
        if newer.supports_step_back.is_some() {
            self.supports_step_back = newer.supports_step_back;
        }
        if newer.supports_set_variable.is_some() {
            self.supports_set_variable = newer.supports_set_variable;
        }
        if newer.supports_restart_frame.is_some() {
            self.supports_restart_frame = newer.supports_restart_frame;
        }
        if newer.supports_goto_targets_request.is_some() {
            self.supports_goto_targets_request = newer.supports_goto_targets_request;
        }
        if newer.supports_step_in_targets_request.is_some() {
            self.supports_step_in_targets_request = newer.supports_step_in_targets_request;
        }
        if newer.supports_completions_request.is_some() {
            self.supports_completions_request = newer.supports_completions_request;
        }
        if newer.completion_trigger_characters.is_some() {
            self.completion_trigger_characters = newer.completion_trigger_characters;
        }
        if newer.supports_modules_request.is_some() {
            self.supports_modules_request = newer.supports_modules_request;
        }
        if newer.additional_module_columns.is_some() {
            self.additional_module_columns = newer.additional_module_columns;
        }
        if newer.supported_checksum_algorithms.is_some() {
            self.supported_checksum_algorithms = newer.supported_checksum_algorithms;
        }
        if newer.supports_restart_request.is_some() {
            self.supports_restart_request = newer.supports_restart_request;
        }
        if newer.supports_exception_options.is_some() {
            self.supports_exception_options = newer.supports_exception_options;
        }
        if newer.supports_value_formatting_options.is_some() {
            self.supports_value_formatting_options = newer.supports_value_formatting_options;
        }
        if newer.supports_exception_info_request.is_some() {
            self.supports_exception_info_request = newer.supports_exception_info_request;
        }
        if newer.support_terminate_debuggee.is_some() {
            self.support_terminate_debuggee = newer.support_terminate_debuggee;
        }
        if newer.support_suspend_debuggee.is_some() {
            self.support_suspend_debuggee = newer.support_suspend_debuggee;
        }
        if newer.supports_delayed_stack_trace_loading.is_some() {
            self.supports_delayed_stack_trace_loading = newer.supports_delayed_stack_trace_loading;
        }
        if newer.supports_loaded_sources_request.is_some() {
            self.supports_loaded_sources_request = newer.supports_loaded_sources_request;
        }
        if newer.supports_log_points.is_some() {
            self.supports_log_points = newer.supports_log_points;
        }
        if newer.supports_terminate_threads_request.is_some() {
            self.supports_terminate_threads_request = newer.supports_terminate_threads_request;
        }
        if newer.supports_set_expression.is_some() {
            self.supports_set_expression = newer.supports_set_expression;
        }
        if newer.supports_terminate_request.is_some() {
            self.supports_terminate_request = newer.supports_terminate_request;
        }
        if newer.supports_data_breakpoints.is_some() {
            self.supports_data_breakpoints = newer.supports_data_breakpoints;
        }
        if newer.supports_read_memory_request.is_some() {
            self.supports_read_memory_request = newer.supports_read_memory_request;
        }
        if newer.supports_write_memory_request.is_some() {
            self.supports_write_memory_request = newer.supports_write_memory_request;
        }
        if newer.supports_disassemble_request.is_some() {
            self.supports_disassemble_request = newer.supports_disassemble_request;
        }
        if newer.supports_cancel_request.is_some() {
            self.supports_cancel_request = newer.supports_cancel_request;
        }
        if newer.supports_breakpoint_locations_request.is_some() {
            self.supports_breakpoint_locations_request =
                newer.supports_breakpoint_locations_request;
        }
        if newer.supports_clipboard_context.is_some() {
            self.supports_clipboard_context = newer.supports_clipboard_context;
        }
        if newer.supports_stepping_granularity.is_some() {
            self.supports_stepping_granularity = newer.supports_stepping_granularity;
        }
        if newer.supports_instruction_breakpoints.is_some() {
            self.supports_instruction_breakpoints = newer.supports_instruction_breakpoints;
        }
        if newer.supports_exception_filter_options.is_some() {
            self.supports_exception_filter_options = newer.supports_exception_filter_options;
        }
        if newer.supports_single_thread_execution_requests.is_some() {
            self.supports_single_thread_execution_requests =
                newer.supports_single_thread_execution_requests;
        }
        if newer.supports_data_breakpoint_bytes.is_some() {
            self.supports_data_breakpoint_bytes = newer.supports_data_breakpoint_bytes;
        }
        if newer.breakpoint_modes.is_some() {
            self.breakpoint_modes = newer.breakpoint_modes;
        }
        if newer.supports_ansi_styling.is_some() {
            self.supports_ansi_styling = newer.supports_ansi_styling;
        }
        self.other.extend(newer.other);
    }
}

impl InitializeRequestArguments {
    /// The names of all flags that say something is supported.
    pub const FLAGS: &[&str] = &[
        "supportsVariableType",
        "supportsVariablePaging",
        "supportsRunInTerminalRequest",
        "supportsMemoryReferences",
        "supportsProgressReporting",
        "supportsInvalidatedEvent",
        "supportsMemoryEvent",
        "supportsArgsCanBeInterpretedByShell",
        "supportsStartDebuggingRequest",
        "supportsANSIStyling",
    ];

    /// Whether the flag called `name` is there and true.
    pub fn supports(&self, name: &str) -> bool {
        match name {
            "supportsVariableType" => self.supports_variable_type.unwrap_or(false),
            "supportsVariablePaging" => self.supports_variable_paging.unwrap_or(false),
            "supportsRunInTerminalRequest" => {
                self.supports_run_in_terminal_request.unwrap_or(false)
            }
            "supportsMemoryReferences" => self.supports_memory_references.unwrap_or(false),
            "supportsProgressReporting" => self.supports_progress_reporting.unwrap_or(false),
            "supportsInvalidatedEvent" => self.supports_invalidated_event.unwrap_or(false),
            "supportsMemoryEvent" => self.supports_memory_event.unwrap_or(false),
            "supportsArgsCanBeInterpretedByShell" => self
                .supports_args_can_be_interpreted_by_shell
                .unwrap_or(false),
            "supportsStartDebuggingRequest" => {
                self.supports_start_debugging_request.unwrap_or(false)
            }
            "supportsANSIStyling" => self.supports_ansi_styling.unwrap_or(false),
            _ => false,
        }
    }
}

/// The arguments of any request.
///
/// What is not in the protocol is kept as it came, to be passed on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "short-lived; most are read once and taken apart"
)]
pub enum AnyRequest {
    /// `cancel`.
    Cancel(CancelArguments),
    /// `runInTerminal`.
    RunInTerminal(RunInTerminalRequestArguments),
    /// `startDebugging`.
    StartDebugging(StartDebuggingRequestArguments),
    /// `initialize`.
    Initialize(InitializeRequestArguments),
    /// `configurationDone`.
    ConfigurationDone(ConfigurationDoneArguments),
    /// `launch`.
    Launch(LaunchRequestArguments),
    /// `attach`.
    Attach(AttachRequestArguments),
    /// `restart`.
    Restart(RestartArguments),
    /// `disconnect`.
    Disconnect(DisconnectArguments),
    /// `terminate`.
    Terminate(TerminateArguments),
    /// `breakpointLocations`.
    BreakpointLocations(BreakpointLocationsArguments),
    /// `setBreakpoints`.
    SetBreakpoints(SetBreakpointsArguments),
    /// `setFunctionBreakpoints`.
    SetFunctionBreakpoints(SetFunctionBreakpointsArguments),
    /// `setExceptionBreakpoints`.
    SetExceptionBreakpoints(SetExceptionBreakpointsArguments),
    /// `dataBreakpointInfo`.
    DataBreakpointInfo(DataBreakpointInfoArguments),
    /// `setDataBreakpoints`.
    SetDataBreakpoints(SetDataBreakpointsArguments),
    /// `setInstructionBreakpoints`.
    SetInstructionBreakpoints(SetInstructionBreakpointsArguments),
    /// `continue`.
    Continue(ContinueArguments),
    /// `next`.
    Next(NextArguments),
    /// `stepIn`.
    StepIn(StepInArguments),
    /// `stepOut`.
    StepOut(StepOutArguments),
    /// `stepBack`.
    StepBack(StepBackArguments),
    /// `reverseContinue`.
    ReverseContinue(ReverseContinueArguments),
    /// `restartFrame`.
    RestartFrame(RestartFrameArguments),
    /// `goto`.
    Goto(GotoArguments),
    /// `pause`.
    Pause(PauseArguments),
    /// `stackTrace`.
    StackTrace(StackTraceArguments),
    /// `scopes`.
    Scopes(ScopesArguments),
    /// `variables`.
    Variables(VariablesArguments),
    /// `setVariable`.
    SetVariable(SetVariableArguments),
    /// `source`.
    Source(SourceArguments),
    /// `threads`.
    Threads(Empty),
    /// `terminateThreads`.
    TerminateThreads(TerminateThreadsArguments),
    /// `modules`.
    Modules(ModulesArguments),
    /// `loadedSources`.
    LoadedSources(LoadedSourcesArguments),
    /// `evaluate`.
    Evaluate(EvaluateArguments),
    /// `setExpression`.
    SetExpression(SetExpressionArguments),
    /// `stepInTargets`.
    StepInTargets(StepInTargetsArguments),
    /// `gotoTargets`.
    GotoTargets(GotoTargetsArguments),
    /// `completions`.
    Completions(CompletionsArguments),
    /// `exceptionInfo`.
    ExceptionInfo(ExceptionInfoArguments),
    /// `readMemory`.
    ReadMemory(ReadMemoryArguments),
    /// `writeMemory`.
    WriteMemory(WriteMemoryArguments),
    /// `disassemble`.
    Disassemble(DisassembleArguments),
    /// `locations`.
    Locations(LocationsArguments),
    /// A command that the protocol does not have.
    Other {
        /// Its command.
        name: Box<str>,
        /// Its arguments, if any.
        raw: Option<Raw>,
    },
}

impl AnyRequest {
    /// Decodes the arguments of the command called `name`; absent, `null` and `{}` are the same where nothing is required.
    ///
    /// # Errors
    /// Where the arguments of a known command does not have its shape; the error names the field.
    pub fn decode(name: &str, raw: Option<&RawValue>) -> Result<Self, DecodeError> {
        Ok(match name {
            "cancel" => Self::Cancel(message::decode_or_default(raw)?),
            "runInTerminal" => Self::RunInTerminal(message::decode_or_default(raw)?),
            "startDebugging" => Self::StartDebugging(message::decode_or_default(raw)?),
            "initialize" => Self::Initialize(message::decode_or_default(raw)?),
            "configurationDone" => Self::ConfigurationDone(message::decode_or_default(raw)?),
            "launch" => Self::Launch(message::decode_or_default(raw)?),
            "attach" => Self::Attach(message::decode_or_default(raw)?),
            "restart" => Self::Restart(message::decode_or_default(raw)?),
            "disconnect" => Self::Disconnect(message::decode_or_default(raw)?),
            "terminate" => Self::Terminate(message::decode_or_default(raw)?),
            "breakpointLocations" => Self::BreakpointLocations(message::decode_or_default(raw)?),
            "setBreakpoints" => Self::SetBreakpoints(message::decode_or_default(raw)?),
            "setFunctionBreakpoints" => {
                Self::SetFunctionBreakpoints(message::decode_or_default(raw)?)
            }
            "setExceptionBreakpoints" => {
                Self::SetExceptionBreakpoints(message::decode_or_default(raw)?)
            }
            "dataBreakpointInfo" => Self::DataBreakpointInfo(message::decode_or_default(raw)?),
            "setDataBreakpoints" => Self::SetDataBreakpoints(message::decode_or_default(raw)?),
            "setInstructionBreakpoints" => {
                Self::SetInstructionBreakpoints(message::decode_or_default(raw)?)
            }
            "continue" => Self::Continue(message::decode_or_default(raw)?),
            "next" => Self::Next(message::decode_or_default(raw)?),
            "stepIn" => Self::StepIn(message::decode_or_default(raw)?),
            "stepOut" => Self::StepOut(message::decode_or_default(raw)?),
            "stepBack" => Self::StepBack(message::decode_or_default(raw)?),
            "reverseContinue" => Self::ReverseContinue(message::decode_or_default(raw)?),
            "restartFrame" => Self::RestartFrame(message::decode_or_default(raw)?),
            "goto" => Self::Goto(message::decode_or_default(raw)?),
            "pause" => Self::Pause(message::decode_or_default(raw)?),
            "stackTrace" => Self::StackTrace(message::decode_or_default(raw)?),
            "scopes" => Self::Scopes(message::decode_or_default(raw)?),
            "variables" => Self::Variables(message::decode_or_default(raw)?),
            "setVariable" => Self::SetVariable(message::decode_or_default(raw)?),
            "source" => Self::Source(message::decode_or_default(raw)?),
            "threads" => Self::Threads(message::decode_or_default(raw)?),
            "terminateThreads" => Self::TerminateThreads(message::decode_or_default(raw)?),
            "modules" => Self::Modules(message::decode_or_default(raw)?),
            "loadedSources" => Self::LoadedSources(message::decode_or_default(raw)?),
            "evaluate" => Self::Evaluate(message::decode_or_default(raw)?),
            "setExpression" => Self::SetExpression(message::decode_or_default(raw)?),
            "stepInTargets" => Self::StepInTargets(message::decode_or_default(raw)?),
            "gotoTargets" => Self::GotoTargets(message::decode_or_default(raw)?),
            "completions" => Self::Completions(message::decode_or_default(raw)?),
            "exceptionInfo" => Self::ExceptionInfo(message::decode_or_default(raw)?),
            "readMemory" => Self::ReadMemory(message::decode_or_default(raw)?),
            "writeMemory" => Self::WriteMemory(message::decode_or_default(raw)?),
            "disassemble" => Self::Disassemble(message::decode_or_default(raw)?),
            "locations" => Self::Locations(message::decode_or_default(raw)?),
            _ => Self::Other {
                name: name.into(),
                raw: raw.map(Raw::from),
            },
        })
    }

    /// Reads the arguments of the command called `name`, which have to be there.
    ///
    /// # Errors
    /// Where the arguments of a known command does not have its shape.
    pub fn read<'de, D: Deserializer<'de>>(name: &str, arguments: D) -> Result<Self, D::Error> {
        Ok(match name {
            "cancel" => Self::Cancel(CancelArguments::deserialize(arguments)?),
            "runInTerminal" => {
                Self::RunInTerminal(RunInTerminalRequestArguments::deserialize(arguments)?)
            }
            "startDebugging" => {
                Self::StartDebugging(StartDebuggingRequestArguments::deserialize(arguments)?)
            }
            "initialize" => Self::Initialize(InitializeRequestArguments::deserialize(arguments)?),
            "configurationDone" => {
                Self::ConfigurationDone(ConfigurationDoneArguments::deserialize(arguments)?)
            }
            "launch" => Self::Launch(LaunchRequestArguments::deserialize(arguments)?),
            "attach" => Self::Attach(AttachRequestArguments::deserialize(arguments)?),
            "restart" => Self::Restart(RestartArguments::deserialize(arguments)?),
            "disconnect" => Self::Disconnect(DisconnectArguments::deserialize(arguments)?),
            "terminate" => Self::Terminate(TerminateArguments::deserialize(arguments)?),
            "breakpointLocations" => {
                Self::BreakpointLocations(BreakpointLocationsArguments::deserialize(arguments)?)
            }
            "setBreakpoints" => {
                Self::SetBreakpoints(SetBreakpointsArguments::deserialize(arguments)?)
            }
            "setFunctionBreakpoints" => Self::SetFunctionBreakpoints(
                SetFunctionBreakpointsArguments::deserialize(arguments)?,
            ),
            "setExceptionBreakpoints" => Self::SetExceptionBreakpoints(
                SetExceptionBreakpointsArguments::deserialize(arguments)?,
            ),
            "dataBreakpointInfo" => {
                Self::DataBreakpointInfo(DataBreakpointInfoArguments::deserialize(arguments)?)
            }
            "setDataBreakpoints" => {
                Self::SetDataBreakpoints(SetDataBreakpointsArguments::deserialize(arguments)?)
            }
            "setInstructionBreakpoints" => Self::SetInstructionBreakpoints(
                SetInstructionBreakpointsArguments::deserialize(arguments)?,
            ),
            "continue" => Self::Continue(ContinueArguments::deserialize(arguments)?),
            "next" => Self::Next(NextArguments::deserialize(arguments)?),
            "stepIn" => Self::StepIn(StepInArguments::deserialize(arguments)?),
            "stepOut" => Self::StepOut(StepOutArguments::deserialize(arguments)?),
            "stepBack" => Self::StepBack(StepBackArguments::deserialize(arguments)?),
            "reverseContinue" => {
                Self::ReverseContinue(ReverseContinueArguments::deserialize(arguments)?)
            }
            "restartFrame" => Self::RestartFrame(RestartFrameArguments::deserialize(arguments)?),
            "goto" => Self::Goto(GotoArguments::deserialize(arguments)?),
            "pause" => Self::Pause(PauseArguments::deserialize(arguments)?),
            "stackTrace" => Self::StackTrace(StackTraceArguments::deserialize(arguments)?),
            "scopes" => Self::Scopes(ScopesArguments::deserialize(arguments)?),
            "variables" => Self::Variables(VariablesArguments::deserialize(arguments)?),
            "setVariable" => Self::SetVariable(SetVariableArguments::deserialize(arguments)?),
            "source" => Self::Source(SourceArguments::deserialize(arguments)?),
            "threads" => Self::Threads(Empty::deserialize(arguments)?),
            "terminateThreads" => {
                Self::TerminateThreads(TerminateThreadsArguments::deserialize(arguments)?)
            }
            "modules" => Self::Modules(ModulesArguments::deserialize(arguments)?),
            "loadedSources" => Self::LoadedSources(LoadedSourcesArguments::deserialize(arguments)?),
            "evaluate" => Self::Evaluate(EvaluateArguments::deserialize(arguments)?),
            "setExpression" => Self::SetExpression(SetExpressionArguments::deserialize(arguments)?),
            "stepInTargets" => Self::StepInTargets(StepInTargetsArguments::deserialize(arguments)?),
            "gotoTargets" => Self::GotoTargets(GotoTargetsArguments::deserialize(arguments)?),
            "completions" => Self::Completions(CompletionsArguments::deserialize(arguments)?),
            "exceptionInfo" => Self::ExceptionInfo(ExceptionInfoArguments::deserialize(arguments)?),
            "readMemory" => Self::ReadMemory(ReadMemoryArguments::deserialize(arguments)?),
            "writeMemory" => Self::WriteMemory(WriteMemoryArguments::deserialize(arguments)?),
            "disassemble" => Self::Disassemble(DisassembleArguments::deserialize(arguments)?),
            "locations" => Self::Locations(LocationsArguments::deserialize(arguments)?),
            _ => Self::Other {
                name: name.into(),
                raw: Some(Raw::deserialize(arguments)?),
            },
        })
    }

    /// The command's name on the wire.
    pub fn name(&self) -> &str {
        match self {
            Self::Cancel(_) => "cancel",
            Self::RunInTerminal(_) => "runInTerminal",
            Self::StartDebugging(_) => "startDebugging",
            Self::Initialize(_) => "initialize",
            Self::ConfigurationDone(_) => "configurationDone",
            Self::Launch(_) => "launch",
            Self::Attach(_) => "attach",
            Self::Restart(_) => "restart",
            Self::Disconnect(_) => "disconnect",
            Self::Terminate(_) => "terminate",
            Self::BreakpointLocations(_) => "breakpointLocations",
            Self::SetBreakpoints(_) => "setBreakpoints",
            Self::SetFunctionBreakpoints(_) => "setFunctionBreakpoints",
            Self::SetExceptionBreakpoints(_) => "setExceptionBreakpoints",
            Self::DataBreakpointInfo(_) => "dataBreakpointInfo",
            Self::SetDataBreakpoints(_) => "setDataBreakpoints",
            Self::SetInstructionBreakpoints(_) => "setInstructionBreakpoints",
            Self::Continue(_) => "continue",
            Self::Next(_) => "next",
            Self::StepIn(_) => "stepIn",
            Self::StepOut(_) => "stepOut",
            Self::StepBack(_) => "stepBack",
            Self::ReverseContinue(_) => "reverseContinue",
            Self::RestartFrame(_) => "restartFrame",
            Self::Goto(_) => "goto",
            Self::Pause(_) => "pause",
            Self::StackTrace(_) => "stackTrace",
            Self::Scopes(_) => "scopes",
            Self::Variables(_) => "variables",
            Self::SetVariable(_) => "setVariable",
            Self::Source(_) => "source",
            Self::Threads(_) => "threads",
            Self::TerminateThreads(_) => "terminateThreads",
            Self::Modules(_) => "modules",
            Self::LoadedSources(_) => "loadedSources",
            Self::Evaluate(_) => "evaluate",
            Self::SetExpression(_) => "setExpression",
            Self::StepInTargets(_) => "stepInTargets",
            Self::GotoTargets(_) => "gotoTargets",
            Self::Completions(_) => "completions",
            Self::ExceptionInfo(_) => "exceptionInfo",
            Self::ReadMemory(_) => "readMemory",
            Self::WriteMemory(_) => "writeMemory",
            Self::Disassemble(_) => "disassemble",
            Self::Locations(_) => "locations",
            Self::Other { name, .. } => name,
        }
    }

    /// Writes the arguments; `None` where there is nothing to carry.
    ///
    /// # Errors
    /// Where a value in it cannot be written as JSON.
    pub fn encode(&self) -> Result<Option<Raw>, serde_json::Error> {
        match self {
            Self::Cancel(value) => message::encode(value),
            Self::RunInTerminal(value) => message::encode(value),
            Self::StartDebugging(value) => message::encode(value),
            Self::Initialize(value) => message::encode(value),
            Self::ConfigurationDone(value) => message::encode(value),
            Self::Launch(value) => message::encode(value),
            Self::Attach(value) => message::encode(value),
            Self::Restart(value) => message::encode(value),
            Self::Disconnect(value) => message::encode(value),
            Self::Terminate(value) => message::encode(value),
            Self::BreakpointLocations(value) => message::encode(value),
            Self::SetBreakpoints(value) => message::encode(value),
            Self::SetFunctionBreakpoints(value) => message::encode(value),
            Self::SetExceptionBreakpoints(value) => message::encode(value),
            Self::DataBreakpointInfo(value) => message::encode(value),
            Self::SetDataBreakpoints(value) => message::encode(value),
            Self::SetInstructionBreakpoints(value) => message::encode(value),
            Self::Continue(value) => message::encode(value),
            Self::Next(value) => message::encode(value),
            Self::StepIn(value) => message::encode(value),
            Self::StepOut(value) => message::encode(value),
            Self::StepBack(value) => message::encode(value),
            Self::ReverseContinue(value) => message::encode(value),
            Self::RestartFrame(value) => message::encode(value),
            Self::Goto(value) => message::encode(value),
            Self::Pause(value) => message::encode(value),
            Self::StackTrace(value) => message::encode(value),
            Self::Scopes(value) => message::encode(value),
            Self::Variables(value) => message::encode(value),
            Self::SetVariable(value) => message::encode(value),
            Self::Source(value) => message::encode(value),
            Self::Threads(value) => message::encode(value),
            Self::TerminateThreads(value) => message::encode(value),
            Self::Modules(value) => message::encode(value),
            Self::LoadedSources(value) => message::encode(value),
            Self::Evaluate(value) => message::encode(value),
            Self::SetExpression(value) => message::encode(value),
            Self::StepInTargets(value) => message::encode(value),
            Self::GotoTargets(value) => message::encode(value),
            Self::Completions(value) => message::encode(value),
            Self::ExceptionInfo(value) => message::encode(value),
            Self::ReadMemory(value) => message::encode(value),
            Self::WriteMemory(value) => message::encode(value),
            Self::Disassemble(value) => message::encode(value),
            Self::Locations(value) => message::encode(value),
            Self::Other { raw, .. } => Ok(raw.clone()),
        }
    }
}

/// Writes the arguments; `null` where there is nothing to carry.
impl Serialize for AnyRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Cancel(value) => value.serialize(serializer),
            Self::RunInTerminal(value) => value.serialize(serializer),
            Self::StartDebugging(value) => value.serialize(serializer),
            Self::Initialize(value) => value.serialize(serializer),
            Self::ConfigurationDone(value) => value.serialize(serializer),
            Self::Launch(value) => value.serialize(serializer),
            Self::Attach(value) => value.serialize(serializer),
            Self::Restart(value) => value.serialize(serializer),
            Self::Disconnect(value) => value.serialize(serializer),
            Self::Terminate(value) => value.serialize(serializer),
            Self::BreakpointLocations(value) => value.serialize(serializer),
            Self::SetBreakpoints(value) => value.serialize(serializer),
            Self::SetFunctionBreakpoints(value) => value.serialize(serializer),
            Self::SetExceptionBreakpoints(value) => value.serialize(serializer),
            Self::DataBreakpointInfo(value) => value.serialize(serializer),
            Self::SetDataBreakpoints(value) => value.serialize(serializer),
            Self::SetInstructionBreakpoints(value) => value.serialize(serializer),
            Self::Continue(value) => value.serialize(serializer),
            Self::Next(value) => value.serialize(serializer),
            Self::StepIn(value) => value.serialize(serializer),
            Self::StepOut(value) => value.serialize(serializer),
            Self::StepBack(value) => value.serialize(serializer),
            Self::ReverseContinue(value) => value.serialize(serializer),
            Self::RestartFrame(value) => value.serialize(serializer),
            Self::Goto(value) => value.serialize(serializer),
            Self::Pause(value) => value.serialize(serializer),
            Self::StackTrace(value) => value.serialize(serializer),
            Self::Scopes(value) => value.serialize(serializer),
            Self::Variables(value) => value.serialize(serializer),
            Self::SetVariable(value) => value.serialize(serializer),
            Self::Source(value) => value.serialize(serializer),
            Self::Threads(value) => value.serialize(serializer),
            Self::TerminateThreads(value) => value.serialize(serializer),
            Self::Modules(value) => value.serialize(serializer),
            Self::LoadedSources(value) => value.serialize(serializer),
            Self::Evaluate(value) => value.serialize(serializer),
            Self::SetExpression(value) => value.serialize(serializer),
            Self::StepInTargets(value) => value.serialize(serializer),
            Self::GotoTargets(value) => value.serialize(serializer),
            Self::Completions(value) => value.serialize(serializer),
            Self::ExceptionInfo(value) => value.serialize(serializer),
            Self::ReadMemory(value) => value.serialize(serializer),
            Self::WriteMemory(value) => value.serialize(serializer),
            Self::Disassemble(value) => value.serialize(serializer),
            Self::Locations(value) => value.serialize(serializer),
            Self::Other { raw, .. } => raw.serialize(serializer),
        }
    }
}

/// The body of any successful response.
///
/// What is not in the protocol is kept as it came, to be passed on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "short-lived; most are read once and taken apart"
)]
pub enum AnyResponse {
    /// `cancel`.
    Cancel(CancelResponse),
    /// `runInTerminal`.
    RunInTerminal(RunInTerminalResponse),
    /// `startDebugging`.
    StartDebugging(StartDebuggingResponse),
    /// `initialize`.
    Initialize(InitializeResponse),
    /// `configurationDone`.
    ConfigurationDone(ConfigurationDoneResponse),
    /// `launch`.
    Launch(LaunchResponse),
    /// `attach`.
    Attach(AttachResponse),
    /// `restart`.
    Restart(RestartResponse),
    /// `disconnect`.
    Disconnect(DisconnectResponse),
    /// `terminate`.
    Terminate(TerminateResponse),
    /// `breakpointLocations`.
    BreakpointLocations(BreakpointLocationsResponse),
    /// `setBreakpoints`.
    SetBreakpoints(SetBreakpointsResponse),
    /// `setFunctionBreakpoints`.
    SetFunctionBreakpoints(SetFunctionBreakpointsResponse),
    /// `setExceptionBreakpoints`.
    SetExceptionBreakpoints(SetExceptionBreakpointsResponse),
    /// `dataBreakpointInfo`.
    DataBreakpointInfo(DataBreakpointInfoResponse),
    /// `setDataBreakpoints`.
    SetDataBreakpoints(SetDataBreakpointsResponse),
    /// `setInstructionBreakpoints`.
    SetInstructionBreakpoints(SetInstructionBreakpointsResponse),
    /// `continue`.
    Continue(ContinueResponse),
    /// `next`.
    Next(NextResponse),
    /// `stepIn`.
    StepIn(StepInResponse),
    /// `stepOut`.
    StepOut(StepOutResponse),
    /// `stepBack`.
    StepBack(StepBackResponse),
    /// `reverseContinue`.
    ReverseContinue(ReverseContinueResponse),
    /// `restartFrame`.
    RestartFrame(RestartFrameResponse),
    /// `goto`.
    Goto(GotoResponse),
    /// `pause`.
    Pause(PauseResponse),
    /// `stackTrace`.
    StackTrace(StackTraceResponse),
    /// `scopes`.
    Scopes(ScopesResponse),
    /// `variables`.
    Variables(VariablesResponse),
    /// `setVariable`.
    SetVariable(SetVariableResponse),
    /// `source`.
    Source(SourceResponse),
    /// `threads`.
    Threads(ThreadsResponse),
    /// `terminateThreads`.
    TerminateThreads(TerminateThreadsResponse),
    /// `modules`.
    Modules(ModulesResponse),
    /// `loadedSources`.
    LoadedSources(LoadedSourcesResponse),
    /// `evaluate`.
    Evaluate(EvaluateResponse),
    /// `setExpression`.
    SetExpression(SetExpressionResponse),
    /// `stepInTargets`.
    StepInTargets(StepInTargetsResponse),
    /// `gotoTargets`.
    GotoTargets(GotoTargetsResponse),
    /// `completions`.
    Completions(CompletionsResponse),
    /// `exceptionInfo`.
    ExceptionInfo(ExceptionInfoResponse),
    /// `readMemory`.
    ReadMemory(ReadMemoryResponse),
    /// `writeMemory`.
    WriteMemory(WriteMemoryResponse),
    /// `disassemble`.
    Disassemble(DisassembleResponse),
    /// `locations`.
    Locations(LocationsResponse),
    /// A command that the protocol does not have.
    Other {
        /// Its command.
        name: Box<str>,
        /// Its body, if any.
        raw: Option<Raw>,
    },
}

impl AnyResponse {
    /// Decodes the body of the command called `name`; absent, `null` and `{}` are the same where nothing is required.
    ///
    /// # Errors
    /// Where the body of a known command does not have its shape; the error names the field.
    pub fn decode(name: &str, raw: Option<&RawValue>) -> Result<Self, DecodeError> {
        Ok(match name {
            "cancel" => Self::Cancel(message::decode_or_default(raw)?),
            "runInTerminal" => Self::RunInTerminal(message::decode_or_default(raw)?),
            "startDebugging" => Self::StartDebugging(message::decode_or_default(raw)?),
            "initialize" => Self::Initialize(message::decode_or_default(raw)?),
            "configurationDone" => Self::ConfigurationDone(message::decode_or_default(raw)?),
            "launch" => Self::Launch(message::decode_or_default(raw)?),
            "attach" => Self::Attach(message::decode_or_default(raw)?),
            "restart" => Self::Restart(message::decode_or_default(raw)?),
            "disconnect" => Self::Disconnect(message::decode_or_default(raw)?),
            "terminate" => Self::Terminate(message::decode_or_default(raw)?),
            "breakpointLocations" => Self::BreakpointLocations(message::decode_or_default(raw)?),
            "setBreakpoints" => Self::SetBreakpoints(message::decode_or_default(raw)?),
            "setFunctionBreakpoints" => {
                Self::SetFunctionBreakpoints(message::decode_or_default(raw)?)
            }
            "setExceptionBreakpoints" => {
                Self::SetExceptionBreakpoints(message::decode_or_default(raw)?)
            }
            "dataBreakpointInfo" => Self::DataBreakpointInfo(message::decode_or_default(raw)?),
            "setDataBreakpoints" => Self::SetDataBreakpoints(message::decode_or_default(raw)?),
            "setInstructionBreakpoints" => {
                Self::SetInstructionBreakpoints(message::decode_or_default(raw)?)
            }
            "continue" => Self::Continue(message::decode_or_default(raw)?),
            "next" => Self::Next(message::decode_or_default(raw)?),
            "stepIn" => Self::StepIn(message::decode_or_default(raw)?),
            "stepOut" => Self::StepOut(message::decode_or_default(raw)?),
            "stepBack" => Self::StepBack(message::decode_or_default(raw)?),
            "reverseContinue" => Self::ReverseContinue(message::decode_or_default(raw)?),
            "restartFrame" => Self::RestartFrame(message::decode_or_default(raw)?),
            "goto" => Self::Goto(message::decode_or_default(raw)?),
            "pause" => Self::Pause(message::decode_or_default(raw)?),
            "stackTrace" => Self::StackTrace(message::decode_or_default(raw)?),
            "scopes" => Self::Scopes(message::decode_or_default(raw)?),
            "variables" => Self::Variables(message::decode_or_default(raw)?),
            "setVariable" => Self::SetVariable(message::decode_or_default(raw)?),
            "source" => Self::Source(message::decode_or_default(raw)?),
            "threads" => Self::Threads(message::decode_or_default(raw)?),
            "terminateThreads" => Self::TerminateThreads(message::decode_or_default(raw)?),
            "modules" => Self::Modules(message::decode_or_default(raw)?),
            "loadedSources" => Self::LoadedSources(message::decode_or_default(raw)?),
            "evaluate" => Self::Evaluate(message::decode_or_default(raw)?),
            "setExpression" => Self::SetExpression(message::decode_or_default(raw)?),
            "stepInTargets" => Self::StepInTargets(message::decode_or_default(raw)?),
            "gotoTargets" => Self::GotoTargets(message::decode_or_default(raw)?),
            "completions" => Self::Completions(message::decode_or_default(raw)?),
            "exceptionInfo" => Self::ExceptionInfo(message::decode_or_default(raw)?),
            "readMemory" => Self::ReadMemory(message::decode_or_default(raw)?),
            "writeMemory" => Self::WriteMemory(message::decode_or_default(raw)?),
            "disassemble" => Self::Disassemble(message::decode_or_default(raw)?),
            "locations" => Self::Locations(message::decode_or_default(raw)?),
            _ => Self::Other {
                name: name.into(),
                raw: raw.map(Raw::from),
            },
        })
    }

    /// Reads the body of the command called `name`, which have to be there.
    ///
    /// # Errors
    /// Where the body of a known command does not have its shape.
    pub fn read<'de, D: Deserializer<'de>>(name: &str, body: D) -> Result<Self, D::Error> {
        Ok(match name {
            "cancel" => Self::Cancel(CancelResponse::deserialize(body)?),
            "runInTerminal" => Self::RunInTerminal(RunInTerminalResponse::deserialize(body)?),
            "startDebugging" => Self::StartDebugging(StartDebuggingResponse::deserialize(body)?),
            "initialize" => Self::Initialize(InitializeResponse::deserialize(body)?),
            "configurationDone" => {
                Self::ConfigurationDone(ConfigurationDoneResponse::deserialize(body)?)
            }
            "launch" => Self::Launch(LaunchResponse::deserialize(body)?),
            "attach" => Self::Attach(AttachResponse::deserialize(body)?),
            "restart" => Self::Restart(RestartResponse::deserialize(body)?),
            "disconnect" => Self::Disconnect(DisconnectResponse::deserialize(body)?),
            "terminate" => Self::Terminate(TerminateResponse::deserialize(body)?),
            "breakpointLocations" => {
                Self::BreakpointLocations(BreakpointLocationsResponse::deserialize(body)?)
            }
            "setBreakpoints" => Self::SetBreakpoints(SetBreakpointsResponse::deserialize(body)?),
            "setFunctionBreakpoints" => {
                Self::SetFunctionBreakpoints(SetFunctionBreakpointsResponse::deserialize(body)?)
            }
            "setExceptionBreakpoints" => {
                Self::SetExceptionBreakpoints(SetExceptionBreakpointsResponse::deserialize(body)?)
            }
            "dataBreakpointInfo" => {
                Self::DataBreakpointInfo(DataBreakpointInfoResponse::deserialize(body)?)
            }
            "setDataBreakpoints" => {
                Self::SetDataBreakpoints(SetDataBreakpointsResponse::deserialize(body)?)
            }
            "setInstructionBreakpoints" => Self::SetInstructionBreakpoints(
                SetInstructionBreakpointsResponse::deserialize(body)?,
            ),
            "continue" => Self::Continue(ContinueResponse::deserialize(body)?),
            "next" => Self::Next(NextResponse::deserialize(body)?),
            "stepIn" => Self::StepIn(StepInResponse::deserialize(body)?),
            "stepOut" => Self::StepOut(StepOutResponse::deserialize(body)?),
            "stepBack" => Self::StepBack(StepBackResponse::deserialize(body)?),
            "reverseContinue" => Self::ReverseContinue(ReverseContinueResponse::deserialize(body)?),
            "restartFrame" => Self::RestartFrame(RestartFrameResponse::deserialize(body)?),
            "goto" => Self::Goto(GotoResponse::deserialize(body)?),
            "pause" => Self::Pause(PauseResponse::deserialize(body)?),
            "stackTrace" => Self::StackTrace(StackTraceResponse::deserialize(body)?),
            "scopes" => Self::Scopes(ScopesResponse::deserialize(body)?),
            "variables" => Self::Variables(VariablesResponse::deserialize(body)?),
            "setVariable" => Self::SetVariable(SetVariableResponse::deserialize(body)?),
            "source" => Self::Source(SourceResponse::deserialize(body)?),
            "threads" => Self::Threads(ThreadsResponse::deserialize(body)?),
            "terminateThreads" => {
                Self::TerminateThreads(TerminateThreadsResponse::deserialize(body)?)
            }
            "modules" => Self::Modules(ModulesResponse::deserialize(body)?),
            "loadedSources" => Self::LoadedSources(LoadedSourcesResponse::deserialize(body)?),
            "evaluate" => Self::Evaluate(EvaluateResponse::deserialize(body)?),
            "setExpression" => Self::SetExpression(SetExpressionResponse::deserialize(body)?),
            "stepInTargets" => Self::StepInTargets(StepInTargetsResponse::deserialize(body)?),
            "gotoTargets" => Self::GotoTargets(GotoTargetsResponse::deserialize(body)?),
            "completions" => Self::Completions(CompletionsResponse::deserialize(body)?),
            "exceptionInfo" => Self::ExceptionInfo(ExceptionInfoResponse::deserialize(body)?),
            "readMemory" => Self::ReadMemory(ReadMemoryResponse::deserialize(body)?),
            "writeMemory" => Self::WriteMemory(WriteMemoryResponse::deserialize(body)?),
            "disassemble" => Self::Disassemble(DisassembleResponse::deserialize(body)?),
            "locations" => Self::Locations(LocationsResponse::deserialize(body)?),
            _ => Self::Other {
                name: name.into(),
                raw: Some(Raw::deserialize(body)?),
            },
        })
    }

    /// The command's name on the wire.
    pub fn name(&self) -> &str {
        match self {
            Self::Cancel(_) => "cancel",
            Self::RunInTerminal(_) => "runInTerminal",
            Self::StartDebugging(_) => "startDebugging",
            Self::Initialize(_) => "initialize",
            Self::ConfigurationDone(_) => "configurationDone",
            Self::Launch(_) => "launch",
            Self::Attach(_) => "attach",
            Self::Restart(_) => "restart",
            Self::Disconnect(_) => "disconnect",
            Self::Terminate(_) => "terminate",
            Self::BreakpointLocations(_) => "breakpointLocations",
            Self::SetBreakpoints(_) => "setBreakpoints",
            Self::SetFunctionBreakpoints(_) => "setFunctionBreakpoints",
            Self::SetExceptionBreakpoints(_) => "setExceptionBreakpoints",
            Self::DataBreakpointInfo(_) => "dataBreakpointInfo",
            Self::SetDataBreakpoints(_) => "setDataBreakpoints",
            Self::SetInstructionBreakpoints(_) => "setInstructionBreakpoints",
            Self::Continue(_) => "continue",
            Self::Next(_) => "next",
            Self::StepIn(_) => "stepIn",
            Self::StepOut(_) => "stepOut",
            Self::StepBack(_) => "stepBack",
            Self::ReverseContinue(_) => "reverseContinue",
            Self::RestartFrame(_) => "restartFrame",
            Self::Goto(_) => "goto",
            Self::Pause(_) => "pause",
            Self::StackTrace(_) => "stackTrace",
            Self::Scopes(_) => "scopes",
            Self::Variables(_) => "variables",
            Self::SetVariable(_) => "setVariable",
            Self::Source(_) => "source",
            Self::Threads(_) => "threads",
            Self::TerminateThreads(_) => "terminateThreads",
            Self::Modules(_) => "modules",
            Self::LoadedSources(_) => "loadedSources",
            Self::Evaluate(_) => "evaluate",
            Self::SetExpression(_) => "setExpression",
            Self::StepInTargets(_) => "stepInTargets",
            Self::GotoTargets(_) => "gotoTargets",
            Self::Completions(_) => "completions",
            Self::ExceptionInfo(_) => "exceptionInfo",
            Self::ReadMemory(_) => "readMemory",
            Self::WriteMemory(_) => "writeMemory",
            Self::Disassemble(_) => "disassemble",
            Self::Locations(_) => "locations",
            Self::Other { name, .. } => name,
        }
    }

    /// Writes the body; `None` where there is nothing to carry.
    ///
    /// # Errors
    /// Where a value in it cannot be written as JSON.
    pub fn encode(&self) -> Result<Option<Raw>, serde_json::Error> {
        match self {
            Self::Cancel(value) => message::encode(value),
            Self::RunInTerminal(value) => message::encode(value),
            Self::StartDebugging(value) => message::encode(value),
            Self::Initialize(value) => message::encode(value),
            Self::ConfigurationDone(value) => message::encode(value),
            Self::Launch(value) => message::encode(value),
            Self::Attach(value) => message::encode(value),
            Self::Restart(value) => message::encode(value),
            Self::Disconnect(value) => message::encode(value),
            Self::Terminate(value) => message::encode(value),
            Self::BreakpointLocations(value) => message::encode(value),
            Self::SetBreakpoints(value) => message::encode(value),
            Self::SetFunctionBreakpoints(value) => message::encode(value),
            Self::SetExceptionBreakpoints(value) => message::encode(value),
            Self::DataBreakpointInfo(value) => message::encode(value),
            Self::SetDataBreakpoints(value) => message::encode(value),
            Self::SetInstructionBreakpoints(value) => message::encode(value),
            Self::Continue(value) => message::encode(value),
            Self::Next(value) => message::encode(value),
            Self::StepIn(value) => message::encode(value),
            Self::StepOut(value) => message::encode(value),
            Self::StepBack(value) => message::encode(value),
            Self::ReverseContinue(value) => message::encode(value),
            Self::RestartFrame(value) => message::encode(value),
            Self::Goto(value) => message::encode(value),
            Self::Pause(value) => message::encode(value),
            Self::StackTrace(value) => message::encode(value),
            Self::Scopes(value) => message::encode(value),
            Self::Variables(value) => message::encode(value),
            Self::SetVariable(value) => message::encode(value),
            Self::Source(value) => message::encode(value),
            Self::Threads(value) => message::encode(value),
            Self::TerminateThreads(value) => message::encode(value),
            Self::Modules(value) => message::encode(value),
            Self::LoadedSources(value) => message::encode(value),
            Self::Evaluate(value) => message::encode(value),
            Self::SetExpression(value) => message::encode(value),
            Self::StepInTargets(value) => message::encode(value),
            Self::GotoTargets(value) => message::encode(value),
            Self::Completions(value) => message::encode(value),
            Self::ExceptionInfo(value) => message::encode(value),
            Self::ReadMemory(value) => message::encode(value),
            Self::WriteMemory(value) => message::encode(value),
            Self::Disassemble(value) => message::encode(value),
            Self::Locations(value) => message::encode(value),
            Self::Other { raw, .. } => Ok(raw.clone()),
        }
    }
}

/// Writes the body; `null` where there is nothing to carry.
impl Serialize for AnyResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Cancel(value) => value.serialize(serializer),
            Self::RunInTerminal(value) => value.serialize(serializer),
            Self::StartDebugging(value) => value.serialize(serializer),
            Self::Initialize(value) => value.serialize(serializer),
            Self::ConfigurationDone(value) => value.serialize(serializer),
            Self::Launch(value) => value.serialize(serializer),
            Self::Attach(value) => value.serialize(serializer),
            Self::Restart(value) => value.serialize(serializer),
            Self::Disconnect(value) => value.serialize(serializer),
            Self::Terminate(value) => value.serialize(serializer),
            Self::BreakpointLocations(value) => value.serialize(serializer),
            Self::SetBreakpoints(value) => value.serialize(serializer),
            Self::SetFunctionBreakpoints(value) => value.serialize(serializer),
            Self::SetExceptionBreakpoints(value) => value.serialize(serializer),
            Self::DataBreakpointInfo(value) => value.serialize(serializer),
            Self::SetDataBreakpoints(value) => value.serialize(serializer),
            Self::SetInstructionBreakpoints(value) => value.serialize(serializer),
            Self::Continue(value) => value.serialize(serializer),
            Self::Next(value) => value.serialize(serializer),
            Self::StepIn(value) => value.serialize(serializer),
            Self::StepOut(value) => value.serialize(serializer),
            Self::StepBack(value) => value.serialize(serializer),
            Self::ReverseContinue(value) => value.serialize(serializer),
            Self::RestartFrame(value) => value.serialize(serializer),
            Self::Goto(value) => value.serialize(serializer),
            Self::Pause(value) => value.serialize(serializer),
            Self::StackTrace(value) => value.serialize(serializer),
            Self::Scopes(value) => value.serialize(serializer),
            Self::Variables(value) => value.serialize(serializer),
            Self::SetVariable(value) => value.serialize(serializer),
            Self::Source(value) => value.serialize(serializer),
            Self::Threads(value) => value.serialize(serializer),
            Self::TerminateThreads(value) => value.serialize(serializer),
            Self::Modules(value) => value.serialize(serializer),
            Self::LoadedSources(value) => value.serialize(serializer),
            Self::Evaluate(value) => value.serialize(serializer),
            Self::SetExpression(value) => value.serialize(serializer),
            Self::StepInTargets(value) => value.serialize(serializer),
            Self::GotoTargets(value) => value.serialize(serializer),
            Self::Completions(value) => value.serialize(serializer),
            Self::ExceptionInfo(value) => value.serialize(serializer),
            Self::ReadMemory(value) => value.serialize(serializer),
            Self::WriteMemory(value) => value.serialize(serializer),
            Self::Disassemble(value) => value.serialize(serializer),
            Self::Locations(value) => value.serialize(serializer),
            Self::Other { raw, .. } => raw.serialize(serializer),
        }
    }
}

/// The body of any event.
///
/// What is not in the protocol is kept as it came, to be passed on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "short-lived; most are read once and taken apart"
)]
pub enum AnyEvent {
    /// `initialized`.
    Initialized(Empty),
    /// `stopped`.
    Stopped(StoppedEventBody),
    /// `continued`.
    Continued(ContinuedEventBody),
    /// `exited`.
    Exited(ExitedEventBody),
    /// `terminated`.
    Terminated(TerminatedEventBody),
    /// `thread`.
    Thread(ThreadEventBody),
    /// `output`.
    Output(OutputEventBody),
    /// `breakpoint`.
    Breakpoint(BreakpointEventBody),
    /// `module`.
    Module(ModuleEventBody),
    /// `loadedSource`.
    LoadedSource(LoadedSourceEventBody),
    /// `process`.
    Process(ProcessEventBody),
    /// `capabilities`.
    Capabilities(CapabilitiesEventBody),
    /// `progressStart`.
    ProgressStart(ProgressStartEventBody),
    /// `progressUpdate`.
    ProgressUpdate(ProgressUpdateEventBody),
    /// `progressEnd`.
    ProgressEnd(ProgressEndEventBody),
    /// `invalidated`.
    Invalidated(InvalidatedEventBody),
    /// `memory`.
    Memory(MemoryEventBody),
    /// A event that the protocol does not have.
    Other {
        /// Its event.
        name: Box<str>,
        /// Its body, if any.
        raw: Option<Raw>,
    },
}

impl AnyEvent {
    /// Decodes the body of the event called `name`; absent, `null` and `{}` are the same where nothing is required.
    ///
    /// # Errors
    /// Where the body of a known event does not have its shape; the error names the field.
    pub fn decode(name: &str, raw: Option<&RawValue>) -> Result<Self, DecodeError> {
        Ok(match name {
            "initialized" => Self::Initialized(message::decode_or_default(raw)?),
            "stopped" => Self::Stopped(message::decode_or_default(raw)?),
            "continued" => Self::Continued(message::decode_or_default(raw)?),
            "exited" => Self::Exited(message::decode_or_default(raw)?),
            "terminated" => Self::Terminated(message::decode_or_default(raw)?),
            "thread" => Self::Thread(message::decode_or_default(raw)?),
            "output" => Self::Output(message::decode_or_default(raw)?),
            "breakpoint" => Self::Breakpoint(message::decode_or_default(raw)?),
            "module" => Self::Module(message::decode_or_default(raw)?),
            "loadedSource" => Self::LoadedSource(message::decode_or_default(raw)?),
            "process" => Self::Process(message::decode_or_default(raw)?),
            "capabilities" => Self::Capabilities(message::decode_or_default(raw)?),
            "progressStart" => Self::ProgressStart(message::decode_or_default(raw)?),
            "progressUpdate" => Self::ProgressUpdate(message::decode_or_default(raw)?),
            "progressEnd" => Self::ProgressEnd(message::decode_or_default(raw)?),
            "invalidated" => Self::Invalidated(message::decode_or_default(raw)?),
            "memory" => Self::Memory(message::decode_or_default(raw)?),
            _ => Self::Other {
                name: name.into(),
                raw: raw.map(Raw::from),
            },
        })
    }

    /// Reads the body of the event called `name`, which have to be there.
    ///
    /// # Errors
    /// Where the body of a known event does not have its shape.
    pub fn read<'de, D: Deserializer<'de>>(name: &str, body: D) -> Result<Self, D::Error> {
        Ok(match name {
            "initialized" => Self::Initialized(Empty::deserialize(body)?),
            "stopped" => Self::Stopped(StoppedEventBody::deserialize(body)?),
            "continued" => Self::Continued(ContinuedEventBody::deserialize(body)?),
            "exited" => Self::Exited(ExitedEventBody::deserialize(body)?),
            "terminated" => Self::Terminated(TerminatedEventBody::deserialize(body)?),
            "thread" => Self::Thread(ThreadEventBody::deserialize(body)?),
            "output" => Self::Output(OutputEventBody::deserialize(body)?),
            "breakpoint" => Self::Breakpoint(BreakpointEventBody::deserialize(body)?),
            "module" => Self::Module(ModuleEventBody::deserialize(body)?),
            "loadedSource" => Self::LoadedSource(LoadedSourceEventBody::deserialize(body)?),
            "process" => Self::Process(ProcessEventBody::deserialize(body)?),
            "capabilities" => Self::Capabilities(CapabilitiesEventBody::deserialize(body)?),
            "progressStart" => Self::ProgressStart(ProgressStartEventBody::deserialize(body)?),
            "progressUpdate" => Self::ProgressUpdate(ProgressUpdateEventBody::deserialize(body)?),
            "progressEnd" => Self::ProgressEnd(ProgressEndEventBody::deserialize(body)?),
            "invalidated" => Self::Invalidated(InvalidatedEventBody::deserialize(body)?),
            "memory" => Self::Memory(MemoryEventBody::deserialize(body)?),
            _ => Self::Other {
                name: name.into(),
                raw: Some(Raw::deserialize(body)?),
            },
        })
    }

    /// The event's name on the wire.
    pub fn name(&self) -> &str {
        match self {
            Self::Initialized(_) => "initialized",
            Self::Stopped(_) => "stopped",
            Self::Continued(_) => "continued",
            Self::Exited(_) => "exited",
            Self::Terminated(_) => "terminated",
            Self::Thread(_) => "thread",
            Self::Output(_) => "output",
            Self::Breakpoint(_) => "breakpoint",
            Self::Module(_) => "module",
            Self::LoadedSource(_) => "loadedSource",
            Self::Process(_) => "process",
            Self::Capabilities(_) => "capabilities",
            Self::ProgressStart(_) => "progressStart",
            Self::ProgressUpdate(_) => "progressUpdate",
            Self::ProgressEnd(_) => "progressEnd",
            Self::Invalidated(_) => "invalidated",
            Self::Memory(_) => "memory",
            Self::Other { name, .. } => name,
        }
    }

    /// Writes the body; `None` where there is nothing to carry.
    ///
    /// # Errors
    /// Where a value in it cannot be written as JSON.
    pub fn encode(&self) -> Result<Option<Raw>, serde_json::Error> {
        match self {
            Self::Initialized(value) => message::encode(value),
            Self::Stopped(value) => message::encode(value),
            Self::Continued(value) => message::encode(value),
            Self::Exited(value) => message::encode(value),
            Self::Terminated(value) => message::encode(value),
            Self::Thread(value) => message::encode(value),
            Self::Output(value) => message::encode(value),
            Self::Breakpoint(value) => message::encode(value),
            Self::Module(value) => message::encode(value),
            Self::LoadedSource(value) => message::encode(value),
            Self::Process(value) => message::encode(value),
            Self::Capabilities(value) => message::encode(value),
            Self::ProgressStart(value) => message::encode(value),
            Self::ProgressUpdate(value) => message::encode(value),
            Self::ProgressEnd(value) => message::encode(value),
            Self::Invalidated(value) => message::encode(value),
            Self::Memory(value) => message::encode(value),
            Self::Other { raw, .. } => Ok(raw.clone()),
        }
    }
}

/// Writes the body; `null` where there is nothing to carry.
impl Serialize for AnyEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Initialized(value) => value.serialize(serializer),
            Self::Stopped(value) => value.serialize(serializer),
            Self::Continued(value) => value.serialize(serializer),
            Self::Exited(value) => value.serialize(serializer),
            Self::Terminated(value) => value.serialize(serializer),
            Self::Thread(value) => value.serialize(serializer),
            Self::Output(value) => value.serialize(serializer),
            Self::Breakpoint(value) => value.serialize(serializer),
            Self::Module(value) => value.serialize(serializer),
            Self::LoadedSource(value) => value.serialize(serializer),
            Self::Process(value) => value.serialize(serializer),
            Self::Capabilities(value) => value.serialize(serializer),
            Self::ProgressStart(value) => value.serialize(serializer),
            Self::ProgressUpdate(value) => value.serialize(serializer),
            Self::ProgressEnd(value) => value.serialize(serializer),
            Self::Invalidated(value) => value.serialize(serializer),
            Self::Memory(value) => value.serialize(serializer),
            Self::Other { raw, .. } => raw.serialize(serializer),
        }
    }
}
