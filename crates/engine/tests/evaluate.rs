//! Expressions in stopped programs.

use crate::support;
use crate::support::evaluated::{check, check_listed};
use crate::support::{Fixture, fixture, inline, listing};

#[test]
fn c_paths_and_arithmetic() {
    check_listed(
        &fixture("values.c", &[]),
        "aggregates",
        include_str!("evaluated/c.txt"),
    );
}

#[test]
fn c_faults_are_sentences() {
    check(
        &fixture("values.c", &[]),
        "aggregates",
        &[
            (
                "nubmers",
                "error: no variable `nubmers` here; did you mean `numbers`?",
            ),
            (
                "1 + wholly_unknown",
                "error: column 5: no variable `wholly_unknown` here",
            ),
            (
                "edge.form",
                "error: column 6: `edge` has no member `form`; did you mean `from`?",
            ),
            (
                "edge.zzz",
                "error: column 6: `edge` has no member `zzz`; it has from, to, label",
            ),
            (
                "edge->to",
                "error: `edge` is no pointer; use `.` instead of `->`",
            ),
            (
                "*corner",
                "error: column 2: `corner` is no pointer, it is a `struct point`",
            ),
            (
                "numbers[5]",
                "error: column 9: index 5 is out of bounds: `numbers` has elements 0 to 4",
            ),
            (
                "numbers[-1]",
                "error: column 9: index -1 is out of bounds: `numbers` has elements 0 to 4",
            ),
            (
                "corner[0]",
                "error: `corner` has no elements, it is a `struct point`",
            ),
            ("1 / (numbers[0] - 1)", "error: column 5: division by zero"),
            (
                "corner + 1",
                "error: `corner` is no number, it is a `struct point`",
            ),
            (
                "numbers[0] = 3",
                "error: column 12: evaluating must not change the program: assignments are refused",
            ),
            ("true && ", "error: column 8: the expression ends too early"),
            ("(1 + ", "error: column 5: the expression ends too early"),
            (
                "a @ b",
                "error: column 3: `@` is not understood; for as many elements write their number behind a comma: `p, 3`",
            ),
            (
                "$riq",
                "error: there is no register `$riq`; did you mean `$rip`?",
            ),
            ("", "error: there is nothing to evaluate"),
        ],
    );
}

#[test]
fn rust_paths_and_arithmetic() {
    check(
        &fixture("values.rs", &[]),
        "structures",
        &[
            ("point.x + 1", "19"),
            ("reference.y", "-19"),
            ("*reference", "Point { x: 18, y: -19 }"),
            ("boxed.x", "21"),
            ("(*boxed).y", "22"),
            ("***nested", "18"),
            ("(*raw).x", "18"),
            ("pair.1", "\"seventeen\""),
            ("generic.inside.inside as i64 * 1000", "20000"),
            ("list.next", "Some(Node { value: 2, next: None })"),
            ("list.next.0.value", "2"),
            ("&point", "0x…"),
            ("300 as u8", "44"),
            (
                "generic.inside.inside + 250",
                "error: column 25: the result does not fit a `u8`: an overflow",
            ),
            ("point.x & 2 == 2", "true"),
            ("wrapper.0", "16"),
            ("!0u8", "255"),
            ("-7 / 2", "-3"),
            ("values::COUNTER", "5"),
            ("GREETING", "\"hello from a static\""),
            (
                "point.z",
                "error: column 7: `point` has no member `z`; it has x, y",
            ),
        ],
    );
}

#[test]
fn rust_cells_and_locks_are_seen_through() {
    check(
        &fixture("values_std.rs", &[]),
        "owners",
        &[
            ("taken[0]", "11"),
            ("root.children[0].children.value.len()", "0"),
            ("root.children[0].parent", "RefCell { value: (Weak) }"),
            (
                "root.children[7]",
                "error: column 15: index 7 is out of bounds: `root.children` has elements 0 to 0",
            ),
            (
                "mutex[0]",
                "error: `mutex` has no elements, it is a `Mutex<i32>`",
            ),
            ("*mutex.lock().unwrap()", "10"),
            // The program would panic there, because the lock is poisoned.
            (
                "*poisoned.lock().unwrap()",
                "error: column 11: functions can't be called here, and what `lock()` would say of `poisoned`, an `Arc<Mutex<i32>>`, is not known",
            ),
        ],
    );
    check(
        &fixture("values_std.rs", &[]),
        "containers",
        &[("nested.0[0].1[7].x", "5")],
    );
}

