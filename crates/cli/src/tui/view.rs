//! Where a pane is looked at: the row of the cursor, and what is above and left of the pane.

use super::pane::Pane;

/// A pane's view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct View {
    /// The row of the cursor, from 0.
    pub cursor: usize,
    /// The first row on the screen.
    pub top: usize,
    /// How many columns are left of the screen.
    pub left: usize,
    /// How many rows fit.
    pub height: usize,
    /// How many rows there are.
    pub rows: usize,
}

impl View {
    /// Keeps the cursor on the rows, and the cursor's row on the screen.
    pub fn fit(&mut self, rows: usize, height: usize) {
        let is_first = self.height == 0;
        (self.rows, self.height) = (rows, height);
        self.cursor = self.cursor.min(rows.saturating_sub(1));
        if is_first {
            self.top = self.cursor.saturating_sub(height / 2);
        }
        let last = rows.saturating_sub(height);
        self.top = self.top.min(last).min(self.cursor);
        if self.cursor >= self.top + height.max(1) {
            self.top = self.cursor + 1 - height.max(1);
        }
    }

    /// Moves the cursor.
    pub fn move_by(&mut self, rows: isize) {
        let last = self.rows.saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(rows).min(last);
        self.fit(self.rows, self.height);
    }

    /// Moves what is on the screen, and the cursor only if it would leave it.
    pub fn scroll_by(&mut self, rows: isize) {
        let last = self.rows.saturating_sub(self.height);
        self.top = self.top.saturating_add_signed(rows).min(last);
        let end = self.top + self.height.max(1) - 1;
        self.cursor = self.cursor.clamp(self.top, end.max(self.top));
    }

    /// Puts the cursor on a row. If that isn't on the screen, or at its edge, it comes into the middle.
    pub fn go_to(&mut self, row: usize) {
        self.cursor = row;
        let margin = if self.height > 8 { 2 } else { 0 };
        let is_above = row < self.top + margin && self.top > 0;
        if is_above || row < self.top || row + margin >= self.top + self.height.max(1) {
            self.top = row.saturating_sub(self.height / 2);
        }
    }
}

/// The views of all panes.
#[derive(Debug, Default)]
pub struct Views([View; Pane::ALL.len()]);

impl Views {
    /// That of a pane.
    pub fn of(&self, pane: Pane) -> &View {
        &self.0[pane as usize]
    }

    /// The same, to change it.
    pub fn of_mut(&mut self, pane: Pane) -> &mut View {
        &mut self.0[pane as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_on_rows_and_on_the_screen() {
        let mut view = View::default();
        view.fit(100, 10);
        view.move_by(25);
        assert_eq!((view.cursor, view.top), (25, 16));
        view.move_by(1000);
        assert_eq!((view.cursor, view.top), (99, 90));
        view.scroll_by(-50);
        assert_eq!((view.cursor, view.top), (49, 40));
        view.go_to(45);
        assert_eq!((view.cursor, view.top), (45, 40));
        view.go_to(80);
        assert_eq!((view.cursor, view.top), (80, 75));
        view.fit(3, 10);
        assert_eq!((view.cursor, view.top), (2, 0));
        view.fit(0, 0);
        assert_eq!((view.cursor, view.top), (0, 0));
        view.move_by(1);
        view.scroll_by(1);
        assert_eq!((view.cursor, view.top), (0, 0));
    }
}
