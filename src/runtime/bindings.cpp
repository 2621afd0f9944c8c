#include "runtime/bindings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

#include "base/copy_bytes.h"
#include "base/memory.h"
#include "interp/interpreter.h"

#include "runtime/private_file.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kSeededAtOnce = int64_t{1} << 16;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// One array among the leaves of the entry's arguments or results.
struct Array {
  size_t leaf = 0;     ///< counting tokens
  int64_t number = 0;  ///< counting arrays: arg0, out0
  Shape shape;
  int64_t bytes = 0;
};

void add_arrays(const Shape& shape, size_t& leaf, std::vector<Array>& arrays) {
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& part) {
    const size_t here = leaf++;
    if (!part.is_array()) return;
    const int64_t bytes = element_count(part) * stored_bytes(part.type);
    arrays.push_back({here, static_cast<int64_t>(arrays.size()), part, bytes});
  });
}

std::vector<Array> argument_arrays(const Module& module, size_t& leaves) {
  std::vector<Array> arrays;
  for (const Instruction* parameter : module.entry->parameters()) add_arrays(parameter->shape, leaves, arrays);
  return arrays;
}

std::vector<Array> result_arrays(const Module& module, size_t& leaves) {
  std::vector<Array> arrays;
  add_arrays(module.entry->root->shape, leaves, arrays);
  return arrays;
}

const Storage* storage_of(const Program& program, int32_t slot) {
  if (slot < 0) return nullptr;
  const int32_t storage = program.slots[slot].storage;
  return storage < 0 ? nullptr : &program.storages[storage];
}

/// How an argument gets its elements: once, and again before each further run if it is donated.
struct Argument {
  Array array;
  bool donated = false;
  std::byte* place = nullptr;
  std::optional<PrivateFile> pages;  ///< its place is in private pages of the inputs' file
  bool mapped = false;               ///< its place is in shared pages of that file
};

}  // namespace

std::vector<std::pair<std::string, Shape>> result_tensors(const Program& program) {
  std::vector<std::pair<std::string, Shape>> tensors;
  size_t leaves = 0;
  for (const Array& array : result_arrays(*program.module, leaves)) {
    tensors.emplace_back(fmt::format("out{}", array.number), array.shape);
  }
  return tensors;
}

struct Bindings::State {
  BindingSources sources;
  std::vector<Argument> arguments;
  std::vector<Array> results;
  RunMemory memory;
  Pages argument_pages, result_pages;

  Status place_results(const Program& program);
  Status place_arguments(const Program& program);
  Result<bool> place_in_file(Argument& argument) const;
  Status fill(Argument& argument, ThreadPool& pool) const;
};

Status Bindings::State::place_results(const Program& program) {
  size_t leaves = 0;
  results = result_arrays(*program.module, leaves);
  memory.outputs.assign(leaves, nullptr);
  std::vector<std::pair<size_t, int64_t>> offsets;  // leaf, offset in result_pages
  int64_t total = 0;
  for (const Array& array : results) {
    const Storage* storage = storage_of(program, program.output_slots[array.leaf]);
    if (!storage || storage->kind != StorageKind::kOutput) continue;
    if (static_cast<size_t>(storage->number) != array.leaf) continue;  // the same bytes as another result
    if (sources.outputs && storage->bytes <= array.bytes) {
      memory.outputs[array.leaf] = sources.outputs->bytes(static_cast<size_t>(array.number)).data();
    } else {
      offsets.emplace_back(array.leaf, total);
      total += aligned(storage->bytes);
    }
  }
  LT_ASSIGN_OR_RETURN(result_pages, Pages::make(total, "the results"));
  for (const auto& [leaf, offset] : offsets) memory.outputs[leaf] = result_pages.data() + offset;
  return {};
}

/// Places the argument where its file is mapped, if the file has its bytes in the required form.
Result<bool> Bindings::State::place_in_file(Argument& argument) const {
  const std::string name = fmt::format("arg{}", argument.array.number);
  const auto bytes = sources.inputs->bytes_as(name, argument.array.shape);
  if (!bytes || bytes->empty()) return false;
  if (argument.donated && !sources.inputs->is_in_file(name)) return false;  // it gets a copy
  if (!argument.donated) {
    argument.place = const_cast<std::byte*>(bytes->data());  // a program writes only into donated arguments
    argument.mapped = true;
    return true;
  }
  if (sources.inputs->descriptor() < 0) return false;
  LT_ASSIGN_OR_RETURN(argument.pages, PrivateFile::map(sources.inputs->descriptor(), sources.inputs->name(),
                                                       sources.inputs->offset_of(name),
                                                       static_cast<int64_t>(bytes->size()), sources.inputs->files()));
  argument.place = argument.pages->data();
  return true;
}

