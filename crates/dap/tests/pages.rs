//! Frames and variables in pages, from adapters that page as the protocol says and from those that don't.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use dapple_dap::client::pages::{Container, Items, Pages};
use dapple_dap::types::*;
use dapple_dap::{Client, ClientError, Connection, Failure, Server};

/// The pages that were asked for: where each starts, and how many items it is to have.
type Asked = Arc<Mutex<Vec<(Option<i64>, Option<i64>)>>>;

/// A client of an adapter whose stack requests are answered by `page`.
fn stack_of(
    pages: bool,
    page: impl Fn(i64, Option<i64>) -> Result<StackTraceResponse, Failure> + Send + Sync + 'static,
) -> (Client, Asked, JoinHandle<()>) {
    let asked = Asked::default();
    let seen = asked.clone();
    let server = Server::<()>::builder()
        .capabilities(move |capabilities| {
            capabilities.supports_delayed_stack_trace_loading = Some(pages);
        })
        .on::<StackTraceRequest>(move |_, arguments, _| {
            let (start, levels) = (arguments.start_frame, arguments.levels);
            seen.lock().unwrap().push((start, levels));
            page(start.unwrap_or(0), levels)
        })
        .build();
    let (client, thread) = serve(server);
    initialize(&client, true);
    (client, asked, thread)
}

fn serve(server: Server<()>) -> (Client, JoinHandle<()>) {
    let (client, adapter) = Connection::memory();
    let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
    (Client::new(client), thread)
}

fn initialize(client: &Client, pages_variables: bool) {
    let who = InitializeRequestArguments::new("any").with_supports_variable_paging(pages_variables);
    client.request::<InitializeRequest>(who).unwrap();
}

/// The frames `range`, whose ids are their indices.
fn frames(range: std::ops::Range<i64>) -> StackTraceResponse {
    let frames = range.map(|id| StackFrame::new(id, format!("f{id}"), 1, 1));
    StackTraceResponse::new(frames.collect())
}

/// The part of a stack of `depth` frames that is asked for.
fn part(depth: i64, start: i64, levels: Option<i64>) -> StackTraceResponse {
    let levels = levels.filter(|&levels| levels > 0).unwrap_or(depth);
    frames(start.min(depth)..(start + levels).min(depth))
}

