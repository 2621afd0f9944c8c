// What the first evaluation of a known graph at a new shape costs, and a later one: microseconds, the least and the
// median of 200 shapes, and kernels compiled for them.
//   g++ -O2 -std=c++20 -I$LOWTIDE/include new_shapes.cpp -o new_shapes -L$LOWTIDE/build -llowtide
//   -Wl,-rpath,$LOWTIDE/build && ./new_shapes [ROUNDS]
#include <lowtide/arrays.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace lowtide;
using Graph = std::function<array(const array&, const array&)>;

constexpr int64_t kWarm = 8, kShapes = 200;

double microseconds_of(const Graph& graph, int64_t rows, int64_t columns) {
  const array a = full({rows, columns}, 0.5F), b = full({rows, columns}, 2.0F);
  eval(a, b);
  const auto start = std::chrono::steady_clock::now();
  eval(graph(a, b));
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void measure(const std::string& name, const Graph& graph, int64_t round) {
  const auto at = [&](int64_t k) { return microseconds_of(graph, 17 + k % 40, 32 + 3 * (k / 40) + 1000 * round); };
  for (int64_t k = 0; k < kWarm; ++k) at(k);
  const size_t kernels = plan_stats().kernels;
  std::vector<double> first, later;
  for (int64_t k = kWarm; k < kWarm + kShapes; ++k) first.push_back(at(k));
  for (int64_t k = kWarm; k < kWarm + kShapes; ++k) later.push_back(at(k));
  std::ranges::sort(first);
  std::ranges::sort(later);
  std::printf("%-12s %8.0f %8.0f %8.1f %8zu\n", name.c_str(), first[0], first[kShapes / 2], later[kShapes / 2],
              plan_stats().kernels - kernels);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t rounds = argc > 1 ? std::atoll(argv[1]) : 1;
  std::printf("%-12s %8s %8s %8s %8s\n", "graph", "least", "median", "later", "kernels");
  for (int64_t round = 0; round < rounds; ++round) {
    measure("x + y", [](const array& x, const array& y) { return x + y; }, round);
    measure("chain", [](const array& x, const array& y) { return maximum(tanh(x * y + x) * exp(-y), x); }, round);
    measure("sum of tanh", [](const array& x, const array& y) { return sum(tanh(x * y + x), 1); }, round);
    measure("softmax", [](const array& x, const array& y) { return softmax(x * y, 1); }, round);
  }
}
