# Debugged by `cargo xtask e2e terminals`, which has the same program in other languages. It finds lines by the word behind `#`.
import sys


def total(count, price):
    sum = 0
    for i in range(count):
        sum += price  # add
    return sum  # return


def check(sum):
    if sum > 50:
        raise RuntimeError("too much")  # throw


def order(count, price):
    due = total(count, price)  # call
    print(f"due: {due}", flush=True)  # print
    return due


def idle():
    turns = 1
    print("waiting", flush=True)
    # Long, but not forever: an adapter may leave the program behind.
    while turns < 1_000_000_000:
        turns = turns + 1


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 0  # begin
    first = order(count, 7)  # first
    second = order(count + 2, 9)  # second
    try:
        check(first + second)
    except RuntimeError as error:
        print(f"refused: {error}", flush=True)  # refused
    idle()


main()
