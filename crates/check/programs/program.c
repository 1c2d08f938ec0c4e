/* What `dapple check` debugs. The comments say what a debugger has to find. */
#include <stdio.h>

struct point {
    int x, y;
};

static int add(int a, int b) { /* check: entry */
    int sum = a + b; /* check: inside a=3 b=4 */
    return sum;
}

int main(void) {
    int numbers[200];
    int total = 0;
    struct point point = {3, 4};
    for (int i = 0; i < 200; i++) {
        numbers[i] = i * i;
    }
    total = numbers[2] + 2; /* check: stop total=0 point.x=3 */
    total = total + 1; /* check: next total=6 point.y=4 */
    total = add(point.x, point.y); /* check: call total=7 */
    for (int i = 0; i < 5; i++) { /* check: after-call */
        total += i; /* check: loop */
    }
    printf("the total is %d\n", total); /* check: end total=17 */
    return 3; /* check: exit 3 */
}

/* check: condition i == 2 */
/* check: output the total is 17 */
/* check: function add */
/* check: none */
