// Debugged by `cargo xtask e2e terminals`, which has the same program in other languages. It finds lines by the word behind `//`.
function total(count, price) {
    let sum = 0;
    for (let i = 0; i < count; i++) {
        sum += price; // add
    }
    return sum; // return
}

function check(sum) {
    if (sum > 50) {
        throw new Error('too much'); // throw
    }
}

function order(count, price) {
    const due = total(count, price); // call
    console.log(`due: ${due}`); // print
    return due;
}

function idle() {
    let turns = 1;
    console.log('waiting');
    // Long, but not forever: an adapter may leave the program behind.
    while (turns < 60000000000) {
        turns = turns + 1;
    }
}

function main() {
    const count = Number(process.argv[2] ?? 0); // begin
    const first = order(count, 7); // first
    const second = order(count + 2, 9); // second
    try {
        check(first + second);
    } catch (error) {
        console.log(`refused: ${error.message}`); // refused
    }
    idle();
}

main();
