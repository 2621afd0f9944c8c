#include "report/like_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/sizes.h"

namespace lowtide::engine {
namespace {

using Extents = std::vector<int64_t>;

constexpr double kMostSlices = 256;  ///< most slices of a whole: smaller values are sums and tiles of it

/// The extents of "bf16[8,1,128]" other than 1: 8 and 128, sorted.
Extents extents_of(const std::string& shape) {
  Extents extents;
  const char* at = shape.data() + std::min(shape.find('['), shape.size());
  const char* const end = shape.data() + shape.size();
  while (at != end && *at != ']') {
    int64_t extent = 0;
    const auto [next, error] = std::from_chars(at + 1, end, extent);
    if (error != std::errc()) break;
    if (extent != 1) extents.push_back(extent);
    at = next;
  }
  std::ranges::sort(extents);
  return extents;
}

double elements_of(const Extents& extents) {
  double count = 1;
  for (const int64_t extent : extents) count *= static_cast<double>(extent);
  return count;
}

/// Do both have as many elements, in any order and type, or is one a slice of the other, as one layer's of all layers'?
bool are_alike(const Extents& a, const Extents& b) {
  const double ratio = elements_of(a) / std::max(1.0, elements_of(b));
  if (ratio == 1) return true;
  const Extents& small = a.size() < b.size() ? a : b;
  const Extents& large = a.size() < b.size() ? b : a;
  return std::max(ratio, 1 / ratio) <= kMostSlices && small.size() > 1 && std::ranges::includes(large, small);
}

/// Could the values of `parts` together be all of `row`?
bool could_be_parts(const PeakRow& row, const Extents& extents, const PeakRow& parts) {
  const double whole = elements_of(extents), part = elements_of(extents_of(parts.shape));
  return part > 0 && whole > part && std::fmod(whole, part) == 0 && 2 * parts.bytes >= row.bytes;
}

bool has_own_bytes(const PeakRow& row) {
  return row.category != Category::kParameter && row.category != Category::kOptimiserState &&
         row.category != Category::kConstant;
}

}  // namespace

std::string like_values_among(const PeakRow& row, const std::vector<PeakRow>& rows) {
  const Extents extents = extents_of(row.shape);
  const PeakRow* like = nullptr;
  bool unclear = false, of_arguments = false;
  for (const PeakRow& other : rows) {
    const bool alike = are_alike(extents, extents_of(other.shape));
    of_arguments = of_arguments || alike;
    if (!has_own_bytes(other)) continue;
    if (alike && (like == nullptr || other.bytes > like->bytes)) like = &other;
    unclear = unclear || could_be_parts(row, extents, other);
  }
  if (like != nullptr) {
    const std::string count = like->count > 1 ? fmt::format(" x{}", like->count) : "";
    return fmt::format("of its extents at the free plan's peak: {}{}, {}", like->shape, count,
                       format_bytes(like->bytes));
  }
  if (unclear) return "";
  return of_arguments ? "only arguments have its extents at the free plan's peak"
                      : "nothing of its extents at the free plan's peak";
}

}  // namespace lowtide::engine
