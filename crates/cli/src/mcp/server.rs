//! The protocol's side: which tools and prompts there are, and how their answers are told.

use std::sync::Arc;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, ContentBlock, Implementation, PromptMessage, Role, ServerCapabilities,
    ServerConfig,
};
use rmcp::schemars::{self, JsonSchema};
use rmcp::service::RequestContext;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, prompt, prompt_handler, prompt_router, tool,
    tool_handler, tool_router,
};
use serde::Deserialize;

use super::arguments::{
    Breakpoints, Crashed, End, Evaluate, Inspect, More, Output, Run, Start, Step, Stuck, Wrote,
};
use super::hunts;
use super::sessions::Calling;
use super::shown::Shown;
use super::tools::Tools;

/// What a model is told of the server as a whole.
const INSTRUCTIONS: &str = "Dapple debugs programs: C, C++ and Rust with its own adapter, other languages with others. `start` begins a session and returns at its first stop; each stop tells why and \
where the program has stopped, the stack, the variables, and what it has written. Set breakpoints by the text of a line rather than by its number. While a program runs, `run` waits for its stop, and \
`where_is_it_stuck` stops it. `start` with `record` lets `who_wrote` say which line has written a value, and lets the program run backwards. Long answers end with a cursor for `more`.";

/// The server of a client.
pub struct Server {
    tools: Arc<Tools>,
}

type Answer = Result<CallToolResult, ErrorData>;
type Context = RequestContext<RoleServer>;

#[tool_router]
impl Server {
    /// A server with these tools.
    pub fn new(tools: Arc<Tools>) -> Server {
        Server { tools }
    }

    /// Begin a debug session with a program, a process that runs, or a core file. Returns at the program's first stop: a breakpoint, a crash, its end, or after `within` seconds.
    #[tool(annotations(title = "Start a debug session", open_world_hint = false))]
    async fn start(&self, Parameters(asked): Parameters<Start>, context: Context) -> Answer {
        self.answer(context, move |tools, calling| tools.start(&asked, calling))
            .await
    }

    /// Let the program go on until its next stop: forwards, backwards in a recorded session, to a place, or anew from its beginning. Where it runs already, waits for its stop.
    #[tool(annotations(title = "Let the program run", open_world_hint = false))]
    async fn run(&self, Parameters(asked): Parameters<Run>, context: Context) -> Answer {
        self.answer(context, move |tools, calling| tools.run(&asked, calling))
            .await
    }

    /// Do a step: over a line, into a call, out to the caller, or one instruction; forwards, or backwards in a recorded session.
    #[tool(annotations(title = "Step", open_world_hint = false))]
    async fn step(&self, Parameters(asked): Parameters<Step>, context: Context) -> Answer {
        self.answer(context, move |tools, calling| tools.step(&asked, calling))
            .await
    }

    /// Look at the stopped program: variables, stack, threads, source, registers, memory, locks, and more.
    #[tool(annotations(title = "Inspect", read_only_hint = true, open_world_hint = false))]
    async fn inspect(&self, Parameters(asked): Parameters<Inspect>, context: Context) -> Answer {
        self.answer(context, move |tools, calling| {
            tools.inspect(&asked, calling)
        })
        .await
    }

    /// Evaluate an expression in the stopped program, or set a variable.
    #[tool(annotations(title = "Evaluate", open_world_hint = false))]
    async fn evaluate(&self, Parameters(asked): Parameters<Evaluate>, context: Context) -> Answer {
        self.answer(context, move |tools, calling| {
            tools.evaluate(&asked, calling)
        })
        .await
    }

    /// Set and remove breakpoints, or list them. A breakpoint by the text of its line stays on that line when the source is edited and the program run again.
    #[tool(annotations(title = "Breakpoints", open_world_hint = false))]
    async fn breakpoints(
        &self,
        Parameters(asked): Parameters<Breakpoints>,
        context: Context,
    ) -> Answer {
        self.answer(context, move |tools, calling| {
            tools.breakpoints(&asked, calling)
        })
        .await
    }

    /// What the program has written since the last time.
    #[tool(annotations(title = "Output", read_only_hint = true, open_world_hint = false))]
    async fn output(&self, Parameters(asked): Parameters<Output>, context: Context) -> Answer {
        self.answer(context, move |tools, calling| tools.output(&asked, calling))
            .await
    }

