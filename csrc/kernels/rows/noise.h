/* Steps with noise on rows: the numbers of each step are drawn here; what becomes of the state is
 * one question to the system, PI_NEXT.
 *
 * The numbers of a step, a row for each noise: W, the sum of the normals z of its substeps; then,
 * if it has second numbers, J = sum (W before the substep + z / 2 + u / sqrt(12)) with second
 * normals u, which is I(1,0) in units of the substep^(3/2); or W of the next step. */
#pragma once
#include "chunk.h"
#if PI_REAL_BITS == 64
#include "../../vmath/normal.h"

INLINE void set_counter(vnatural word[4], uint64_t pair, int component, vnatural trajectory,
                        int stream) {
    word[0] = vset_natural(pair);
    word[1] = vset_natural(pair >> 32 | (uint64_t)component << 16);
    word[2] = trajectory;
    word[3] = trajectory >> 32 | vset_natural((uint64_t)stream << 16);
}
/* The pairs of some registers side by side, from lane i on. */
INLINE void draw_some(const PiPairs *pairs, const vnatural key[][2], int64_t i, int count,
                      int stream) {
    vnatural word[4][4];
    EACH(u, count) {
        vnatural trajectory;
        memcpy(&trajectory, pairs->trajectory + i + u * VLEN, sizeof trajectory);
        set_counter(word[u], pairs->pair, pairs->component, trajectory, stream);
    }
    philox(count, word, key);
    EACH(u, count) {
        const vnatural a = joined(word[u][0], word[u][1]), b = joined(word[u][2], word[u][3]);
        vreal first = unit_interval(a), second = unit_interval(b);
        if (stream != PI_UNIFORMS) on_circle(radius(first), b, &first, &second);
        vstore(pairs->first + i + u * VLEN, first);
        vstore(pairs->second + i + u * VLEN, second);
    }
}
/* A PiDraw. Registers side by side hide the latency of the ten rounds. */
static void draw_pairs(const PiPairs *pairs) {
    enum { ABREAST = PI_VECTOR_BYTES == 64 ? 4 : 2 };
    const int stream = pairs->stream;
    vnatural key[ROUNDS][2];
    philox_keys(key, pairs->seed);
    int64_t i = 0;
    if (stream != PI_UNIFORMS)
        for (; i + ABREAST * VLEN <= pairs->lanes; i += ABREAST * VLEN)
            draw_some(pairs, key, i, ABREAST, stream);
    for (; i < pairs->lanes; i += VLEN) draw_some(pairs, key, i, 1, stream);
}

/* A Brownian bridge from a to b, in units of its deviation, comes to zero with the chance
 * exp(-2 a b), if both have one sign. With r the radius of a pair of normals: where r^2 > 4 a b; by
 * the lack of memory of r^2, and the independence of the angle, the pair scaled to the rest r^2 -
 * 4 a b is normal again. The first zero tau of those that come there has tau / (1 - tau) of the
 * inverse Gaussian law of mean |a / b| and shape a^2, made from the square of one normal and a
 * number u from 0 to 1. Each step has a pair, and a number, of its own.
 *
 * Michael, Schucany, Haas (1976), Am. Stat. 30, 88-90; Glasserman (2003), Monte Carlo Methods in
 * Financial Engineering, 6.4. */
INLINE vreal rest_of_square(vreal r, vreal a, vreal b, vreal whole) {
    const vreal both = 4 * (a * b) * whole;
    return vfma(r, r, -vlarger(both, vzero));
}
/* A PiPassage: x is tau / (1 - tau). */
static double first_passage(const PiBridge *bridge) {
    vnatural word[2][4], key[ROUNDS][2];
    philox_keys(key, bridge->seed);
    EACH(i, 2)
        set_counter(word[i], bridge->step, bridge->component, vset_natural(bridge->trajectory),
                    i ? PI_UNIFORMS : PI_BRIDGES);
    philox(2, word, key);
    const vnatural angle = joined(word[0][2], word[0][3]);
    const vreal r = radius(unit_interval(joined(word[0][0], word[0][1])));
    const vreal u = unit_interval(joined(word[1][0], word[1][1]));
    const vreal a = vset(bridge->from), b = vset(bridge->to), whole = vset(bridge->whole);
    const vreal rest = rest_of_square(r, a, b, whole), ratio = vabs(b / a);
    vreal cosine, sine;
    on_circle(vone, angle, &cosine, &sine);
    const vreal c = rest * cosine * cosine / (2 * a * a * whole);
    const vreal small = 1 / (ratio + c + vsqrt(c * (2 * ratio + c)));
    const vint first = u * vfma(ratio, small, vone) < 1;
    const vreal x = vselect(first, small, 1 / (ratio * ratio * small));
    const vreal tau = x / (1 + x);
    return ((const double *)&rest)[0] > 0 ? ((const double *)&tau)[0] : 2;
}
#endif

