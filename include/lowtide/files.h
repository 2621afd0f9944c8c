#pragma once
/// Reading files as the library does.

#include <string>

#include "lowtide/error.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// The whole file, decompressed if it is gzip; `-` is the standard input. kInput names the path.
LOWTIDE_PUBLIC Result<std::string> read_file(const std::string& path);

/// Is `file` one of the files that Session::read(input) reads? For a dump directory these are all its modules and
/// reports, for `file#part` the file. Files are compared by device and inode, so links and other spellings are
/// recognised.
LOWTIDE_PUBLIC bool is_read_of(const std::string& input, const std::string& file);

}  // namespace lowtide
