// Random numbers beside libmlx's, to the bit: 3 seeds, 12 sizes, every distribution in f32, f16 and bf16, eager and
// with vmapped keys. Prints a hash for each; compiled once with each library, both must print the same:
//   M=$(python -c 'import mlx, os; print(list(mlx.__path__)[0])')
//   g++ -O1 -std=c++20 -DWITH_MLX -I$M/include random_beside_mlx.cpp -o theirs -L$M/lib -lmlx -Wl,-rpath,$M/lib
//   g++ -O1 -std=c++20 -I$LOWTIDE/include random_beside_mlx.cpp -o ours -L$LOWTIDE/build -llowtide
//   -Wl,-rpath,$LOWTIDE/build diff <(./theirs) <(./ours) && echo equal
#ifdef WITH_MLX
#include <mlx/mlx.h>
namespace library = mlx::core;
#else
#include <lowtide/arrays.h>
namespace library = lowtide;
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace library;
using Draw = std::function<array(const array&)>;

size_t numbers = 0;

void show(const std::string& name, const array& drawn) {
  array words = view(drawn, drawn.dtype().size() == 1 ? uint8 : drawn.dtype().size() == 2 ? uint16 : uint32);
  eval(words);
  const size_t width = words.dtype().size(), bytes = words.size() * width;
  const void* const data = width == 1   ? static_cast<const void*>(words.data<uint8_t>())
                           : width == 2 ? static_cast<const void*>(words.data<uint16_t>())
                                        : static_cast<const void*>(words.data<uint32_t>());
  uint64_t hash = 1469598103934665603U;  // FNV-1a
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211U;
  numbers += words.size();
  std::printf("%s %016llx\n", name.c_str(), static_cast<unsigned long long>(hash));
}

}  // namespace

int main() {
  const std::vector<std::pair<const char*, Dtype>> types = {{"f32", float32}, {"f16", float16}, {"bf16", bfloat16}};
  const std::vector<std::vector<int>> sizes = {{1},    {2},      {3},        {7},     {64},       {1001},
                                               {4096}, {33, 77}, {5, 7, 11}, {65537}, {128, 513}, {300001}};
  for (const uint64_t seed : {0U, 42U, 123456789U}) {
    for (const auto& extents : sizes) {
      const Shape shape(extents.begin(), extents.end());
      for (const auto& [type, dtype_now] : types) {
        const Dtype dtype = dtype_now;
        std::vector<std::pair<std::string, Draw>> draws = {
            {"uniform", [&](const array& k) { return random::uniform(array(-1.0F), array(2.5F), shape, dtype, k); }},
            {"normal", [&](const array& k) { return random::normal(shape, dtype, 0.5F, 1.7F, k); }},
            {"truncated",
             [&](const array& k) { return random::truncated_normal(array(-1.5F), array(2.0F), shape, dtype, k); }},
            {"gumbel", [&](const array& k) { return random::gumbel(shape, dtype, k); }},
            {"laplace", [&](const array& k) { return random::laplace(shape, dtype, 0.5F, 3.0F, k); }}};
        if (dtype == float32) {
          const int rows = std::min(extents[0], 4000);
          draws.emplace_back("bits", [&](const array& k) { return random::bits(shape, 4, k); });
          draws.emplace_back("short bits", [&](const array& k) { return random::bits(shape, 2, k); });
          draws.emplace_back("bernoulli", [&](const array& k) { return random::bernoulli(array(0.3F), shape, k); });
          draws.emplace_back("randint",
                             [&](const array& k) { return random::randint(array(-5), array(1000), shape, int32, k); });
          draws.emplace_back("permutation", [rows](const array& k) { return random::permutation(rows, k); });
          draws.emplace_back("categorical",
                             [rows](const array& k) { return random::categorical(zeros({rows, 8}), -1, k); });
        }
        for (const auto& [kind, draw] : draws) {
          const std::string name = kind + " " + type + " seed " + std::to_string(seed) + " of " +
                                   std::to_string(extents[0]) + " x " +
                                   std::to_string(extents.size() > 1 ? extents[1] : 1);
          const array key = random::key(seed);
          show(name, draw(key));
          if (kind != "permutation") show(name + " vmapped", vmap(draw)(random::split(key, 3)));
        }
      }
    }
  }
  std::fprintf(stderr, "%zu numbers\n", numbers);
  return 0;
}