/* Row `row` of the parameters of the run; such a number, whole and below 2^24. */
static const real *of_run(const Chunk *c, int row) {
    return (const real *)(c->p + (c->tile->system->n_params - PI_OF_RUN + row) * c->R);
}
INLINE uint64_t whole(real value) {
    const double shifted = value + 0x1p52;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits & pi_lowest_bits(PI_OF_BITS);
}

/* The numbers of a chunk: rows of doubles. */
typedef struct {
    int64_t lanes, substeps;
    int noises, streams; /* streams: with second normals, 2 */
    PiPairs pairs;
    double *both; /* the rows of an even substep, then those of the odd one after it */
} Numbers;
/* The rows of a substep; fresh: the one before has not been drawn. */
static const double *drawn(Chunk *c, Numbers *numbers, int64_t substep, int fresh) {
    const int rows = numbers->streams * numbers->noises;
    double *odd = numbers->both + rows * numbers->lanes;
    PiPairs *pairs = &numbers->pairs;
    pairs->pair = (uint64_t)substep / 2;
    for (int i = 0; (fresh || substep % 2 == 0) && i < rows && !c->stopped; i++) {
        pairs->stream = i / numbers->noises;
        pairs->component = i % numbers->noises;
        pairs->first = numbers->both + i * numbers->lanes;
        pairs->second = odd + i * numbers->lanes;
        c->tile->draw(pairs);
        stops(c);
    }
    return substep % 2 ? odd : numbers->both;
}
/* The rows of a step from those of its substeps, W and J. */
static void sum_up(Chunk *c, Numbers *numbers, int64_t step, int fresh, double *W) {
    const int64_t n = numbers->noises * numbers->lanes;
    double *const J = W + n;
    EACH_WHILE(k, numbers->substeps, !c->stopped) {
        const double *z = drawn(c, numbers, step * numbers->substeps + k, fresh && k == 0);
        if (numbers->streams == 2)
            EACH_BELOW(i, n) {
                const double inside = 0.5 * z[i] + 0x1.279a74590331dp-2 * z[n + i];
                J[i] = k ? J[i] + (W[i] + inside) : inside;
            }
        EACH_BELOW(i, n) W[i] = k ? W[i] + z[i] : z[i];
    }
}

static void noise_rows(Chunk *c) {
    enum { WIDTH = 64 / PI_REAL_BITS }; /* doubles fill so many rows */
    const PiTile *tile = c->tile;
    const PiSystem *system = tile->system;
    const int ahead = system->second == PI_INCREMENTS_AHEAD;
    Numbers numbers = {.lanes = c->R * VLEN,
                       .substeps = whole(*of_run(c, PI_OF_SUBSTEPS)),
                       .noises = system->noises,
                       .streams = system->second == PI_INTEGRALS ? 2 : 1};
    const int64_t n = numbers.noises, all = n * (system->second ? 2 : 1), lanes = numbers.lanes;
    vreal *y = c->y, *next = take_rows(c, c->dim), *given = take_rows(c, all);
    double *W = (double *)take_rows(c, WIDTH * all), *last = W + ahead * n * lanes;
    uint64_t *trajectory = (uint64_t *)take_rows(c, WIDTH);
    numbers.both = (double *)take_rows(c, WIDTH * 2 * n * numbers.streams);
    const real *low = of_run(c, PI_OF_TRAJECTORY), *high = of_run(c, PI_OF_TRAJECTORY + 1);
    const real *jumps = of_run(c, PI_OF_JUMPS);
    const int goes_on = c->goes_on;
    if (!goes_on)
        EACH_BELOW(i, lanes)
            trajectory[i] =
                whole(low[i]) | whole(high[i]) << PI_OF_BITS | whole(jumps[i]) << PI_OF_JUMPS_BIT;
    numbers.pairs = (PiPairs){.trajectory = trajectory, .lanes = lanes};
    EACH_BELOW(i, 3) numbers.pairs.seed |= whole(*of_run(c, PI_OF_SEED + i)) << (PI_OF_BITS * i);
    if (numbers.substeps < 1) numbers.substeps = 1;
    if (ahead && !goes_on) sum_up(c, &numbers, tile->first, 1, last);
    const int direct = WIDTH == 1 && numbers.substeps == 1 && !system->second;
    for (int64_t step = tile->first; step < tile->first + tile->steps && !c->stopped; step++) {
        const void *of_step = W;
        if (ahead) memcpy(W, last, n * lanes * sizeof *W);
        const int fresh = !goes_on && step == tile->first;
        if (direct) of_step = drawn(c, &numbers, step, fresh);
        else sum_up(c, &numbers, step + ahead, !ahead && fresh, last);
        if (WIDTH == 2) {
            EACH_BELOW(i, all * lanes) ((real *)given)[i] = W[i];
            of_step = given;
        }
        ask(c, PI_NEXT, times(c, step, 0), y, of_step, next);
        vreal *before = y;
        y = next;
        next = before;
    }
    if (y != c->y) copy_rows(c, c->dim, y, c->y);
    c->goes_on = 1;
}
