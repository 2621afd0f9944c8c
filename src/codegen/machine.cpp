#include "codegen/machine.h"

#include <cpuid.h>
#include <fmt/format.h>

namespace lowtide::engine {

Result<Isa> resolve_isa(Isa wanted, const std::string& named) {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512cd");
  if (!avx2) return Status::unsupported("this processor lacks AVX2 and FMA, which compiled kernels need");
  if (wanted == Isa::kNative) {
    if (!named.empty() && named != "avx2" && named != "avx512") {
      return Status::usage(fmt::format("the instruction set is `{}`: expected avx2 or avx512", named));
    }
    wanted = named == "avx2" || (named.empty() && !avx512) ? Isa::kAvx2 : Isa::kAvx512;
  }
  if (wanted == Isa::kAvx512 && !avx512) return Status::unsupported("this processor lacks AVX-512 (F, BW, VL, DQ, CD)");
  return wanted;
}

namespace {

std::string avx512_machine() {
  unsigned a = 0, b = 0, c = 0, d = 0, family = 0;
  __get_cpuid(1, &family, &b, &c, &d);
  std::string name = fmt::format("avx512 {:x} {:x}", family, c);
  for (unsigned leaf = 0; leaf < 2; ++leaf) {
    a = b = c = d = 0;
    __get_cpuid_count(7, leaf, &a, &b, &c, &d);
    name += fmt::format(" {:x} {:x} {:x} {:x}", a, b, c, d);
  }
  return name;
}

}  // namespace

const std::string& machine_name(Isa isa) {
  static const std::string kAvx2 = "avx2";  // code for every processor that has it
  static const std::string kAvx512 = avx512_machine();
  return isa == Isa::kAvx2 ? kAvx2 : kAvx512;
}

}  // namespace lowtide::engine
