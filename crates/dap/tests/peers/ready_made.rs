//! The ready-made parts of the client with the adapters of other projects: programs started for them, sessions opened for them, breakpoints
//! under ids of the client's, frames and variables in pages.

use dapple_dap::ClientError;
use dapple_dap::client::breakpoints::{Breakpoints, Wanted};
use dapple_dap::crossbeam_channel::unbounded;

use super::*;

fn who(adapter: &str) -> InitializeRequestArguments {
    InitializeRequestArguments::new(adapter).with_supports_variable_paging(true)
}

/// Programs started for an adapter, and what they write.
fn terminal() -> (
    RunInTerminal,
    dapple_dap::crossbeam_channel::Receiver<String>,
) {
    let (sender, output) = unbounded();
    let how = RunInTerminal::new()
        .prepare(|_, command| {
            command.stdout(Stdio::piped());
            Ok(())
        })
        .started(move |_, child| {
            let (pipe, sender) = (child.stdout.take(), sender.clone());
            std::thread::spawn(move || {
                let text = pipe.map(std::io::read_to_string);
                sender.send(text.expect("a pipe").expect("text")).ok();
            });
        });
    (how, output)
}

fn in_path(program: &std::ffi::OsStr) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    let found = folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()));
    found.unwrap_or_else(|| program.into())
}

fn stopped_thread(client: &Client) -> i64 {
    let stopped = client.wait_for::<StoppedEvent>(PATIENCE, |_| true);
    let thread = stopped.expect("a stop").thread_id;
    thread.expect("the thread that stopped")
}

/// Sends breakpoints until all that are wanted are in.
fn send(breakpoints: &mut Breakpoints, client: &Client) -> Result<(), ClientError> {
    breakpoints.send(client)?;
    assert_eq!(breakpoints.take_problems(), []);
    Ok(())
}

/// Takes in the events that have come, and waits for one until `done`.
fn settle(breakpoints: &mut Breakpoints, client: &Client, done: impl Fn(&Breakpoints) -> bool) {
    while !done(breakpoints) {
        let event = client.wait_for::<BreakpointEvent>(PATIENCE, |_| true);
        breakpoints.event(&event.expect("a breakpoint changes"));
    }
}

#[test]
fn lldb_dap_has_its_program_started_and_its_breakpoints_found() {
    let Some(command) = lldb_dap() else {
        return;
    };
    let (source, program) = tour_in_c();
    let (town, mean) = (marked(&source, "town"), marked(&source, "mean"));
    // It has itself started by the path that it was started by, as seen from its own folder.
    let mut by_path = Command::new(in_path(command.get_program()));
    let command = by_path.args(command.get_args()).stderr(Stdio::null());
    let client = Client::spawn(command).expect("lldb-dap runs");
    let (how, output) = terminal();
    client.on_run_in_terminal(how);
    let mut breakpoints = Breakpoints::new();
    let path = source.to_string_lossy().into_owned();
    let at_town = breakpoints.add(Wanted::line(&path, town));
    let at_mean = breakpoints.add(Wanted::line(&path, mean));
    let on_main = breakpoints.add(Wanted::function("main"));
    let fields = json!({"program": program, "console": "integratedTerminal"});
    let launch = LaunchRequestArguments::of(&fields).expect("an object");
    client
        .begin(who("lldb-dap"), launch.into(), |client| {
            send(&mut breakpoints, client)
        })
        .expect("it starts");
    settle(&mut breakpoints, &client, |breakpoints| {
        breakpoints.iter().all(|entry| entry.is_verified())
    });
    let hit = |breakpoints: &Breakpoints| {
        let stopped = client.wait_for::<StoppedEvent>(PATIENCE, |_| true);
        let stopped = stopped.expect("a stop");
        let hit: Vec<_> = breakpoints.hit(&stopped).map(|entry| entry.id).collect();
        (hit, stopped.thread_id.expect("a thread"))
    };
    let (first, thread) = hit(&breakpoints);
    assert_eq!(first, [on_main]);
    breakpoints.remove(on_main);
    breakpoints.remove(at_town);
    send(&mut breakpoints, &client).expect("sent");
    client
        .request::<ContinueRequest>(ContinueArguments::new(thread))
        .expect("it goes on");
    let (second, thread) = hit(&breakpoints);
    assert_eq!(second, [at_mean]);

    let frames: Result<Vec<StackFrame>, _> = client.stack(thread).page_size(1).limit(2).collect();
    let frames = frames.expect("two frames");
    assert_eq!((&*frames[0].name, &*frames[1].name), ("mean", "main"));
    let whole: Result<Vec<StackFrame>, _> = client.stack(thread).collect();
    let paged: Result<Vec<StackFrame>, _> = client.stack(thread).page_size(1).collect();
    let names = |frames: Vec<StackFrame>| -> Vec<String> {
        frames.into_iter().map(|frame| frame.name).collect()
    };
    assert_eq!(names(paged.expect("frames")), names(whole.expect("frames")));
    let registers = client
        .request::<ScopesRequest>(ScopesArguments::new(frames[0].id))
        .expect("scopes")
        .scopes;
    for scope in &registers {
        let whole: Result<Vec<_>, _> = client.variables(scope.variables_reference).collect();
        let paged: Result<Vec<_>, _> = client.variables(scope).page_size(1).collect();
        let names = |variables: Vec<Variable>| -> Vec<String> {
            { variables.into_iter() }.map(|one| one.name).collect()
        };
        let (whole, paged) = (names(whole.expect("all")), names(paged.expect("all")));
        assert_eq!(whole, paged, "{}", scope.name);
    }
    breakpoints.remove(at_mean);
    send(&mut breakpoints, &client).expect("sent");
    client
        .request::<ContinueRequest>(ContinueArguments::new(thread))
        .expect("it goes on");
    client
        .wait_for::<TerminatedEvent>(PATIENCE, |_| true)
        .expect("it ends");
    let output = output.recv_timeout(PATIENCE).expect("it has ended");
    assert!(output.contains("3 of 3 towns visited"), "{output}");
}