fn ids<C>(stack: Items<'_, C, dapple_dap::client::pages::Frames>) -> Vec<i64>
where
    for<'a> Items<'a, C, dapple_dap::client::pages::Frames>:
        Iterator<Item = Result<StackFrame, ClientError>>,
{
    stack.map(|frame| frame.expect("a frame").id).collect()
}

fn up_to(end: i64) -> Vec<i64> {
    (0..end).collect()
}

fn pages(asked: &Asked) -> Vec<(Option<i64>, Option<i64>)> {
    std::mem::take(&mut asked.lock().unwrap())
}

#[test]
fn a_page_is_asked_for_when_its_first_frame_is() {
    let (client, asked, _thread) = stack_of(true, |start, levels| Ok(part(45, start, levels)));
    let mut stack = client.stack(1);
    assert_eq!(pages(&asked), []);
    let first: Vec<_> = stack.by_ref().take(20).collect();
    assert_eq!(first.len(), 20);
    assert_eq!(pages(&asked), [(Some(0), Some(20))]);
    assert_eq!(stack.next().unwrap().unwrap().id, 20);
    assert_eq!(pages(&asked), [(Some(20), Some(20))]);
    assert_eq!(stack.count(), 24);
    // The third page is short: the stack ends with it.
    assert_eq!(pages(&asked), [(Some(40), Some(20))]);
}

#[test]
fn a_total_spares_the_request_behind_the_last_frame() {
    let (client, asked, _thread) = stack_of(true, |start, levels| {
        Ok(part(10, start, levels).with_total_frames(10))
    });
    assert_eq!(ids(client.stack(1).page_size(5)), up_to(10));
    assert_eq!(pages(&asked), [(Some(0), Some(5)), (Some(5), Some(5))]);
}

#[test]
fn an_adapter_without_paging_is_asked_once_and_without_its_fields() {
    let (client, asked, _thread) = stack_of(false, |start, levels| Ok(part(45, start, levels)));
    assert_eq!(ids(client.stack(1).page_size(5)), up_to(45));
    assert_eq!(pages(&asked), [(None, None)]);
    assert_eq!(ids(client.stack(1).limit(3)), up_to(3));
    assert_eq!(pages(&asked), [(None, Some(3))]);
}

#[test]
fn a_stack_without_an_end_is_read_as_far_as_the_caller_goes() {
    let endless = |start: i64, levels: Option<i64>| {
        let levels = levels.expect("no request is for an endless answer");
        Ok(frames(start..start + levels).with_total_frames(start + levels + 1))
    };
    let (client, asked, _thread) = stack_of(true, endless);
    assert_eq!(ids(client.stack(1).page_size(4).limit(6)), up_to(6));
    assert_eq!(pages(&asked), [(Some(0), Some(4)), (Some(4), Some(2))]);
    let taken: Vec<_> = client.stack(1).page_size(4).take(6).collect();
    assert_eq!(taken.len(), 6);
    assert_eq!(client.stack(1).limit(0).count(), 0);
    let (client, _, _thread) = stack_of(false, endless);
    assert_eq!(ids(client.stack(1).limit(6)), up_to(6));
}

#[test]
fn a_total_that_cannot_be_is_ignored() {
    for total in [-1, 0, 3] {
        let (client, _, _thread) = stack_of(true, move |start, levels| {
            Ok(part(12, start, levels).with_total_frames(total))
        });
        assert_eq!(ids(client.stack(1).page_size(5)), up_to(12), "{total}");
    }
}

#[test]
fn a_total_is_believed_although_a_page_is_short() {
    // This adapter gives three frames at a time, whatever is asked for.
    let (client, asked, _thread) = stack_of(true, |start, _| {
        Ok(part(8, start, Some(3)).with_total_frames(8))
    });
    assert_eq!(ids(client.stack(1)), up_to(8));
    assert_eq!(pages(&asked).len(), 3);

    // This one promises more than there is.
    let (client, asked, _thread) = stack_of(true, |start, levels| {
        Ok(part(8, start, levels).with_total_frames(1000))
    });
    assert_eq!(ids(client.stack(1)), up_to(8));
    assert_eq!(pages(&asked), [(Some(0), Some(20)), (Some(8), Some(20))]);

    // This one, too, and it takes what comes behind the end for a mistake.
    let (client, _, _thread) = stack_of(true, |start, levels| match start {
        0 => Ok(part(8, start, levels).with_total_frames(1000)),
        _ => Err(Failure::new("no such frame")),
    });
    assert_eq!(ids(client.stack(1)), up_to(8));
}

#[test]
fn an_adapter_that_ignores_the_start_of_a_page_does_not_repeat_frames() {
    // It gives all in each page.
    let (client, asked, _thread) = stack_of(true, |_, _| Ok(frames(0..50)));
    assert_eq!(ids(client.stack(1)), up_to(50));
    assert_eq!(pages(&asked).len(), 2);
    // It gives the first frames each time.
    let (client, asked, _thread) = stack_of(true, |_, levels| Ok(part(50, 0, levels)));
    assert_eq!(ids(client.stack(1)), up_to(50));
    assert_eq!(
        pages(&asked),
        [(Some(0), Some(20)), (Some(20), Some(20)), (None, None)]
    );
    assert_eq!(ids(client.stack(1).limit(30)), up_to(30));
    assert_eq!(
        pages(&asked),
        [(Some(0), Some(20)), (Some(20), Some(10)), (None, Some(30))]
    );
    // And never more than these.
    let (client, asked, _thread) = stack_of(true, |_, _| Ok(part(50, 0, Some(20))));
    assert_eq!(ids(client.stack(1)), up_to(20));
    assert_eq!(pages(&asked).len(), 3);
    // It gives longer pages than asked for.
    let (client, _, _thread) = stack_of(true, |start, _| Ok(part(50, start, Some(30))));
    assert_eq!(ids(client.stack(1)), up_to(50));
}

#[test]
fn an_iterator_ends_after_an_error() {
    let (client, asked, _thread) = stack_of(true, |start, levels| match start {
        0 => Ok(part(50, start, levels)),
        _ => Err(Failure::not_stopped()),
    });
    let mut stack = client.stack(1);
    assert_eq!(stack.by_ref().take(20).filter(Result::is_ok).count(), 20);
    let error = stack.next().expect("an item").expect_err("it runs");
    assert_eq!(error.to_string(), "the debuggee is running; pause it first");
    assert!(stack.next().is_none());
    assert_eq!(pages(&asked).len(), 2);
}

#[test]
fn an_empty_stack_has_no_frames() {
    let (client, asked, _thread) = stack_of(true, |_, _| Ok(frames(0..0).with_total_frames(7)));
    assert_eq!(client.stack(1).count(), 0);
    assert_eq!(pages(&asked).len(), 1);
}

/// What the adapter was asked for.
type Requests = Arc<Mutex<Vec<String>>>;

/// A list of `indexed` elements that has `named` fields, too, in an adapter that keeps to the protocol.
fn list(named: i64, indexed: i64) -> (Server<()>, Requests) {
    let seen = Requests::default();
    let requests = seen.clone();
    let server = Server::builder()
        .on::<VariablesRequest>(move |_, asked, _| {
            let said = format!(
                "{} {:?} {:?}",
                asked
                    .filter
                    .as_ref()
                    .map_or("all", |filter| filter.as_str()),
                asked.start,
                asked.count
            );
            seen.lock().unwrap().push(said);
            let names = (0..named).map(|name| format!("n{name}"));
            let indices = (0..indexed).map(|index| format!("[{index}]"));
            let children: Vec<String> = match asked.filter {
                Some(VariablesArgumentsFilter::Named) => names.collect(),
                Some(VariablesArgumentsFilter::Indexed) => indices.collect(),
                _ => names.chain(indices).collect(),
            };
            let start = asked.start.unwrap_or(0) as usize;
            let count = asked.count.filter(|&count| count > 0);
            let count = count.map_or(usize::MAX, |count| count as usize);
            let children = children.into_iter().skip(start).take(count);
            let children = children.map(|name| Variable::new(name, "0", 0));
            Ok(VariablesResponse::new(children.collect()))
        })
        .build();
    (server, requests)
}

fn value(named: i64, indexed: i64) -> Variable {
    let value = Variable::new("list", "", 7);
    value
        .with_named_variables(named)
        .with_indexed_variables(indexed)
}

fn names<P: Pages<Item = Variable>>(children: Items<'_, Client, P>) -> Vec<String> {
    children.map(|child| child.expect("a child").name).collect()
}

fn taken(requests: &Requests) -> Vec<String> {
    std::mem::take(&mut requests.lock().unwrap())
}

#[test]
fn many_children_are_read_by_kind_and_page() {
    let (server, requests) = list(2, 250);
    let (client, _thread) = serve(server);
    initialize(&client, true);
    let children = names(client.variables(&value(2, 250)));
    assert_eq!(children.len(), 252);
    assert_eq!(
        (&*children[1], &*children[2], &*children[251]),
        ("n1", "[0]", "[249]")
    );
    assert_eq!(
        taken(&requests),
        [
            "named None None",
            "indexed Some(0) Some(100)",
            "indexed Some(100) Some(100)",
            "indexed Some(200) Some(50)"
        ]
    );

    let some = names(client.variables(&value(2, 250)).page_size(40).limit(45));
    assert_eq!((some.len(), &*some[44]), (45, "[42]"));
    assert_eq!(
        taken(&requests),
        [
            "named None None",
            "indexed Some(0) Some(40)",
            "indexed Some(40) Some(3)"
        ]
    );
    let indexed = names(client.variables(&value(2, 250)).indexed());
    assert_eq!(indexed.len(), 250);
    assert_eq!(
        names(client.variables(&value(2, 250)).named()),
        ["n0", "n1"]
    );
    taken(&requests);
    assert_eq!(client.variables(&value(0, 250)).named().count(), 0);
    assert_eq!(client.variables(0).count(), 0);
    assert_eq!(taken(&requests), [""; 0]);
}

#[test]
fn few_children_and_those_without_counts_are_read_at_once() {
    let (server, requests) = list(2, 3);
    let (client, _thread) = serve(server);
    initialize(&client, true);
    assert_eq!(names(client.variables(&value(2, 3))).len(), 5);
    assert_eq!(names(client.variables(7)).len(), 5);
    let scope = Scope::new("Locals", 7, false).with_named_variables(-1);
    assert_eq!(names(client.variables(&scope).limit(4)).len(), 4);
    assert_eq!(taken(&requests), ["all None None"; 3]);
}

#[test]
fn nothing_is_paged_unless_the_client_has_announced_it() {
    let (server, requests) = list(2, 250);
    let (client, _thread) = serve(server);
    initialize(&client, false);
    assert_eq!(names(client.variables(&value(2, 250))).len(), 252);
    assert_eq!(taken(&requests), ["all None None"]);
}

#[test]
fn counts_that_are_wrong_neither_lose_what_came_nor_go_on_forever() {
    let (server, _) = list(0, 250);
    let (client, _thread) = serve(server);
    initialize(&client, true);
    // There are fewer.
    assert_eq!(names(client.variables(&value(0, 10_000))).len(), 250);
    // There are more.
    assert_eq!(names(client.variables(&value(0, 120))).len(), 120);
    let absurd = value(i64::MAX, i64::MAX);
    assert_eq!(names(client.variables(&absurd)).len(), 250);
}

#[test]
fn an_adapter_that_ignores_paging_gives_each_child_once() {
    let server = Server::<()>::builder()
        .on::<VariablesRequest>(|_, _, _| {
            let all = (0..250).map(|index| Variable::new(format!("[{index}]"), "0", 0));
            Ok(VariablesResponse::new(all.collect()))
        })
        .build();
    let (client, _thread) = serve(server);
    initialize(&client, true);
    for count in [250, 600] {
        assert_eq!(names(client.variables(&value(0, count))).len(), 250);
    }
}

/// As lldb-dap 22 with the variables of a scope, which get new references each time.
#[test]
fn an_adapter_that_ignores_the_start_of_a_page_gives_each_child_once() {
    let server = Server::<i64>::builder()
        .on::<VariablesRequest>(|reference: &mut i64, asked, _| {
            let all = (0..250).map(|index| {
                *reference += 1;
                Variable::new(format!("v{index}"), "0", *reference)
            });
            let count = asked.count.map_or(usize::MAX, |count| count as usize);
            Ok(VariablesResponse::new(all.take(count).collect()))
        })
        .build();
    let (client, session) = dapple_dap::testing::TestClient::of(&server, 0);
    client.initialize();
    let client_: &Client = &client;
    let children = names(client_.variables(&value(250, 0)));
    let expected: Vec<String> = (0..250).map(|index| format!("v{index}")).collect();
    assert_eq!(children, expected);
    client.disconnect();
    session.join().expect("it ends");
}

#[test]
fn what_evaluate_returns_is_a_container_too() {
    let result = EvaluateResponse::new("list", 7).with_indexed_variables(3);
    let same = Variable::new("list", "", 7).with_indexed_variables(3);
    assert_eq!(Container::from(&result), Container::from(&same));
}

#[cfg(feature = "tokio")]
#[test]
fn the_asynchronous_client_reads_the_same_pages() {
    use dapple_dap::async_client::AsyncClient;

    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("two sockets");
    let (server, _) = list(2, 250);
    let thread = std::thread::spawn(move || {
        let adapter = Connection::unix(theirs).expect("a connection");
        server.start(&adapter).run(&mut ());
    });
    runtime.block_on(async {
        ours.set_nonblocking(true).expect("a socket");
        let (input, output) = tokio::net::UnixStream::from_std(ours)
            .expect("a socket")
            .into_split();
        let client = AsyncClient::new(input, output);
        let who = InitializeRequestArguments::new("any").with_supports_variable_paging(true);
        client
            .request::<InitializeRequest>(who)
            .await
            .expect("initialize");
        let mut children = client.variables(&value(2, 250)).indexed();
        let mut count = 0;
        while let Some(child) = children.next().await {
            assert_eq!(child.expect("a child").name, format!("[{count}]"));
            count += 1;
        }
        assert_eq!(count, 250);
        let some = client.variables(&value(2, 250)).limit(3).all().await;
        assert_eq!(some.expect("three").len(), 3);
        let error = client
            .stack(1)
            .all()
            .await
            .expect_err("there are no stacks");
        assert!(
            error.to_string().contains("`stackTrace` is not supported"),
            "{error}"
        );
        client.close(std::time::Duration::from_secs(30)).await;
    });
    thread.join().expect("the session ends");
}
