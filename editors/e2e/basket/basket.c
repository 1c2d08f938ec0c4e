/* What a basket costs. */
#include <stdio.h>

struct item {
    const char *name;
    int count;
};

static int price_of(struct item item, int each) {
    int price = item.count * each;
    return price;
}

int main(void) {
    struct item basket[] = {{"tea", 2}, {"scone", 1}};
    int total = 0;
    for (int at = 0; at < 2; at++) {
        struct item item = basket[at];
        int each = 250 + 70 * at;
        int price = price_of(item, each);
        total += price;
        printf("%s: %d\n", item.name, price);
    }
    printf("the basket costs %d\n", total);
    return 0;
}
