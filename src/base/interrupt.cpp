#include "base/interrupt.h"

namespace lowtide::engine {

Status interrupted() { return {kInterruptedFault, "interrupted before a plan was found"}; }

}  // namespace lowtide::engine
