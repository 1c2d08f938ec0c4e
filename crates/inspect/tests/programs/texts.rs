//! Strings, for comparisons with literals.
pub struct Named<'a> {
    name: String,
    borrowed: &'a str,
    list: Vec<u16>,
    units: Vec<()>,
    slice: &'a [u32],
    number: Option<i32>,
    pointer: Option<&'a u32>,
    flag: Option<Option<bool>>,
    done: Result<u16, u64>,
    nested: Option<char>,
    texts: [&'a str; 4],
}

// SAFETY: no other function has the name.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn check(named: &Named, text: &str, owned: &String, boxed: Box<Named>) -> usize {
    println!("{} {text} {owned} {}", named.name, boxed.borrowed);
    named.borrowed.len() + named.texts[0].len() + named.list.len() + named.units.len() + named.slice.len() + usize::from(named.number.is_some() == named.pointer.is_some())
        + usize::from(named.flag.is_some() == named.done.is_ok() && named.nested.is_some())
}

fn main() {
    let make = || Named { name: String::from("a"), borrowed: "b", list: vec![1], units: vec![()], slice: &[1], number: Some(1), pointer: None, flag: None, done: Ok(1), nested: None, texts: ["one"; 4] };
    check(&make(), "c", &String::from("d"), Box::new(make()));
}
