//! Step targets: the calls of a line, and stepping into one of them.

use crate::walking::table;

table! {
    targets_at_o0: "targets.cpp" &["-O0"];
    targets_at_o2: "targets.cpp" &["-O2"];
    "
    run nested          → nested, main, 1
    targets             → two; one; sum else one; two; sum
    into two            → two, two, 2
    run nested          → nested, main, 1
    into one            → one, one, 2
    out                 → nested, main, 1
    targets             → sum else two; sum

    # Through a pointer, named as it is written.
    run pointer         → pointer, main, 1
    targets             → one; (*pointer)()
    into (*pointer)()   → two, two, 2
    run virtual         → virtual, main, 1
    targets             → one; shape->area()
    into shape->area()  → square, area, 2
    over                → square end, area, 2

    # What is never called: the step ends as one over the line.
    run choice          → choice, main, 1
    into one            → call tail, main, 1
    run choice          → choice, main, 1
    into two            → two, two, 2
    run library         → library, main, 1
    into two            → sort, main, 1

    # On the way to it a breakpoint stops.
    run nested          → nested, main, 1
    break two
    into one            → breakpoint two, two, 2 else one, one, 2

    # A library's function, which no step goes into unasked, and what that calls.
    run sort            → sort, main, 1
    targets             → one; qsort
    into                → one, one, 2
    run print           → print, main, 1
    targets             → one; printf
    into one            → one, one, 2

    run tail calls      → tail calls, tail, 2
    into one            → one, one, 3
    run while           → while, loop, 2
    into one            → one, one, 3
    out                 → while, loop, 2
    into two            → two, two, 3

    run one end         → one end, one, 2
    targets             →
    "
}

table! {
    more_targets_at_o0: "targets.cpp" &["-O0"];
    "
    run inlined last    → inlined last, main, 1
    targets             → one; small
    into small          → small, small, 2
    out                 → inlined last, main, 1
    targets             →
    run choice          → choice, main, 1
    targets             → one; two
    run tail calls      → tail calls, tail, 2
    targets             → one; two
    into two            → two, two, 3
    "
}

table! {
    more_targets_at_o2: "targets.cpp" &["-O2"];
    "
    run inlined         → inlined, main, 1
    targets             → small; one; sum
    into small          → small, small, 2
    # In place of a call the last one is jumped to.
    run tail calls      → tail calls, tail, 2
    targets             → one; two
    into two            → two, two, 2
    "
}

table! {
    retpolines_at_o0: "targets.cpp" &["-O0", "-mindirect-branch=thunk", "-fcf-protection=none"];
    retpolines_at_o2: "targets.cpp" &["-O2", "-mindirect-branch=thunk", "-fcf-protection=none"];
    "
    run pointer         → pointer, main, 1
    targets             → one; (*pointer)()
    into                → one, one, 2
    out                 → pointer, main, 1
    into                → two, two, 2
    out                 → pointer, main, 1
    over                → virtual, main, 1
    into shape->area()  → square, area, 2
    over                → square end, area, 2
    "
}

table! {
    targets_in_rust_at_o0: "targets.rs" &["-Copt-level=0"];
    targets_in_rust_at_o2: "targets.rs" &["-Copt-level=2"];
    "
    run nested          → nested, main, 1
    targets             → one; two; sum
    into two            → two, two, 2
    out                 → nested, main, 1
    targets             → sum
    into sum            → sum, sum, 2

    run dyn             → dyn, main, 1
    targets             → one; shape.area()
    into shape.area()   → square, area, 2
    run inlined         → inlined, main, 1
    targets             → one; small; sum
    into one            → one, one, 2
    run inlined         → inlined, main, 1
    into small          → small, small, 2
    run inlined         → inlined, main, 1
    into sum            → sum, sum, 2
    "
}

table! {
    more_targets_in_rust_at_o0: "targets.rs" &["-Copt-level=0"];
    "
    run pointer         → pointer, main, 1
    targets             → one; (*pointer)()
    into (*pointer)()   → two, two, 2
    run closure         → closure, main, 1
    targets             → one; map; sum
    into one            → one, one, 2
    out                 → closure, main, 1
    targets             → map; sum
    run print           → print, main, 1
    targets             → one; new_display; new; _print
    into one            → one, one, 2
    "
}

table! {
    more_targets_in_rust_at_o2: "targets.rs" &["-Copt-level=2"];
    "
    # Where the pointer is in a register, it is known what it points to.
    run pointer         → pointer, main, 1
    targets             → one; two
    into two            → two, two, 2
    # The closure was inlined into the library's code, which was inlined, too.
    run closure         → closure, main, 1
    targets             → one; sum; main::{closure#0}
    into main::{closure#0} → closure, main::{closure#0}, 2
    run print           → print, main, 1
    targets             → one; _print
    into one            → one, one, 2
    "
}
