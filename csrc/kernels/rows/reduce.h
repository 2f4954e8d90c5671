/* Reductions of a quantity over the steps, as watches use them. One register of lanes after the
 * other: its values at all the current states form a column, which every reduction of the
 * quantity processes. A lane that has failed or stopped is frozen, and not included from
 * that step on. */
#pragma once
#include "chunk.h"

enum { LINE_STEPS = 16 };

/* The values of a register, q[k next]. nan: may there be a NaN among them? most, least: of four
 * stretches, `length` each and what is left over in the last, without NaN; if asked for. */
enum { STRETCHES = 4 };
typedef struct {
    const PiReduceRows *rows;
    int64_t u, next, length;
    const vreal *q;
    vreal most[STRETCHES], least[STRETCHES];
    int nan;
} Column;
/* A loop of few turns that stays one: completely unrolled it would be long and slow. */
#ifdef __clang__
#define FEW_TURNS _Pragma("clang loop unroll(disable)")
#else
#define FEW_TURNS _Pragma("GCC unroll 1")
#endif
INLINE void look_at_value(Column *c, int i, vreal q, vreal *sum, int extremes) {
    sum[i] += q;
    if (!extremes) return;
    c->most[i] = vlarger(q, c->most[i]);
    c->least[i] = vsmaller(q, c->least[i]);
}
INLINE void look_at_column(Column *c, int extremes) {
    const int64_t next = c->length * c->next;
    const vreal *q = c->q;
    vreal sum[STRETCHES] = {{0}};
    EACH(i, STRETCHES) c->most[i] = vset(-INFINITY), c->least[i] = vset(INFINITY);
    FEW_TURNS
    for (int64_t k = 0; k < c->length; k++, q += c->next)
        EACH(i, STRETCHES) look_at_value(c, i, q[i * next], sum, extremes);
    q += (STRETCHES - 1) * next;
    FEW_TURNS
    for (int64_t k = STRETCHES * c->length; k < c->rows->count; k++, q += c->next)
        look_at_value(c, STRETCHES - 1, *q, sum, extremes);
    sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    c->nan = vany(sum[0] != sum[0]);
}
/* The column of register u; room: memory for r->count values, if they are changes. */
INLINE Column column_of(const PiReduceRows *r, int64_t u, vreal *room) {
    Column c = {.rows = r,
                .u = u,
                .next = r->next,
                .length = r->count / STRETCHES,
                .q = (const vreal *)r->quantity + u};
    if (r->origin) {
        const vreal origin = ((const vreal *)r->origin)[u], factor = ((const vreal *)r->factor)[u];
        FEW_TURNS
        EACH_BELOW(k, r->count) room[k] = (c.q[k * r->next] - origin) * factor;
        c.q = room;
        c.next = 1;
    }
    return c;
}
INLINE vreal step_of(const PiReduceRows *r, int64_t k) { return vset(r->step + k * r->every); }
INLINE vint stands_still(const Column *c, int64_t k) {
    const vreal *ends = c->rows->ends;
    return ends ? step_of(c->rows, k) >= ends[c->u] : vset_int(0);
}
/* high + low += term: the rounding of the sum is exact (Knuth), that of `low` is lost. */
INLINE void add_exactly(vreal *high, vreal *low, vreal term) {
    vreal rest;
    *high = two_sum(*high, term, &rest);
    *low += rest;
}
/* Rows: the first value that no other exceeds, and the index of its step. A NaN stays. */
INLINE vreal magnitude(PiReduction kind, vreal q) {
    return kind == PI_LARGEST_MAGNITUDE ? vabs(q) : q;
}
INLINE void reduce_each_extreme(PiReduction kind, const Column *c, vreal *s) {
    const PiReduceRows *r = c->rows;
    EACH_BELOW(k, r->count) {
        const vreal q = magnitude(kind, c->q[k * c->next]);
        const vint within = kind == PI_SMALLEST ? q >= s[0] : q <= s[0];
        const vint first = vset_int(r->index + k ? 0 : -1);
        vint news = first | (~within & (s[0] == s[0]));
        news &= ~stands_still(c, k);
        TAKE(s[0], news, q);
        TAKE(s[1], news, step_of(r, k));
    }
}
/* The extremum of all; and if that is a new one, the first step that has it. (Zeros of either
 * sign are equal: only a comparison one by one finds the first.) */
