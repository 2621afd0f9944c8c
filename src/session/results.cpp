// Summaries of results, and their comparison with a file.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "interp/compare.h"
#include "session/guard.h"
#include "session/make_run.h"
#include "session/run_state.h"
#include "session/tensor_state.h"

namespace lowtide {
namespace engine {
namespace {

constexpr int64_t kAtOnce = int64_t{1} << 16;

struct Extremes {
  double least = INFINITY, greatest = -INFINITY, sum = 0;
  int64_t count = 0, nans = 0;

  void add(double x) {
    if (std::isnan(x)) {
      ++nans;
      return;
    }
    least = std::min(least, x);
    greatest = std::max(greatest, x);
    sum += x;
    ++count;
  }
  void add(const Extremes& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
    sum += other.sum;
    count += other.count;
    nans += other.nans;
  }
};

/// Adds chunks in their order, so that the mean doesn't depend on the threads.
Extremes extremes_of(const Shape& shape, const std::byte* bytes, ThreadPool& pool) {
  const int64_t count = element_count(shape);
  std::vector<Extremes> chunks(static_cast<size_t>((count + kAtOnce - 1) / kAtOnce));
  const auto task = [&](int64_t chunk, int) {
    Extremes& own = chunks[chunk];
    dispatch(shape.type, [&]<class T>() {
      if constexpr (requires(T t) { static_cast<double>(t); }) {
        for (int64_t i = chunk * kAtOnce; i < std::min(count, (chunk + 1) * kAtOnce); ++i) {
          T value;
          std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
          own.add(static_cast<double>(value));
        }
      }
    });
  };
  pool.run(static_cast<int64_t>(chunks.size()), std::ref(task));
  Extremes all;
  for (const Extremes& chunk : chunks) all.add(chunk);
  return all;
}

/// A number from `__metadata__`; nothing if it is absent.
Result<std::optional<double>> number_in(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) return std::optional<double>();
  char* end = nullptr;
  const double number = std::strtod(found->second.c_str(), &end);
  if (end == found->second.c_str() || *end != '\0' || !std::isfinite(number) || number < 0) {
    return Status::input(
        fmt::format("__metadata__: {} is \"{}\", expected a finite number from 0 on", key, found->second));
  }
  return std::optional(number);
}

/// Releases the pages of a mapped file that aren't needed again.
void let_go(std::span<const std::byte> bytes) {
  constexpr size_t kPage = 4096;
  const size_t skipped = (kPage - reinterpret_cast<uintptr_t>(bytes.data()) % kPage) % kPage;
  if (bytes.size() < skipped + kPage) return;
  const auto pages = bytes.subspan(skipped, (bytes.size() - skipped) / kPage * kPage);
  ::madvise(const_cast<std::byte*>(pages.data()), pages.size(), MADV_DONTNEED);
}

}  // namespace

std::string summary_of(const Run::State& run, size_t number) {
  const Shape& shape = run.shapes[number];
  std::string line = fmt::format("  out{:<4} {:<28}", number, to_string_without_layout(shape));
  const int64_t count = element_count(shape);
  const std::string& named = run.results[number].path;
  const std::string path = named.empty() ? "" : "  " + named;
  if (count == 0 || is_complex(shape.type)) return line + path;
  const Extremes all = extremes_of(shape, run.result(number), run.session->context->pool());
  if (count == 1) return line + (all.nans ? " nan" : fmt::format(" {}", all.sum)) + path;
  if (all.count > 0) {
    line += fmt::format(" least {:.6g}, mean {:.6g}, greatest {:.6g}", all.least,
                        all.sum / static_cast<double>(all.count), all.greatest);
  }
  return (all.nans > 0 ? line + fmt::format(", {} NaN", all.nans) : line) + path;
}

Result<ResultsComparison> compare_with_file(const Run::State& run, const lowtide::TensorFile& expected,
                                            std::optional<double> rtol, std::optional<double> atol_of_max) {
  TensorFile file = expected.state().file;
  LT_ASSIGN_OR_RETURN(const auto stated_rtol, number_in(file, "rtol"));
  LT_ASSIGN_OR_RETURN(const auto stated_atol, number_in(file, "atol_of_max"));
  const Tolerance tolerance{.rtol = rtol.value_or(stated_rtol.value_or(0)),
                            .atol_of_max = atol_of_max.value_or(stated_atol.value_or(0))};
  LT_RETURN_IF_ERROR(name_by_number(file, "out", run.results));
  if (const auto given = static_cast<size_t>(file.count_of("out")); given > run.results.size()) {
    return Status::input(fmt::format("{}: {} results, but the program has {}", file.name(), given, run.results.size()));
  }
  ResultsComparison comparison;
  Comparison& all = comparison.all;
  for (size_t i = 0; i < run.results.size(); ++i) {
    const std::string name = fmt::format("out{}", i);
    const Shape& shape = run.shapes[i];
    Comparison one;
    if (const auto bytes = file.bytes_as(name, shape)) {
      compare_bytes(shape, run.result(i), bytes->data(), tolerance, name, one);
      let_go(*bytes);
    } else {
      LT_ASSIGN_OR_RETURN(const Value wanted, file.load_as(name, shape));
      compare_bytes(shape, run.result(i), wanted->bytes().data(), tolerance, name, one);
    }
    all.mismatches += one.mismatches;
    all.max_abs_error = std::max(all.max_abs_error, one.max_abs_error);
    all.max_ulp = std::max(all.max_ulp, one.max_ulp);
    if (all.first.empty()) all.first = one.first;
    if (!one.agrees()) {
      comparison.differences.push_back(
          {name, run.results[i].path, to_string_without_layout(shape), element_count(shape), std::move(one)});
    }
  }
  LT_RETURN_IF_ERROR(file.check_unchanged());
  return comparison;
}

}  // namespace engine

Result<Comparison> compare(const ProgramArray& array, const void* got, const void* expected, const Tolerance& tolerance,
                           const std::string& name) {
  return engine::guarded([&]() -> Result<Comparison> {
    const auto shape = engine::shape_of(array);
    if (!shape) return Error{ErrorKind::kUsage, fmt::format("there is no type `{}`", array.type)};
    Comparison comparison;
    engine::compare_bytes(*shape, static_cast<const std::byte*>(got), static_cast<const std::byte*>(expected),
                          tolerance, name, comparison);
    return comparison;
  });
}

}  // namespace lowtide
