//! A bakery that takes orders: a task for each guest, all with the same code.

use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep;

async fn baked(pieces: u64) -> u64 {
    sleep(Duration::from_millis(10 * pieces)).await;
    pieces * 2
}

async fn guest(name: &'static str, pieces: u64, paid: Sender<u64>) {
    let wanted = pieces + 1;
    let got = baked(wanted).await;
    let price = got * 3;
    paid.send(price).await.unwrap();
    println!("{name} has paid {price}");
}

async fn till(mut paid: Receiver<u64>) -> u64 {
    let mut sum = 0;
    while let Some(price) = paid.recv().await {
        sum += price;
    }
    sum
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let (paid, prices) = channel(1);
    let sum = tokio::spawn(till(prices));
    // It waits before anybody comes.
    sleep(Duration::from_millis(20)).await;
    for (name, pieces) in [("Ann", 3), ("Bo", 2), ("Cleo", 1)] {
        tokio::spawn(guest(name, pieces, paid.clone()));
    }
    drop(paid);
    println!("{} in the till", sum.await.unwrap());
}
