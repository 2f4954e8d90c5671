/* In the place of dispatch.c, which knows all instruction sets: the fuzzers leave the rounding mode
 * as it is. */
#include "../../../csrc/run/run.h"

uint32_t pi_enter_float_mode(void) { return 0; }
void pi_leave_float_mode(uint32_t mode) { (void)mode; }
void pi_keep_float_mode(void) {}
