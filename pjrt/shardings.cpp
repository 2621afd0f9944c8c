#include "shardings.h"

#include <charconv>
#include <vector>

#include "executable.h"
#include "protobuf.h"

namespace lowtide::pjrt {
namespace {

class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  bool eat(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// Reads `4,2`.
  std::optional<std::vector<uint64_t>> numbers() {
    std::vector<uint64_t> all;
    do {
      uint64_t number = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (error != std::errc()) return std::nullopt;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      all.push_back(number);
    } while (eat(","));
    return all;
  }

 private:
  std::string_view rest_;
};

/// A field of OpSharding that contains numbers, packed.
std::string field_of(uint32_t number, const std::vector<uint64_t>& values) {
  std::string packed;
  for (const uint64_t value : values) packed += varint(value);
  return field(number, packed);
}

enum Field : uint32_t { kTiles = 3, kDevices = 4, kReshape = 9, kTranspose = 10 };

}  // namespace

std::optional<std::string> serialised_sharding(std::string_view text) {
  if (text == "{replicated}") return "";  // like a message without fields
  Words words(text);
  if (!words.eat("{devices=[")) return std::nullopt;
  const auto tiles = words.numbers();
  if (!tiles || !words.eat("]")) return std::nullopt;
  std::string all = "\x08\x03" + field_of(kTiles, *tiles);
  std::string devices;
  const bool counted = words.eat("<=[");
  const auto listed = words.numbers();
  if (!listed || (counted && !words.eat("]"))) return std::nullopt;
  if (counted) {
    std::vector<uint64_t> order;
    for (uint64_t axis = 0; axis < listed->size(); ++axis) order.push_back(axis);
    if (words.eat("T(")) {
      const auto transposed = words.numbers();
      if (!transposed || !words.eat(")")) return std::nullopt;
      order = *transposed;
    }
    devices = field_of(kReshape, *listed) + field_of(kTranspose, order);
  } else {
    devices = field_of(kDevices, *listed);
  }
  if (words.eat(" last_tile_dim_replicate")) all += "\x30\x01";
  if (!words.eat("}")) return std::nullopt;
  return all + devices;
}

PJRT_Error* Executable_ParameterShardings(PJRT_Shardings_Executable_ParameterShardings_Args& args) {
  const Compiled& compiled = *args.executable->compiled;
  give(compiled.parameter_shardings.texts, args.shardings, args.num_parameters);
  args.sharding_sizes = compiled.parameter_shardings.sizes.data();
  return nullptr;
}

PJRT_Error* Executable_OutputShardings(PJRT_Shardings_Executable_OutputShardings_Args& args) {
  const Compiled& compiled = *args.executable->compiled;
  give(compiled.result_shardings.texts, args.shardings, args.num_outputs);
  args.sharding_sizes = compiled.result_shardings.sizes.data();
  return nullptr;
}

}  // namespace lowtide::pjrt
