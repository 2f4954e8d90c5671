/* What this core can do at most, in 1e9 operations on doubles a second: fused multiply-adds, and
 * square roots each with a division, independent of each other and nothing else. */
#include <math.h>
#include <stdio.h>
#include <time.h>

enum { WIDTH = VECTOR_BYTES / 8, COUNT = 12, ROUNDS = 4000000, REPEATS = 5 };
typedef double wide __attribute__((vector_size(VECTOR_BYTES)));

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
/* Contracted to one fused multiply-add. */
static double fused(wide *a) {
    const wide b = a[0] * 0 + 0.999999, c = a[0] * 0 + 1e-9;
    const double start = now();
    for (long n = 0; n < ROUNDS; n++)
#pragma GCC unroll 16
        for (int i = 0; i < COUNT; i++) a[i] = a[i] * b + c;
    return now() - start;
}
static double roots(wide *a) {
    const double start = now();
    for (long n = 0; n < ROUNDS / 8; n++)
#pragma GCC unroll 16
        for (int i = 0; i < COUNT; i++) {
            wide root;
            for (int k = 0; k < WIDTH; k++) root[k] = sqrt(a[i][k]);
            a[i] = 2.0 / root;
        }
    return now() - start;
}
int main(void) {
    wide a[COUNT];
    double best[2] = {1e9, 1e9}, sum = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++)
        for (int which = 0; which < 2; which++) {
            for (int i = 0; i < COUNT; i++) a[i] = (wide){0} + 1.0 + i;
            const double took = which ? roots(a) : fused(a);
            if (took < best[which]) best[which] = took;
            for (int i = 0; i < COUNT; i++) sum += a[i][0];
        }
    printf("multiply-adds %.2f\n", 1e-9 * COUNT * WIDTH * (double)ROUNDS / best[0]);
    printf("roots %.3f\n", 1e-9 * COUNT * WIDTH * (double)(ROUNDS / 8) / best[1]);
    return sum == 0;
}
