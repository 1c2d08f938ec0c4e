//! Dates, times of day, and ratios.

use super::{find, integer};
use crate::values::view::View;
use crate::values::{Reader, Value, names};
use dapple_symbols::types::Type;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// The view of a calendar type of `std::chrono`; `None`: it is another type.
pub(super) fn view(reader: &Reader<'_>, value: &Value, path: &str) -> Option<View> {
    let part = |names: &[&str]| integer(reader, &find(reader, value, names)?);
    let year = || Some(part(&["_M_y", "__y_"])? as u16 as i16);
    let month = || part(&["_M_m", "__m_"]);
    let day = || part(&["_M_d", "__d_"]);
    let text = match path.strip_prefix("chrono::")? {
        "year" => year()?.to_string(),
        "month" => month_name(month()?),
        "day" => day()?.to_string(),
        "weekday" => {
            let day = part(&["_M_wd", "__wd_"])?;
            let name = usize::try_from(day).ok().and_then(|day| DAYS.get(day));
            name.map_or_else(|| format!("{day} (no weekday)"), |name| (*name).to_owned())
        }
        "year_month" => format!("{}/{}", year()?, month_name(month()?)),
        "month_day" => format!("{}/{}", month_name(month()?), day()?),
        "year_month_day" => {
            let (year, month, day) = (year()?, month()?, day()?);
            let text = format!("{year:04}-{month:02}-{day:02}");
            match (1..=length(year, month)).contains(&day) {
                true => text,
                false => format!("{text} (no such date)"),
            }
        }
        "hh_mm_ss" => time_of_day(reader, value)?,
        _ => return None,
    };
    Some(View::Leaf(text))
}

fn month_name(month: u64) -> String {
    let index = usize::try_from(month)
        .ok()
        .and_then(|month| month.checked_sub(1));
    match index.and_then(|index| MONTHS.get(index)) {
        Some(name) => (*name).to_owned(),
        None => format!("{month} (no month)"),
    }
}

/// The number of days in a month; 0: no such month.
fn length(year: i16, month: u64) -> u64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + u64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

fn time_of_day(reader: &Reader<'_>, value: &Value) -> Option<String> {
    let count = |names: &[&str]| {
        let part = names.iter().find_map(|name| reader.field(value, name))?;
        integer(reader, &find(reader, &part, &["__r", "__rep_"])?)
    };
    let hours = count(&["_M_h", "__h_"])?;
    let minutes = count(&["_M_m", "__m_"])?;
    let seconds = count(&["_M_s", "__s_"])?;
    let is_negative = find(reader, value, &["_M_is_neg", "__is_neg_"]);
    let is_negative = is_negative.and_then(|negative| integer(reader, &negative));
    let sign = if is_negative == Some(1) { "-" } else { "" };
    Some(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"))
}

/// `ratio`, whose value is in its type.
pub(super) fn ratio(type_: &Type) -> Option<View> {
    let arguments = names::arguments(&type_.name);
    let number = |at: usize| arguments.get(at).map(|text| text.trim_end_matches('L'));
    let (numerator, denominator) = (number(0)?, number(1).unwrap_or("1"));
    Some(View::Leaf(match denominator {
        "1" => numerator.to_owned(),
        denominator => format!("{numerator}/{denominator}"),
    }))
}