INLINE vreal further(PiReduction kind, vreal q, vreal best) {
    return kind == PI_SMALLEST ? vsmaller(q, best) : vlarger(q, best);
}
INLINE vreal furthest(PiReduction kind, const Column *c, int i) {
    return kind == PI_SMALLEST  ? c->least[i]
           : kind == PI_LARGEST ? c->most[i]
                                : vlarger(c->most[i], -c->least[i]);
}
INLINE void reduce_extreme(PiReduction kind, const Column *c, vreal *s) {
    const PiReduceRows *r = c->rows;
    vreal best[STRETCHES], most = s[0];
    EACH(i, STRETCHES) {
        best[i] = furthest(kind, c, i);
        most = further(kind, best[i], most);
    }
    const vint news = most != s[0];
    /* A magnitude below zero is the initial value of a lane that restarts. */
    const vint odd = kind == PI_LARGEST_MAGNITUDE ? ~(s[0] >= 0) : s[0] != s[0];
    if (c->nan || r->ends || r->index == 0 || vany(odd | (news & (most == 0)))) {
        reduce_each_extreme(kind, c, s);
        return;
    }
    if (!vany(news)) return;
    /* From the last stretch to the first, those that have it in a lane. */
    const vreal *q = c->q + r->count * c->next;
    vreal step = s[1];
    int64_t end = r->count;
    for (int i = STRETCHES - 1; i >= 0; end = i-- * c->length) {
        if (!vany(news & (best[i] == most))) {
            q = c->q + i * c->length * c->next;
            continue;
        }
        vreal at = step_of(r, end - 1);
        FEW_TURNS
        for (int64_t k = end; k > i * c->length; k--, at -= vset(r->every))
            step = vselect_equal(magnitude(kind, *(q -= c->next)), most, at, step);
    }
    TAKE(s[0], news, most);
    TAKE(s[1], news, step);
}
/* The number of the first step of the column with a NaN; NaN if there is none. */
INLINE vreal first_nan(const Column *c) {
    vreal found = vset(NAN);
    for (int64_t k = c->rows->count - 1; k >= 0; k--) {
        const vreal q = c->q[k * c->next];
        const vint here = q != q;
        TAKE(found, here & ~stands_still(c, k), step_of(c->rows, k));
    }
    return found;
}
/* A sum that is NaN needs no low part: this then holds the number of the first step with a NaN. */
INLINE void tell_nan(const Column *c, vint spoiled, vreal told, vreal *to) {
    TAKE(*to, spoiled, told);
    if (!c->nan) return;
    const vreal step = first_nan(c);
    TAKE(*to, ~spoiled & (step == step), step);
}
/* Rows: high and low part of a sum. */
INLINE void reduce_sum(PiReduction kind, const Column *c, vreal *s) {
    const vreal told = s[1];
    const vint spoiled = (s[0] != s[0]) & (told == told);
    EACH_BELOW(k, c->rows->count) {
        const vreal q = c->q[k * c->next];
        const vreal before[2] = {s[0], s[1]};
        add_exactly(&s[0], &s[1], kind == PI_SUM ? q : q * q);
        if (!c->rows->ends) continue;
        const vint still = stands_still(c, k);
        EACH(i, 2) TAKE(s[i], still, before[i]);
    }
    tell_nan(c, spoiled, told, &s[1]);
}
/* Rows: the first value; for the differences d from it the sums of d, of index d and of d^2, in two
 * parts each (the last low part is the number of the step of a NaN, as for a sum); and the
 * contributions of the steps since the last multiple of 16: a = sum of d, b the sum of the values
 * of a after each, so that n a - b is the sum of index d after n steps; sum of d^2. The border is a
 * multiple of 16 for any number of states shown at once: no bit depends on that. */
