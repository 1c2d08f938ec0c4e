//! Texts of C++ strings that lie in the object or elsewhere, as both libraries keep them and as both compilers describe them.

mod support;

use dapple_engine::calls::CallOptions;
use dapple_engine::session::assigning::Target;
use support::{Fixture, clang, fixture, fixture_by, has_libcxx};

fn check(fixture: &Fixture, capacity: usize) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["method"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let main = session.stack(thread, 0..2).expect("a stack").frames[1].id;
    let set = |name: &str, text: &str| {
        let target = Target::Expression(name.to_owned());
        let quoted = format!("\"{text}\"");
        let options = CallOptions::default();
        match session.assign(target, &quoted, Some(main), &options).0 {
            Ok(_) => {
                let (_, rendered) = session.evaluate(name, Some(main)).expect("a value");
                assert_eq!(rendered.text, quoted);
                None
            }
            Err(error) => Some(error.to_string()),
        }
    };
    let fitting = "x".repeat(capacity);
    assert_eq!(
        set("shortly", &fitting),
        None,
        "{}",
        fixture.binary.display()
    );
    let refused = set("shortly", &"x".repeat(capacity + 1)).expect("it has no room");
    let room = format!(
        "`shortly` has room for {capacity} bytes, and this text has {}",
        capacity + 1
    );
    assert_eq!(refused, room);
    assert_eq!(set("shortly", ""), None);
    assert_eq!(set("shortly", "short"), None);
    assert_eq!(set("lengthy", "long enough not to lie in the object"), None);
    assert!(set("lengthy", &"y".repeat(500)).is_some());
    debuggee.resume();
    debuggee.expect_exit();
    let written = "shortly short 5\nlengthy long enough not to lie in the object 36\n";
    assert!(debuggee.stdout.contains(written), "{}", debuggee.stdout);
}

#[test]
fn strings_take_texts_that_have_room() {
    check(&fixture("assigned.cpp", &[]), 15);
    let Some(clang) = clang().map(|clang| clang.replace("clang", "clang++")) else {
        return println!("there is no clang here");
    };
    let own = |flags: &[&str]| fixture_by(&clang, "assigned.cpp", flags);
    check(&own(&["-fstandalone-debug"]), 15);
    if has_libcxx(&clang) {
        check(&own(&["-stdlib=libc++", "-fstandalone-debug"]), 22);
        check(&own(&["-stdlib=libc++"]), 22);
    }
}
