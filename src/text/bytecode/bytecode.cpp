#include "text/bytecode.h"

#include <fmt/format.h>

#include "text/bytecode/bytecode_entries.h"
#include "text/bytecode/bytecode_file.h"
#include "text/bytecode/bytecode_tree.h"
#include "text/bytecode/stablehlo_writer.h"
#include "text/stablehlo.h"

namespace lowtide::engine {

bool is_bytecode(std::string_view bytes) { return bytes.starts_with(kBytecodeMagic); }

Result<std::unique_ptr<Module>> parse_bytecode(std::string_view bytes, const std::string& name,
                                               const std::string& entry, std::shared_ptr<Context> context) {
  BytecodeFault fault;
  const BytecodeFile file = read_bytecode_sections(bytes, 0, fault);
  const BytecodeTree tree = read_bytecode_tree(file, fault);
  BytecodeEntries entries(file, fault);
  std::string text = stablehlo_of_bytecode(tree, entries);
  if (fault.found()) return Status(fault.kind, fmt::format("{}: byte {}: {}", name, fault.place, fault.what));
  MlirBlobs blobs;
  for (const auto& [key, elements] : entries.blobs()) blobs.emplace(key, elements);
  return parse_stablehlo(std::make_shared<const Source>(Source{name, std::move(text)}), entry, std::move(context),
                         &blobs);
}

}  // namespace lowtide::engine
