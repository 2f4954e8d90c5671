#define PI_REAL_BITS  64
#define PI_ONE_SYSTEM pi_fuzz_systems_f64
#define FUZZED_SET    pi_fuzz_f64
#include "kernels.h"
