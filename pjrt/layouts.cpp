#include "layouts.h"

namespace lowtide::pjrt {

PJRT_Extension_Base* layouts_extension() { return nullptr; }

}  // namespace lowtide::pjrt