INLINE void settle_line(int64_t index, vint still, vreal *s) {
    const vreal term[3] = {s[7], vfma(vset(index + 1), s[7], -s[8]), s[9]};
    EACH(i, 3) {
        vreal high = s[1 + 2 * i], low = s[2 + 2 * i];
        add_exactly(&high, &low, term[i]);
        s[1 + 2 * i] = vselect(still, s[1 + 2 * i], high);
        s[2 + 2 * i] = vselect(still, s[2 + 2 * i], low);
        s[7 + i] = vselect(still, s[7 + i], vzero);
    }
}
INLINE void reduce_line(const Column *c, vreal *s) {
    const vreal told = s[6];
    const vint spoiled = (s[5] != s[5]) | (s[9] != s[9]);
    const PiReduceRows *r = c->rows;
    for (int64_t k = 0; k < r->count;) {
        /* Up to and including the next border. */
        const int64_t left = (LINE_STEPS - (r->index + k) % LINE_STEPS) % LINE_STEPS + 1;
        const int64_t stop = k + left < r->count ? k + left : r->count;
        vint still = vset_int(0);
        if (r->index + k == 0) {
            still = stands_still(c, 0);
            s[0] = vselect(still, s[0], c->q[0]);
        }
        FEW_TURNS
        for (; k < stop; k++) {
            const vreal d = c->q[k * c->next] - s[0], before[3] = {s[7], s[8], s[9]};
            s[7] += d;
            s[8] += s[7];
            s[9] = vfma(d, d, s[9]);
            if (!r->ends) continue;
            still = stands_still(c, k);
            EACH(i, 3) TAKE(s[7 + i], still, before[i]);
        }
        if ((r->index + k - 1) % LINE_STEPS == 0) settle_line(r->index + k - 1, still, s);
    }
    tell_nan(c, spoiled, told, &s[6]);
}
/* PiCrossingRow. It may have crossed zero twice, or dipped, by the parabola through g_{n-1}, g_n
 * and g_{n+1}: its extremum may lie half a step outside, and 5/8 of its bend beyond zero, so that
 * |g_n| < 9/4 |bend|; or g_{n+1} lies within a quarter of the bend, or of the next bend, which may
 * differ by four times the change since the last one. In most steps no lane of a register is that
 * near. A quantity that becomes NaN may have crossed zero before; after a NaN three values are not
 * known. */
INLINE void reduce_passes(PiReduction kind, const Column *c, vreal *s) {
    EACH_BELOW(k, c->rows->count) {
        const vreal new = c->q[k * c->next], old = s[PI_NOW], last = s[PI_BEFORE];
        const vreal fall = new - last, bend = new - 2 * old + last;
        const vreal nearer = vsmaller(vabs(new), vabs(old));
        const vreal next = vabs(bend) + 4 * vabs(bend - s[PI_BEND]);
        const vreal before = vselect(new == old, last, old);
        const vint far = nearer > vlarger(2.5 * vabs(bend), 0.25 * next);
        if (!c->rows->ends && !vany(~((old * new > vzero) & far))) {
            s[PI_NOW] = new, s[PI_BEFORE] = before;
            s[PI_BEND] = vselect(new == old, s[PI_BEND], bend);
            s[PI_CROSSED] += s[PI_CROSSED], s[PI_DIPPED] += s[PI_DIPPED];
            continue;
        }
        const vreal f = fall * old, b = bend * old;
        const vint ends = (16.0 * new *new <= bend *bend) | (4.0 * vabs(new) <= next);
        const vint rises = (old < vzero) & (new >= vzero), falls = (old > vzero) & (new <= vzero);
        const vint passes = kind == PI_RISES ? rises : kind == PI_FALLS ? falls : rises | falls;
        const vint turns =
            (f < b) & (f > -3.0 * b) & (bend * (6 * old - 2 * (new + bend)) <= fall * fall);
        const vint dips = ((old * new > vzero) & (turns | ends)) |
                          ((old == vzero) & (new != vzero)) |
                          (((new != new) | (last != last)) & (old == old));
        const vint still = stands_still(c, k);
        s[PI_NOW] = vselect(still, old, new);
        s[PI_BEFORE] = vselect(still, last, before);
        s[PI_CROSSED] += s[PI_CROSSED] + vselect(passes & ~still, vone, vzero);
        s[PI_DIPPED] += s[PI_DIPPED] + vselect(dips & ~still, vone, vzero);
        TAKE(s[PI_BEND], ~still & (new != old), bend); /* a state may be shown again */
    }
}
/* The same of a condition, -1, 1 or NaN, that begins to hold. */
INLINE void reduce_begins(const Column *c, vreal *s) {
    EACH_BELOW(k, c->rows->count) {
        const vreal new = c->q[k * c->next];
        const vint still = stands_still(c, k);
        const vint begins = (s[PI_NOW] < 0) & (new > 0) & ~still;
        s[PI_CROSSED] += s[PI_CROSSED] + vselect(begins, vone, vzero);
        TAKE(s[PI_NOW], ~still, new);
    }
}
/* A number for the branch on which the time puts quantities: does it change? */
INLINE void reduce_branch(const Column *c, vreal *s) {
    EACH_BELOW(k, c->rows->count) {
        const vreal new = c->q[k * c->next];
        const vint still = stands_still(c, k);
        const vint changes = (s[PI_NOW] == s[PI_NOW]) & (new != s[PI_NOW]) & ~still;
        s[PI_DIPPED] += s[PI_DIPPED] + vselect(changes, vone, vzero);
        TAKE(s[PI_NOW], ~still, new);
    }
}
/* The same with the chance of a zero between two steps (noise.h), g being in units of its deviation
 * over a step. Beyond 18.4 it is less than any number that is drawn. */
