#pragma once
/// Tensors in and out: the safetensors format (8 bytes of header length, a JSON header, the elements, little endian).
/// Arguments are named arg0, arg1, ...; results out0, out1, ...; all in logical row-major order. Numpy's .npz files are
/// read as well (text/npz.h).

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/open_files.h"
#include "base/status.h"
#include "ir/literal.h"
#include "text/safetensors_header.h"

namespace lowtide::engine {

/// An opened file. Elements are copied only when a tensor is loaded: a file of gigabytes costs its header.
class TensorFile {
 public:
  /// Maps the file and checks its header: lengths, types, extents, and that the tensors tile the data without gaps or
  /// overlaps. Faults: Fault::kInput, naming the file and the tensor.
  static Result<TensorFile> open(const std::string& path, OpenFiles* files = nullptr);
  /// The same for bytes in memory, which must outlive the result; `name` stands for the file in faults.
  static Result<TensorFile> parse(std::span<const std::byte> bytes, std::string name);

  /// A tensor by another name, which none has yet.
  void rename(const std::string& tensor, const std::string& name);
  bool contains(std::string_view tensor) const { return header_.entries.contains(tensor); }
  /// "arg0", "arg1", ... as far as they go without a gap.
  int64_t count_of(std::string_view prefix) const;
  std::vector<std::string> names() const;
  /// The type and extents of a tensor, which must be in the file.
  const Shape& shape_of(std::string_view tensor) const;
  /// A copy of the tensor as it stands in the file.
  Result<Value> load(std::string_view tensor) const;
  /// A copy as `wanted` asks: same extents, same type; integers narrower than a byte travel as I8 and U8.
  Result<Value> load_as(std::string_view tensor, const Shape& wanted) const;
  /// The tensor's bytes in the mapped file where they are what `wanted` asks for as they stand; nullopt where load_as
  /// must convert, or find the fault. Their alignment is the file's.
  std::optional<std::span<const std::byte>> bytes_as(std::string_view tensor, const Shape& wanted) const;
  /// Do its bytes lie in the file as they stand? Else in memory.
  bool is_in_file(std::string_view tensor) const;
  /// Where they begin in the file.
  int64_t offset_of(std::string_view tensor) const;
  const std::string& name() const { return name_; }
  /// The string pairs of `__metadata__`.
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  /// The opened file; negative for bytes in memory.
  int descriptor() const;
  /// Where its pages are known; null: nowhere.
  OpenFiles* files() const;
  /// A fault where the file was written to since it was opened: what was read of it may be of both.
  Status check_unchanged() const;

 private:
  struct Mapping;
  static Result<TensorFile> parse_npz(std::span<const std::byte> bytes, std::string name);
  std::span<const std::byte> bytes_of(const TensorHeader::Entry& entry) const;
  std::string name_;
  uint64_t data_begin_ = 0;                 ///< in the file
  std::shared_ptr<const Mapping> mapping_;  ///< keeps the pages while tensors are loaded; null for bytes in memory
  std::span<const std::byte> data_;
  TensorHeader header_;
};

using NamedTensors = std::vector<std::pair<std::string, Value>>;
using TensorMetadata = std::map<std::string, std::string>;

/// Writes the tensors in this order; the file appears whole or not at all. Faults: Fault::kInput where the path can't
/// be written, Fault::kUnsupported for an element type that the format lacks.
Status write_safetensors(const std::string& path, const NamedTensors& tensors, const TensorMetadata& metadata = {});

}  // namespace lowtide::engine
