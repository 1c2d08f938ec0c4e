/* Texts, for comparisons with literals. */
#include <string.h>
struct named { const char *name; char short_name[8]; unsigned char raw[8]; };
struct named named; const char *pointer; char buffer[4]; signed char small[4];

int check(const char *argument)
{
    return strcmp(argument, named.name) + buffer[0] + small[0] + (pointer != argument);
}

int main(void)
{
    named.name = "";
    return check("one");
}
