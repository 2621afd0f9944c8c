#pragma once
/// The extension in which a host asks how arrays lie in memory: row-major, all of them.

#include "abi.h"

namespace lowtide::pjrt {

PJRT_Extension_Base* layouts_extension();

}  // namespace lowtide::pjrt
