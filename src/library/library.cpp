#include "library/library.h"

namespace lowtide {

bool in_library(const Instruction& instruction) { return library_routine(instruction) != nullptr; }

std::unique_ptr<LibraryRoutine> library_routine(const Instruction&) { return nullptr; }

int library_in_place(const Instruction&, int64_t) { return -1; }

}  // namespace lowtide
