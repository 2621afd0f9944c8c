// fft: discrete Fourier transform over the last one to three dimensions.
//   FFT, IFFT: c[..] -> c[..]. RFFT: f[.., n] -> c[.., n/2 + 1]. IRFFT: c[.., n/2 + 1] -> f[.., n], which takes the
//   other half as conjugates. The inverse ones divide by the number of elements. (C1) the operand is complex, or real
//   for RFFT (C2) one to three lengths, no more than the rank (C3) lengths are the operand's last extents; for IRFFT
//   the last is n where the operand has n/2 + 1
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

constexpr std::string_view kTypeNames[] = {"FFT", "IFFT", "RFFT", "IRFFT"};

Status read_fft(AttributeReader& reader, Instruction& fft) {
  FftAttributes attributes;
  LT_ASSIGN_OR_RETURN(const std::string type, reader.take_word("fft_type"));
  size_t kind = 0;
  while (kind < 4 && kTypeNames[kind] != type) ++kind;
  if (kind == 4) return reader.fault_at("fft_type", "expected FFT, IFFT, RFFT or IRFFT, got " + type);
  attributes.type = static_cast<FftType>(kind);
  LT_ASSIGN_OR_RETURN(attributes.length, reader.take_dims("fft_length"));
  fft.attributes = std::move(attributes);
  return {};
}

void print_fft(const Instruction& fft, AttributeWriter& writer) {
  const auto& attributes = fft.as<FftAttributes>();
  writer.text("fft_type", kTypeNames[static_cast<size_t>(attributes.type)]);
  writer.dims("fft_length", attributes.length);
}

Result<Shape> infer_fft(const Instruction& fft) {
  const auto& [type, length] = fft.as<FftAttributes>();
  const Shape& operand = fft.operand(0).shape;
  const bool real_input = type == FftType::kRfft;
  const bool fits =
      real_input ? operand.type == ElementType::kF32 || operand.type == ElementType::kF64 : is_complex(operand.type);
  if (!fits) {  // (C1)
    return broken(
        fft, 1,
        fmt::format("{} can't take {}", kTypeNames[static_cast<size_t>(type)], to_string_without_layout(operand)));
  }
  const size_t rank = operand.dims.size();
  if (length.empty() || length.size() > 3 || length.size() > rank) {  // (C2)
    return broken(fft, 2, fmt::format("can't transform {} dimensions of rank {}", length.size(), rank));
  }
  Shape result = bare(operand);
  for (size_t i = 0; i < length.size(); ++i) {
    const size_t d = rank - length.size() + i;
    const bool last = i + 1 == length.size();
    const int64_t stored = type == FftType::kIrfft && last && length[i] > 0 ? length[i] / 2 + 1 : length[i];
    if (operand.dims[d] != stored && operand.dims[d] != kUnboundedDim) {  // (C3)
      return broken(fft, 3, fmt::format("length {} over extent {}", length[i], operand.dims[d]));
    }
    if (type == FftType::kIrfft) result.dims[d] = length[i];
    if (type == FftType::kRfft && last) result.dims[d] = length[i] > 0 ? length[i] / 2 + 1 : 0;
  }
  if (type == FftType::kRfft) {
    result.type = operand.type == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128;
  }
  if (type == FftType::kIrfft) {
    result.type = operand.type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  }
  return result;
}

}  // namespace

const OpRule kFftRule{read_fft, print_fft, infer_fft, nullptr};

}  // namespace lowtide