INLINE vnatural whole_of_row(const Column *c, int row) {
    const vreal *of_run = c->rows->of_run;
    return (vnatural)(of_run[row * c->rows->registers + c->u] + 0x1p52) &
           vset_natural(pi_lowest_bits(PI_OF_BITS));
}
INLINE vint comes_to_zero(const Column *c, int64_t step, vreal old, vreal new) {
    vnatural word[1][4], seed = vset_natural(0);
    EACH(i, 3) seed |= whole_of_row(c, PI_OF_SEED + i) << (PI_OF_BITS * i);
    set_counter(word[0], step, c->rows->component,
                whole_of_row(c, PI_OF_TRAJECTORY) | whole_of_row(c, PI_OF_TRAJECTORY + 1)
                                                        << PI_OF_BITS,
                PI_BRIDGES);
    vnatural key[ROUNDS][2];
    philox_keys(key, ((const uint64_t *)&seed)[0]);
    philox(1, word, key);
    const vreal r = radius(unit_interval(joined(word[0][0], word[0][1])));
    return rest_of_square(r, old, new, vone) > 0;
}
INLINE void reduce_bridges(const Column *c, vreal *s) {
    EACH_BELOW(k, c->rows->count) {
        const vreal new = c->q[k * c->next], old = s[PI_NOW], both = old *new;
        vint passes = (both <= 0) & (new != old);
        const vint near = (both > 0) & (both < 18.5);
        if (vany(near)) passes |= near & comes_to_zero(c, c->rows->step + k - 1, old, new);
        const vint still = stands_still(c, k);
        s[PI_CROSSED] += s[PI_CROSSED] + vselect(passes & ~still, vone, vzero);
        TAKE(s[PI_NOW], ~still, new);
    }
}
INLINE void reduce_column(PiReduction kind, int rows, const Column *c, real *sums) {
    vreal s[10];
    EACH(i, rows) s[i] = vload(sums + i * c->rows->stride);
    if (kind <= PI_LARGEST_MAGNITUDE) reduce_extreme(kind, c, s);
    else if (kind == PI_LINE) reduce_line(c, s);
    else if (kind == PI_BEGINS_TO_HOLD) reduce_begins(c, s);
    else if (kind == PI_BRIDGED) reduce_bridges(c, s);
    else if (kind == PI_BRANCH) reduce_branch(c, s);
    else if (kind >= PI_RISES) reduce_passes(kind, c, s);
    else reduce_sum(kind, c, s);
    EACH(i, rows) vstore(sums + i * c->rows->stride, s[i]);
}
static void reduce(const PiReduceRows *r) {
    vreal room[PI_REDUCE_STATES];
    int extremes = 0, looks = 0;
    EACH_BELOW(i, r->n) {
        extremes |= r->of[i].kind <= PI_LARGEST_MAGNITUDE;
        looks |= r->of[i].kind < PI_RISES;
    }
    EACH_BELOW(u, r->registers) {
        Column c = column_of(r, u, room);
        if (extremes) look_at_column(&c, 1);
        else if (looks) look_at_column(&c, 0);
        EACH_BELOW(i, r->n) {
            real *sums = r->sums + r->of[i].first * r->stride + u * VLEN;
            switch (r->of[i].kind) {
#define KIND(kind, name, rows, ...)                                                                \
    case kind: reduce_column(kind, rows, &c, sums); break;
                PI_EACH_REDUCTION(KIND)
            }
        }
    }
}
