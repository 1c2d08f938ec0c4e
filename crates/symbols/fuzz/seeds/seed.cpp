// What debug information can have, in as few bytes as possible: no headers.
extern "C" int puts(const char *);
namespace ns {
struct Base { virtual int area() { return base; } int base; };
struct Shape : Base { int width : 5; unsigned height : 7; Shape *next; double sides[4]; enum { Small, Large } kind; };
struct Guard { ~Guard() { puts("left"); } };
template <typename T> struct Box { T inside; union { int number; float fraction; }; };
static __thread int counter;
static inline __attribute__((always_inline)) int square(int x) { int y = x * x; return y + counter; }
__attribute__((noinline)) int work(Shape *shape, int n) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        int part = square(i + shape->width);
        if (part > 900) throw part;
        total += part;
    }
    return total;
}
__attribute__((noinline)) double guarded(Shape *shape, double scale) {
    Shape copy = *shape;
    Guard guard;
    try {
        return work(&copy, copy.width) * scale;
    } catch (int code) {
        puts("caught");
        return code;
    }
}
}
ns::Box<ns::Shape> box;
int (*callback)(ns::Shape *, int) = ns::work;
int main(int argc, char **argv) {
    puts(argv[0]);
    int first = callback(&box.inside, argc);
    return first + ns::work(&box.inside, argc + 1) + (int)ns::guarded(&box.inside, argc);
}
