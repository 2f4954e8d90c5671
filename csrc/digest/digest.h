/* The bits that a method makes of all systems: one number to compare machines by. */
#pragma once
#include "../run/run.h"

/* Of each method, in the order of the catalogue, a hash (Fowler, Noll, Vo 1a) of its end states and
 * failures on all systems that it is for, in both precisions: in registers, on rows, and carrying
 * what additions round away. `runs` is how many these are, -1 without memory. */
uint64_t pi_method_bits(const PiIsa *isa, int method, int *runs);

/* The hash of all methods is that of their hashes, eight bytes each, from here on. */
#define PI_BITS_OF_NONE 14695981039346656037u
uint64_t pi_add_bits(uint64_t all, uint64_t bits);
