// A function whose locals are large, and a line to step on.
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

struct Node {
    int key;
    Node *left;
    Node *right;
};

// A balanced tree.
static Node *tree(int low, int high) {
    if (low >= high)
        return nullptr;
    int key = low + (high - low) / 2;
    return new Node{key, tree(low, key), tree(key + 1, high)};
}

int main(int, char **) {
    int array[1000000];
    std::vector<int> vector;
    std::map<int, std::string> map;
    std::unordered_map<int, std::string> table;
    for (int i = 0; i < 1000000; i++) {
        array[i] = 7 * i;
        vector.push_back(7 * i);
    }
    for (int i = 0; i < 100000; i++) {
        map[i] = "value " + std::to_string(i);
        table[i] = "value " + std::to_string(i);
    }
    Node *root = tree(0, 3000);
    int rounds = 0;
    for (;;) {
        rounds++; /* begin */
        if (rounds == 1000000000)
            break;
    }
    std::printf("%d %p\n", array[0], (void *)root);
    return 0;
}
