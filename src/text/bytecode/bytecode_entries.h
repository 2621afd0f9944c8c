#pragma once
/// The attributes and types of an MLIR bytecode file, each decoded on first use: those of the builtin dialect, of VHLO
/// (StableHLO's versioned, stable form), and of Shardy, all in StableHLO's spelling.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/bytecode/bytecode_file.h"

namespace lowtide::engine {

struct BytecodeType {
  std::string text;      ///< "tensor<2x?xf32>"
  std::string elements;  ///< a tensor's element type: "f32"
  std::vector<int64_t> dims;
  int width = 0;  ///< bits of an integer or floating-point number
  bool is_unsigned = false, is_float = false;
  bool nothing = false;  ///< the type `none`, for absent values
};

/// An unknown extent of a tensor.
inline constexpr int64_t kBytecodeDynamic = INT64_MIN;

struct BytecodeAttribute {
  enum class Kind : uint8_t { kOther, kNothing, kString, kNumber, kTensor, kArray, kDictionary, kType, kLocation };
  Kind kind = Kind::kOther;
  std::string text;                             ///< in StableHLO's text form; of an enumeration only the word
  std::string_view string;                      ///< kString: the characters
  int64_t number = 0;                           ///< of kNumber and enumerations
  std::vector<const BytecodeAttribute*> items;  ///< items of arrays and structures; values of dictionaries
  std::vector<std::string_view> keys;           ///< keys of dictionaries
  const BytecodeType* type = nullptr;           ///< kTensor, kType
  std::string_view bytes;                       ///< kTensor
  bool is_default = false;                      ///< it says nothing beyond the default, and needn't be printed
};

class BytecodeEntries {
 public:
  BytecodeEntries(const BytecodeFile& file, BytecodeFault& fault);

  /// The entry `number`; an empty attribute after an error.
  const BytecodeAttribute& attribute(uint64_t number);
  const BytecodeType& type(uint64_t number);

  /// "#loc7": the name of a location in the text; empty if the location is unknown.
  std::string location(uint64_t number);
  /// The definitions of all locations that location() named, one per line: `#loc7 = loc(...)`.
  std::string locations() const;

  /// The integers of a tensor or of an array of numbers; anything else is an error.
  std::vector<int64_t> integers(const BytecodeAttribute& attribute);

  /// Elements of large tensors, which aren't written as text: the names in `dense_resource<name>`, and the bytes as
  /// views of the file.
  const std::deque<std::pair<std::string, std::string_view>>& blobs() const { return blobs_; }

  const BytecodeFile& file() const { return file_; }
  BytecodeFault& fault() { return fault_; }

 private:
  // bytecode_entries.cpp
  /// The functions that read entries of one kind, by dialect.
  template <class T>
  struct Readers {
    const char* what;
    void (BytecodeEntries::*builtin)(ByteCursor&, T&);
    void (BytecodeEntries::*vhlo)(ByteCursor&, T&);
    void (BytecodeEntries::*sdy)(ByteCursor&, T&);  ///< null: the dialect has no such entries
  };
  template <class T>
  const T& entry(uint64_t number, const std::vector<BytecodeFile::Entry>& entries,
                 std::vector<std::unique_ptr<T>>& read, const Readers<T>& readers);
  void enter(size_t place);
  void keep(std::string& text, size_t place);
  void describe_tensor(BytecodeAttribute& attribute);
  std::string blob_text(std::string_view bytes);
  void describe_array(BytecodeAttribute& attribute) const;
  void describe_dictionary(BytecodeAttribute& attribute) const;
  int64_t big_number(ByteCursor& cursor, int width);
  void read_integer(ByteCursor& cursor, BytecodeAttribute& attribute);
  void read_integers(ByteCursor& cursor, BytecodeAttribute& attribute);
  void read_float(ByteCursor& cursor, BytecodeAttribute& attribute);
  void read_string(ByteCursor& cursor, BytecodeAttribute& attribute);
  void read_resource(ByteCursor& cursor, BytecodeAttribute& attribute);
  void read_items(ByteCursor& cursor, BytecodeAttribute& attribute);
  void read_pairs(ByteCursor& cursor, BytecodeAttribute& attribute);
  std::vector<int64_t> read_signed(ByteCursor& cursor);

  void read_tensor_type(ByteCursor& cursor, BytecodeType& type, std::string_view encoding);
  std::string type_list(ByteCursor& cursor);

  // one file each
  void read_builtin_attribute(ByteCursor& cursor, BytecodeAttribute& attribute);
  void read_builtin_type(ByteCursor& cursor, BytecodeType& type);
  void read_vhlo_attribute(ByteCursor& cursor, BytecodeAttribute& attribute);
  void read_vhlo_type(ByteCursor& cursor, BytecodeType& type);
  void read_sdy_attribute(ByteCursor& cursor, BytecodeAttribute& attribute);

  const BytecodeFile& file_;
  BytecodeFault& fault_;
  std::vector<std::unique_ptr<BytecodeAttribute>> attributes_;
  std::vector<std::unique_ptr<BytecodeType>> types_;
  std::vector<uint64_t> locations_;  ///< in the order of their first use
  std::deque<std::pair<std::string, std::string_view>> blobs_;
  size_t text_bytes_ = 0, most_text_bytes_;
  int depth_ = 0;
};

/// A dictionary's key, quoted if MLIR requires it.
std::string mlir_key(std::string_view key);
/// A symbol reference, "@name", quoted if MLIR requires it.
std::string mlir_reference(std::string_view name);

}  // namespace lowtide::engine
