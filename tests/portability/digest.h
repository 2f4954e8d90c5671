/* The bits of a method on all systems: one hash by which machines are compared. */
#pragma once
#include "../../csrc/run/run.h"

/* For each method, in the order of the catalogue, a hash (Fowler, Noll, Vo 1a) of its end states
 * and failures on all systems to which it applies, in both precisions: in registers, on rows, and
 * with compensated sums. `runs` is the number of these runs, -1 without memory. */
uint64_t pi_method_bits(const PiIsa *isa, int method, int *runs);

/* The hash of all methods is that of their hashes, eight bytes each, starting from this value. */
#define PI_BITS_OF_NONE 14695981039346656037u
uint64_t pi_add_bits(uint64_t all, uint64_t bits);
