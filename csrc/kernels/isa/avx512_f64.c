/* x86-64 with AVX-512: 32 registers. */
#ifdef __GNUC__
#ifndef __clang__
#pragma GCC target("avx512f,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")
#endif
#endif
#define PI_KERNEL_SET      pi_avx512_f64
#define PI_REAL_BITS       64
#define PI_VECTOR_BYTES    64
#define PI_IN_FLIGHT_SMALL 8
#define PI_IN_FLIGHT       4
#define PI_IN_FLIGHT_TABLE 8
#include "../instances.h"
