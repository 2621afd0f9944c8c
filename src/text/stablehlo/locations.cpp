// Reads loc(...): "name", "file":line:column, "name"(loc), callsite(callee at caller), fused[...], #alias.
#include "ops/text_cursor.h"
#include "text/stablehlo/mlir_reader.h"
#include "text/stablehlo/module_maker.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepest = 64;

class LocationReader {
 public:
  explicit LocationReader(const MlirModule& module) : module_(module) {}
  Metadata metadata;

  /// The outermost name is the operation's; the first file found, the innermost frame's, is the user's.
  void read(std::string_view text, int depth) {
    TextCursor cursor(text);
    if (depth > kDeepest) return;
    const char first = cursor.peek();
    if (first == '#') {
      const std::string_view rest = cursor.rest().substr(1);
      const auto alias = module_.aliases.find(rest.substr(0, rest.find_first_of(" ,)]\n\t")));
      if (alias != module_.aliases.end()) read(alias->second, depth + 1);
    } else if (first == '"') {
      read_string(cursor.rest(), depth);
    } else if (cursor.eat("loc(") || cursor.eat("callsite(")) {
      read(cursor.rest(), depth + 1);
    } else if (cursor.eat("fused")) {
      std::string_view rest = cursor.rest();
      if (rest.starts_with('<')) rest.remove_prefix(std::min(end_of_mlir_brackets(rest, 0), rest.size()));
      if (rest.starts_with('[')) read(rest.substr(1), depth + 1);
    }
  }

 private:
  void read_string(std::string_view text, int depth) {
    const size_t end = end_of_string(text, 0);
    if (end == std::string_view::npos) return;
    const std::string name = mlir_unquote(text.substr(1, end - 2));
    TextCursor cursor(text.substr(end));
    if (cursor.eat(":")) {
      const std::optional<int64_t> line = cursor.integer();
      if (!metadata.source_file.empty() || !line) return;
      metadata.source_file = name;
      metadata.source_line = *line;
      return;
    }
    if (metadata.op_name.empty())
      metadata.op_name = name.substr(0, name.ends_with(':') ? name.size() - 1 : name.size());
    if (cursor.eat("(")) read(cursor.rest(), depth + 1);
  }

  const MlirModule& module_;
};

}  // namespace

Metadata read_mlir_location(std::string_view text, const MlirModule& module) {
  LocationReader reader(module);
  reader.read(text, 0);
  return std::move(reader.metadata);
}

}  // namespace lowtide::engine
