#include "lapack/openblas.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/thread_pool.h"

namespace lowtide {
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
constexpr std::string_view kLetters = "sdcz";
constexpr int kFewestThreads = 4;                  ///< that find their panels ready
constexpr size_t kPanelBytes = size_t{128} << 20;  ///< of addresses, for one thread

/// OpenBLAS packs matrices into panels of its own, one mapping for each thread that computes at once, and keeps them:
/// they are made here, so that no run has to.
bool map_panels(void* library) {
  auto* take = reinterpret_cast<void* (*)(int)>(dlsym(library, "blas_memory_alloc"));
  auto* give = reinterpret_cast<void (*)(void*)>(dlsym(library, "blas_memory_free"));
  if (take == nullptr || give == nullptr) return false;
  const auto threads = static_cast<size_t>(std::max(ThreadPool().threads(), kFewestThreads));
  // It tries for ever where the process may not have so many addresses.
  void* room = mmap(nullptr, threads * kPanelBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, threads * kPanelBytes);
  std::vector<void*> panels(threads);
  for (void*& panel : panels) panel = take(0);
  for (void* panel : panels) give(panel);
  return true;
}

/// One thread: it would start its others while it is loaded.
void* load_alone() {
  constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
  const char* given = std::getenv(kThreads);
  const std::string before = given != nullptr ? given : "";
  setenv(kThreads, "1", 1);
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (given != nullptr) {
    setenv(kThreads, before.c_str(), 1);
  } else {
    unsetenv(kThreads);
  }
  return library;
}

bool load(OpenBlas& blas) {
  void* library = load_alone();
  if (library == nullptr) return false;
  for (size_t column = 0; column < 4; ++column) {
    const auto bind = [&](std::string_view name) {
      return dlsym(library, (kLetters[column] + std::string(name) + "_").c_str());
    };
    for (size_t r = 0; r < kNames.size(); ++r) {
      blas.routines[r][column] = bind(column < 2 ? kNames[r].real : kNames[r].complex);
      if (blas.routines[r][column] == nullptr) return false;
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
  static const OpenBlas* const loaded = [] {
    auto* made = new OpenBlas;
    return load(*made) ? made : nullptr;
  }();
  return loaded;
}

bool has_lapack() { return open_blas() != nullptr; }

}  // namespace lowtide
