/* A loop that a condition is decided in, a line to step over, and a deep stack. */

#include <stdio.h>
#include <string.h>

struct item {
    char name[16];
    int count;
    double weight;
};

static volatile long sum;

__attribute__((noinline)) static long hit(long turn)
{
    sum += turn; /* hit */
    return sum;
}

__attribute__((noinline)) static long deeper(int depth)
{
    if (depth == 0)
        return sum; /* deep */
    long below = deeper(depth - 1);
    return below + depth;
}

int main(void)
{
    struct item items[4];
    memset(items, 0, sizeof items);
    long total = 0;
    for (int index = 0; index < 100; index++) {
        items[index % 4].count += index; /* step */
        items[index % 4].weight = index / 3.0;
        total += items[index % 4].count;
        strcpy(items[index % 4].name, "item");
    }
    for (long turn = 1; turn <= 1000000; turn++)
        total += hit(turn);
    total += deeper(1000);
    printf("%ld\n", total);
    return 0;
}
