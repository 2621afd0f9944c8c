#pragma once
/// Arrays in files. A file is validated before any of it is used; a written file appears complete, or not at all.
/// std::invalid_argument names the file and what is wrong with it.

#include <string>
#include <unordered_map>
#include <utility>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide {

using SafetensorsLoad = std::pair<std::unordered_map<std::string, array>, std::unordered_map<std::string, std::string>>;

/// Reading doesn't wait for any stream.
///
/// NumPy's .npy in any version, row-major and little-endian; the elements stay in the mapped file.
LOWTIDE_PUBLIC array load(const std::string& file, StreamOrDevice s = {});
LOWTIDE_PUBLIC void save(const std::string& file, const array& a);
/// Arrays by name, from a safetensors file or NumPy's .npz.
LOWTIDE_PUBLIC SafetensorsLoad load_safetensors(const std::string& file, StreamOrDevice s = {});
LOWTIDE_PUBLIC void save_safetensors(const std::string& file, const std::unordered_map<std::string, array>& arrays,
                                     const std::unordered_map<std::string, std::string>& metadata = {});

}  // namespace lowtide
