#include "library/onednn.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace lowtide::engine {
namespace {

/// The functions of oneDNN's C interface that are used, bound at run time.
struct Api {
#define LT_DNNL(function) decltype(&dnnl_##function) function = nullptr;
#define LT_DNNL_ALL                           \
  LT_DNNL(engine_create)                      \
  LT_DNNL(stream_create)                      \
  LT_DNNL(memory_desc_init_by_strides)        \
  LT_DNNL(matmul_desc_init)                   \
  LT_DNNL(primitive_attr_create)              \
  LT_DNNL(primitive_attr_set_scratchpad_mode) \
  LT_DNNL(primitive_attr_set_post_ops)        \
  LT_DNNL(post_ops_create)                    \
  LT_DNNL(post_ops_append_sum)                \
  LT_DNNL(post_ops_destroy)                   \
  LT_DNNL(primitive_desc_create)              \
  LT_DNNL(primitive_desc_destroy)             \
  LT_DNNL(primitive_desc_query)               \
  LT_DNNL(primitive_desc_query_md)            \
  LT_DNNL(memory_desc_get_size)               \
  LT_DNNL(primitive_create)                   \
  LT_DNNL(primitive_destroy)                  \
  LT_DNNL(primitive_execute)                  \
  LT_DNNL(memory_create)                      \
  LT_DNNL(memory_destroy)
  LT_DNNL_ALL
#undef LT_DNNL
  void (*omp_set_num_threads)(int) = nullptr;
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  dnnl_primitive_attr_t attributes = nullptr, adding = nullptr;

  bool load() {
    void* library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
#define LT_DNNL(function)                                                             \
  function = reinterpret_cast<decltype(function)>(dlsym(library, "dnnl_" #function)); \
  if (function == nullptr) return false;
    LT_DNNL_ALL
#undef LT_DNNL
    // Found among the libraries that libdnnl links: without OpenMP there are no threads to prevent.
    omp_set_num_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
    keep_to_this_thread();
    return engine_create(&engine, dnnl_cpu, 0) == dnnl_success &&
           stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success && make_attributes(attributes) &&
           make_attributes(adding) && add_to_result(adding);
  }

  bool make_attributes(dnnl_primitive_attr_t& made) const {
    return primitive_attr_create(&made) == dnnl_success &&
           primitive_attr_set_scratchpad_mode(made, dnnl_scratchpad_mode_user) == dnnl_success;
  }

  bool add_to_result(dnnl_primitive_attr_t made) const {
    dnnl_post_ops_t sum = nullptr;
    const bool added = post_ops_create(&sum) == dnnl_success && post_ops_append_sum(sum, 1.0F) == dnnl_success &&
                       primitive_attr_set_post_ops(made, sum) == dnnl_success;
    if (sum != nullptr) post_ops_destroy(sum);  // the attributes keep a copy
    return added;
  }

  /// OpenMP keeps the number of threads per thread, so it is set before every use.
  void keep_to_this_thread() const {
    if (omp_set_num_threads != nullptr) omp_set_num_threads(1);
  }
};

/// Loaded once, never unloaded; null if oneDNN isn't installed.
const Api* api() {
  static const Api* const kLoaded = [] {
    auto* made = new Api;
    return made->load() ? made : nullptr;
  }();
  return kLoaded;
}

constexpr size_t kMostKept = 512;

/// Plans are made concurrently, and oneDNN manages its compiled code itself: only one thread at a time creates or
/// destroys products. Recursive, because creating the first product with tile registers creates another.
struct Making {
  std::recursive_mutex mutex;
  /// Every plan of a program asks for its products, and equal layers have equal ones. Null if there is none.
  std::map<OneDnnMatmul::Form, std::shared_ptr<const OneDnnMatmul>> made;
};

/// Never destroyed, as oneDNN may be unloaded first.
Making& making() {
  static Making& one = *new Making;
  return one;
}

dnnl_data_type_t type_of(ElementType type) {
  switch (type) {
    case ElementType::kBF16: return dnnl_bf16;
    case ElementType::kS8: return dnnl_s8;
    case ElementType::kS32: return dnnl_s32;
    default: return dnnl_f32;
  }
}

}  // namespace

struct OneDnnMatmul::State {
  dnnl_primitive_desc_t description = nullptr;
  dnnl_primitive_t primitive = nullptr;
  dnnl_memory_desc_t left, right, result, scratch;
  int64_t scratch_bytes = 0;
  bool by_tile_registers = false;

