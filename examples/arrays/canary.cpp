// canary [SIDE]: normal numbers in bfloat16, which take their own bytes and no more; 46341 makes 4.3 GB of them.
#include <cstdlib>

#include "report.h"

using namespace lowtide;

int main(int argc, char** argv) {
  const int64_t side = argc > 1 ? std::atoll(argv[1]) : 2049;
  array x = random::normal({side, side}, bfloat16, random::key(0));
  reset_peak_memory();
  x.eval();
  std::printf("first %.4f, last %.4f\n", static_cast<double>(take(x, 0).item<float>()),
              static_cast<double>(slice(x, {side - 1, side - 1}, {side, side}).item<float>()));
  print_peak("normal numbers", get_peak_memory(), static_cast<int64_t>(x.nbytes()));
}
