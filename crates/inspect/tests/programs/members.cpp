// Members of classes, for expressions in a method.
#include <cstdint>

enum class Mode : unsigned char { Off, Slow = 3, Fast = 9 };
enum Level : unsigned { Low, High = 6 };

struct Base {
    std::int16_t inherited = 1;
    unsigned marks : 5 = 3;
    Level level : 4 = High;
};
struct Tagged {
    union { std::uint32_t tag; std::int8_t part; };
};
struct Virtual { int far = 4; };
struct Widget : Base, Tagged {
    int width = 5;
    double ratio = 1.5;
    Mode mode = Mode::Slow;
    Level own = High;
    bool shown = true;
    Widget *next = nullptr;
    Widget &self = *this;
    char32_t wide = U'x';
    static int count;
    int check(int a, const Widget &other, unsigned long e);
};
int Widget::count = 3;
struct Odd : virtual Virtual { int near = 2; };
Odd odd;
int width = 7;
int only = 8;

int Widget::check(int a, const Widget &other, unsigned long e)
{
    int local = a;
    if (other.width > width)
        local += static_cast<int>(e);
    return local + count + odd.far;
}

int main()
{
    Widget one, two;
    return one.check(1, two, 3) + ::width + only;
}
