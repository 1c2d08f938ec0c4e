//! Measures several ways to do the same, alternately.

use std::time::{Duration, Instant};

/// How many rounds are measured; the median counts.
const ROUNDS: usize = 21;

/// The least time for which a way is measured in one round.
const ROUND: Duration = Duration::from_millis(40);

/// A way to do it: a name, and a function that makes one pass over the whole corpus.
pub struct Way<'a> {
    /// The name for output.
    pub name: &'static str,
    /// One pass.
    pub pass: Box<dyn FnMut() + 'a>,
}

/// Makes a way.
pub fn way<'a>(name: &'static str, pass: impl FnMut() + 'a) -> Way<'a> {
    Way {
        name,
        pass: Box::new(pass),
    }
}

/// The times of one way.
pub struct Time {
    /// Its name.
    pub name: &'static str,
    /// The median time of one pass.
    pub pass: Duration,
    /// How many times faster it is than the last way: the median of all rounds.
    pub ratio: f64,
}

/// Measures all ways alternately, so that other load on the machine affects all of them alike. Each round compares with the last way's time
/// in the same round.
pub fn measure(mut ways: Vec<Way<'_>>) -> Vec<Time> {
    let passes: Vec<u32> = ways.iter_mut().map(passes_of_a_round).collect();
    let mut rounds = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for ((way, passes), times) in ways.iter_mut().zip(&passes).zip(&mut rounds) {
            let begin = Instant::now();
            for _ in 0..*passes {
                (way.pass)();
            }
            times.push(begin.elapsed() / *passes);
        }
    }
    let last = rounds.last().cloned().unwrap_or_default();
    ways.iter()
        .zip(rounds)
        .map(|(way, times)| {
            let mut ratios: Vec<f64> = times
                .iter()
                .zip(&last)
                .map(|(time, last)| last.as_secs_f64() / time.as_secs_f64())
                .collect();
            ratios.sort_by(f64::total_cmp);
            Time {
                name: way.name,
                pass: middle(times),
                ratio: ratios[ratios.len() / 2],
            }
        })
        .collect()
}

fn passes_of_a_round(way: &mut Way<'_>) -> u32 {
    let begin = Instant::now();
    let mut passes = 0;
    while passes == 0 || begin.elapsed() < ROUND {
        (way.pass)();
        passes += 1;
    }
    passes
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
