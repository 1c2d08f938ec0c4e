//! Prints figures with their goals, and knows whether all goals were met.

use std::fmt;

/// What a figure has to be.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// The printed measures.
pub struct Report {
    met: bool,
}

impl Goal {
    fn is_met(self, figure: f64) -> bool {
        match self {
            Self::AtMost(most) => figure <= most,
            Self::AtLeast(least) => figure >= least,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "≤ {most}"),
            Self::AtLeast(least) => write!(f, "≥ {least}"),
        }
    }
}

impl Report {
    /// Nothing was measured yet.
    pub fn new() -> Self {
        Self { met: true }
    }

    /// Whether all goals so far were met.
    pub fn is_met(&self) -> bool {
        self.met
    }

    /// Begins a measure.
    pub fn heading(&self, name: &str) {
        println!("{name}");
    }

    /// Prints a figure without a goal.
    pub fn figure(&self, what: &str, figure: f64, unit: &str) {
        println!("    {what:50}{} {unit}", shown(figure));
    }

    /// Prints a figure with its goal.
    pub fn goal(&mut self, what: &str, figure: f64, unit: &str, goal: Goal) {
        let met = goal.is_met(figure);
        self.met &= met;
        let verdict = if met { "met" } else { "SHORT" };
        println!(
            "    {what:50}{} {unit:3} goal {goal} {unit}  {verdict}",
            shown(figure)
        );
    }

    /// Prints that a measure failed, which misses its goals.
    pub fn missing(&mut self, why: &anyhow::Error) {
        self.met = false;
        println!("    not measured: {why:#}: SHORT");
    }
}

/// A figure in its column; large ones without decimals.
fn shown(figure: f64) -> String {
    match figure < 10_000.0 {
        true => format!("{figure:12.2}"),
        false => format!("{figure:12.0}"),
    }
}
