#include <cstdio>
int main() { std::puts("lowtide"); }
