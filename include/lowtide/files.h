#pragma once
/// Files as the library reads them.

#include <string>

#include "lowtide/error.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// The whole file, unpacked where it is gzip; `-` is the standard input. kInput names the path.
LOWTIDE_PUBLIC Result<std::string> read_file(const std::string& path);

/// Is `file` one of those that Session::read(input) reads? By device and number of the file, so that links and other
/// spellings are seen. Of a dump directory that is every module and report in it; of `file#part` the file.
LOWTIDE_PUBLIC bool is_read_of(const std::string& input, const std::string& file);

}  // namespace lowtide
