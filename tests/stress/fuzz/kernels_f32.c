#define PI_REAL_BITS  32
#define PI_ONE_SYSTEM pi_fuzz_systems_f32
#define FUZZED_SET    pi_fuzz_f32
#include "kernels.h"
