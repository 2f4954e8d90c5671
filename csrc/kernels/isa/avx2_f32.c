/* x86-64 with AVX2 and FMA: 16 registers. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC target("avx2,fma")
#endif
#endif
#define PI_KERNEL_SET      pi_avx2_f32
#define PI_REAL_BITS       32
#define PI_VECTOR_BYTES    32
#define PI_IN_FLIGHT_SMALL 8
#define PI_IN_FLIGHT       4
#define PI_IN_FLIGHT_TABLE 4
#include "../instances.h"
