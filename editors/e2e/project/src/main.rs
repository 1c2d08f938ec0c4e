//! A till in a tea room.

use std::collections::HashMap;
use std::io;

struct Item {
    name: String,
    count: u32,
}

impl Item {
    fn new(name: &str, count: u32) -> Item {
        let name = name.to_string();
        Item { name, count }
    }
}

fn price_of(item: &Item, prices: &HashMap<String, u32>) -> u32 {
    let each = prices[&item.name];
    item.count * each
}

fn main() -> io::Result<()> {
    let prices = HashMap::from([
        ("tea".to_string(), 250),
        ("scone".to_string(), 320),
        ("jam".to_string(), 80),
    ]);
    let basket = vec![
        Item::new("tea", 2),
        Item::new("scone", 1),
        Item::new("jam", 3),
        Item::new("tea", 1),
    ];

    println!("Whose is it?");
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let customer = line.trim().to_string();

    let mut total = 0;
    for item in &basket {
        let price = price_of(item, &prices);
        total += price;
        println!("{} {}: {price}", item.count, item.name);
    }
    println!("{customer} pays {total}");
    Ok(())
}