  ~State() {
    const std::lock_guard lock(making().mutex);
    if (primitive != nullptr) api()->primitive_destroy(primitive);
    if (description != nullptr) api()->primitive_desc_destroy(description);
  }
};

OneDnnMatmul::OneDnnMatmul(std::unique_ptr<State> state) : state_(std::move(state)) {}
OneDnnMatmul::~OneDnnMatmul() = default;

namespace {

/// oneDNN compiles the code that configures tile registers when the first product that uses them runs: that is done
/// here, with small operands, and not in a program's run, where the code would be memory that no plan accounts for.
void set_up_tiles() {
  constexpr int64_t kSide = 64;
  static bool begun = false;
  if (std::exchange(begun, true)) return;
  const auto product = OneDnnMatmul::make({ElementType::kBF16, ElementType::kF32, kSide, kSide, kSide});
  if (product == nullptr) return;
  std::vector<float> operand(kSide * kSide), result(kSide * kSide);
  auto bytes = static_cast<size_t>(product->scratch_bytes()) + 64;
  const auto scratch = std::make_unique<std::byte[]>(bytes);
  void* room = scratch.get();
  product->run(operand.data(), operand.data(), result.data(), std::align(64, 1, room, bytes));
}

}  // namespace

std::shared_ptr<const OneDnnMatmul> OneDnnMatmul::make(const Form& form) {
  if (api() == nullptr) return nullptr;
  const std::lock_guard lock(making().mutex);
  auto& made = making().made;
  if (const auto known = made.find(form); known != made.end()) return known->second;
  if (made.size() >= kMostKept) made.clear();
  return made.emplace(form, make_new(form)).first->second;
}

std::shared_ptr<const OneDnnMatmul> OneDnnMatmul::make_new(const Form& form) {
  const Api* dnnl = api();
  dnnl->keep_to_this_thread();
  auto state = std::make_unique<State>();
  const auto describe = [&](dnnl_memory_desc_t& memory, int64_t rows, int64_t columns, bool by_columns,
                            ElementType type) {
    const dnnl_dims_t dims = {rows, columns};
    const dnnl_dims_t strides = {by_columns ? 1 : columns, by_columns ? rows : 1};
    return dnnl->memory_desc_init_by_strides(&memory, 2, dims, type_of(type), strides) == dnnl_success;
  };
  dnnl_matmul_desc_t matmul;
  if (!describe(state->left, form.m, form.k, false, form.operands) ||
      !describe(state->right, form.k, form.n, form.right_by_columns, form.operands) ||
      !describe(state->result, form.m, form.n, false, form.result) ||
      dnnl->matmul_desc_init(&matmul, &state->left, &state->right, nullptr, &state->result) != dnnl_success ||
      dnnl->primitive_desc_create(&state->description, &matmul, form.adds ? dnnl->adding : dnnl->attributes,
                                  dnnl->engine, nullptr) != dnnl_success) {
    return nullptr;
  }
  // Only the batch-reduce kernels: others allocate panels that they don't declare.
  const char* name = nullptr;
  if (dnnl->primitive_desc_query(state->description, dnnl_query_impl_info_str, 0, static_cast<void*>(&name)) !=
          dnnl_success ||
      !std::string_view(name).starts_with("brg")) {
    return nullptr;
  }
  const dnnl_memory_desc_t* scratch = dnnl->primitive_desc_query_md(state->description, dnnl_query_scratchpad_md, 0);
  if (scratch == nullptr) return nullptr;
  state->scratch = *scratch;
  state->scratch_bytes = static_cast<int64_t>(dnnl->memory_desc_get_size(scratch));
  // Compiled now, so that running allocates no memory. oneDNN itself caches what it compiled for equal forms.
  if (dnnl->primitive_create(&state->primitive, state->description) != dnnl_success) return nullptr;
  state->by_tile_registers = std::string_view(name).find("amx") != std::string_view::npos;
  if (state->by_tile_registers) set_up_tiles();
  return std::shared_ptr<const OneDnnMatmul>(new OneDnnMatmul(std::move(state)));
}

bool OneDnnMatmul::is_by_tile_registers() const { return state_->by_tile_registers; }

bool multiplies_bf16_slowly() {
  static const bool kSlowly = [] {
    constexpr int64_t kSide = 64;
    const auto product = OneDnnMatmul::make({ElementType::kBF16, ElementType::kF32, kSide, kSide, kSide});
    return product == nullptr || (!product->is_by_tile_registers() && __builtin_cpu_is("intel"));
  }();
  return kSlowly;
}

Status products_done(bool refused) {
  if (!refused) return {};
  return {Fault::kInternal, "oneDNN refused a matrix product that it had accepted"};
}

int64_t OneDnnMatmul::scratch_bytes() const { return state_->scratch_bytes; }

bool OneDnnMatmul::run(const void* left, const void* right, void* result, void* scratch) const {
  const Api& dnnl = *api();
  dnnl.keep_to_this_thread();
  struct Argument {
    int number;
    const dnnl_memory_desc_t* description;
    void* data;
  };
  const std::array<Argument, 4> wanted = {{{DNNL_ARG_SRC, &state_->left, const_cast<void*>(left)},
                                           {DNNL_ARG_WEIGHTS, &state_->right, const_cast<void*>(right)},
                                           {DNNL_ARG_DST, &state_->result, result},
                                           {DNNL_ARG_SCRATCHPAD, &state_->scratch, scratch}}};
  std::array<dnnl_exec_arg_t, 4> arguments{};
  size_t made = 0;
  bool done = true;
  for (const Argument& a : wanted) {
    if (dnnl.memory_create(&arguments[made].memory, a.description, dnnl.engine, a.data) != dnnl_success) {
      done = false;
      break;
    }
    arguments[made++].arg = a.number;
  }
  done = done && dnnl.primitive_execute(state_->primitive, dnnl.stream, static_cast<int>(made), arguments.data()) ==
                     dnnl_success;
  for (size_t i = 0; i < made; ++i) dnnl.memory_destroy(arguments[i].memory);
  return done;
}

}  // namespace lowtide::engine
