// C functions for Python: executables that run on the memory of Python's arrays, or on our own, shared by DLPack.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "native.h"

namespace lowtide::python {

/// Memory of a result, with a count of its users: memory from which a JAX array was made may be overwritten only when
/// that array and all views of it are gone.
struct Block {
  void* data = nullptr;
  int64_t bytes = 0;
  std::atomic<int64_t> owners{1};
};

namespace {

constexpr size_t kAlignment = 64;

void release(Block* block) {
  if (block->owners.fetch_sub(1) > 1) return;
  std::free(block->data);
  delete block;
}

/// DLPack's structures, version 0, as in its published header.
struct DlTensor {
  void* data;
  int32_t device_type, device_id;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* dims;
  int64_t* strides;
  uint64_t byte_offset;
};

struct DlManaged {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged*);
};

/// A tensor and what it points into.
struct Shared {
  DlManaged managed = {};
  std::vector<int64_t> dims;
  Block* block = nullptr;
};

}  // namespace
}  // namespace lowtide::python

using lowtide::python::Answer;
using lowtide::python::answer;
using lowtide::python::Block;
using lowtide::python::Home;
using lowtide::python::Runner;

extern "C" {

/// Compiles a plan.
LOWTIDE_PUBLIC Answer* lowtide_compile(const Home* home, const lowtide::Plan* plan) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    auto executable = home->session.compile(*plan);
    if (!executable.ok()) return executable.error();
    made.texts["arguments"] = lowtide::python::json_of(executable->arguments());
    made.texts["results"] = lowtide::python::json_of(executable->results());
    std::string homes;
    for (const int64_t home_of : executable->result_homes())
      homes += (homes.empty() ? "" : ", ") + std::to_string(home_of);
    made.texts["homes"] = "[" + homes + "]";
    made.made = new Runner{*plan, *std::move(executable)};
    return {};
  });
}

LOWTIDE_PUBLIC void lowtide_free_runner(Runner* runner) { delete runner; }

/// Runs on the caller's memory; null means success.
LOWTIDE_PUBLIC Answer* lowtide_run(const Runner* runner, void* const* arguments, const uint8_t* donated, size_t given,
                                   void* const* results, size_t wanted) {
  std::optional<lowtide::Error> error;
  try {
    std::vector<lowtide::Argument> all(given);
    for (size_t i = 0; i < given; ++i) all[i] = {arguments[i], donated[i] != 0};
    const auto ran = runner->executable.run(all, std::span(results, wanted));
    if (ran.ok()) return nullptr;
    error = ran.error();
  } catch (const std::exception& fault) {
    error = lowtide::Error{lowtide::ErrorKind::kLimit, fault.what()};
  }
  return answer([&](Answer&) -> lowtide::Result<void> { return *error; });
}

/// For each argument of the program, which of `names` denotes it, by the rules for tensor files; "places" is a list of
/// numbers.
LOWTIDE_PUBLIC Answer* lowtide_match(const Runner* runner, const char* const* names, size_t count) {
  return answer([&](Answer& made) -> lowtide::Result<void> {
    const std::vector<std::string> all(names, names + count);
    const auto places = lowtide::match_names(all, runner->executable.arguments(), "arg", "the arguments");
    if (!places.ok()) return places.error();
    std::string text;
    for (const size_t place : *places) text += (text.empty() ? "" : ", ") + std::to_string(place);
    made.texts["places"] = "[" + text + "]";
    return {};
  });
}

/// Runs on a tensor file ("": seeded numbers), with results to the caller's memory or to a file.
LOWTIDE_PUBLIC Answer* lowtide_run_files(const Home* home, const Runner* runner, const char* arguments,
                                         const char* results, void* const* into) {
  return answer([&](Answer&) -> lowtide::Result<void> {
    lowtide::RunFiles files;
    if (*arguments) {
      auto opened = home->session.open_tensors(arguments);
      if (!opened.ok()) return opened.error();
      files.arguments = *std::move(opened);
    }
    const std::vector<lowtide::ProgramArray>& arrays = runner->executable.results();
    if (*results) {
      auto writer = home->session.create_tensors(results, arrays);
      if (!writer.ok()) return writer.error();
      files.results = *std::move(writer);
    }
    auto writer = files.results;
    auto run = runner->executable.bind(std::move(files));
    if (!run.ok()) return run.error();
    if (const auto ran = run->run(); !ran.ok()) return ran.error();
    for (size_t i = 0; into && i < arrays.size(); ++i) {
      if (arrays[i].bytes > 0) std::memcpy(into[i], run->result(i), static_cast<size_t>(arrays[i].bytes));
    }
    if (!writer) return {};
    if (auto collected = run->collect(); !collected.ok()) return collected;
    return writer->commit();
  });
}

/// Memory for a result; null if none is left.
LOWTIDE_PUBLIC Block* lowtide_block(int64_t bytes) {
  using lowtide::python::kAlignment;
  const size_t rounded = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  void* const data = std::aligned_alloc(kAlignment, rounded > 0 ? rounded : kAlignment);
  if (!data) return nullptr;
  auto* const block = new (std::nothrow) Block;
  if (!block) {
    std::free(data);
    return nullptr;
  }
  block->data = data;
  block->bytes = bytes;
  return block;
}

LOWTIDE_PUBLIC void* lowtide_block_data(const Block* block) { return block->data; }
/// Does anyone but the caller use it?
LOWTIDE_PUBLIC int lowtide_block_is_shared(const Block* block) { return block->owners.load() > 1; }
LOWTIDE_PUBLIC void lowtide_block_release(Block* block) { lowtide::python::release(block); }

/// A DLManagedTensor that shares ownership of the block until its deleter is called.
LOWTIDE_PUBLIC void* lowtide_block_dlpack(Block* block, int code, int bits, int rank, const int64_t* dims) {
  auto* const shared = new (std::nothrow) lowtide::python::Shared;
  if (!shared) return nullptr;
  shared->dims.assign(dims, dims + rank);
  shared->block = block;
  block->owners.fetch_add(1);
  constexpr int32_t kCpu = 1;
  shared->managed.tensor = {.data = block->data,
                            .device_type = kCpu,
                            .device_id = 0,
                            .rank = rank,
                            .code = static_cast<uint8_t>(code),
                            .bits = static_cast<uint8_t>(bits),
                            .lanes = 1,
                            .dims = shared->dims.data(),
                            .strides = nullptr,
                            .byte_offset = 0};
  shared->managed.context = shared;
  shared->managed.deleter = [](lowtide::python::DlManaged* managed) {
    auto* const mine = static_cast<lowtide::python::Shared*>(managed->context);
    lowtide::python::release(mine->block);
    delete mine;
  };
  return &shared->managed;
}

/// For a tensor that no consumer took over.
LOWTIDE_PUBLIC void lowtide_dlpack_delete(void* managed) {
  auto* const tensor = static_cast<lowtide::python::DlManaged*>(managed);
  tensor->deleter(tensor);
}

}  // extern "C"
