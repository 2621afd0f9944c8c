#include "ops/index_vectors.h"

#include "ir/literal.h"
#include "ops/strided.h"

namespace lowtide::engine {

bool holds_position(ElementType type, int64_t last) {
  const int bits = type_bits(type) - (type_kind(type) == TypeKind::kSigned ? 1 : 0);
  return bits >= 63 || last < int64_t{1} << bits;
}

IndexVectors::IndexVectors(const Literal& array, int64_t along) : array_(array), along_(along) {
  const Dims& extents = array.shape().dims;
  const Dims steps = row_major_strides(extents);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (static_cast<int64_t>(d) == along) {
      vector_step_ = steps[d];
    } else {
      batch_.push_back(extents[d]);
      batch_steps_.push_back(steps[d]);
    }
  }
}

int64_t IndexVectors::at(const Dims& place, size_t k) const {
  int64_t element = static_cast<int64_t>(k) * vector_step_;
  for (size_t d = 0; d < place.size(); ++d) element += place[d] * batch_steps_[d];
  return index_at(array_, element);
}

}  // namespace lowtide::engine
