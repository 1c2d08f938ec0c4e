//! Events in any order, possible and impossible: the maintained count of awaited threads is right after each.

use super::*;

/// Numbers that look random and are the same each time (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % limit
    }

    fn thread(&mut self) -> ThreadId {
        ThreadId(100 + self.below(8) as i32)
    }

    fn what(&mut self) -> What {
        let trap_pending = self.below(4) == 0;
        match self.below(16) {
            0 => What::Exited(ExitStatus::Code(0)),
            1 => What::Exiting,
            2..=4 => What::Signal(5),
            5..=7 => What::Interrupted { trap_pending },
            8 => What::Group(19),
            9..=11 => What::NewThread(self.thread()),
            12 => What::NewProcess {
                child: self.thread(),
                shares_memory: false,
            },
            13 => What::NewProcess {
                child: self.thread(),
                shares_memory: true,
            },
            14 => What::Executed {
                former: self.thread(),
            },
            _ => What::Other,
        }
    }
}

/// One random event or command.
fn happens(stops: &mut Stops, numbers: &mut Numbers, actions: &mut Actions) -> String {
    match numbers.below(12) {
        0 => {
            stops.stop_all(actions);
            "stop all".to_owned()
        }
        1 => {
            let only = (numbers.below(3) == 0).then(|| numbers.thread());
            stops.run_only(only);
            stops.set_running();
            for thread in stops.all_stopped() {
                stops.go(thread, How::Continue, 0, actions);
            }
            format!("run, only {only:?}")
        }
        2 => {
            let thread = numbers.thread();
            stops.go(thread, How::Step, 0, actions);
            format!("step {thread}")
        }
        _ => {
            let (thread, what) = (numbers.thread(), numbers.what());
            stops.handle(WaitEvent { thread, what }, actions);
            format!("{thread}: {what:?}")
        }
    }
}

#[test]
fn those_that_are_waited_for_are_counted_right_whatever_happens() {
    let mut all_stopped = 0;
    for seed in 1..=400 {
        let mut numbers = Numbers(seed);
        let leader = ThreadId(100);
        let mut stops = match seed % 2 {
            0 => Stops::new(leader),
            _ => Stops::stopping(leader, &[leader, ThreadId(101), ThreadId(102)]),
        };
        let mut past = Vec::new();
        for _ in 0..300 {
            let mut actions = Actions::new();
            past.push(happens(&mut stops, &mut numbers, &mut actions));
            let (kept, counted) = stops.threads.counts();
            assert_eq!(kept, counted, "seed {seed}: {past:#?}");
            all_stopped += actions.iter().filter(|a| **a == Action::AllStopped).count();
            if actions.iter().any(|a| matches!(a, Action::ProcessEnded(_))) {
                break;
            }
            if stops.mode() == Mode::Stopping {
                assert!(
                    counted > 0,
                    "seed {seed}: nobody is left to wait for: {past:#?}"
                );
            }
        }
    }
    assert!(
        all_stopped > 500,
        "all were stopped only {all_stopped} times"
    );
}

#[test]
fn stopping_many_threads_looks_at_each_a_few_times() {
    // If this were quadratic, it would look at threads four thousand million times.
    let leader = ThreadId(1);
    let threads: Vec<ThreadId> = (1..=65_536).map(ThreadId).collect();
    let mut stops = Stops::stopping(leader, &threads);
    let mut actions = Actions::new();
    for &thread in &threads {
        assert!(actions.is_empty());
        let what = What::Interrupted {
            trap_pending: false,
        };
        stops.handle(WaitEvent { thread, what }, &mut actions);
    }
    assert_eq!(actions, [Action::AllStopped]);
}