    /// For a program that hangs: stop it if it runs, and show the stacks of all threads, who holds and who waits for locks, and asynchronous tasks.
    #[tool(annotations(title = "Where is it stuck?", open_world_hint = false))]
    async fn where_is_it_stuck(
        &self,
        Parameters(asked): Parameters<Stuck>,
        context: Context,
    ) -> Answer {
        self.answer(context, move |tools, calling| {
            tools.where_is_it_stuck(&asked, calling)
        })
        .await
    }

    /// For a program that has crashed, or a core file: the reason, the stack with arguments, the variables, the threads.
    #[tool(annotations(title = "Why did it crash?", open_world_hint = false))]
    async fn why_did_it_crash(
        &self,
        Parameters(asked): Parameters<Crashed>,
        context: Context,
    ) -> Answer {
        self.answer(context, move |tools, calling| {
            tools.why_did_it_crash(&asked, calling)
        })
        .await
    }

    /// In a recorded session: which line has written a variable, field or element last, with the value before and after, and the stack at that time.
    #[tool(annotations(title = "Who wrote this?", open_world_hint = false))]
    async fn who_wrote(&self, Parameters(asked): Parameters<Wrote>, context: Context) -> Answer {
        self.answer(context, move |tools, calling| {
            tools.who_wrote(&asked, calling)
        })
        .await
    }

    /// The rest of a long answer.
    #[tool(annotations(
        title = "More of an answer",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn more(&self, Parameters(asked): Parameters<More>) -> Answer {
        Ok(result(self.tools.more(&asked).map(|text| (text, false))))
    }

    /// End a session, and its program unless it was attached to.
    #[tool(annotations(title = "End a session", open_world_hint = false))]
    async fn end(&self, Parameters(asked): Parameters<End>, context: Context) -> Answer {
        self.answer(context, move |tools, _| tools.end(&asked))
            .await
    }

    /// Has a tool do its work in a thread of its own, since it may wait for the program.
    async fn answer<F>(&self, context: Context, work: F) -> Answer
    where
        F: FnOnce(&Tools, &Arc<Calling>) -> anyhow::Result<Shown> + Send + 'static,
    {
        let tools = Arc::clone(&self.tools);
        let calling = Arc::new(Calling::default());
        let called = Arc::clone(&calling);
        let mut work = tokio::task::spawn_blocking(move || {
            let shown = work(&tools, &called)?;
            let text = match shown.text.is_empty() {
                true => "done".to_owned(),
                false => tools.answers.bounded(shown.text.trim_end().to_owned()),
            };
            Ok((text, shown.failed))
        });
        let done = tokio::select! {
            done = &mut work => done,
            () = context.ct.cancelled() => {
                calling.cancel();
                work.await
            }
        };
        match done {
            Ok(done) => Ok(result(done)),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }
}

/// What is told of a text, and whether it tells of a failure.
fn result(done: anyhow::Result<(String, bool)>) -> CallToolResult {
    match done {
        Ok((text, false)) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Ok((text, true)) => CallToolResult::error(vec![ContentBlock::text(text)]),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(format!("{error:#}"))]),
    }
}

/// What a prompt takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct Hunt {
    /// What happens, and how: the program with its arguments, the core file or the test, what is expected and what is seen instead.
    what: String,
}

fn user(text: String) -> Vec<PromptMessage> {
    vec![PromptMessage::new_text(Role::User, text)]
}

#[prompt_router]
impl Server {
    /// Find out why a program crashes
    #[prompt]
    async fn find_crash(&self, Parameters(hunt): Parameters<Hunt>) -> Vec<PromptMessage> {
        user(hunts::crash(&hunt.what))
    }

    /// Find out why a program hangs
    #[prompt]
    async fn find_hang(&self, Parameters(hunt): Parameters<Hunt>) -> Vec<PromptMessage> {
        user(hunts::hang(&hunt.what))
    }

    /// Find out where a wrong value comes from
    #[prompt]
    async fn find_wrong_value(&self, Parameters(hunt): Parameters<Hunt>) -> Vec<PromptMessage> {
        user(hunts::wrong_value(&hunt.what))
    }

    /// Find out what a core file tells
    #[prompt]
    async fn read_core(&self, Parameters(hunt): Parameters<Hunt>) -> Vec<PromptMessage> {
        user(hunts::core(&hunt.what))
    }

    /// Find out why a test fails
    #[prompt]
    async fn find_failing_test(&self, Parameters(hunt): Parameters<Hunt>) -> Vec<PromptMessage> {
        user(hunts::test(&hunt.what))
    }
}

#[tool_handler]
#[prompt_handler]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .build();
        let implementation = Implementation::new("dapple", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(INSTRUCTIONS)
    }
}
