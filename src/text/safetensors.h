#pragma once
/// Reads and writes the safetensors format (8 bytes of header length, a JSON header, the elements, little endian).
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

/// An opened file. Elements are read only when a tensor is loaded: opening a file of gigabytes reads only its header.
class TensorFile {
 public:
  /// Maps the file and checks its header: lengths, types, extents, and that the tensors tile the data without gaps or
  /// overlaps. Errors are Fault::kInput, and name the file and the tensor.
  static Result<TensorFile> open(const std::string& path, OpenFiles* files = nullptr);
  /// The same for bytes in memory, which must outlive the result; `name` appears in errors.
  static Result<TensorFile> parse(std::span<const std::byte> bytes, std::string name);

  /// Renames a tensor; `name` must be new.
  void rename(const std::string& tensor, const std::string& name);
  bool contains(std::string_view tensor) const { return header_.entries.contains(tensor); }
  /// The number of tensors "arg0", "arg1", ... (for the prefix "arg") before the first gap.
  int64_t count_of(std::string_view prefix) const;
  std::vector<std::string> names() const;
  /// The type and extents of a tensor, which must be in the file.
  const Shape& shape_of(std::string_view tensor) const;
  /// A copy of the tensor in the file's own type.
  Result<Value> load(std::string_view tensor) const;
  /// A copy with the type of `wanted`, whose extents and type must agree with the file's; integers narrower than a byte
  /// are stored as I8 and U8.
  Result<Value> load_as(std::string_view tensor, const Shape& wanted) const;
  /// The tensor's bytes in the mapped file, aligned as they are there, if `wanted` needs no conversion; nullopt if
  /// load_as must convert them or report an error.
  std::optional<std::span<const std::byte>> bytes_as(std::string_view tensor, const Shape& wanted) const;
  /// Are the tensor's bytes used as they are in the file? Otherwise they are in memory.
  bool is_in_file(std::string_view tensor) const;
  /// The offset in the file at which its bytes begin.
  int64_t offset_of(std::string_view tensor) const;
  const std::string& name() const { return name_; }
  /// The string pairs of `__metadata__`.
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  /// The opened file; negative for bytes in memory.
  int descriptor() const;
  /// The registry in which the file's mapping is entered; null: none.
  OpenFiles* files() const;
  /// An error if the file was written to since it was opened: data read from it may mix old and new content.
  Status check_unchanged() const;

 private:
  struct Mapping;
  static Result<TensorFile> parse_npz(std::span<const std::byte> bytes, std::string name);
  std::span<const std::byte> bytes_of(const TensorHeader::Entry& entry) const;
  std::string name_;
  uint64_t data_begin_ = 0;                 ///< in the file
  std::shared_ptr<const Mapping> mapping_;  ///< keeps the file mapped while it is used; null for bytes in memory
  std::span<const std::byte> data_;
  TensorHeader header_;
};

using NamedTensors = std::vector<std::pair<std::string, Value>>;
using TensorMetadata = std::map<std::string, std::string>;

/// Writes the tensors in this order; the file appears complete or not at all. Errors: Fault::kInput if the path can't
/// be written, Fault::kUnsupported for an element type that the format lacks.
Status write_safetensors(const std::string& path, const NamedTensors& tensors, const TensorMetadata& metadata = {});

}  // namespace lowtide::engine
