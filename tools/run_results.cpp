// What came out: summaries of results, and their comparison with a file.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "report/tensor_names.h"
#include "run_options.h"

namespace lowtide::engine {
namespace {

constexpr size_t kShown = 12;
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

/// Chunks are added up in their order, so that the mean is the same whatever the threads.
Extremes extremes_of(const ResultArray& result, ThreadPool& pool) {
  const int64_t count = element_count(result.shape);
  std::vector<Extremes> chunks(static_cast<size_t>((count + kAtOnce - 1) / kAtOnce));
  const auto task = [&](int64_t chunk, int) {
    Extremes& own = chunks[static_cast<size_t>(chunk)];
    dispatch(result.shape.type, [&]<class T>() {
      if constexpr (requires(T t) { static_cast<double>(t); }) {
        for (int64_t i = chunk * kAtOnce; i < std::min(count, (chunk + 1) * kAtOnce); ++i) {
          T value;
          std::memcpy(&value, result.bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
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

std::string summary(const ResultArray& result, ThreadPool& pool) {
  std::string line = fmt::format("  out{:<4} {:<28}", result.number, to_string_without_layout(result.shape));
  const int64_t count = element_count(result.shape);
  const std::string path = result.path.empty() ? "" : "  " + result.path;
  if (count == 0 || is_complex(result.shape.type)) return line + path;
  const Extremes all = extremes_of(result, pool);
  if (count == 1) return line + (all.nans ? " nan" : fmt::format(" {}", all.sum)) + path;
  if (all.count > 0) {
    line += fmt::format(" least {:.6g}, mean {:.6g}, greatest {:.6g}", all.least,
                        all.sum / static_cast<double>(all.count), all.greatest);
  }
  return (all.nans > 0 ? line + fmt::format(", {} NaN", all.nans) : line) + path;
}

/// A number from `__metadata__`; nothing where it is absent.
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

/// Pages of a mapped file that aren't needed again.
void let_go(std::span<const std::byte> bytes) {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(bytes.data()) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size()) / kPage * kPage;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

std::vector<std::string> summaries(const std::vector<ResultArray>& results, ThreadPool& pool) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < std::min(results.size(), kShown); ++i) lines.push_back(summary(results[i], pool));
  if (results.size() > kShown) lines.push_back(fmt::format("  and {} more", results.size() - kShown));
  return lines;
}

Status compare_with_file(const std::vector<ResultArray>& results, const RunOptions& options, RunReport& report) {
  LT_ASSIGN_OR_RETURN(TensorFile file, TensorFile::open(options.expect));
  LT_ASSIGN_OR_RETURN(const auto rtol, number_in(file, "rtol"));
  LT_ASSIGN_OR_RETURN(const auto atol_of_max, number_in(file, "atol_of_max"));
  const Tolerance tolerance{.rtol = options.rtol.value_or(rtol.value_or(0)),
                            .atol_of_max = options.atol_of_max.value_or(atol_of_max.value_or(0))};
  LT_RETURN_IF_ERROR(name_by_number(file, "out", report.result_paths));
  if (const auto given = static_cast<size_t>(file.count_of("out")); given > results.size()) {
    return Status::input(fmt::format("{}: {} results, but the program has {}", options.expect, given, results.size()));
  }
  Comparison all;
  for (const ResultArray& result : results) {
    const std::string name = fmt::format("out{}", result.number);
    Comparison one;
    if (const auto bytes = file.bytes_as(name, result.shape)) {
      compare_bytes(result.shape, result.bytes, bytes->data(), tolerance, name, one);
      let_go(*bytes);
    } else {
      LT_ASSIGN_OR_RETURN(const Value wanted, file.load_as(name, result.shape));
      compare_bytes(result.shape, result.bytes, wanted->bytes().data(), tolerance, name, one);
    }
    all.mismatches += one.mismatches;
    all.max_abs_error = std::max(all.max_abs_error, one.max_abs_error);
    all.max_ulp = std::max(all.max_ulp, one.max_ulp);
    if (all.first.empty()) all.first = one.first;
    if (!one.agrees()) {
      report.differences.push_back(
          {name, result.path, to_string_without_layout(result.shape), element_count(result.shape), std::move(one)});
    }
  }
  LT_RETURN_IF_ERROR(file.check_unchanged());
  report.comparison = std::move(all);
  return {};
}

TensorMetadata names_of_results(const std::vector<std::string>& paths) {
  TensorMetadata names;
  for (size_t k = 0; k < paths.size(); ++k) {
    if (!paths[k].empty()) names[fmt::format("out{}", k)] = paths[k];
  }
  return names;
}

}  // namespace lowtide::engine
