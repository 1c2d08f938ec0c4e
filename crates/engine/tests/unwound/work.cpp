// Calls that C++ makes by itself: constructors, destructors, virtual functions and their thunks, function objects.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#define APART __attribute__((noinline))

struct First {
    virtual ~First() = default;
    virtual int first(int x) = 0;
};

struct Second {
    long pad = 3;
    virtual ~Second() = default;
    virtual int second(int x) { return x + static_cast<int>(pad); }
};

struct Both final : First, Second {
    int value;
    APART explicit Both(int value) : value(value) {}
    APART ~Both() override { value = 0; }
    APART int first(int x) override { return x * value; }
    APART int second(int x) override { return x - value; }
};

struct Guard {
    int &count;
    APART explicit Guard(int &count) : count(count) { count++; }
    APART ~Guard() { count--; }
};

template <typename F> APART static int apply(F function, int x)
{
    return function(x) + 1;
}

APART static int guarded(int &count, int x)
{
    Guard outer(count);
    if (x > 2) {
        Guard inner(count);
        return count + x;
    }
    std::string text(static_cast<unsigned long>(x + 30), 'x');
    return static_cast<int>(text.size()) + count;
}

APART int start(int x)
{
    int count = 0;
    auto both = std::make_unique<Both>(x + 4);
    First *first = both.get();
    Second *second = both.get();
    int sum = first->first(3) + second->second(4);
    sum += guarded(count, 1) + guarded(count, 5);
    sum += apply([&](int y) { return y * sum + count; }, 7);
    std::vector<int> numbers;
    for (int i = 0; i < 5; i++)
        numbers.push_back((i * 7) % 5);
    std::sort(numbers.begin(), numbers.end());
    for (int number : numbers)
        sum = sum * 3 + number;
    std::printf("%d\n", sum);
    return sum;
}

int main(int argc, char **)
{
    return start(argc) == 0;
}