Status Bindings::State::place_arguments(const Program& program) {
  size_t leaves = 0;
  const std::vector<Array> arrays = argument_arrays(*program.module, leaves);
  memory.arguments.assign(leaves, nullptr);
  std::vector<std::pair<size_t, int64_t>> offsets;  // argument, offset in argument_pages
  int64_t total = 0;
  for (const Array& array : arrays) {
    Argument argument{.array = array};
    const Storage* storage = storage_of(program, program.argument_slots[array.leaf]);
    argument.donated = storage && storage->donated;
    if (argument.donated && sources.outputs) {
      for (const Array& result : results) {
        if (storage_of(program, program.output_slots[result.leaf]) != storage || result.bytes != array.bytes) continue;
        argument.place = sources.outputs->bytes(static_cast<size_t>(result.number)).data();
        break;
      }
    }
    if (!argument.place && sources.inputs) LT_RETURN_IF_ERROR(place_in_file(argument).status());
    if (!argument.place) {
      offsets.emplace_back(arguments.size(), total);
      total += aligned(array.bytes);
    }
    arguments.push_back(std::move(argument));
  }
  LT_ASSIGN_OR_RETURN(argument_pages, Pages::make(total, "the arguments"));
  for (const auto& [number, offset] : offsets) arguments[number].place = argument_pages.data() + offset;
  for (const Argument& argument : arguments) memory.arguments[argument.array.leaf] = argument.place;
  return {};
}

Status Bindings::State::fill(Argument& argument, ThreadPool& pool) const {
  const Array& array = argument.array;
  const std::string name = fmt::format("arg{}", array.number);
  if (argument.pages) return argument.pages->restore();
  if (array.bytes == 0 || argument.mapped) return {};
  if (sources.inputs) {
    if (const auto bytes = sources.inputs->bytes_as(name, array.shape)) {
      copy_bytes(argument.place, bytes->data(), array.bytes, pool);
      return {};
    }
    LT_ASSIGN_OR_RETURN(const Value value, sources.inputs->load_as(name, array.shape));
    std::memcpy(argument.place, value->bytes().data(), value->bytes().size());
    return {};
  }
  const int64_t count = element_count(array.shape);
  const auto task = [&](int64_t i, int) {
    seed_elements(array.shape.type, sources.seed, array.number, i * kSeededAtOnce,
                  std::min(count, (i + 1) * kSeededAtOnce), argument.place);
  };
  pool.run((count + kSeededAtOnce - 1) / kSeededAtOnce, std::ref(task));
  return {};
}

Bindings::Bindings() : state_(std::make_unique<State>()) {}
Bindings::Bindings(Bindings&&) noexcept = default;
Bindings::~Bindings() = default;

Result<Bindings> Bindings::make(const Program& program, const BindingSources& sources, ThreadPool& pool) {
  Bindings bindings;
  State& state = *bindings.state_;
  state.sources = sources;
  LT_RETURN_IF_ERROR(state.place_results(program));
  LT_RETURN_IF_ERROR(state.place_arguments(program));
  if (sources.inputs) {
    const auto taken = static_cast<int64_t>(state.arguments.size());
    for (const Argument& argument : state.arguments) {  // names and types first, which is cheap
      const std::string name = fmt::format("arg{}", argument.array.number);
      if (!sources.inputs->bytes_as(name, argument.array.shape)) {
        LT_RETURN_IF_ERROR(sources.inputs->load_as(name, argument.array.shape).status());
      }
    }
    if (const int64_t given = sources.inputs->count_of("arg"); given > taken) {
      return Status::input(
          fmt::format("{}: {} arguments, but the program takes {}", sources.inputs->name(), given, taken));
    }
  }
  for (Argument& argument : state.arguments) LT_RETURN_IF_ERROR(state.fill(argument, pool));
  return bindings;
}

const RunMemory& Bindings::memory() const { return state_->memory; }

Status Bindings::restore(ThreadPool& pool) {
  for (Argument& argument : state_->arguments) {
    if (argument.donated) LT_RETURN_IF_ERROR(state_->fill(argument, pool));
  }
  return {};
}

void Bindings::collect(std::span<const void* const> results, ThreadPool& pool) {
  if (!state_->sources.outputs) return;
  for (const Array& array : state_->results) {
    copy_bytes(state_->sources.outputs->bytes(static_cast<size_t>(array.number)).data(), results[array.leaf],
               array.bytes, pool);
  }
}

int64_t Bindings::touched_bytes() const {
  const State& state = *state_;
  // Small arguments share pages of their file: ranges are merged before their pages are counted.
  std::vector<std::pair<const std::byte*, const std::byte*>> ranges;
  const auto add = [&](const std::byte* begin, int64_t bytes) {
    if (begin && bytes > 0) ranges.emplace_back(begin, begin + bytes);
  };
  add(state.argument_pages.data(), state.argument_pages.size());
  add(state.result_pages.data(), state.result_pages.size());
  if (state.sources.outputs) {
    const auto all = state.sources.outputs->all();
    add(all.data(), static_cast<int64_t>(all.size()));
  }
  for (const Argument& argument : state.arguments) {
    if (argument.pages || argument.mapped) add(argument.place, argument.array.bytes);
  }
  std::ranges::sort(ranges);
  int64_t bytes = 0;
  for (size_t i = 0; i < ranges.size();) {
    auto [begin, end] = ranges[i++];
    constexpr int64_t kPage = 4096;
    while (i < ranges.size() && ranges[i].first - end < kPage) end = std::max(end, ranges[i++].second);
    bytes += resident_bytes({begin, end});
  }
  return bytes;
}

}  // namespace lowtide::engine
