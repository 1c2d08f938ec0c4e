//! The ready-made answers to reverse requests, with real programs: what is started, with what, and that it ends with the client.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dapple_dap::client::{ChildSession, RunInTerminal};
use dapple_dap::crossbeam_channel;
use dapple_dap::launch::Start;
use dapple_dap::types::*;
use dapple_dap::{Client, Connection, Failure, Server};

const PATIENCE: Duration = Duration::from_secs(30);

/// An adapter that sends a `runInTerminal` request of these arguments at `launch`, and says as output what was answered.
fn terminal_adapter(asked: RunInTerminalRequestArguments) -> Server<()> {
    Server::builder()
        .on::<LaunchRequest>(move |_, _, context| {
            let outbox = context.outbox().clone();
            let say = move |answer: Result<RunInTerminalResponse, _>| {
                let said = match answer {
                    Ok(answer) => match (answer.process_id, answer.shell_process_id) {
                        (Some(process), None) => format!("process {process}"),
                        (None, Some(shell)) => format!("shell {shell}"),
                        both => format!("{both:?}"),
                    },
                    Err::<_, dapple_dap::server::RequestError>(error) => error.to_string(),
                };
                outbox.event::<OutputEvent>(OutputEventBody::new(said));
            };
            let outbox = context.outbox();
            outbox.request::<RunInTerminalRequest>(asked.clone(), say);
            Ok(Empty)
        })
        .build()
}

fn serve(server: Server<()>) -> (Connection, JoinHandle<()>) {
    let (client, adapter) = Connection::memory();
    let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
    (client, thread)
}

/// What the adapter says of its request, after `launch`.
fn answer(client: &Client) -> String {
    let who = InitializeRequestArguments::new("any");
    client.request::<InitializeRequest>(who).unwrap();
    let launch = LaunchRequestArguments::new();
    client.request::<LaunchRequest>(launch).unwrap();
    let output = client.wait_for::<OutputEvent>(PATIENCE, |_| true);
    output.expect("what was answered").output
}

/// Has a program started, and returns what the adapter was answered.
fn started(asked: RunInTerminalRequestArguments, how: RunInTerminal) -> (Client, String) {
    let (connection, _thread) = serve(terminal_adapter(asked));
    let client = Client::new(connection);
    client.on_run_in_terminal(how);
    let said = answer(&client);
    (client, said)
}

fn asked(cwd: &Path, args: &[&str]) -> RunInTerminalRequestArguments {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    RunInTerminalRequestArguments::new(cwd.to_str().unwrap(), args)
}

/// Programs whose output comes from a channel, once they have ended.
fn read() -> (RunInTerminal, crossbeam_channel::Receiver<String>) {
    let (sender, output) = crossbeam_channel::unbounded();
    let how = RunInTerminal::new()
        .prepare(|_, command| {
            command.stdout(Stdio::piped());
            Ok(())
        })
        .started(move |_, child| {
            let (mut pipe, sender) = (child.stdout.take().expect("a pipe"), sender.clone());
            std::thread::spawn(move || {
                let mut text = String::new();
                pipe.read_to_string(&mut text).unwrap();
                sender.send(text).ok();
            });
        });
    (how, output)
}

fn number(said: &str, of: &str) -> u32 {
    let number = said.strip_prefix(of).and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("no {of}: {said}"))
}

