#include "element_types.h"

#include <array>
#include <cstdint>

namespace lowtide::pjrt {
namespace {

struct Row {
  std::string_view name;
  size_t bytes;
  int bits = 0;  ///< of types narrower than a byte
};

/// Indexed by PJRT's number of the type.
constexpr std::array<Row, 32> kRows = {{
    {"", 0},           {"pred", 1},   {"s8", 1},       {"s16", 2},           {"s32", 4},
    {"s64", 8},        {"u8", 1},     {"u16", 2},      {"u32", 4},           {"u64", 8},
    {"f16", 2},        {"f32", 4},    {"f64", 8},      {"bf16", 2},          {"c64", 8},
    {"c128", 16},      {"f8e5m2", 1}, {"f8e4m3fn", 1}, {"f8e4m3b11fnuz", 1}, {"f8e5m2fnuz", 1},
    {"f8e4m3fnuz", 1}, {"s4", 1, 4},  {"u4", 1, 4},    {"token", 0},         {"s2", 1, 2},
    {"u2", 1, 2},      {"f8e4m3", 1}, {"f8e3m4", 1},   {"f8e8m0fnu", 1},     {"f4e2m1fn", 1, 4},
    {"s1", 1, 1},      {"u1", 1, 1},
}};

}  // namespace

PJRT_Buffer_Type type_of_name(std::string_view name) {
  for (size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<PJRT_Buffer_Type>(i);
  }
  return 0;
}

size_t bytes_of(PJRT_Buffer_Type type) { return type < kRows.size() ? kRows[type].bytes : 0; }

bool is_below_a_byte(PJRT_Buffer_Type type) { return type < kRows.size() && kRows[type].bits != 0; }

void set_upper_bits(PJRT_Buffer_Type type, std::byte* data, size_t count) {
  const int unused = 8 - kRows[type].bits;
  const bool is_signed = kRows[type].name[0] == 's';
  for (size_t i = 0; i < count; ++i) {
    const auto shifted = static_cast<uint8_t>(std::to_integer<unsigned>(data[i]) << unused);
    data[i] = static_cast<std::byte>(is_signed ? static_cast<int8_t>(shifted) >> unused : shifted >> unused);
  }
}

}  // namespace lowtide::pjrt
