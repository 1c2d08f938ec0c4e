// Strings, for comparisons with literals.
#include <string>
#include <vector>
struct Named { std::string name; };
Named named;
std::string text;
std::vector<int> ints;
struct Triple { short a, b, c; };
std::vector<Triple> triples;
std::vector<bool> bits;

extern "C" std::size_t check(const std::string &given, Named *p, std::u16string wide)
{
    return given.size() + p->name.size() + text.size() + wide.size() + ints.size() + triples.size() + bits.size();
}

int main()
{
    return static_cast<int>(check("one", &named, u"two"));
}
