/* A loop that does next to nothing, as many times as the argument says. */
#include <stdio.h>
#include <stdlib.h>

struct inner {
    int value;
};
struct outer {
    struct inner *inner;
};

int total;
static __thread int own;

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    struct inner inner = {0};
    struct outer outer = {&inner}, *object = &outer;
    const char *name = "a name";
    total = 0; /* begin */
    for (int i = 0; i < count; i++) {
        total += i & 15; /* body */
    }
    printf("%d %d %d %c\n", total, own, object->inner->value, *name); /* end */
    return 0;
}
