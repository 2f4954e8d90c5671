/* The table of `python -m pyintegrate info --table` by the C core alone: the lines are the
 * same on every architecture and instruction set (make portability).
 *     portability [number of the instruction set] */
#include <stdio.h>
#include <stdlib.h>
#include "digest.h"

int main(int n, char **arguments) {
    const int isa = n > 1 ? atoi(arguments[1]) : 0;
    if (!pi_isa(isa) || !pi_isa_supported(isa)) return 2;
    uint64_t all = PI_BITS_OF_NONE;
    for (int i = 0; i < pi_n_methods; i++) {
        int runs;
        const uint64_t bits = pi_method_bits(pi_isa(isa), i, &runs);
        if (runs < 0) return 3;
        printf("%-32s %4d runs  %016llx\n", pi_methods[i]->name, runs, (unsigned long long)bits);
        all = pi_add_bits(all, bits);
    }
    printf("%d methods, %d systems: %016llx\n", pi_n_methods, pi_n_systems + pi_n_sized_systems,
           (unsigned long long)all);
    return 0;
}
