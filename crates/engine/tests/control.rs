//! Launching, stopping, running and ending programs.

use crate::support::inline;
use dapple_engine::Event;
use dapple_engine::event::{ExitStatus, StopReason};

const SMALL: &str = r#"
int work(int n) { return n * 2; }
int main(void) { int sum = 0; for (int i = 0; i < 5; i++) sum += work(i); return sum; }
"#;

#[test]
fn a_program_runs_from_its_entry_to_its_exit_code() {
    let fixture = inline("small.c", SMALL, &[]);
    let mut debuggee = fixture.launch();
    let Event::ModuleLoaded(first) = debuggee.next_event() else {
        panic!("no module first")
    };
    assert_eq!(first.path, fixture.binary);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(20));
}

#[test]
fn a_breakpoint_on_an_address_is_hit_each_time() {
    for flags in [&["-O0"][..], &["-no-pie"], &["-static"], &["-static-pie"]] {
        let fixture = inline("small.c", SMALL, flags);
        let mut debuggee = fixture.launch();
        let work = debuggee.symbol("work");
        let set = debuggee
            .session()
            .set_address_breakpoints(vec![work])
            .unwrap();
        assert_eq!(set.len(), 1);
        assert_eq!(set[0].problem(), None);
        for round in 0..5 {
            debuggee.resume();
            let stops = debuggee.expect_stop();
            assert_eq!(stops.len(), 1, "{flags:?} round {round}");
            assert_eq!(stops[0].address, work);
            assert_eq!(stops[0].reason, StopReason::Breakpoint(vec![set[0].id]));
        }
        debuggee.resume();
        assert_eq!(debuggee.expect_exit(), ExitStatus::Code(20), "{flags:?}");
    }
}
