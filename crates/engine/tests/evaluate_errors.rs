//! Errors in expressions: the message names the column, what is wrong, and what would be right.

use crate::support;
use crate::support::evaluated::check_listed;
use crate::support::inline;

const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
enum colour { RED, GREEN = 5, BLUE };
struct point { int x, y; };
struct node { int value; struct node *next; struct point at; };
static int counter = 3;
static int twice(int given) { return 2 * given; }
int main(int argc, char **argv) {
    struct node last = { 1, NULL, { 3, 4 } };
    struct node *first = &last;
    enum colour colour = GREEN;
    int numbers[4] = { 1, 2, 3, 4 };
    const char *name = "ada";
    double real = 1.5;
    void *anything = &last;
    printf("%p %d %d %s %g %p %d %d\n", (void *)first, colour, numbers[0], name, real, anything, argc, twice(counter)); // stop: main
    return argv == NULL;
}
"#;

#[test]
fn what_is_wrong_in_c_is_said_with_what_would_be_right() {
    check_listed(
        &inline("errors.c", C, &[]),
        "main",
        include_str!("evaluated/errors_c.txt"),
    );
}

const CPP: &str = r#"
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace shop { struct Item { enum class Kind { Small, Large } kind; enum { Few = 2, Many }; int price; virtual ~Item() = default; int twice() const { return price * 2; } static int all; }; int Item::all = 4; }
template <typename T> struct Box { T item; T get() const { return item; } };
int main() {
    shop::Item item; item.kind = shop::Item::Kind::Large; item.price = 3;
    Box<int> box{5};
    std::vector<int> numbers{1, 2, 3};
    std::map<std::string, int> ages{{"ada", 36}};
    std::unique_ptr<shop::Item> owned(new shop::Item(item));
    shop::Item *pointer = &item;
    int more = 3;
    auto add = [more](int given) { return given + more; };
    auto never = [&](long given) { return given + more; };
    (void)never;
    std::string name = "ada";
    std::printf("%d %d %zu %zu %d %s %d %d\n", item.price, box.get(), numbers.size(), ages.size(), add(1), name.c_str(), pointer->twice(), shop::Item::Many); // stop: main
    return 0;
}
"#;

#[test]
fn what_is_wrong_in_cpp_is_said_with_what_would_be_right() {
    check_listed(
        &inline("errors.cpp", CPP, &["-std=c++17"]),
        "main",
        include_str!("evaluated/errors_cpp.txt"),
    );
}

#[test]
fn no_text_is_too_long_or_too_deep() {
    let deep = |open: &str, close: &str, depth: usize| {
        format!("{}1{}", open.repeat(depth), close.repeat(depth))
    };
    let long = "error: the expression is too long".to_owned();
    let mut table = vec![
        (deep("(", ")", 10_000), long.clone()),
        (deep("~", "", 3000), String::new()),
        (deep("(", ")", 1500), String::new()),
        ("x".repeat(5000), long),
        (format!("1{}", " + 1".repeat(1000)), String::new()),
    ];
    let fixture = inline("errors.c", C, &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["main"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let frame = support::listing::innermost(debuggee.session(), thread);
    for (text, expected) in table.drain(..) {
        let fault = debuggee.session().evaluate(&text, Some(frame));
        let fault = format!("error: {}", fault.expect_err("it is too much"));
        let is_nested = fault.starts_with("error: column ") && fault.ends_with("nested too deep");
        assert!(
            fault == expected || (expected.is_empty() && is_nested),
            "{}: {fault}",
            &text[..20]
        );
    }
}
