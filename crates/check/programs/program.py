# What `dapple check` debugs. The comments say what a debugger has to find.


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


def add(a, b):  # check: entry
    sum = a + b  # check: inside a=3 b=4
    return sum


def main():
    total = 0
    point = Point(3, 4)
    numbers = [n * n for n in range(200)]
    total += numbers[2] + 2  # check: stop total=0 point.x=3
    total += 1  # check: next total=6 point.y=4
    total = add(point.x, point.y)  # check: call total=7
    for i in range(5):  # check: after-call
        total += i  # check: loop
    print("the total is", total)  # check: end total=17


main()

# check: exit 0
# check: condition i == 2
# check: function add
# check: output the total is 17
# check: none
