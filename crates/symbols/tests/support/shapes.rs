//! A program of two sources with everything that depends on where debug information is stored: shared types, inlined calls, thread-local
//! variables, templates.

use super::seen::seen;
use super::{Fixture, TestFolder};

const SHAPES: &str = r#"
#pragma once
namespace ns {
enum class Mode { Off, On = 7 };
struct Point { int x, y; };
struct Box { Point from, to; Mode mode; Box *next; int area() const; };
template <typename T> struct Pair { T first, second; };
}
extern ns::Pair<long> limits;
int far_away(const ns::Box &box, int scale);
"#;

const MAIN: &str = r#"
#include "shapes.h"
static int calls = 0;
static thread_local int depth = 4;
inline __attribute__((always_inline)) int twice(int half) {
    int whole = half * 2;
    calls += whole; // stop: inlined
    return whole;
}
int ns::Box::area() const {
    int width = to.x - from.x, height = to.y - from.y;
    return width * height; // stop: area
}
int main(int argc, char **argv) {
    ns::Box box = {{0, 0}, {argc, 4}, ns::Mode::On, nullptr};
    int sum = twice(box.area());
    for (int i = 0; i < 3; i++) {
        int step = i * sum;
        sum += step; // stop: loop
    }
    return far_away(box, sum) + depth;
}
"#;

const FAR: &str = r#"
#include "shapes.h"
ns::Pair<long> limits = {1, 9};
int far_away(const ns::Box &box, int scale) {
    long room = limits.second - limits.first;
    return box.area() * scale + (int)room; // stop: far
}
"#;

pub const MARKS: &[&str] = &["inlined", "area", "loop"];

/// Writes the sources into a folder of the test's own.
pub fn sources(name: &str) -> TestFolder {
    let folder = TestFolder::new(name);
    folder.write("shapes.h", SHAPES);
    folder.write("main.cpp", MAIN);
    folder.write("far.cpp", FAR);
    folder
}

/// Compiles both sources to objects and links them.
pub fn build(folder: &TestFolder, binary: &str, flags: &[&str]) {
    for name in ["main", "far"] {
        let (source, object) = (format!("{name}.cpp"), format!("{name}-{binary}.o"));
        let mut arguments = vec!["-g", "-c", &source, "-o", &object];
        arguments.extend(flags);
        folder.run("g++", &arguments);
    }
    let (main, far) = (format!("main-{binary}.o"), format!("far-{binary}.o"));
    folder.run("g++", &[&main, &far, "-o", binary]);
}

/// The program, with each of its sources.
pub fn both(folder: &TestFolder, binary: &str) -> (Fixture, Fixture) {
    (
        folder.fixture("main.cpp", binary),
        folder.fixture("far.cpp", binary),
    )
}

/// The text of [`seen`] for both units. Checks that there were no warnings.
pub fn all_seen(folder: &TestFolder, binary: &str) -> String {
    let (main, far) = both(folder, binary);
    let module = main.open();
    let text = seen(&module, &main, MARKS) + &seen(&module, &far, &["far"]);
    assert_eq!(module.warnings().len(), 0, "{:?}", module.warnings());
    text
}
