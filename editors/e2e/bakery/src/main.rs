//! A bakery: two bakers at work at the same time, and not enough flour.

use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;

fn kneaded(grams: u32) -> u32 {
    let water = grams / 2;
    grams + water
}

fn baked(dough: u32) -> u32 {
    let lost = dough / 10;
    dough - lost
}

fn bake(grams: u32, done: Sender<u32>) {
    let mut loaf = baked(kneaded(grams));
    loaf += 1;
    loaf += 10;
    loaf += 100;
    println!("a loaf of {loaf}");
    done.send(loaf).unwrap();
}

fn sell(loaves: Receiver<u32>, opens: Sender<()>) -> u32 {
    opens.send(()).unwrap();
    loaves.iter().sum()
}

fn main() {
    let flour = 500;
    let (done, loaves) = channel();
    let seller = thread::Builder::new().name("Sally".into());
    let (opens, is_open) = channel();
    let seller = seller.spawn(move || sell(loaves, opens)).unwrap();
    // Who sells is there, under a name, before anybody bakes.
    is_open.recv().unwrap();
    let baker = thread::Builder::new().name("Bob".into());
    let baker = baker.spawn(move || bake(flour, done)).unwrap();
    baker.join().unwrap();
    let sold: u32 = seller.join().unwrap();
    let left = flour.checked_sub(sold).expect("not enough flour");
    println!("{left} left");
}
