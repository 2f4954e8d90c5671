/* Renormalisation of the tangents of a run, so that they neither overflow nor all turn into one
 * direction: between steps each is scaled by a power of two, which is exact, after it was
 * made orthogonal to those before it if requested (modified Gram-Schmidt, without square roots:
 * u_j -= (u_j . u_i / u_i . u_i) u_i; twice where little is left, of which rounding may be much).
 * The removed factors are counted, so that
 *
 *   log |u_j| = exponent_j log 2 + log |current u_j|
 *
 * is the growth since the run began; for orthogonal tangents it gives the j-th Lyapunov exponent
 * (Benettin, Galgani, Giorgilli, Strelcyn 1980, Meccanica 15, 9-20 and 21-30).
 *
 * Indicators, of the first tangent, at each of its renormalisations n = 1 .. N, with L_n = log
 * |u_1|: the largest L_n, and the sums of L_n and of Y_n = 2 (L_n - (L_0 + ... + L_(n-1)) / n),
 * whose mean is that of MEGNO (Cincotta, Simo 2000, Astron. Astrophys. Suppl. 147, 205-228, with
 * steps as time). */
#pragma once
#include "../run/run.h"

typedef struct {
    int64_t every;      /* interval in steps */
    int dim, vectors;   /* components of each tangent; number of tangents */
    int orthogonal;     /* or each independently */
    int indicators;     /* are they requested? */
    const int64_t *row; /* of component d of tangent j: row[j dim + d] */
    /* Rows of run->stride: the exponents of the tangents; the largest L, the sums of L and of Y. */
    double *sums;
} PiRenormalise;
enum { PI_INDICATORS = 3 };
PiObserver pi_renormalise_observer(PiRenormalise *renormalise);
