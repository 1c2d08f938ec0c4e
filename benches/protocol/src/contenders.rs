//! The other crates, each used as its documentation says.

use dap::base_message::BaseMessage;
use dapts::{IEvent, IRequest};
use serde_json::{Value, from_str, from_value, to_string};

/// Decodes a request with `dap`; `None` if that fails.
pub fn dap_request(text: &str) -> Option<dap::requests::Request> {
    from_str(text).ok()
}

/// Decodes an adapter's message with `dap`; `None` if that fails.
pub fn dap_adapter(text: &str) -> Option<BaseMessage> {
    from_str(text).ok()
}

macro_rules! dapts_payloads {
    (requests { $($request:ident)* } events { $($event:ident)* }) => {
        /// A message decoded by `dapts`: its envelope, and a typed payload.
        #[allow(clippy::large_enum_variant)]
        pub enum WithDapts {
            $($request(<dapts::request::$request as IRequest>::Arguments),)*
            Response(Box<ResponseWithDapts>),
            Event(Box<EventWithDapts>),
            Failed(dapts::Response),
        }

        impl WithDapts {
            /// Encodes the message as text.
            pub fn encode(&self) -> serde_json::Result<String> {
                match self {
                    $(Self::$request(arguments) => to_string(&dapts::Request::new(
                        1, <dapts::request::$request as IRequest>::COMMAND.to_owned(), arguments,
                    )),)*
                    Self::Response(response) => to_string(&match &**response {
                        $(ResponseWithDapts::$request(body) => dapts::Response::success(1, body),)*
                    }),
                    Self::Event(event) => to_string(&match &**event {
                        $(EventWithDapts::$event(body) => dapts::Event::new(
                            1, <dapts::event::$event as IEvent>::EVENT.to_owned(), body,
                        ),)*
                    }),
                    Self::Failed(response) => to_string(response),
                }
            }
        }

        #[allow(clippy::large_enum_variant)]
        pub enum ResponseWithDapts {
            $($request(<dapts::request::$request as IRequest>::Response),)*
        }

        #[allow(clippy::large_enum_variant)]
        pub enum EventWithDapts {
            $($event(<dapts::event::$event as IEvent>::Body),)*
        }

        /// Decodes a request with `dapts`; `None` if that fails.
        pub fn dapts_request(text: &str) -> Option<WithDapts> {
            let request: dapts::Request = from_str(text).ok()?;
            match request.command.as_str() {
                $(<dapts::request::$request as IRequest>::COMMAND => Some(WithDapts::$request(from_value(request.arguments).ok()?)),)*
                _ => None,
            }
        }

        fn dapts_response(text: &str, command: &str) -> Option<WithDapts> {
            let response: dapts::Response = from_str(text).ok()?;
            if !response.success {
                return Some(WithDapts::Failed(response));
            }
            let body = response.body.unwrap_or(Value::Null);
            Some(WithDapts::Response(Box::new(match command {
                $(<dapts::request::$request as IRequest>::COMMAND => ResponseWithDapts::$request(from_value(body).ok()?),)*
                _ => return None,
            })))
        }

        fn dapts_event(text: &str) -> Option<WithDapts> {
            let event: dapts::Event = from_str(text).ok()?;
            Some(WithDapts::Event(Box::new(match event.event.as_str() {
                $(<dapts::event::$event as IEvent>::EVENT => EventWithDapts::$event(from_value(event.body).ok()?),)*
                _ => return None,
            })))
        }
    };
}

dapts_payloads! {
    requests {
        Attach BreakpointLocations Cancel Completions ConfigurationDone Continue DataBreakpointInfo Disassemble Disconnect
        Evaluate ExceptionInfo Goto GotoTargets Initialize Launch LoadedSources Locations Modules Next Pause ReadMemory
        Restart RestartFrame ReverseContinue RunInTerminal Scopes SetBreakpoints SetDataBreakpoints SetExceptionBreakpoints
        SetExpression SetFunctionBreakpoints SetInstructionBreakpoints SetVariable Source StackTrace StartDebugging StepBack
        StepIn StepInTargets StepOut Terminate TerminateThreads Threads Variables WriteMemory
    }
    events {
        Breakpoint Capabilities Continued Exited Initialized Invalidated LoadedSource Memory Module Output Process
        ProgressEnd ProgressStart ProgressUpdate Stopped Terminated Thread
    }
}

/// Decodes an adapter's message with `dapts`; `None` if that fails. Its response type lacks the command, which the sender of the request
/// would look up; here `command` provides it.
pub fn dapts_adapter(text: &str, command: Option<&str>) -> Option<WithDapts> {
    match command {
        Some(command) => dapts_response(text, command),
        None => dapts_event(text),
    }
}
