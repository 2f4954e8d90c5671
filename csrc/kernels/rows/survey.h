/* Values of many lanes at one step, for statistics across the batch: see PiSurvey. */
#pragma once
#include "../../simd.h"
#include "../../tiles.h"
#include "../../vmath/bits.h"

/* What is left of the values past the last whole register, which ends at *whole. */
INLINE vreal last_values(const PiSurvey *s, real rest, int64_t *whole) {
    vreal x = vset(rest);
    *whole = s->count / VLEN * VLEN;
    memcpy(&x, s->q + *whole, (s->count - *whole) * sizeof *s->q);
    return x;
}
static void survey_range(PiSurvey *s) {
    vreal low = vset(INFINITY), high = -low;
    vint nan = vset_int(0);
    int64_t whole;
    const vreal last = last_values(s, s->q[0], &whole);
    for (int64_t i = 0; i < s->count; i += VLEN) {
        const vreal x = i < whole ? vload(s->q + i) : last;
        low = vsmaller(x, low);
        high = vlarger(x, high);
        nan |= x != x;
    }
    s->low = low[0], s->high = high[0];
    EACH_FROM(i, 1, VLEN) {
        s->low = low[i] < s->low ? low[i] : s->low;
        s->high = high[i] > s->high ? high[i] : s->high;
    }
    s->odd = vany(nan) || s->low == -INFINITY || s->high == INFINITY;
}
static void survey_sums(PiSurvey *s) {
    const vreal first = vset(s->shift[0]), second = vset(s->shift[1]);
    vreal high = vzero, low = vzero;
    vint rest = vset_int(0);
    int64_t whole;
    const vreal last = last_values(s, 0, &whole);
    for (int64_t i = 0; i < s->count; i += VLEN) {
        const vreal x = i < whole ? vload(s->q + i) : last;
        const vreal a = (x + first) - first, r = x - a, b = (r + second) - second;
        high += a;
        low += b;
        rest |= r != b;
    }
    s->sum[0] = s->sum[1] = 0;
    EACH_BELOW(i, VLEN) s->sum[0] += high[i], s->sum[1] += low[i];
    s->odd = vany(rest);
}
static void survey_places(PiSurvey *s) {
    const vint half = vset_int(PI_WINDOW / 2), from = vset_int(s->from);
    const vreal about = vset(s->about);
    int64_t whole;
    const vreal last = last_values(s, 0, &whole);
    for (int64_t i = 0; i < s->count; i += VLEN) {
        const vreal x = (i < whole ? vload(s->q + i) : last) - about;
        const vint cell = (vint)((vnatural)vabs(x) >> (MANTISSA_BITS - PI_CELL_BITS)) - from;
        const vint outside = (cell < 0) | (cell >= half);
        const vint there = cell + (((vint)x < 0) & half);
        const vint to = vselect_int(outside, half + half, there);
        memcpy(s->place + i, &to, sizeof to);
    }
}
static __attribute__((unused)) void survey(PiSurveyed what, PiSurvey *s) {
    if (what == PI_RANGE) survey_range(s);
    else if (what == PI_SUMS) survey_sums(s);
    else survey_places(s);
}