/// debugpy starts the program in a terminal, and asks for a session of its child at a port of its own.
#[test]
fn debugpy_has_the_child_of_its_program_debugged_in_another_session() {
    let Some(mut command) = debugpy() else {
        return;
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/family.py");
    let client = Client::spawn(command.stderr(Stdio::null())).expect("debugpy runs");
    let (how, output) = terminal();
    client.on_run_in_terminal(how);
    let children = client.on_start_debugging(|asked| {
        let address = asked.configuration.get("connect");
        let address: Value = address
            .and_then(|address| address.decode().ok())
            .unwrap_or_default();
        let port = address["port"]
            .as_u64()
            .and_then(|port| port.try_into().ok());
        let host = address["host"].as_str().unwrap_or("127.0.0.1");
        Client::connect((host, port.ok_or(std::io::ErrorKind::InvalidData)?))
    });
    let fields = json!({
        "program": source, "console": "integratedTerminal", "subProcess": true,
    });
    let launch = LaunchRequestArguments::of(&fields).expect("an object");
    client
        .begin(who("debugpy"), launch.into(), |_| Ok(()))
        .expect("it starts");
    let child = children.recv_timeout(PATIENCE).expect("a session");
    let mut breakpoints = Breakpoints::new();
    let path = source.to_string_lossy().into_owned();
    let depth = breakpoints.add(Wanted::in_file(
        path,
        SourceBreakpoint::new(marked(&source, "depth")).with_condition("levels == 1"),
    ));
    let start = child.start().expect("it is well-formed");
    child
        .client
        .begin(who("debugpy"), start, |client| {
            send(&mut breakpoints, client)
        })
        .expect("it starts");
    assert!(
        breakpoints
            .get(depth)
            .is_some_and(|entry| entry.is_verified())
    );
    let thread = stopped_thread(&child.client);
    let depths: Result<Vec<StackFrame>, _> = child.client.stack(thread).page_size(7).collect();
    let depths = depths.expect("frames");
    let calls = depths.iter().filter(|frame| frame.name == "depth").count();
    assert_eq!((calls, depths.len()), (60, 61));
    let ids: BTreeSet<i64> = depths.iter().map(|frame| frame.id).collect();
    assert_eq!(ids.len(), depths.len(), "each frame once");

    let expression = EvaluateArguments::new("numbers").with_frame_id(depths[60].id);
    let numbers = child.client.request::<EvaluateRequest>(expression);
    let numbers = numbers.expect("a list");
    let items: Result<Vec<Variable>, _> = child.client.variables(&numbers).collect();
    let values: Vec<String> = items
        .expect("items")
        .into_iter()
        .map(|one| one.value)
        .collect();
    assert!(values.iter().any(|value| value == "89"), "{values:?}");

    child
        .client
        .request::<ContinueRequest>(ContinueArguments::new(thread))
        .expect("it goes on");
    for session in [&child.client, &client] {
        session
            .wait_for::<TerminatedEvent>(PATIENCE, |_| true)
            .expect("it ends");
    }
    let output = output.recv_timeout(PATIENCE).expect("it has ended");
    assert_eq!(output.trim(), "child 90");
}
