#pragma once
/// PJRT's shardings extension: how arguments and results are divided over devices, as serialised xla.OpSharding.

#include "abi.h"

struct PJRT_Shardings_Extension : PJRT_Extension_Base {
  static constexpr int kType = 19;
  /// In the order of the structures below.
  void* functions[2];
};
static_assert(sizeof(PJRT_Shardings_Extension) == 40);

struct PJRT_Shardings_Executable_ParameterShardings_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_parameters;
  const char* const* shardings;  ///< null: unknown
  const size_t* sharding_sizes;
};
struct PJRT_Shardings_Executable_OutputShardings_Args : PJRT_Args {
  PJRT_Executable* executable;
  size_t num_outputs;
  const char* const* shardings;
  const size_t* sharding_sizes;
};
