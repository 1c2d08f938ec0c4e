// Debugged by `cargo xtask e2e terminals`, which has the same program in other languages. It finds lines by the word behind `//`.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static int total(int count, int price) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += price;  // add
    }
    return sum;  // return
}

static void check(int sum) {
    if (sum > 50) {
        throw std::runtime_error("too much");  // throw
    }
}

static int order(int count, int price) {
    int due = total(count, price);  // call
    std::printf("due: %d\n", due);  // print
    return due;
}

static void idle() {
    volatile long turns = 1;
    std::printf("waiting\n");
    std::fflush(stdout);
    // Long, but not forever: an adapter may leave the program behind.
    while (turns < 60000000000) {
        turns = turns + 1;
    }
}

int main(int argc, char **argv) {
    int count = argc > 1 ? std::atoi(argv[1]) : 0;  // begin
    int first = order(count, 7);  // first
    int second = order(count + 2, 9);  // second
    try {
        check(first + second);
    } catch (const std::exception &error) {
        std::printf("refused: %s\n", error.what());  // refused
    }
    idle();
    return 0;
}
