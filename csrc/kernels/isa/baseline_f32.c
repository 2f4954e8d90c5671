/* Any x86-64 (two doubles a register, fused multiply-add from the C library), ARM (native), and
 * everything else. */
#define PI_KERNEL_SET      pi_baseline_f32
#define PI_REAL_BITS       32
#define PI_VECTOR_BYTES    16
#define PI_IN_FLIGHT_SMALL 1
#define PI_IN_FLIGHT       1
#define PI_IN_FLIGHT_TABLE 1
#include "../instances.h"