/// Waits until a process has ended and was reaped.
fn gone(process: u32) -> bool {
    let folder = PathBuf::from(format!("/proc/{process}"));
    let until = Instant::now() + PATIENCE;
    while folder.exists() {
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn a_program_is_started_where_and_with_what_the_adapter_says() {
    let folder = std::env::temp_dir().canonicalize().unwrap();
    let mut asked = asked(
        &folder,
        &[
            "sh",
            "-c",
            "pwd; echo $SET ${HOME-none} \"$1\"",
            "sh",
            "a  b; c > d",
        ],
    );
    asked.env = Some(BTreeMap::from([
        ("SET".to_owned(), Some("its value".to_owned())),
        ("HOME".to_owned(), None),
    ]));
    // A shell is not announced, and so not used.
    asked.args_can_be_interpreted_by_shell = Some(true);
    let (how, output) = read();
    let (_client, said) = started(asked, how);
    number(&said, "process ");
    let output = output.recv_timeout(PATIENCE).expect("it ends");
    assert_eq!(
        output,
        format!("{}\nits value none a  b; c > d\n", folder.display())
    );
}

#[test]
fn a_shell_interprets_the_arguments_if_that_is_announced() {
    let mut asked = asked(Path::new(""), &["echo", "a  b", "|", "tr", "a-z", "A-Z"]);
    asked.args_can_be_interpreted_by_shell = Some(true);
    let (how, output) = read();
    let (_client, said) = started(asked.clone(), how.with_shell());
    number(&said, "shell ");
    assert_eq!(output.recv_timeout(PATIENCE).expect("it ends"), "A B\n");

    asked.args_can_be_interpreted_by_shell = None;
    let (how, output) = read();
    let (_client, said) = started(asked, how.with_shell());
    number(&said, "process ");
    let output = output.recv_timeout(PATIENCE).expect("it ends");
    assert_eq!(output, "a  b | tr a-z A-Z\n");
}

/// Has the program `pwd` started by these arguments of `runInTerminal`, and sees that it runs in our folder.
#[track_caller]
fn starts_pwd(arguments: &str) -> Client {
    let (client, adapter) = Connection::memory();
    let client = Client::new(client);
    let (how, output) = read();
    client.on_run_in_terminal(how);
    let request = format!(
        r#"{{"seq":1,"type":"request","command":"runInTerminal","arguments":{arguments}}}"#
    );
    adapter
        .outgoing
        .send_text(&request)
        .expect("the client reads");
    let here = std::env::current_dir().expect("a folder");
    let output = output.recv_timeout(PATIENCE).expect("it is started");
    assert_eq!(output.trim(), here.to_str().unwrap());
    client
}

/// lldb-dap 22 sends no `cwd`.
#[test]
fn a_program_without_a_folder_is_started_in_ours() {
    starts_pwd(r#"{"args":["pwd"]}"#);
}

#[test]
fn a_program_is_started_although_the_request_has_values_of_the_wrong_type() {
    let client = starts_pwd(r#"{"title":5,"cwd":null,"args":["pwd"]}"#);
    let told: Vec<String> = client.repairs().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "runInTerminal (message 1): `title` was left out: `title`: invalid type: integer `5`, expected a string"
        ]
    );
}

#[test]
fn a_callback_may_wait_while_the_client_goes_on() {
    let asked = asked(Path::new("/"), &["true"]);
    let (connection, _thread) = serve(terminal_adapter(asked));
    let client = Client::new(connection);
    let (open, gate) = crossbeam_channel::bounded(1);
    client.on_run_in_terminal(RunInTerminal::new().prepare(move |_, _| {
        let opened = gate.recv_timeout(PATIENCE);
        opened.map_err(|_| Failure::new("the client was blocked"))
    }));
    let who = InitializeRequestArguments::new("any");
    client.request::<InitializeRequest>(who).unwrap();
    let launch = LaunchRequestArguments::new();
    client.request::<LaunchRequest>(launch).unwrap();
    // `launch` was answered before the adapter has asked: only this answer comes behind its request.
    client.request::<ThreadsRequest>(Empty).unwrap_err();
    open.send(()).unwrap();
    let said = client.wait_for::<OutputEvent>(PATIENCE, |_| true).unwrap();
    number(&said.output, "process ");
}

#[test]
fn a_program_whose_callback_panics_is_ended() {
    let (sender, process) = crossbeam_channel::bounded(1);
    let how = RunInTerminal::new().started(move |_, child| {
        sender.send(child.id()).unwrap();
        panic!("a callback of a test");
    });
    let (_client, said) = started(asked(Path::new("/"), &["sleep", "1000"]), how);
    assert!(said.contains("panicked"), "{said}");
    assert!(gone(process.recv().unwrap()));
}

#[test]
fn what_cannot_be_started_is_said_to_the_adapter() {
    let how = RunInTerminal::new;
    let (_client, said) = started(asked(Path::new("/"), &["/no/such/program"]), how());
    assert!(said.contains("cannot start /no/such/program: "), "{said}");
    let (_client, said) = started(asked(Path::new("/no/such/folder"), &["true"]), how());
    assert!(said.contains("no directory /no/such/folder"), "{said}");
    let (_client, said) = started(asked(Path::new("/"), &[]), how());
    assert!(said.contains("names no program"), "{said}");
    let refuse = how().prepare(|asked, _| Err(Failure::new(format!("not {}", asked.args[0]))));
    let (_client, said) = started(asked(Path::new("/"), &["true"]), refuse);
    assert!(said.contains("not true"), "{said}");
}

#[test]
fn programs_end_with_the_client_and_take_along_what_they_have_started() {
    let (how, output) = read();
    // The shell ends by itself, the other one never does.
    let script = "sleep 1000 & echo $!";
    let (client, said) = started(asked(Path::new("/"), &["sh", "-c", script]), how);
    let shell = number(&said, "process ");
    assert_eq!(client.process_id(), None);
    drop(client);
    // The pipe is closed once no process has it any more.
    let sleeper = output.recv_timeout(PATIENCE).expect("all have ended");
    assert!(gone(shell));
    assert!(gone(sleeper.trim().parse().unwrap()));
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_has_ended_is_reaped_while_the_client_goes_on() {
    let (client, said) = started(asked(Path::new("/"), &["true"]), RunInTerminal::new());
    assert!(gone(number(&said, "process ")), "it is a zombie");
    drop(client);
}

/// A program that reads the terminal must be in the terminal's foreground process group.
#[test]
fn programs_with_our_input_and_output_stay_in_our_process_group() {
    let group = |process: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        let fields = stat.rsplit_once(") ").unwrap().1.to_owned();
        fields.split(' ').nth(2).unwrap().to_owned()
    };
    let ours = group(std::process::id());
    let sleeper = asked(Path::new("/"), &["sleep", "1000"]);
    let (client, said) = started(sleeper.clone(), RunInTerminal::new().inherit_stdio());
    let inheriting = number(&said, "process ");
    assert_eq!(group(inheriting), ours);
    drop(client);
    assert!(gone(inheriting));
    let (_client, said) = started(sleeper, RunInTerminal::new());
    let alone = number(&said, "process ");
    assert_eq!(group(alone), alone.to_string());
}

/// The fields that `initialize` has when it comes to the adapter.
fn announced(prepare: impl FnOnce(&Client), who: InitializeRequestArguments) -> Vec<Option<bool>> {
    let server = Server::<()>::builder().build();
    let seen = std::sync::Arc::new(Mutex::new(None));
    let sink = seen.clone();
    let (relayed, relay) = dapple_dap::transport::Options::new()
        .tap(move |_, text| {
            let text = String::from_utf8(text.to_vec()).unwrap();
            if text.contains("\"initialize\"") && text.contains("arguments") {
                *sink.lock().unwrap() = Some(text);
            }
        })
        .memory();
    let thread = std::thread::spawn(move || server.start(&relay).run(&mut ()));
    let client = Client::new(relayed);
    prepare(&client);
    client.request::<InitializeRequest>(who).unwrap();
    drop(client);
    thread.join().unwrap();
    let text = seen.lock().unwrap().take().expect("the request");
    let message = dapple_dap::message::Raw::from_text(text).unwrap();
    let fields: BTreeMap<String, dapple_dap::message::Raw> = message.decode().unwrap();
    let arguments: InitializeRequestArguments = fields["arguments"].decode().unwrap();
    assert_eq!(arguments.adapter_id, "any");
    vec![
        arguments.supports_run_in_terminal_request,
        arguments.supports_args_can_be_interpreted_by_shell,
        arguments.supports_start_debugging_request,
    ]
}

#[test]
fn initialize_announces_what_is_answered_unless_the_caller_decides() {
    let who = || InitializeRequestArguments::new("any");
    assert_eq!(announced(|_| {}, who()), [None, None, None]);
    let terminal = |client: &Client| client.on_run_in_terminal(RunInTerminal::new());
    assert_eq!(announced(terminal, who()), [Some(true), None, None]);
    let shell = |client: &Client| client.on_run_in_terminal(RunInTerminal::new().with_shell());
    assert_eq!(announced(shell, who()), [Some(true), Some(true), None]);
    let sessions = |client: &Client| {
        drop(client.on_start_debugging(|_| Err(std::io::ErrorKind::Other.into())));
    };
    assert_eq!(announced(sessions, who()), [None, None, Some(true)]);
    let not = who().with_supports_run_in_terminal_request(false);
    assert_eq!(announced(terminal, not), [Some(false), None, None]);
    // Also for a handler of the caller's own.
    let own = |client: &Client| client.on::<StartDebuggingRequest>(|_| Ok(Empty));
    assert_eq!(announced(own, who()), [None, None, Some(true)]);
}

/// An adapter as vscode-js-debug: the first session runs nothing but asks for another one, on the same port, that is launched with a token.
fn nested() -> Server<()> {
    Server::builder()
        .on::<LaunchRequest>(|_, arguments, context| {
            let outbox = context.outbox().clone();
            outbox.event::<InitializedEvent>(Empty);
            let depth = arguments.other.get("depth");
            let depth: i64 = depth.map_or(Ok(0), |depth| depth.decode())?;
            outbox.event::<OutputEvent>(OutputEventBody::new(format!("depth {depth}")));
            if depth < 2 {
                let next = dapple_dap::message::Raw::new(&(depth + 1))?;
                let configuration = BTreeMap::from([("depth".to_owned(), next)]);
                let kind = StartDebuggingRequestArgumentsRequest::Launch;
                let child = StartDebuggingRequestArguments::new(configuration, kind);
                let said = outbox.clone();
                outbox.request::<StartDebuggingRequest>(child, move |answer| {
                    let text = match answer {
                        Ok(_) => "opened".to_owned(),
                        Err(error) => error.to_string(),
                    };
                    said.event::<OutputEvent>(OutputEventBody::new(text));
                });
            }
            Ok(Empty)
        })
        .on::<ConfigurationDoneRequest>(|_, _, _| Ok(Empty))
        .build()
}

fn listening() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = Connection::tcp(stream.unwrap()).unwrap();
            std::thread::spawn(move || nested().start(&connection).run(&mut ()));
        }
    });
    address
}

