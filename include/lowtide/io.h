#pragma once
/// Arrays in files. What is read is checked before a byte of it is used; what is written appears whole, or not at all.
/// std::invalid_argument names the file and what is wrong with it.

#include <string>
#include <unordered_map>
#include <utility>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide {

using SafetensorsLoad = std::pair<std::unordered_map<std::string, array>, std::unordered_map<std::string, std::string>>;

/// What is read is there at once, on whatever stream.
///
/// NumPy's .npy, of any of its versions; stays where the file is mapped. Row-major and little-endian ones.
LOWTIDE_PUBLIC array load(const std::string& file, StreamOrDevice s = {});
LOWTIDE_PUBLIC void save(const std::string& file, const array& a);
/// Arrays by name, of a safetensors file or of NumPy's .npz.
LOWTIDE_PUBLIC SafetensorsLoad load_safetensors(const std::string& file, StreamOrDevice s = {});
LOWTIDE_PUBLIC void save_safetensors(const std::string& file, const std::unordered_map<std::string, array>& arrays,
                                     const std::unordered_map<std::string, std::string>& metadata = {});

}  // namespace lowtide
