//! Steps to code with line 0 in the line table: LLVM's reloads of registers where branches join behind a call.

use crate::walking::table;

table! {
    returns_to_code_of_no_line: "lineless.rs" &["-Copt-level=0"];
    "
    run first           → first, main, 1
    into                → if, chosen, 2
    over                → smaller, chosen, 2
    into                → written, written, 3
    out                 → smaller, chosen, 2
    over                → chosen end, chosen, 2
    over                → first, main, 1
    over                → second, main, 1

    # Behind that call is code of no line.
    into                → if, chosen, 2
    over                → greater, chosen, 2
    into                → written, written, 3
    out                 → greater, chosen, 2
    over                → chosen end, chosen, 2
    out                 → second, main, 1
    over                → print, main, 1

    run if              → if, chosen, 2
    out                 → first, main, 1
    over                → second, main, 1
    into                → if, chosen, 2
    over                → greater, chosen, 2
    into                → written, written, 3
    over                → made, written, 3
    over                → written end, written, 3
    over                → greater, chosen, 2
    over                → chosen end, chosen, 2
    "
}
