/* Variables of all arithmetic types, for expressions over them. */
#include <stdbool.h>

struct inner { short narrow; unsigned long wide; float ratio; };
struct node {
    signed char tiny;
    unsigned short half;
    int whole;
    long wide;
    float single;
    double twice;
    bool flag;
    struct inner inner;
    struct node *next;
    int many[4];
};
enum colour { RED, GREEN = 5, BLUE = 7 };
struct packed {
    unsigned first : 3; int second : 5; unsigned third : 17; _Bool on : 1; long wide : 40; unsigned long most : 63;
    unsigned char tiny : 7; signed char small : 2; enum colour colour : 4; unsigned whole : 32;
};
struct holder { int before; union { int number; struct { unsigned char low, high; }; }; struct packed packed; };
enum below { LOW = -3, HIGH = 9 };

signed char si8; unsigned char un8; short si16; unsigned short un16;
int si32; unsigned int un32; long si64; unsigned long un64;
char letter; bool yes, no; float single, other_single; double twice, other_twice; long double extended; __int128 giant;
enum colour colour; enum below below;
struct packed packed; struct holder *holder;
struct node node; struct node *p; unsigned char bytes[16]; long *longs; unsigned short *halves; int *ints;

int check(int a, unsigned char b, double c, struct node *q, float d, unsigned long e)
{
    short local = 1;
    if (q != p)
        local += a + b;
    return local + (c > d) + (int)e;
}

int main(void)
{
    if (holder)
        return holder->packed.second + holder->high + packed.first;
    return check(si32, un8, twice, p, single, un64) + colour + below + (int)giant + letter + (extended > 0);
}
