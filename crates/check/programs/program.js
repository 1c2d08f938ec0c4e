// What `dapple check` debugs. The comments say what a debugger has to find.
function add(a, b) { // check: entry
    const sum = a + b; // check: inside a=3 b=4
    return sum;
}

function main() {
    let total = 0;
    const point = { x: 3, y: 4 };
    const numbers = Array.from({ length: 200 }, (_, n) => n * n);
    total += numbers[2] + 2; // check: stop total=0 point.x=3
    total += 1; // check: next total=6 point.y=4
    total = add(point.x, point.y); // check: call total=7
    for (let i = 0; i < 5; i++) { // check: after-call
        total += i; // check: loop
    }
    console.log("the total is " + total); // check: end total=17
    process.exitCode = 3; // check: exit 3
}

main();

// check: condition i == 2
// check: function add
// check: output the total is 17
// check: none