#[test]
fn entries_are_named_by_their_keys_or_positions_where_that_says_which() {
    let fixture = fixture("values_std.rs", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["containers"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let children = |expression: &str| -> Vec<Option<String>> {
        let (named, shown) = session
            .evaluate(expression, Some(frame))
            .expect("it is there");
        let children = session
            .children(
                &named.value,
                named.expression.as_deref(),
                0..shown.named + shown.indexed,
            )
            .expect("children");
        let children = children
            .into_iter()
            .filter(|(child, _)| child.name != "[raw]");
        children
            .map(|(child, _)| child.expression)
            .take(2)
            .collect()
    };
    let given = |expression: &str| Some(expression.to_owned());
    assert_eq!(children("deep"), [given("deep[0]"), given("deep[1]")]);
    assert_eq!(children("text_keys"), [None, given("text_keys[\"short\"]")]);
    assert_eq!(children("map"), [None]);
    assert_eq!(children("list"), [given("list[0]"), given("list[1]")]);
    assert_eq!(children("tree"), [given("tree[0]"), given("tree[1]")]);
}

#[test]
fn rust_collections_are_indexed() {
    check(
        &fixture("values.rs", &[]),
        "sequences",
        &[
            ("numbers[4]", "8"),
            ("words[1]", "\"beta\""),
            ("points[1].y", "4"),
            ("nested[1][1]", "3"),
            ("slice[0]", "2"),
            ("queue[3]", "5"),
            ("tuple.3", "\"four\""),
            ("grid[1][0]", "4"),
            ("boxed[1]", "7"),
            ("numbers[0] + numbers[1]", "3"),
            ("numbers.len() * 2 + slice.len()", "13"),
            ("nothing.is_empty() && !words.is_empty()", "true"),
            ("words[1] == \"beta\" && tuple.3 != \"five\"", "true"),
            ("words[0].len()", "5"),
            ("size_of::<Point>() + std::mem::size_of::<u16>()", "10"),
            ("size_of_val(&array)", "12"),
            ("unsafe_name.len()", "error: no variable `unsafe_name` here"),
            ("*(&points[0] as *const Point)", "Point { x: 1, y: 2 }"),
            ("(&points[0] as *const Point as *const i32)[3]", "4"),
            ("array,x", "[0xa, 0x14, 0x1e]"),
            ("numbers[1..3]", "[2, 3]"),
            ("&numbers[3..]", "[5, 8]"),
            ("slice[..=1]", "[2, 3]"),
            ("numbers[2..][1]", "5"),
            ("numbers[1..3].len()", "2"),
            ("nothing[..]", "[]"),
            (
                "numbers[2..9]",
                "error: column 12: 2..9 is out of bounds: `numbers` has 5 elements",
            ),
            (
                "numbers[3..2]",
                "error: column 12: 3..2 is out of bounds: `numbers` has 5 elements",
            ),
            (
                "tuple[..]",
                "error: `tuple` has no elements to take a range of, it is a `(i32, char, f64, &str)`",
            ),
            ("&array[1],2", "[20, 30]"),
            ("-1i8,h", "0xff"),
            (
                "numbers[9]",
                "error: column 9: index 9 is out of bounds: `numbers` has elements 0 to 4",
            ),
            (
                "nothing[0]",
                "error: column 9: index 0 is out of bounds: `nothing` is empty",
            ),
        ],
    );
}

#[test]
fn cpp_paths_and_arithmetic() {
    check(
        &fixture("values.cpp", &[]),
        "language",
        &[
            ("point_reference.x", "3"),
            ("reference + 1", "6"),
            ("derived.id_", "7"),
            ("derived.weight", "2.5"),
            ("base->id_", "7"),
            ("diamond.top", "1"),
            ("diamond.right", "3"),
            ("buffer.items[1]", "2"),
            ("outer::inner::counter", "21"),
            ("hidden", "13"),
            ("Base::alive", "4"),
            ("&reference == &number", "true"),
            ("wide16 == 0xe9", "true"),
            ("null == nullptr", "true"),
            ("static_cast<int>(2.5) + 1", "3"),
            ("static_cast<unsigned char>(257)", "1"),
            ("static_cast<Derived *>(base)->weight", "2.5"),
            ("(Base *)&derived == base", "true"),
            ("Level::High", "High"),
            ("static_cast<int>(Level::High)", "200"),
            ("level == Level::High || level == Level::Low", "true"),
            ("PlainOne + 1", "2"),
            ("sizeof(Buffer<short, 3> *)", "8"),
            ("sizeof(outer::Point)", "8"),
            // `Derived` is also the name of its constructor.
            ("sizeof(Derived) == sizeof derived", "true"),
            ("number > 3 ? reference : 0", "5"),
        ],
    );
    check(
        &fixture("values.cpp", &[]),
        "method",
        &[
            ("id_", "7"),
            ("this->id_", "7"),
            (
                "this->idd",
                "error: column 7: `this` has no member `idd`; did you mean `id_`?",
            ),
        ],
    );
    check(
        &fixture("values.cpp", &[]),
        "containers",
        &[
            ("numbers[4]", "8"),
            ("words[0]", "\"alpha\""),
            ("points[1].x", "3"),
            ("bits[2]", "true"),
            ("deque[1]", "10"),
            ("pair.second", "\"one\""),
            ("fixed[2]", "2.5"),
            ("ages[\"grace\"]", "85"),
            ("names[1]", "\"one\""),
            ("names[1].size() + numbers.size()", "8"),
            ("nothing.empty() && !numbers.empty()", "true"),
            ("words[0] == \"alpha\" && words[0] < words[1]", "true"),
            ("words[1][2]", "116 't'"),
            ("numbers,2", "{1, 2}"),
            (
                "ages[\"bob\"]",
                "error: column 6: `ages` has no key \"bob\"",
            ),
            (
                "numbers.push_back(1)",
                "error: column 18: functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch",
            ),
        ],
    );
    check(
        &fixture("values.cpp", &[]),
        "owners",
        &[
            ("unique->x", "5"),
            ("*unique", "{x = 5, y = 6}"),
            ("unique_array[2]", "3"),
            ("*shared", "\"shared\""),
            ("unique_empty == nullptr", "true"),
        ],
    );
}

#[test]
fn the_innermost_of_shadowed_names_is_meant() {
    check(
        &fixture("values.c", &[]),
        "innermost",
        &[("shadowed", "0.5")],
    );
    check(&fixture("values.c", &[]), "inner", &[("shadowed", "10")]);
    check(&fixture("values.c", &[]), "outer", &[("shadowed", "1")]);
    check(
        &fixture("values.rs", &[]),
        "inner",
        &[("shadowed", "\"text\"")],
    );
    check(
        &fixture("values.rs", &[]),
        "outer",
        &[("shadowed", "42"), ("r#type", "42")],
    );
}

#[test]
fn a_null_pointer_is_named_as_such() {
    let fixture = inline(
        "nulls.c",
        r#"
struct node { int value; struct node *next; };
int main(void)
{
    struct node last = { 1, 0 };
    struct node *gone = &last;
    gone = gone->next;
    return last.value - 1 + (gone != 0); // stop: main
}
"#,
        &[],
    );
    check(
        &fixture,
        "main",
        &[
            ("gone->value", "error: `gone` is a null pointer"),
            ("last.next->next", "error: `last.next` is a null pointer"),
            (
                "*gone",
                "{value = <cannot read memory at 0x0>, next = <cannot read memory at 0x8>}",
            ),
            ("gone", "0x0"),
        ],
    );
}

#[test]
fn static_members_have_values_by_their_class_and_by_objects() {
    let expected = [
        ("box", "{Base = {own = 1}, item = 0}"),
        ("Base::made", "3"),
        ("Base::limit", "40"),
        ("Box<int>::shared", "5"),
        ("Box<short>::shared", "6"),
        ("Box<int>::shared + Box<short>::shared < 12", "true"),
        ("Box<int>::label", "0x… \"box\""),
        ("Box<int>::made", "3"),
        ("Box<int>::per_thread", "9"),
        ("box.per_thread", "9"),
        ("to_box->shared", "5"),
        ("box.plain * 2", "24"),
        ("box.made", "3"),
        ("box.Base::limit", "40"),
        ("box.Base::own", "1"),
        ("box.alive", "1"),
        ("ns::Inner::first", "{value = 9}"),
        ("inner.first.value", "9"),
        ("inner.letters", "\"abc\""),
        ("Only::count", "1"),
        ("count", "5"),
        ("::count", "77"),
        ("::Only::count + ::count", "78"),
        ("sizeof(::Only)", "1"),
        (
            "box.sharde",
            "error: column 5: `box` has no member `sharde`; did you mean `shared`?",
        ),
        (
            "::inner",
            "error: no variable `::inner` here; did you mean `inner`?",
        ),
    ];
    let in_method = [("shared", "5"), ("made", "3"), ("this->label[0]", "98 'b'")];
    for fixture in cpp_by_all("statics.cpp") {
        check(&fixture, "statics", &expected);
        check(&fixture, "method", &in_method);
    }
}

/// A C++ program by both compilers, with DWARF 4 and DWARF 5.
fn cpp_by_all(name: &str) -> Vec<Fixture> {
    let clang = support::clang().map(|clang| clang.replace("clang", "clang++"));
    if clang.is_none() {
        println!("there is no clang here");
    }
    let compilers = ["c++".to_owned()].into_iter().chain(clang);
    let mut programs = Vec::new();
    for compiler in compilers {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            programs.push(support::fixture_by(
                &compiler,
                name,
                &["-std=c++17", version],
            ));
        }
    }
    programs
}

#[test]
fn pointers_are_cast_to_what_compilers_take() {
    let program = inline(
        "casts.c",
        r#"
#include <stdio.h>
struct point { int x, y; };
typedef unsigned short port;
int main(void)
{
    int numbers[6] = { 1, 2, 3, 4, 5, 6 };
    int *to_number = numbers;
    int **to_pointer = &to_number;
    int rows[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    int (*to_row)[3] = rows;
    struct point points[2] = { { 1, 2 }, { 3, 4 } };
    struct point *to_points[2] = { points, points + 1 };
    port ports[2] = { 80, 443 };
    void *anything = to_points;
    const char *word = "word";
    const char **words = &word;
    printf("%p %p %p %p %p\n", (void *)to_pointer, (void *)to_row, anything, (void *)words, (void *)ports); // stop: main
    return 0;
}
"#,
        &[],
    );
    check(
        &program,
        "main",
        &[
            ("**(int **)to_pointer", "1"),
            ("((int **)&to_number)[0][2]", "3"),
            ("(*(struct point **)anything)->y", "2"),
            ("((struct point **)anything)[1]->x", "3"),
            ("*(char **)words", "0x… \"word\""),
            ("(*(int (*)[3])numbers)[2]", "3"),
            ("((int (*)[3])numbers)[1]", "{4, 5, 6}"),
            ("*(int *const)numbers", "1"),
            ("(unsigned long long)-1", "18446744073709551615"),
            ("(unsigned long long int)3 + 1", "4"),
            ("((port *)ports)[1]", "443"),
            ("(void **)anything == (void **)to_points", "true"),
            (
                "(double **)anything",
                "error: column 2: the program has no type `double *`, which this would point to",
            ),
            (
                "(struct point ***)anything == 0",
                "error: column 9: the program has no type `point **`, which this would point to",
            ),
            (
                "(int (*)[4])numbers",
                "error: column 2: the program has no type `int [4]`, which this would point to",
            ),
        ],
    );
    let expected = [
        ("static_cast<Derived *>(base)->weight", "2.5"),
        ("reinterpret_cast<Base **>(0x10)", "0x10"),
        ("dynamic_cast<Derived *>(base)->weight", "2.5"),
        ("dynamic_cast<Mixin *>(base) == &derived", "false"),
        ("dynamic_cast<Mixin *>(base)->weight", "2.5"),
        ("dynamic_cast<Base *>(&mixin)->id_", "7"),
        ("dynamic_cast<Diamond *>(base)", "0x0"),
        ("dynamic_cast<void *>(&mixin) == &derived", "true"),
        ("static_cast<Base &>(derived).id_", "7"),
        ("((Mixin &)derived).weight", "2.5"),
        ("static_cast<const Base &>(derived).id_ + 1", "8"),
        ("int(2.75) + double(1) / 2", "2.5"),
        ("unsigned(-1) > 5", "true"),
        (
            "dynamic_cast<Base *>(&number)",
            "error: column 22: `&number` points to no object with virtual functions, which would tell what it is",
        ),
    ];
    for program in cpp_by_all("values.cpp") {
        check(&program, "language", &expected);
    }
    check(
        &fixture("values.rs", &[]),
        "structures",
        &[
            ("**(&raw as *const *const Point)", "Point { x: 18, y: -19 }"),
            (
                "(*(&generic as *const Generic<Generic<u8>>)).inside.inside",
                "20",
            ),
        ],
    );
}

#[test]
fn formats_show_values_otherwise() {
    check(
        &fixture("values.c", &[]),
        "aggregates",
        &[
            ("-2,u", "4294967294"),
            ("-2,d", "-2"),
            ("1.5,e", "1.5e0"),
            ("1e20,f", "100000000000000000000.0"),
            ("0x3fc00000,f", "1.5"),
            ("halves[0],f", "0.5"),
            ("&corner,!", "0x…"),
            ("numbers,[numbers[1] + 1]", "{1, 2, 3}"),
            ("numbers,[2],x", "{0x1, 0x2}"),
            ("4096,p", "0x1000"),
            ("(unsigned char *)edge.label,s", "\"edge\""),
            ("(long)main,p", "0x… <main>"),
            ("(long)main + 4,p", "0x… <main+4>"),
            (
                "numbers,q",
                "error: column 9: `q` is no format; there are `x` or `h`, `d`, `u`, `o`, `b` or `t`, `c`, `s` (text), `p` (address), `f`, `e`, `B` (true or false), `X`, `z` (all digits), `U` (code point), `y` (bytes), `Y` (bytes and text), `!` (raw), `full` (nothing is left out), or a number of elements: `10`, `[n]`",
            ),
            (
                "numbers,[0]",
                "error: `0` is 0: as many elements can't be shown, only 1 to 1000000",
            ),
        ],
    );
    let program = inline(
        "bytes.rs",
        r#"
fn main() {
    let bytes = [112u8, 111, 116, 0];
    let owned = vec![102u8, 111, 111];
    let slice = &owned[1..];
    let pointer = bytes.as_ptr();
    let wide = 300u16;
    println!("{bytes:?} {owned:?} {slice:?} {pointer:?} {wide}"); // stop: main
}
"#,
        &[],
    );
    check(
        &program,
        "main",
        &[
            ("bytes,s", "\"pot\""),
            ("owned,s", "\"foo\""),
            ("slice,s", "\"oo\""),
            ("pointer,s", "\"pot\""),
            (
                "owned,!",
                "Vec { buf: RawVec { inner: RawVecInner { ptr: 0x…, cap: UsizeNoHighBit(3), alloc: Global } }, len: 3 }",
            ),
            ("wide,b", "0b100101100"),
        ],
    );
}