fn who() -> InitializeRequestArguments {
    InitializeRequestArguments::new("any")
}

fn output(client: &Client, text: &str) {
    let output = client.wait_for::<OutputEvent>(PATIENCE, |output| output.output == text);
    output.unwrap_or_else(|error| panic!("{text}: {error}; {:?}", client.untaken_events()));
}

#[test]
fn sessions_are_opened_at_the_address_of_an_adapter_that_asks_for_them() {
    let address = listening();
    let client = Client::connect(address).expect("it listens");
    let (sender, grandchildren) = crossbeam_channel::unbounded();
    let children = client.on_start_debugging(move |_| {
        let child = Client::connect(address)?;
        let sender = sender.clone();
        let sessions = child.on_start_debugging(move |_| Client::connect(address));
        sender.send(sessions).ok();
        Ok(child)
    });
    client
        .begin(who(), LaunchRequestArguments::new().into(), |_| Ok(()))
        .expect("it starts");
    output(&client, "depth 0");
    output(&client, "opened");
    let child: ChildSession = children.recv_timeout(PATIENCE).expect("a session");
    assert!(matches!(child.start(), Ok(Start::Launch(_))));
    child
        .client
        .begin(who(), child.start().unwrap(), |_| Ok(()))
        .expect("it starts");
    output(&child.client, "depth 1");
    output(&child.client, "opened");
    let grandchildren = grandchildren.recv_timeout(PATIENCE).expect("a channel");
    let grandchild = grandchildren.recv_timeout(PATIENCE).expect("a session");
    let start = grandchild.start().unwrap();
    grandchild
        .client
        .begin(who(), start, |_| Ok(()))
        .expect("it starts");
    output(&grandchild.client, "depth 2");
    for client in [&client, &child.client, &grandchild.client] {
        assert_eq!(client.violations(), []);
        let disconnect = DisconnectArguments::new();
        client
            .request::<DisconnectRequest>(disconnect)
            .expect("it ends");
    }
    client.wait_closed(PATIENCE).expect("the adapter closes");
    assert!(
        children
            .recv_timeout(PATIENCE)
            .is_err_and(|error| error.is_disconnected())
    );
}

