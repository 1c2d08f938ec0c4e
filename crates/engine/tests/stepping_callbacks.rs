//! Steps out of the user's code into library code that will call the user's code again.

use crate::walking;
use crate::walking::table;

#[test]
fn callbacks_of_cpp() {
    let rows = "
    run element end     → element end, operator(), 2
    into                → element, operator(), 2
    into                → element end, operator(), 2
    into                → pair, main, 1

    run element end     → element end, operator(), 2
    over                → pair, main, 1

    # Of a library without source.
    run compare end     → compare end, compare, 2
    into                → compare, compare, 2
    out                 → end, main, 1
    run compare end     → compare end, compare, 2
    over                → end, main, 1
    ";
    walking::check(&walking::program("callbacks.cpp", &["-O0"]), rows);
}

table! {
    callbacks_of_rust: "callbacks.rs" &["-Copt-level=0"];
    "
    run map value       → map value, main::{closure#0}, 2
    into                → map end, main::{closure#0}, 2
    into                → map, main::{closure#0}, 2
    into                → twice, twice, 3
    out                 → map, main::{closure#0}, 2
    over                → map value, main::{closure#0}, 2
    over                → map end, main::{closure#0}, 2
    over                → map end, main, 1

    run map value       → map value, main::{closure#0}, 2
    over                → map end, main::{closure#0}, 2
    over                → map end, main, 1
    "
}
