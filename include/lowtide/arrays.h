#pragma once
/// All of the arrays: docs/arrays.md.

#include "lowtide/array.h"
#include "lowtide/control.h"
#include "lowtide/device.h"
#include "lowtide/dlpack.h"
#include "lowtide/fast.h"
#include "lowtide/fft.h"
#include "lowtide/graph_utils.h"
#include "lowtide/io.h"
#include "lowtide/linalg.h"
#include "lowtide/memory.h"
#include "lowtide/ops.h"
#include "lowtide/programs.h"
#include "lowtide/random.h"
#include "lowtide/stream.h"
#include "lowtide/transforms.h"
#include "lowtide/utils.h"
