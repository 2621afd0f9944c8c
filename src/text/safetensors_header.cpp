#include "text/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "text/safetensors_types.h"

namespace lowtide::engine {
namespace {

using nlohmann::json;

/// An entry's fields before they are checked.
struct Raw {
  std::optional<std::string> dtype;
  std::optional<std::vector<int64_t>> shape, offsets;  ///< none: absent, or not a list of integers
};

/// Bytes of an array in a file; nullopt when they don't fit 63 bits.
std::optional<uint64_t> checked_bytes(const Shape& shape) {
  int64_t bytes = stored_bytes(shape.type);
  for (const int64_t extent : shape.dims) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return static_cast<uint64_t>(bytes);
}

/// Checks an entry; returns the tensor's shape and place.
Result<TensorHeader::Entry> entry_of(const Raw& raw, uint64_t data_bytes) {
  if (!raw.dtype) return Status::input("dtype is missing");
  const auto type = tensor_type_from_text(*raw.dtype);
  if (!type) return Status::input(fmt::format("unknown dtype {}", *raw.dtype));
  if (!raw.shape) return Status::input("shape must be a list of whole numbers");
  if (!raw.offsets || raw.offsets->size() != 2) return Status::input("data_offsets must be two whole numbers");
  const Dims dims(raw.shape->begin(), raw.shape->end());
  TensorHeader::Entry entry{Shape::array(*type, dims), static_cast<uint64_t>((*raw.offsets)[0]),
                            static_cast<uint64_t>((*raw.offsets)[1]), nullptr};
  if (entry.begin > entry.end || entry.end > data_bytes) {
    return Status::input(
        fmt::format("data_offsets [{}, {}] leave the {} bytes of data", entry.begin, entry.end, data_bytes));
  }
  const auto bytes = checked_bytes(entry.shape);
  if (!bytes || *bytes != entry.end - entry.begin) {
    return Status::input(
        fmt::format("data_offsets [{}, {}] don't fit {}", entry.begin, entry.end, to_string(entry.shape)));
  }
  return entry;
}

/// Handles the parser's events, so that no tree is built and each part of the header is visited once. Depth 1 is the
/// header itself, 2 an entry, 3 a list in it.
class HeaderReader final : public nlohmann::json_sax<json> {
 public:
  HeaderReader(TensorHeader& header, uint64_t data_bytes) : header_(header), data_bytes_(data_bytes) {}
  /// Ok also if the text isn't JSON, which the parser reports.
  const Status& status() const { return status_; }

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool number_unsigned(number_unsigned_t number) override {
    if (!list_ || depth_ != 3) return other();
    if (number > INT64_MAX) return other();
    (*list_)->push_back(static_cast<int64_t>(number));
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ != 2) return other();
    if (in_metadata()) {
      if (!header_.metadata.emplace(field_, std::move(text)).second) return twice();
      return true;
    }
    if (field_ == "dtype") raw_.dtype = std::move(text);
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 1) {
      raw_ = {};
      fields_.clear();
    } else if (depth_ > 1 && !other()) {
      return false;
    }
    return deeper();
  }
  bool end_object() override {
    --depth_;
    return depth_ != 1 || in_metadata() || add_entry();
  }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      name_ = std::move(name);
      if (in_metadata() ? std::exchange(has_metadata_, true) : header_.entries.contains(name_)) return twice();
    } else if (depth_ == 2) {
      field_ = std::move(name);
      if (in_metadata()) return true;
      if (std::ranges::find(fields_, field_) != fields_.end())
        return fault(fmt::format("{}: {} is there twice", name_, field_));
      if (fields_.size() < kMostFields) fields_.push_back(field_);
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ < 2 || in_metadata()) {
      if (!other()) return false;
    } else if (depth_ == 2 && (field_ == "shape" || field_ == "data_offsets")) {
      list_ = field_ == "shape" ? &raw_.shape : &raw_.offsets;
      list_->emplace();
    } else if (!other()) {
      return false;
    }
    return deeper();
  }
  bool end_array() override {
    if (--depth_ == 2) list_ = nullptr;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  static constexpr int kDeepest = 64;        ///< the format needs three levels
  static constexpr size_t kMostFields = 64;  ///< and three fields per entry

  bool in_metadata() const { return name_ == "__metadata__"; }
  bool fault(std::string why) {
    status_ = Status::input(std::move(why));
    return false;
  }
  bool twice() { return fault("the header must be a JSON object that names each tensor once"); }
  bool deeper() { return ++depth_ <= kDeepest || fault("the header must be a JSON object, not lists within lists"); }
  /// A value of a kind that no known field has here: a known field counts as absent, and an unknown one may have any
  /// value.
  bool other() {
    if (depth_ == 0) return fault("the header must be a JSON object that names each tensor once");
    if (in_metadata()) {
      return fault(depth_ == 1 ? "__metadata__ must be an object of strings"
                               : fmt::format("__metadata__: {} must be a string", field_));
    }
    if (depth_ == 1) return fault(name_ + ": expected an object with dtype, shape and data_offsets");
    if (list_)
      return fault(
          fmt::format("{}: {} must be {} whole numbers", name_, field_, field_ == "shape" ? "a list of" : "two"));
    return true;
  }
  bool add_entry() {
    Result<TensorHeader::Entry> entry = entry_of(raw_, data_bytes_);
    if (!entry.ok()) return fault(fmt::format("{}: {}", name_, entry.status().message()));
    header_.entries.emplace(name_, entry.take());
    return true;
  }

  TensorHeader& header_;
  const uint64_t data_bytes_;
  Status status_;
  int depth_ = 0;
  bool has_metadata_ = false;
  std::string name_, field_;
  std::vector<std::string> fields_;
  Raw raw_;
  std::optional<std::vector<int64_t>>* list_ = nullptr;  ///< the list that is being read
};

Status check_tiling(const TensorHeader& header, uint64_t data_bytes) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& [name, entry] : header.entries) ranges.emplace_back(entry.begin, entry.end);
  std::ranges::sort(ranges);
  uint64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != covered) {
      return Status::input(fmt::format("tensors overlap or leave a gap at byte {} of the data", begin));
    }
    covered = end;
  }
  if (covered == data_bytes) return {};
  return Status::input(fmt::format("tensors cover {} of {} bytes of data", covered, data_bytes));
}

}  // namespace

Result<TensorHeader> parse_tensor_header(std::string_view text, uint64_t data_bytes) {
  TensorHeader header;
  HeaderReader reader(header, data_bytes);
  const bool read = json::sax_parse(text.begin(), text.end(), &reader);
  LT_RETURN_IF_ERROR(reader.status());
  if (!read) return Status::input("the header must be a JSON object that names each tensor once");
  LT_RETURN_IF_ERROR(check_tiling(header, data_bytes));
  return header;
}

}  // namespace lowtide::engine
