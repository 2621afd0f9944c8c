#pragma once
/// Attributes and types of a file of MLIR bytecode, each decoded when it is first asked for: of the builtin dialect, of
/// VHLO (which is StableHLO in a form that stays), and of Shardy, all in StableHLO's spelling.

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
  std::string elements;  ///< of a tensor: "f32"
  std::vector<int64_t> dims;
  int width = 0;  ///< bits of an integer or a floating number
  bool is_unsigned = false, is_float = false;
  bool nothing = false;  ///< `none`, which stands for what is absent
};

/// As a tensor's extent: it isn't known.
inline constexpr int64_t kBytecodeDynamic = INT64_MIN;

struct BytecodeAttribute {
  enum class Kind : uint8_t { kOther, kNothing, kString, kNumber, kTensor, kArray, kDictionary, kType, kLocation };
  Kind kind = Kind::kOther;
  std::string text;                             ///< as StableHLO's text has it; of an enumeration the word alone
  std::string_view string;                      ///< kString: the characters
  int64_t number = 0;                           ///< kNumber, and enumerations
  std::vector<const BytecodeAttribute*> items;  ///< of arrays and structures; the values of dictionaries
  std::vector<std::string_view> keys;           ///< of dictionaries
  const BytecodeType* type = nullptr;           ///< kTensor, kType
  std::string_view bytes;                       ///< kTensor
  bool is_default = false;                      ///< of structures: what they say is what holds anyway
};

class BytecodeEntries {
 public:
  BytecodeEntries(const BytecodeFile& file, BytecodeFault& fault);

  /// What entry `number` says; nothing where that is a fault.
  const BytecodeAttribute& attribute(uint64_t number);
  const BytecodeType& type(uint64_t number);

  /// "#loc7": the name of a location in the text; empty where it says nothing.
  std::string location(uint64_t number);
  /// `#loc7 = loc(...)`: each location that was asked for, a line each.
  std::string locations() const;

  /// The integers of a tensor or of an array of numbers; fault where it is neither.
  std::vector<int64_t> integers(const BytecodeAttribute& attribute);

  /// Elements too many to be written as text: `dense_resource<name>` and the bytes, views of the file.
  const std::deque<std::pair<std::string, std::string_view>>& blobs() const { return blobs_; }

  const BytecodeFile& file() const { return file_; }
  BytecodeFault& fault() { return fault_; }

 private:
  // bytecode_entries.cpp
  /// How entries of one kind are read, by their dialect.
  template <class T>
  struct Readers {
    const char* what;
    void (BytecodeEntries::*builtin)(ByteCursor&, T&);
    void (BytecodeEntries::*vhlo)(ByteCursor&, T&);
    void (BytecodeEntries::*sdy)(ByteCursor&, T&);  ///< null: it has none
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
  std::vector<uint64_t> locations_;  ///< in the order of asking
  std::deque<std::pair<std::string, std::string_view>> blobs_;
  size_t text_bytes_ = 0, most_text_bytes_;
  int depth_ = 0;
};

/// Bare, or in quotes where MLIR wants them.
std::string mlir_key(std::string_view key);
/// @name, so that it equals the name in quotes.
std::string mlir_reference(std::string_view name);

}  // namespace lowtide::engine
