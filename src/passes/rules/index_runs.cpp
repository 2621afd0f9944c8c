#include "passes/rules/index_runs.h"

#include "ir/literal.h"
#include "passes/rules/known_values.h"

namespace lowtide::engine {

Dims IndexedWindows::batch_extents() const {
  Dims extents = indices->shape.dims;
  if (vector_dim < indices->shape.rank()) extents.erase(extents.begin() + vector_dim);
  return extents;
}

int64_t IndexedWindows::count() const {
  int64_t n = 1;
  for (const int64_t extent : batch_extents()) n *= extent;
  return n;
}

std::optional<std::vector<Dims>> known_starts(const IndexedWindows& windows) {
  const Value known = known_value(*windows.indices);
  if (!known || !is_integral(known->shape().type)) return std::nullopt;
  const Dims extents = windows.batch_extents(), &all = windows.indices->shape.dims;
  Dims strides(all.size(), 1);
  for (size_t d = all.size(); d-- > 1;) strides[d - 1] = strides[d] * all[d];
  const auto vector = static_cast<size_t>(windows.vector_dim);
  std::vector<Dims> starts;
  for (int64_t n = 0; n < windows.count(); ++n) {
    Dims start(windows.array->shape.dims.size(), 0);
    int64_t rest = n, element = 0;
    for (size_t b = extents.size(); b-- > 0;) {
      const int64_t at = rest % extents[b];
      rest /= extents[b];
      const size_t d = b + (b >= vector ? 1 : 0);
      element += at * strides[d];
      for (size_t k = 0; k < windows.batches.size(); ++k) {
        if (windows.index_batches[k] == static_cast<int64_t>(d)) start[windows.batches[k]] = at;
      }
    }
    for (size_t k = 0; k < windows.places.size(); ++k) {
      const int64_t step = vector < all.size() ? strides[vector] : 0;
      start[windows.places[k]] = index_at(*known, element + static_cast<int64_t>(k) * step);
    }
    starts.push_back(start);
  }
  return starts;
}

int64_t repeats_of(const std::vector<Dims>& starts) {
  size_t repeats = 1;
  while (repeats < starts.size() && starts[repeats] == starts[0]) ++repeats;
  if (starts.size() % repeats != 0) return 1;
  for (size_t n = 0; n < starts.size(); ++n) {
    if (starts[n] != starts[n - n % repeats]) return 1;
  }
  return static_cast<int64_t>(repeats);
}

std::vector<Dims> each_once(const std::vector<Dims>& starts, int64_t repeats) {
  std::vector<Dims> once;
  for (size_t n = 0; n < starts.size(); n += static_cast<size_t>(repeats)) once.push_back(starts[n]);
  return once;
}

namespace {

/// The step from a to b, which may differ only along one dimension, in which windows are one element thick.
bool step_between(const Dims& a, const Dims& b, const Dims& sizes, int64_t& dim, int64_t& step) {
  dim = -1, step = 0;
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d] == b[d]) continue;
    if (dim >= 0 || sizes[d] != 1) return false;
    dim = static_cast<int64_t>(d), step = b[d] - a[d];
  }
  return true;
}

}  // namespace

std::optional<std::vector<IndexRun>> runs_of(const std::vector<Dims>& starts, const Dims& sizes, size_t most) {
  std::vector<IndexRun> runs;
  for (size_t n = 0; n < starts.size();) {
    IndexRun run{static_cast<int64_t>(n), 1, starts[n]};
    size_t end = n + 1;
    if (end < starts.size() && step_between(starts[n], starts[end], sizes, run.dim, run.step)) {
      int64_t dim = 0, step = 0;
      while (end < starts.size() && step_between(starts[end - 1], starts[end], sizes, dim, step) && dim == run.dim &&
             step == run.step) {
        ++end;
      }
      // Two windows with an arbitrary step are no run: the second may begin one.
      if (end == n + 2 && run.step != 1 && end < starts.size()) end = n + 1;
    }
    run.count = static_cast<int64_t>(end - n);
    if (run.count == 1) run.dim = -1, run.step = 0;
    runs.push_back(run);
    if (runs.size() > most) return std::nullopt;
    n = end;
  }
  return runs;
}

}  // namespace lowtide::engine
