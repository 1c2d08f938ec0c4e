//! Containers with many elements, and pages far inside them.

use crate::support::cpu_time::timed;
use crate::support::{Debuggee, inline, listing};
use dapple_engine::Session;
use dapple_engine::frame::FrameId;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

const MANY: u64 = 100_000;

/// CPU time limit for a page of 100 elements. Longer in debug builds.
const PATIENCE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5000 } else { 100 });

/// Calls `look` at `// stop: main`, in the live program and in a core file of it, and compares the results.
fn look<T: PartialEq + Debug>(
    debuggee: &mut Debuggee<'_>,
    look: impl Fn(&Session, FrameId) -> T,
) -> T {
    debuggee.break_at(&["main"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    listing::live_and_post_mortem(debuggee.session(), thread, look)
}

/// The elements from `start` on, as `[name] = text`.
fn page(session: &Session, frame: FrameId, name: &str, start: u64, count: u64) -> Vec<String> {
    let (value, rendered) = session.evaluate(name, Some(frame)).expect(name);
    assert!(rendered.indexed >= MANY, "{name}: {}", rendered.text);
    let first = rendered.named + start;
    let children = || {
        let children = session.children(&value.value, Some(name), first..first + count);
        children.expect("children")
    };
    let (children, taken) = timed(children);
    assert!(
        taken < PATIENCE || count > 100,
        "{name} from {start}: {taken:?}"
    );
    children
        .iter()
        .map(|(named, rendered)| format!("{} = {}", named.name, rendered.text))
        .collect()
}

#[test]
fn pages_of_long_cpp_containers_come_soon_and_are_right() {
    let fixture = inline(
        "many.cpp",
        r#"
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>
int main()
{
    std::map<int, std::string> map;
    std::multiset<long> set;
    std::unordered_map<int, int> table;
    std::list<int> list;
    std::forward_list<int> chain;
    std::deque<int> deque;
    std::vector<bool> bits;
    // The nodes lie in another order than they come in.
    for (int step = 0; step < 100000; ++step) {
        int number = static_cast<int>(step * 7919L % 100000);
        map[number] = std::to_string(number);
        set.insert(number);
        table[number] = -number;
        list.push_back(step);
        chain.push_front(99999 - step);
        deque.push_back(step);
        bits.push_back(step % 3 == 0);
    }
    return map.size() + set.size() + table.size() + list.size() + deque.size() + bits.size() == 0; // stop: main
}
"#,
        &[],
    );
    let mut debuggee = fixture.launch_here();
    look(&mut debuggee, |session, frame| {
        for name in ["map", "set", "table", "list", "chain", "deque", "bits"] {
            let text = session.evaluate(name, Some(frame)).expect(name).1.text;
            assert!(text.starts_with("len = 100000 {"), "{name}: {text}");
            for start in [0, 50_000, MANY - 100] {
                let lines = page(session, frame, name, start, 100);
                assert_eq!(lines.len(), 100, "{name} from {start}");
                for (number, line) in (start..).zip(&lines) {
                    let expected = match name {
                        "map" => format!("[{number}] = \"{number}\""),
                        "bits" => format!("[{number}] = {}", number % 3 == 0),
                        // The order of a hash table is unknown.
                        "table" => {
                            let (key, value) = line.split_once("] = ").expect("a key");
                            let number: i64 =
                                key.trim_start_matches('[').parse().expect("a number");
                            assert_eq!((-number).to_string(), value, "{line}");
                            continue;
                        }
                        _ => format!("[{number}] = {number}"),
                    };
                    assert_eq!(*line, expected, "{name}");
                }
            }
            assert_eq!(page(session, frame, name, MANY - 3, 100).len(), 3, "{name}");
        }
        let keys: BTreeSet<String> = (0..10)
            .flat_map(|tenth| page(session, frame, "table", tenth * 10_000, 10_000))
            .collect();
        assert_eq!(keys.len() as u64, MANY);
        for (expression, text) in [("list[77777]", "77777"), ("deque[99999]", "99999")] {
            let found = session.evaluate(expression, Some(frame)).expect(expression);
            assert_eq!(found.1.text, text, "{expression}");
        }
        let wrong = session.evaluate("list[100000]", Some(frame)).unwrap_err();
        assert!(
            wrong.to_string().contains("`list` has 100000 elements"),
            "{wrong}"
        );
    });
}

#[test]
fn pages_of_long_rust_tables_come_soon_and_are_right() {
    let fixture = inline(
        "many.rs",
        r#"
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

fn main() {
    let mut map = BTreeMap::new();
    let mut set = BTreeSet::new();
    let mut table = HashMap::new();
    let mut seen = HashSet::new();
    for step in 0..100_000u64 {
        let number = step * 7919 % 100_000;
        map.insert(number, number.to_string());
        set.insert(number);
        table.insert(number, 2 * number);
        seen.insert(number);
    }
    std::hint::black_box((&map, &set, &table, &seen)); // stop: main
}
"#,
        &[],
    );
    let mut debuggee = fixture.launch_here();
    look(&mut debuggee, |session, frame| {
        for start in [0, 50_000, MANY - 100] {
            for (number, line) in (start..).zip(page(session, frame, "map", start, 100)) {
                assert_eq!(line, format!("[{number}] = \"{number}\""));
            }
            for (number, line) in (start..).zip(page(session, frame, "set", start, 100)) {
                assert_eq!(line, format!("[{number}] = {number}"));
            }
        }
        for name in ["table", "seen"] {
            let all: BTreeSet<String> = (0..10)
                .flat_map(|tenth| page(session, frame, name, tenth * 10_000, 10_000))
                .collect();
            assert_eq!(all.len() as u64, MANY, "{name}");
            assert_eq!(page(session, frame, name, MANY - 3, 100).len(), 3, "{name}");
        }
    });
}

/// Cyclic and broken links, as bugs in a program make them.
#[test]
fn lists_and_trees_that_go_round_end_with_the_reason() {
    let fixture = inline(
        "rings.cpp",
        r#"
#include <forward_list>
#include <list>
#include <map>
#include <unordered_set>
static void *&link(void *node, int word) { return static_cast<void **>(node)[word]; }
int main()
{
    std::forward_list<int> ring{1, 2, 3};
    auto last = std::next(ring.begin(), 2);
    link(*reinterpret_cast<void **>(&last), 0) = link(&ring, 0);

    std::list<int> bent{1, 2, 3, 4};
    auto third = std::next(bent.begin(), 2);
    link(*reinterpret_cast<void **>(&third), 0) = link(&bent, 0);

    std::list<int> loose{1, 2, 3};
    auto second = std::next(loose.begin());
    link(*reinterpret_cast<void **>(&second), 0) = reinterpret_cast<void *>(16);

    std::map<int, int> tree{{1, 10}, {2, 20}, {3, 30}};
    auto two = tree.find(2);
    link(*reinterpret_cast<void **>(&two), 3) = *reinterpret_cast<void **>(&two);

    std::unordered_set<int> table{5, 6, 7};
    auto node = table.begin();
    link(*reinterpret_cast<void **>(&node), 0) = *reinterpret_cast<void **>(&node);

    __builtin_printf("made\n"); // stop: main
    __builtin_exit(0);
}
"#,
        &[],
    );
    let mut debuggee = fixture.launch_here();
    let shown = look(&mut debuggee, |session, frame| {
        let mut shown = String::new();
        for name in ["ring", "bent", "loose", "tree", "table"] {
            shown.push_str(&listing::value(session, frame, name, 1));
        }
        shown
    });
    expect_test::expect_file!["values/rings.txt"].assert_eq(&shown);
}

/// Containers that a program has damaged or freed, or that are very long.
#[test]
fn damaged_and_huge_rust_containers_are_answered_with_the_reason() {
    let fixture = inline(
        "damaged.rs",
        r#"
use std::collections::{BTreeMap, HashMap, LinkedList, VecDeque};
use std::rc::Rc;

/// The words of a value.
fn words<T>(value: &T) -> &mut [u64] {
    // SAFETY: what is written there is only looked at from outside.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::from_ref(value).cast_mut().cast(), size_of::<T>() / 8) }
}
/// Where a word that begins a value has this content.
fn find<T>(value: &T, content: u64) -> &mut u64 {
    words(value).iter_mut().find(|word| **word == content).expect("a word")
}
fn main() {
    let long_vec = vec![7_u32; 10_000_000];
    let long_text = "x".repeat(100 << 20);
    let bad_vec = vec![1, 2, 3];
    *words(&bad_vec).iter_mut().rfind(|word| **word == 3).expect("a word") = 5;
    let wild_vec = vec![4_u64; 9];
    *find(&wild_vec, wild_vec.as_ptr() as u64) = 0x10;
    let bad_text = String::from("text");
    *find(&bad_text, bad_text.as_ptr() as u64) = 8;
    let mut bad_ring: VecDeque<u16> = VecDeque::with_capacity(8);
    bad_ring.extend([1, 2, 3]);
    bad_ring.pop_front();
    *find(&bad_ring, 1) = 99;
    let bad_map: HashMap<u32, u32> = (0..5).map(|n| (n, n)).collect();
    // The mask of a table of eight.
    *find(&bad_map, 7) = 0xffff;
    let odd_map: HashMap<u32, u32> = (0..5).map(|n| (n, n)).collect();
    *find(&odd_map, 7) = 8;
    let ring: LinkedList<u64> = [1, 2, 3].into();
    let node = |address: u64| unsafe { std::slice::from_raw_parts_mut(address as *mut u64, 3) };
    let first = words(&ring).iter().copied().filter(|word| *word > 0x1000).min().expect("a node");
    // What the first leads to leads back to it.
    let second = node(first).iter().copied().find(|word| *word > 0x1000).expect("a link");
    for word in node(second) {
        if *word > 0x1000 && *word != first {
            *word = first;
        }
    }
    let bent_tree: BTreeMap<u64, u64> = (0..100).map(|n| (n, n)).collect();
    let root = words(&bent_tree).iter().copied().find(|word| *word > 0x1000).expect("a root");
    // The second edge of the root leads to the root.
    let inner = unsafe { std::slice::from_raw_parts_mut(root as *mut u64, 36) };
    let edges: Vec<usize> = (0..36).filter(|at| inner[*at] > 0x10_0000).collect();
    inner[edges[1]] = root;
    let freed = Rc::new(5);
    // SAFETY: as above.
    unsafe { Rc::decrement_strong_count(Rc::as_ptr(&freed)) };
    std::hint::black_box((&long_vec, &long_text, &bad_vec, &wild_vec, &bad_text, &bad_ring)); // stop: main
    std::hint::black_box((&bad_map, &odd_map, &ring, &bent_tree, &freed));
    std::process::exit(0);
}
"#,
        &[],
    );
    let mut debuggee = fixture.launch_here();
    let shown = look(&mut debuggee, |session, frame| {
        let mut shown = String::new();
        for name in [
            "long_vec",
            "long_text",
            "bad_vec",
            "wild_vec",
            "bad_text",
            "bad_ring",
            "bad_map",
            "odd_map",
            "ring",
            "bent_tree",
        ] {
            let (text, taken) = timed(|| listing::value(session, frame, name, 1));
            shown.push_str(&text);
            assert!(taken < PATIENCE, "{name}: {taken:?}");
        }
        // The memory belongs to the allocator now.
        let freed = listing::value(session, frame, "freed", 1);
        let reason = "freed: Rc<i32> = <not initialised or corrupt: ";
        assert!(freed.starts_with(reason), "{freed}");
        let page = page(session, frame, "long_vec", 9_999_990, 100);
        assert_eq!(page.len(), 10);
        assert_eq!(page[9], "[9999999] = 7");
        shown
    });
    expect_test::expect_file!["values/rust_damaged.txt"].assert_eq(&shown);
}
