/* What compilers do to a stack, for being stepped through instruction by instruction. */

#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

volatile int sink;

struct big {
    long values[6];
};

APART static int leaf(int x)
{
    return x * 3 + 1;
}

APART static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* Two of its arguments are on the stack. */
APART static long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return a - b + c - d + e - f + g - h + leaf((int)a);
}

APART static struct big make(long x)
{
    struct big big = { { x, x + 1, x + 2, leaf((int)x), x + 4, x + 5 } };
    return big;
}

APART static int variadic(int count, ...)
{
    va_list arguments;
    va_start(arguments, count);
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += leaf(va_arg(arguments, int));
    va_end(arguments);
    return sum;
}

APART static int dynamic(int size)
{
    char *bytes = alloca((unsigned long)size);
    for (int i = 0; i < size; i++)
        bytes[i] = (char)leaf(i);
    return bytes[size - 1];
}

APART static int variable(int size)
{
    int sum = 0;
    for (int i = 1; i < size; i++) {
        int numbers[i];
        numbers[i - 1] = leaf(i);
        sink = numbers[0];
        sum += numbers[i - 1];
    }
    return sum;
}

/* More alignment than a stack has: the frame is found through a register that gcc saves and calls DRAP. */
APART static int realigned(int x, long a, long b, long c, long d, long e, long f, int on_stack)
{
    _Alignas(64) int numbers[16];
    for (int i = 0; i < 16; i++)
        numbers[i] = leaf(i + x);
    sink = numbers[x & 15];
    return numbers[3] + on_stack + (int)(a + b + c + d + e + f);
}

APART static int tail(int x)
{
    sink = x;
    return leaf(x + 1);
}

/* All registers that calls keep are in use. */
APART static int busy(int a, int b)
{
    int c = leaf(a), d = leaf(b), e = leaf(c), f = leaf(d), g = leaf(e), h = leaf(f);
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + leaf(a ^ h);
}

APART static int through(int (*function)(int), int x)
{
    return function(x) + 1;
}

/* An early return before registers are saved (shrink-wrapping), and a cold part. */
APART static int wrapped(int x)
{
    if (x < 0)
        return -1;
    if (__builtin_expect(x > 1000, 0))
        return busy(x, x) + variadic(1, x);
    int first = leaf(x), second = leaf(first);
    return first + second + leaf(second);
}

/* More than a page of locals. */
APART static int wide(int x)
{
    char bytes[9000];
    bytes[x] = (char)x;
    sink = bytes[x];
    return leaf(bytes[x]);
}

int expressed(int x);
int parked(int x);

/* Call frame information that compilers rarely write, DWARF 5 §6.4.2.
   expressed: the CFA is (what is at rsp + 8) + 16; rbx is at CFA - 16, both by expressions.
   parked: rbx is in r11, first said so plainly, then by a value expression; with a remembered state. */
__asm__(".text\n"
        ".type expressed, @function\n"
        "expressed:\n"
        "	.cfi_startproc\n"
        "	push %rbx\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	.cfi_rel_offset %rbx, 0\n"
        "	mov %rsp, %rbx\n"
        "	.cfi_def_cfa_register %rbx\n"
        "	sub $64, %rsp\n"
        "	and $-64, %rsp\n"
        "	mov %rbx, 8(%rsp)\n"
        "	.cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 16\n"
        "	.cfi_escape 0x10, 3, 3, 0x09, 0xf0, 0x22\n"
        "	mov $0x1234, %ebx\n"
        "	call helper\n"
        "	add %ebx, %eax\n"
        "	mov 8(%rsp), %rsp\n"
        "	.cfi_def_cfa %rsp, 16\n"
        "	.cfi_offset %rbx, -16\n"
        "	pop %rbx\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	.cfi_restore %rbx\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size expressed, .-expressed\n"
        ".type parked, @function\n"
        "parked:\n"
        "	.cfi_startproc\n"
        "	mov %rbx, %r11\n"
        "	.cfi_register %rbx, %r11\n"
        "	mov $7, %ebx\n"
        "	lea (%rdi,%rbx), %eax\n"
        "	test %edi, %edi\n"
        "	js 1f\n"
        "	.cfi_remember_state\n"
        "	mov %r11, %rbx\n"
        "	.cfi_same_value %rbx\n"
        "	nop\n"
        "	ret\n"
        "1:	.cfi_restore_state\n"
        "	neg %eax\n"
        "	.cfi_escape 0x16, 3, 2, 0x7b, 0\n"
        "	nop\n"
        "	mov %r11, %rbx\n"
        "	.cfi_same_value %rbx\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size parked, .-parked\n");

__attribute__((used)) int helper(int x)
{
    return leaf(x) + 2;
}

int start(int x)
{
    int sum = fibonacci(5) + (int)many(1, 2, 3, 4, 5, 6, 7, 8);
    sum += (int)make(x).values[3] + variadic(3, 1, 2, x);
    sum += dynamic(20 + x) + variable(6) + realigned(x, 1, 2, 3, 4, 5, 6, 7);
    sum += tail(x) + busy(x, 2) + through(leaf, 3) + through(tail, 4);
    sum += wrapped(-1) + wrapped(2) + wrapped(2000) + wide(100);
    sum += expressed(x) + parked(5) + parked(-5);
    printf("%d %zu\n", sum, strlen("length"));
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    return start(argc) == 0;
}
