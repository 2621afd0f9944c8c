#pragma once
/// The functions of PJRT's table that this plugin implements, by their names there. Exceptions become errors (api.cpp);
/// null means success.

#include "abi_args.h"

namespace lowtide::pjrt {

#define PJRT_FUNCTION(name) PJRT_Error* name(PJRT_##name##_Args& args);
#define PJRT_ABSENT(name)
#include "functions.def"
#undef PJRT_FUNCTION
#undef PJRT_ABSENT

}  // namespace lowtide::pjrt
