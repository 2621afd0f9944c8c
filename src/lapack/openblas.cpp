#include "lapack/openblas.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"

namespace lowtide::engine {
namespace {

struct RoutineName {
  std::string_view real, complex;
};
constexpr std::array<RoutineName, kLapackRoutines> kNames = {{{"potrf", "potrf"},
                                                              {"getrf", "getrf"},
                                                              {"trsm", "trsm"},
                                                              {"geqrf", "geqrf"},
                                                              {"orgqr", "ungqr"},
                                                              {"ormqr", "unmqr"},
                                                              {"geqp3", "geqp3"},
                                                              {"gesdd", "gesdd"},
                                                              {"gesvd", "gesvd"},
                                                              {"syevd", "heevd"},
                                                              {"geev", "geev"},
                                                              {"gees", "gees"},
                                                              {"gehrd", "gehrd"},
                                                              {"sytrd", "hetrd"},
                                                              {"gtsv", "gtsv"}}};
constexpr std::array<std::string_view, OpenBlas::kParts> kPartNames = {"gemv",  "larfg", "stedc", "sterf", "bdsdc",
                                                                       "larfb", "laed2", "laed4", "lamrg"};
constexpr std::string_view kLetters = "sdcz";
constexpr const char* kLibrary = "libopenblas.so.0";
constexpr int kFewestThreads = 4;                  ///< least number of threads that find their packing buffers ready
constexpr size_t kPanelBytes = size_t{128} << 20;  ///< address space, for one thread

/// OpenBLAS packs matrices into its own buffers, one mapping for each concurrent thread, and keeps them: they are
/// mapped here, so that no run has to.
bool map_panels(void* library) {
  auto* take = reinterpret_cast<void* (*)(int)>(dlsym(library, "blas_memory_alloc"));
  auto* give = reinterpret_cast<void (*)(void*)>(dlsym(library, "blas_memory_free"));
  if (take == nullptr || give == nullptr) return false;
  const auto threads = static_cast<size_t>(std::max(usable_processors(), kFewestThreads));
  // OpenBLAS retries forever if the process can't have that much address space.
  void* room = mmap(nullptr, threads * kPanelBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, threads * kPanelBytes);
  std::vector<void*> panels(threads);
  for (void*& panel : panels) panel = take(0);
  for (void* panel : panels) give(panel);
  return true;
}

/// While it is loaded, OpenBLAS starts a thread for each processor that the loading thread may use: for that time this
/// thread may use only one. (An environment variable has the same effect, but belongs to the whole process.)
void* load_alone() {
  cpu_set_t all, one;
  CPU_ZERO(&one);
  const bool known = ::sched_getaffinity(0, sizeof all, &all) == 0;
  for (size_t cpu = 0; known && CPU_COUNT(&one) == 0 && cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  const bool narrowed = known && ::sched_setaffinity(0, sizeof one, &one) == 0;
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (narrowed) ::sched_setaffinity(0, sizeof all, &all);
  return library;
}

/// OpenBLAS chooses its kernels by the processor's model, and on models that are newer than itself falls back to those
/// for SSE3, several times slower than what the processor can do. Then it is asked to choose again, as if its user had
/// named a kind of processor in the environment. The environment stays as it is for everyone else: for that moment
/// there is another one, which holds one variable more. Only before anyone else can use the library.
void choose_kernels(void* library, OpenBlas& blas) {
  constexpr std::string_view kFallback = "Prescott", kVariable = "OPENBLAS_CORETYPE=";
  auto* const name = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename"));
  auto* const forget = reinterpret_cast<void (*)()>(dlsym(library, "gotoblas_dynamic_quit"));
  auto* const choose = reinterpret_cast<void (*)()>(dlsym(library, "gotoblas_dynamic_init"));
  if (name == nullptr || forget == nullptr || choose == nullptr || name() != kFallback) return;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (std::string_view(*variable).starts_with(kVariable)) return;  // its user has named one
    blas.environment.push_back(*variable);
  }
  blas.kernels = std::string(kVariable) + (has_avx512 ? "SKYLAKEX" : "HASWELL");
  blas.environment.insert(blas.environment.end(), {blas.kernels.data(), nullptr});
  char** const before = std::exchange(environ, blas.environment.data());
  forget();
  choose();
  environ = before;
}

bool load(OpenBlas& blas) {
  void* const others = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  void* const library = load_alone();
  if (library == nullptr) return false;
  if (others == nullptr) choose_kernels(library, blas);
  for (size_t column = 0; column < 4; ++column) {
    const auto bind = [&](std::string_view name) {
      return dlsym(library, (kLetters[column] + std::string(name) + "_").c_str());
    };
    for (size_t r = 0; r < kNames.size(); ++r) {
      blas.routines[r][column] = bind(column < 2 ? kNames[r].real : kNames[r].complex);
      if (blas.routines[r][column] == nullptr) return false;
    }
    for (size_t p = 0; p < kPartNames.size() && column < 2; ++p) {
      blas.parts[p][column] = bind(kPartNames[p]);
      if (blas.parts[p][column] == nullptr) return false;
    }
    blas.gemm[column] = bind("gemm");
    blas.herk[column] = bind(column < 2 ? "syrk" : "herk");
    if (blas.gemm[column] == nullptr || blas.herk[column] == nullptr) return false;
  }
  auto* set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  if (set_threads == nullptr) return false;
  set_threads(1);
  return map_panels(library);
}

}  // namespace

std::string_view lapack_name(LapackRoutine routine, ElementType type) {
  const RoutineName& name = kNames[static_cast<size_t>(routine)];
  return is_complex(type) ? name.complex : name.real;
}

size_t blas_column(ElementType type) {
  return (is_complex(type) ? 2 : 0) + (type == ElementType::kF64 || type == ElementType::kC128 ? 1 : 0);
}

const OpenBlas* open_blas() {
  static const OpenBlas* const kLoaded = [] {
    auto* made = new OpenBlas;
    return load(*made) ? made : nullptr;
  }();
  return kLoaded;
}

bool has_lapack() { return open_blas() != nullptr; }

}  // namespace lowtide::engine