#[test]
fn a_session_that_cannot_be_opened_is_an_error_for_the_adapter() {
    let (connection, _thread) = serve(nested());
    let client = Client::new(connection);
    let refused = || std::io::Error::other("the port is closed");
    let _children = client.on_start_debugging(move |_| Err(refused()));
    client
        .begin(who(), LaunchRequestArguments::new().into(), |_| Ok(()))
        .expect("it starts");
    output(
        &client,
        "the other session has no connection: the port is closed",
    );

    let (connection, _thread) = serve(nested());
    let client = Client::new(connection);
    drop(client.on_start_debugging(|_| Ok(Client::new(Connection::memory().0))));
    client
        .begin(who(), LaunchRequestArguments::new().into(), |_| Ok(()))
        .expect("it starts");
    output(&client, "the client opens no more sessions");
}

/// The connection of another session may take its time, or even need the adapter that asked for it.
#[test]
fn a_blocking_handler_may_wait_for_its_adapter() {
    let (connection, _thread) = serve(nested());
    let client = std::sync::Arc::new(Client::new(connection));
    let inner = std::sync::Arc::downgrade(&client);
    client.on_blocking::<StartDebuggingRequest>(move |_| {
        let client = inner.upgrade().expect("it is in use");
        client
            .request::<ThreadsRequest>(Empty)
            .expect_err("this adapter has none");
        Ok(Empty)
    });
    client
        .begin(who(), LaunchRequestArguments::new().into(), |_| Ok(()))
        .expect("it starts");
    output(&client, "opened");
}

/// A spawned adapter is started once more for the other session.
#[test]
fn a_child_process_is_started_for_each_session() {
    let adapter = || Client::spawn(Command::new("cat").stderr(Stdio::null()));
    let (connection, _thread) = serve(nested());
    let client = Client::new(connection);
    let children = client.on_start_debugging(move |_| adapter());
    client
        .begin(who(), LaunchRequestArguments::new().into(), |_| Ok(()))
        .expect("it starts");
    let child = children.recv_timeout(PATIENCE).expect("a session");
    let process = child.client.process_id().expect("a process");
    drop(child);
    assert!(gone(process));
}

#[cfg(feature = "tokio")]
mod asynchronous {
    use super::*;
    use dapple_dap::async_client::AsyncClient;

    fn run<T>(future: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().expect("a runtime");
        runtime.block_on(future)
    }

    async fn client_of(server: Server<()>) -> AsyncClient {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        std::thread::spawn(move || {
            let stream = listener.accept().expect("a client").0;
            server.start(&Connection::tcp(stream).unwrap()).run(&mut ());
        });
        AsyncClient::connect(address).await.expect("it listens")
    }

    async fn output(client: &AsyncClient) -> String {
        let output = client.wait_for::<OutputEvent>(PATIENCE, |_| true).await;
        output.expect("output").output
    }

    #[test]
    fn programs_end_with_the_client() {
        for closes in [true, false] {
            let (process, pipe) = run(async {
                let (how, pipe) = read();
                let sleeper = asked(Path::new("/"), &["sleep", "1000"]);
                let client = client_of(terminal_adapter(sleeper)).await;
                client.on_run_in_terminal(how);
                client.request::<InitializeRequest>(who()).await.unwrap();
                let launch = LaunchRequestArguments::new();
                client.request::<LaunchRequest>(launch).await.unwrap();
                let process = number(&output(&client).await, "process ");
                if closes {
                    client.close(Duration::from_millis(10)).await;
                }
                (process, pipe)
            });
            pipe.recv_timeout(PATIENCE).expect("it has ended");
            assert!(gone(process));
        }
    }

    #[test]
    fn sessions_are_opened_at_the_address_of_an_adapter_that_asks_for_them() {
        let address = listening();
        run(async {
            let client = AsyncClient::connect(address).await.expect("it listens");
            let mut children = client.on_start_debugging(move |_| AsyncClient::connect(address));
            // In a task of its own, as programs do.
            let session = tokio::spawn(async move {
                let launch = LaunchRequestArguments::new();
                client
                    .begin(who(), launch.into(), async |_| Ok(()))
                    .await
                    .expect("it starts");
                assert_eq!(output(&client).await, "depth 0");
                assert_eq!(output(&client).await, "opened");
                client
            });
            let child = children.recv().await.expect("a session");
            let start = child.start().expect("it is well-formed");
            child
                .client
                .begin(who(), start, async |client| {
                    assert!(!client.is_closed());
                    Ok(())
                })
                .await
                .expect("it starts");
            assert_eq!(output(&child.client).await, "depth 1");
            let client = session.await.expect("no panic");
            client.close(PATIENCE).await;
            assert!(children.recv().await.is_none());
        });
    }
}
