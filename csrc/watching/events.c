/* Events of segments: see events.h. */
#include "events.h"

/* Intervals between jumps, of a few roundings of the time in single precision: no progress. */
#define NOWHERE_NEAR        0x1p-30
#define NOWHERE_NEAR_SINGLE 0x1p-18

/* The part of a step to which a place in it is known. */
static double least_part(const EventLanes *p) {
    return p->single ? 2 * FLT_EPSILON : 2 * DBL_EPSILON;
}
/* How far before its zero an event of fixed steps is sought, so that rounding hardly ever puts it
 * behind. */
static double before_zero(const EventLanes *p) { return 0.5 * least_part(p); }
/* Parts of a segment that are closer are at the same moment, but for rounding, of the time too. */
static double at_once(const EventLanes *p, const PiSteps *s, int64_t i) {
    const double least = least_part(p) * parts_of_step(&p->occurring[i]);
    return 16 * least + 64 * DBL_EPSILON * fabs(get(p, s->t, i) / p->occurring[i].h);
}
static double within(double part) { return clamped(part, 0x1p-52, 1 - 0x1p-53); }
static int most_pending(const EventLanes *p) { return p->of->count > 16 ? 4 * p->of->count : 64; }
static void add_to_count(EventLanes *p, int64_t i, PiEventRow row, int j) {
    const Occurring *o = &p->occurring[i];
    *event_row(p, row, o->id, j) += 1;
    o->passing[j].added[row] += 1;
}
void pi_forget_events(EventLanes *p, int64_t i, int first) {
    const Occurring *o = &p->occurring[i];
    EACH_EVENT(j, p->of) {
        Passing *const passing = &o->passing[j];
        if (!first) passing->added[PI_COUNT] -= passing->first;
        EACH_FROM(row, PI_COUNT, PI_UNRESOLVED + 1) {
            *event_row(p, row, o->id, j) -= passing->added[row];
            passing->added[row] = 0;
        }
        passing->first = 0;
    }
}

/* ---- the events of a piece ------------------------------------------------------------------- */
static Occurrence *next_of(const Occurring *o) { return o->pending + o->count - 1; }
/* Does one event come before another? Of zeros at one moment, but for rounding, that of the event
 * named first does. */
static int comes_before(const Occurring *o, const Occurrence *a, const Occurrence *b) {
    const double near = a->event != b->event && a->slope != 0 && b->slope != 0 ? o->near : 0;
    return a->event < b->event ? a->part <= b->part + near : a->part < b->part - near;
}
/* Puts an event where it belongs among those before `at`, which thus has room for one more: beside
 * those that are placed by its place, beside others by where it was sought, as they were. */
static void insert(Occurring *o, Occurrence *at, Occurrence this) {
    Occurrence as = this;
    for (; at > o->pending; at--) {
        as.part = at[-1].placed ? this.part : this.sought;
        if (!comes_before(o, at - 1, &as)) break;
        *at = at[-1];
    }
    *at = this;
}
/* Adds event j to those of a lane that are pending; beyond their room it is left out. */
static void occurs(EventLanes *p, int64_t i, double part, double slope, int j) {
    Occurring *o = &p->occurring[i];
    if (o->count == most_pending(p)) add_to_count(p, i, PI_UNRESOLVED, j);
    else insert(o, o->pending + o->count++, (Occurrence){part, slope, part, j, 0});
}
/* Now that the place of the next event is known, does another come first, or may one named before?
 * That is the next then. (Each is put in its order once: of three events the first and the last
 * need not be at one moment if the second is at one with both.) */
static int gives_way(EventLanes *p, int64_t i) {
    Occurring *o = &p->occurring[i];
    Occurrence *const next = next_of(o), this = *next;
    next->placed = 1;
    if (!this.placed) insert(o, next, *next);
    if (next->event != this.event || next->part != this.part) return 1;
    for (Occurrence *e = next - 1; e >= o->pending; e--) {
        if (e->placed || e->event >= this.event) continue;
        const int64_t at = e->event * p->lanes + i;
        const double size = fmax(p->quantities.most[at], -p->quantities.least[at]);
        const Piece *piece = &p->quantities.piece[i];
        /* How far its quantity may be off, of its size: by all of it on pieces of degree 4. */
        const double known = piece->points == 4 ? 1 : 20 * piece->resolution;
        Occurrence first = *e;
        if (e->slope != 0 && !p->quantities.linear)
            first.part -= fmin(known * size / fabs(e->slope), 0x1p-6);
        if (!comes_before(o, &first, &this)) continue;
        first = *e;
        for (; e < next; e++) *e = e[1];
        *next = first;
        return 1;
    }
    return 0;
}
/* Is a quantity still at the zero at which it has just jumped? */
static int is_at_zero(const EventLanes *p, int64_t i, int j, double value) {
    const double zero = p->occurring[i].passing[j].zero;
    return zero > 0 && fabs(value) <= zero;
}
/* Does the step end at an event? */
static int ends_step(const PiEvent *e) { return e->stop || e->then >= 0; }
/* Row r of the parameters of the run of a lane. */
static uint64_t of_run(const EventLanes *p, int64_t id, int r) {
    const PiLaneProgram *of = &p->of->detect;
    return pi_item(of->params[of->system.system->n_params - PI_OF_RUN + r], id);
}
/* The first passage of the bridge between the ends of a segment, if it lies in the piece. */
static void find_passage(EventLanes *p, int64_t i, int64_t id, int j) {
    const Pieces *q = &p->quantities;
    Occurring *o = &p->occurring[i];
    const double a = *event_row(p, PI_QUANTITY, id, j), b = p->ended[j * p->lanes + i];
    if (isnan(a * b) || a == 0 || p->of->event[j].direction * a > 0) return;
    PiBridge bridge = {.step = o->step,
                       .trajectory = (uint64_t)o->jumps << PI_OF_JUMPS_BIT,
                       .component = j,
                       .from = a,
                       .to = b,
                       .whole = o->whole / o->h};
    EACH_BELOW(k, 3) bridge.seed |= of_run(p, id, PI_OF_SEED + k) << PI_OF_BITS * k;
    EACH_BELOW(k, 2) bridge.trajectory |= of_run(p, id, PI_OF_TRAJECTORY + k) << PI_OF_BITS * k;
    const double part = fmax(p->of->detect.program.set->passage(&bridge), 0x1p-52);
    if (part > q->piece[i].from && part <= q->piece[i].to)
        occurs(p, i, fmin(part, 1 - 0x1p-53), 0, j);
}
static void find_located(EventLanes *p, int64_t i, int j) {
    const PiEvent *e = &p->of->event[j];
    const Pieces *q = &p->quantities;
    const Piece *piece = &q->piece[i];
    Occurring *o = &p->occurring[i];
    const int64_t at = j * p->lanes + i;
    const double least = q->least[at], most = q->most[at], size = most > -least ? most : -least;
    const double error = 20 * piece->resolution * size;
    const int ends = isinf(piece->resolution); /* nothing can be told within */
    if (!ends && cheb_is_clear(least, most, error) && !piece_is_lost(q, i, j)) return;
    double f[CHEB_MOST + 1];
    const int n = pi_piece_values(q, i, j, f);
    if (ends) {
        const int had = is_at_zero(p, i, j, f[0]) || o->passing[j].until > 0;
        if (!had && crosses(e, f[0], f[n])) occurs(p, i, 1, 0, j);
        return;
    }
    EACH_BELOW(k, n + 1) {
        if (isfinite(f[k])) continue;
        /* It was halved as far as possible: what may have occurred there? */
        if (isfinite(*event_row(p, PI_QUANTITY, o->id, j))) add_to_count(p, i, PI_UNRESOLVED, j);
        return;
    }
    const int begins = !o->passing[j].left && is_at_zero(p, i, j, f[0]);
    o->passing[j].left = !begins || !is_at_zero(p, i, j, size);
    if (!o->passing[j].left) return;
    if (!begins) o->passing[j].zero = 0;
    /* Of a piece as short as the time is rounded, beside the jump of a clock, the ends tell. */
    if (!begins && piece->to - piece->from <= o->near && !crosses(e, f[0], f[n])) return;
    /* That of its last event, since rounding alone may put it on the other side of its zero. */
    const int last = e->direction ? e->direction : o->passing[j].side;
    const double side = last ? last : f[0] < 0 ? 1 : -1;
    /* What jumps without progress, or again and again in a step, is a body at rest, to which
     * rounding may have given a speed. */
    const int lost = *event_row(p, PI_TIMES, o->id, PI_LOST_JUMPS) > 0;
    const int slow = lost || (p->single && o->jumps > 1) ? 1 : -p->single;
    const int falls = !begins     ? 0
                      : p->chords ? side * f[n] > side * f[0] /* its end tells */
                                  : pi_falls_through(side, n, f, piece->to, slow);
    if (falls > 0) {
        occurs(p, i, 0, 0, j);
        return;
    }
    const int simple = n == 4 && !begins && (f[0] < 0) != (f[n] < 0); /* as pieces.c has it */
    PiZeros zeros;
    if (simple) pi_find_simple_zero(f, &zeros);
    else pi_find_zeros(n, f, begins, error, &zeros);
    /* Beside a jump waves of the polynomial make others. */
    const int jumps = knows_ends(p) && piece_has_jump(q, at), once = !(f[0] * f[n] > 0);
    if (jumps && !begins && zeros.count > once) zeros.near = 1, zeros.count = once;
    double a[CHEB_MOST + 1], from = -1;
    int turns = begins && !e->direction, hidden = zeros.near;
    /* Where it begins at zero without an event, at rest, rounding makes another zero there. */
    const double rest = f[0] == 0 && !begins ? 256 * least_part(p) : 0;
    /* Beside the jump of a clock rounding may take it back, which has passed its zero. */
    const int goes_on = begins && side * f[n] > 0 && is_very_short(o, piece->to);
    const int tells = turns || goes_on || (begins && p->of->exact && p->single);
    if (tells) cheb_coefficients(n, f, a);
    /* The jump at which it has had its event, on the piece that holds it. */
    const double until = o->passing[j].until / fabs(o->h), length = piece->to - piece->from;
    if (piece->from < until && is_very_short(o, piece->to)) return;
    const double again = jumps && piece->from < until ? until + 0x1p-4 * length : until;
    EACH_BELOW(k, zeros.count) {
        /* Where it turns back from its zero, rounding makes others beside that. */
        const double before = tells ? cheb_value(n, a, 0.5 * (from + zeros.at[k].x)) : 0;
        const int stays = tells && is_at_zero(p, i, j, before);
        turns = turns && (side > 0) != zeros.at[k].rises && f[0] != 0 && stays;
        from = zeros.at[k].x;
        if (turns || (e->direction && (e->direction > 0) != zeros.at[k].rises)) continue;
        const double slope = zeros.at[k].slope * 2 / length;
        const double part = piece_part(piece, zeros.at[k].x);
        if (from + 1 < rest || (goes_on && stays) || part < again) continue;
        hidden |= stays && p->of->exact && p->single;
        occurs(p, i, p->of->exact ? within(part - before_zero(p)) : part, slope, j);
    }
    /* Steps that hold so many may hide others: between steps on one side of zero. */
    int8_t *zeros_of = &o->passing[j].crossings;
    const int before = *zeros_of;
    *zeros_of = before + zeros.count < 3 ? before + zeros.count : 3;
    const int many = p->of->exact && before < 3 && *zeros_of == 3 && !ends_step(e);
    if (falls || hidden || many || piece_is_lost(q, i, j)) add_to_count(p, i, PI_UNRESOLVED, j);
}
/* A condition has one value on a piece, or changes on a very short one; or it flickers. */
static void find_condition(EventLanes *p, const PiSteps *s, int64_t i, int j) {
    const Pieces *q = &p->quantities;
    const Piece *piece = &q->piece[i];
    double f[CHEB_MOST + 1];
    int changes = 0;
    const int n = pi_piece_values(q, i, j, f);
    if (p->of->exact) {
        const double start = *event_row(p, PI_QUANTITY, s->id[i], j);
        if (piece->to == 1 && crosses(&p->of->event[j], start, f[n])) occurs(p, i, 1, 0, j);
        return;
    }
    EACH_FROM(k, 1, n + 1) changes += f[k] != f[k - 1];
    if (changes > 1 && (f[0] == f[n] || piece->to - piece->from > 0x1p-30))
        add_to_count(p, i, PI_UNRESOLVED, j);
    for (int k = n; k > 0; k--)
        if (crosses(&p->of->event[j], f[k - 1], f[k]) && crosses(&p->of->event[j], f[0], f[n])) {
            const double part = piece_part(piece, cheb_point(n, k));
            /* It may have had its event at the moment at which the segment begins. */
            const Occurring *o = &p->occurring[i];
            if (!(part * fabs(o->h) <= o->passing[j].until)) occurs(p, i, part, 0, j);
            return;
        }
}
/* The events of a linear quantity on the whole step. */
static void find_on_step(EventLanes *p, int64_t i, int64_t id, int j) {
    const Pieces *q = &p->quantities;
    const PiEvent *e = &p->of->event[j];
    const int64_t at = j * p->lanes + i;
    const double least = q->least[at], most = q->most[at];
    const double first = linear_row(q, j, 0)[i], last = linear_row(q, j, q->degree)[i];
    Occurring *o = &p->occurring[i];
    if (*event_row(p, PI_BEGINS, id, j) == BEGINS_WITH_EVENT) occurs(p, i, 0, 0, j);
    if (isnan(q->mean[at])) { /* the force has failed within */
        if (!is_at_zero(p, i, j, first) && crosses(e, first, last)) occurs(p, i, 1, 0, j);
        add_to_count(p, i, PI_UNRESOLVED, j);
        return;
    }
    if (q->zero[at] == INFINITY) return;
    whole_piece(&p->quantities.piece[i], q->degree);
    p->quantities.piece[i].resolution = o->resolution;
    if (o->passing[j].zero > 0) {
        find_located(p, i, j);
        return;
    }
    const double error = 20 * o->resolution * fmax(most, -least);
    PiZeros zeros;
    pi_find_linear_zeros(q, i, j, q->degree, linear_row(q, j, 0), error, e->direction, &zeros);
    EACH_BELOW(k, zeros.count) occurs(p, i, zeros.at[k].x, zeros.at[k].slope, j);
    if (zeros.near) add_to_count(p, i, PI_UNRESOLVED, j);
}
static void find_events(EventLanes *p, const PiSteps *s, int64_t i) {
    const int64_t id = s->id[i];
    const int begins = p->quantities.piece[i].from == 0;
    EACH_EVENT(j, p->of) {
        p->occurring[i].passing[j].tied = 0;
        if (p->of->exact && begins)
            *event_row(p, PI_QUANTITY, id, j) = piece_row(&p->quantities, j, 0)[i];
        if (begins && *event_row(p, PI_BEGINS, id, j) == BEGINS_WITH_EVENT) occurs(p, i, 0, 0, j);
        if (p->of->event[j].onto >= 0) find_passage(p, i, id, j);
        else if (p->of->event[j].located) find_located(p, i, j);
        else find_condition(p, s, i, j);
    }
}

/* ---- consequences of an event ---------------------------------------------------------------- */
/* The step ends there, at the state of the event. */
static void end_at(EventLanes *p, const PiSteps *s, int64_t i, double part, PiStepEnd end) {
    Occurring *o = &p->occurring[i];
    EACH_BELOW(d, p->dim) {
        const int64_t at = d * p->lanes + i;
        p->landing[at] = p->state[at];
        if (part != 1) set(p, s->after, at, p->state[at]);
    }
    s->end[i] = end;
    o->part = part;
    o->count = 0;
    end_pieces(&p->quantities.piece[i]);
    if (part == 1) return;
    const double t0 = get(p, s->t0, i), rest = get(p, s->t0_low, i) + part * o->h;
    const double sum = t0 + rest, t = p->real_bytes == 8 ? sum : (float)sum, back = t - t0;
    set(p, s->t, i, t);
    set(p, s->t_low, i, (t0 - (t - back)) + (rest - back));
}
/* Jumps that are closer in time make no progress. */
static double nowhere(const EventLanes *p, int64_t id, double t) {
    const double near = p->single ? NOWHERE_NEAR_SINGLE : NOWHERE_NEAR;
    return near * fabs(t - *event_row(p, PI_TIMES, id, PI_START));
}
static int is_zeno(const EventLanes *p, double t, int64_t id) {
    return fabs(t - *event_row(p, PI_TIMES, id, PI_LAST_JUMP)) <= nowhere(p, id, t);
}
static void jump(EventLanes *p, const PiSteps *s, int64_t i, const Occurrence *this) {
    const double *answer = p->react.answer + p->of->event[this->event].then * p->lanes + i;
    int finite = 1;
    Occurring *o = &p->occurring[i];
    o->stopped_by = this->event;
    const double least = least_part(p) * parts_of_step(o), near = o->near;
    /* Where states put it before that jump by their rounding, it is passed in no progress. */
    const double t = pi_time_within(p, s, i, this->part);
    const double rounded = p->of->exact ? 0 : 0.5 * nowhere(p, o->id, t);
    const double later = p->single ? 4 * VERY_SHORT * fabs(o->whole) : 0; /* of fixed steps */
    const double shortly = 4 * near * fabs(o->h) + later + rounded;
    const Pieces *q = &p->quantities;
    const int is_short = is_very_short(o, q->piece[i].to - q->piece[i].from);
    EACH_EVENT(j, p->of) {
        Passing *passing = &o->passing[j];
        double f[CHEB_MOST + 1];
        const int64_t at = j * p->lanes + i;
        const double g = p->quantities.rows.answer[at]; /* before the jump */
        if (q->linear) f[0] = p->begun[at];
        else pi_piece_values(q, i, j, f);
        const double from = q->piece[i].from; /* has it not had its event before, or is it later? */
        passing->tied = passing->tied == 0 && crosses(&p->of->event[j], f[0], g) &&
                        !is_at_zero(p, i, j, f[0]) && from <= this->part &&
                        from * fabs(o->h) >= passing->until;
        passing->g = g, passing->before = f[0];
        /* It may be at its zero still, for which it has had its event: while it is no larger than
         * this; a condition, and a clock, which is not near zero there, for so long. */
        const int located = p->of->event[j].located, has = this->part - passing->at <= near;
        const double way = (j == this->event ? 64 * least : 4 * near) * fabs(passing->slope);
        const double end = knows_ends(p) ? p->ended[at] : 0;
        const double start = fmax(fabs(*event_row(p, PI_QUANTITY, o->id, j)), fabs(end));
        const int over = q->most[at] - q->least[at] > 0.5 * start && piece_has_jump(q, at);
        const int far = fabs(g) > fmax(0.5 * fabs(f[0]), 0x1p-20 * start);
        const int known = knows_ends(p) && fabs(g) > 0x1p-6 * start;
        const int clock = !(passing->zero > 0) && (is_short ? over || far : over && known);
        /* One that ticks after another at its moment began the segment with its event. */
        const int jumps = passing->slope != 0 ? clock : passing->clock;
        passing->clock = clock;
        const int sized = located && !jumps, begins = this->part <= near + rounded / fabs(o->h);
        const double size = sized ? fmax(way, 16 * fabs(g)) : 0;
        const double time = sized ? 0 : located ? shortly : near * fabs(o->h);
        const double left = passing->until - this->part * fabs(o->h);
        passing->stays = fmax(has ? size : 0, begins ? passing->zero : 0);
        passing->pauses = fmax(has ? time : 0, begins ? left : 0);
        if (p->of->event[j].onto >= 0) /* it is the state before that is off */
            passing->stays = passing->pauses = 0;
    }
    EACH_BELOW(k, o->count) {
        const Occurrence *e = &o->pending[k];
        const double later = e->part - this->part; /* by a polynomial: has the state passed it? */
        const int passed = later < 0x1p-20 && o->passing[e->event].g * e->slope > 0;
        if (!(later <= near || passed)) continue;
        o->passing[e->event].tied |= 1;
        if (e->slope != 0) o->passing[e->event].before = -e->slope;
    }
    end_at(p, s, i, this->part, PI_STEP_JUMPED);
    EACH_BELOW(d, p->dim) {
        const double y = answer[d * p->lanes];
        finite &= fabs(y) <= (p->single ? FLT_MAX : DBL_MAX);
        set(p, s->after, d * p->lanes + i, p->single ? (float)y : y);
    }
    if (!finite) s->end[i] = PI_STEP_LOST;
}
/* The next event of a lane occurs, at p->state. */
static void happens(EventLanes *p, const PiSteps *s, int64_t i) {
    Occurring *o = &p->occurring[i];
    const PiEvents *of = p->of;
    const Occurrence this = o->pending[--o->count];
    o->asks = o->ready = o->corrections = o->passed = 0;
    const int j = this.event;
    const PiEvent *event = &of->event[j];
    const int64_t id = s->id[i];
    const double t = pi_time_within(p, s, i, this.part);
    const int lost = event->then >= 0 && is_zeno(p, t, id);
    if (o->events++ == of->most ||
        (lost && *event_row(p, PI_TIMES, id, PI_LOST_JUMPS) >= of->most)) {
        end_at(p, s, i, this.part, PI_STEP_ZENO);
        return;
    }
    const double *count = event_row(p, PI_COUNT, id, j);
    const int64_t k = *count >= 0 && *count < event->keep ? (int64_t)*count : -1;
    add_to_count(p, i, PI_COUNT, j);
    Passing *passing = &o->passing[j];
    passing->first += this.part == 0;
    passing->tied = -1;
    passing->at = this.part, passing->slope = this.slope;
    if (this.slope != 0) passing->side = this.slope > 0 ? 1 : -1;
    if (event->onto >= 0)
        EACH_BELOW(d, p->dim) {
            const double y = p->react.answer[(event->onto + d) * p->lanes + i];
            p->state[d * p->lanes + i] = p->single ? (float)y : y;
        }
    if (k >= 0) {
        keep_event(p, event, k, id, t, p->state + i);
        EACH_BELOW(v, event->n_values)
            event->values[(k * event->n_values + v) * of->stride + id] =
                p->react.answer[(event->value + v) * p->lanes + i];
    }
    if (event->stop && *count >= event->stop) {
        o->stopped_by = j;
        end_at(p, s, i, this.part, PI_STEP_STOPPED);
    } else if (event->then >= 0) jump(p, s, i, &this);
}

/* ---- a chunk of lanes ------------------------------------------------------------------------ */
/* A program's answers at p->state. */
static int show_state(EventLanes *p, ProgramRows *r, const PiSteps *s) {
    EACH_LANE(i, p) {
        const Occurring *o = &p->occurring[i];
        r->t[i] = o->count ? pi_time_within(p, s, i, next_of(o)->part) : get(p, s->t, i);
        if (r->y != p->state)
            EACH_BELOW(d, p->dim) r->y[d * p->lanes + i] = p->state[d * p->lanes + i];
    }
    return pi_load_parameters(r, s->id) || pi_answer_lanes(r) ? -1 : 0;
}
static int is_finite(const EventLanes *p, const void *state, int64_t i) {
    int finite = 1;
    EACH_BELOW(d, p->dim) finite &= isfinite(get(p, state, d * p->lanes + i)) != 0;
    return finite;
}
/* The states at the next events of the lanes: those at the ends of the steps, those that the kernel
 * has made, or on the polynomials. */
static void find_states(EventLanes *p, const PiSteps *s) {
    double *part = p->quantities.theta;
    memset(part, 0, p->lanes * sizeof *part);
    EACH_BUSY(i, p)
        if (p->occurring[i].count) part[i] = next_of(&p->occurring[i])->part;
    s->at(s, part, UINT64_MAX, p->state);
    EACH_BUSY(i, p) {
        const int made = p->occurring[i].asks && is_finite(p, s->within, i);
        if (!p->occurring[i].count || (part[i] != 0 && part[i] != 1 && !made)) continue;
        const void *from = part[i] == 0 ? s->before : part[i] == 1 ? s->after : s->within;
        EACH_BELOW(d, p->dim) p->state[d * p->lanes + i] = get(p, from, d * p->lanes + i);
    }
}
/* Is the next event of a lane only seen, and its place a zero of the polynomial of the states? */
static int is_exact(const EventLanes *p, int64_t i) {
    const Occurring *o = &p->occurring[i];
    return p->quantities.linear && !ends_step(&p->of->event[next_of(o)->event]);
}
/* Is the state at its next event to be kept, or that where too many end the step? */
static int wants_state(const EventLanes *p, int64_t i) {
    const Occurring *o = &p->occurring[i];
    const int j = next_of(o)->event;
    return *event_row(p, PI_COUNT, o->id, j) < p->of->event[j].keep || o->events == p->of->most;
}
/* Is it only counted, and no matter where it is? */
static int is_counted(const EventLanes *p, int64_t i) {
    return !wants_state(p, i) && (is_exact(p, i) || (!p->of->exact && !p->ends));
}
/* Is the place of a jump through zero still to be bracketed? No slope tells it, and the states of
 * the method pass it later or earlier than the polynomial, by the tolerance. */
static int is_bracketed(Occurring *o, Occurrence *e, int passed, double near) {
    if (o->corrections == 1) o->low = 0, o->high = 1;
    *(passed ? &o->high : &o->low) = e->part;
    const int found = o->high - o->low <= near;
    const double way = ldexp(near, 4 * o->corrections), middle = 0.5 * (o->low + o->high);
    e->part = found ? o->low : passed ? fmax(e->part - way, middle) : fmin(e->part + way, middle);
    const int lost = found && (o->low == 0 || o->high == 1) && fabs(e->part - e->sought) > 0x1p-6;
    return lost ? -1 : passed || !found;
}
/* Is the place of a lane's next event still to be corrected? 1, 0; or -1: there is none. A zero is
 * approached from the side before; a condition holds there. */
static int is_corrected(EventLanes *p, int64_t i) {
    Occurring *o = &p->occurring[i];
    const Piece *piece = &p->quantities.piece[i];
    Occurrence *e = next_of(o);
    const PiEvent *event = &p->of->event[e->event];
    const int64_t at = e->event * p->lanes + i;
    const double g = p->quantities.rows.answer[at], least = least_part(p);
    const int exact = p->of->exact;
    const int jumps = event->located && (exact || ends_step(event)) && e->slope != 0 &&
                      !(o->passing[e->event].zero > 0) &&
                      (is_very_short(o, piece->to - piece->from) ||
                       (knows_ends(p) && piece_has_jump(&p->quantities, at)));
    const int most = jumps ? 96 : (exact ? 3 : event->located ? 1 : 2) * MOST_CORRECTIONS;
    if (e->placed || e->part == 0 || o->corrections++ == most) return 0;
    if (exact && e->slope == 0) return 0;
    if (!event->located) {
        if (!(g * event->direction < 0) || e->part == 1) return 0;
        e->part = fmin(e->part + ldexp(least, (p->single ? 2 : 4) * o->corrections), 1);
        return 1;
    }
    const int ends = ends_step(event) || exact, passed = ends && (e->slope > 0 ? g >= 0 : g <= 0);
    if (!ends && o->corrections > 1 && fabs(e->part - o->last_part) < 0x1p-26) return 0;
    if (jumps) return is_bracketed(o, e, passed, 2 * least);
    if (o->corrections == 1 || passed) o->high = passed ? e->part : INFINITY;
    if (exact && !passed && o->high - e->part <= o->near) return 0; /* as near as times can tell */
    double slope = e->slope;
    if (o->corrections > 1) {
        const double size = fmax(p->quantities.most[at], -p->quantities.least[at]);
        const double way = e->part - o->last_part, secant = (g - o->last_g) / way;
        const double ratio = secant / slope;
        const int between = (g > 0) != (o->last_g > 0); /* a zero lies there, if all curves */
        /* Beside a kink the slope is another; at the zero of a jump, and in single precision,
         * rounding may look like one. A slope far below that across tells of a jump through zero.
         */
        const int slow = exact && fabs(g) >= 0.5 * fabs(o->last_g);
        const int kink = slow && !p->single && !(o->passing[e->event].zero > 0) &&
                         fabs(g) > 0x1p-36 * size && fabs(ratio) > 0x1p-20;
        if (slow && !kink && !passed) return 0;   /* all that is left is rounding */
        if (kink && between) slope = 2 * g / way; /* the middle of the two is next */
        else if ((ratio > 0.125 && ratio < 8) || ((between || kink) && ratio > 0)) slope = secant;
        /* The zero may be near, and the kink between, however flat it is before. */
        if (kink) slope = copysign(fmax(fabs(slope), 0x1p7 * fabs(g)), slope);
    }
    o->last_g = g, o->last_part = e->part;
    const double off = g / slope;
    if (!(fabs(off) < 0x1p-6) && exact && e->part < 0x1p-10 && o->passing[e->event].zero > 0) {
        e->part = 0; /* it leaves the zero of the last jump by its rounding only */
        return 1;
    }
    if (!(fabs(off) < 0x1p-6)) return exact ? -1 : 0;
    const int k = o->corrections; /* as far as `further` goes back, and more */
    const double near = exact ? least : ldexp(least, k < 4 ? k + 2 : 2 * k - 2);
    if (!passed && (fabs(off) <= near || e->part == 1)) return 0;
    const double further = exact    ? ldexp(before_zero(p), passed ? 2 * o->passed++ : 0)
                           : passed ? ldexp(least, 2 * (o->corrections - 1))
                                    : 0;
    e->part = within(e->part - off - further);
    return 1;
}
/* Lets events occur until all lanes have had theirs, or ask for a part of their step. 1, 0, -1. */
static int go_through(EventLanes *p, const PiSteps *s) {
    for (;;) {
        int waits = 0, asks = 0, ready = 0, again = 0, any = 0, values = 0;
        EACH_BUSY(i, p) {
            Occurring *o = &p->occurring[i];
            Piece *piece = &p->quantities.piece[i];
            while (o->count && is_counted(p, i)) happens(p, s, i);
            if (!o->count) piece->points = 0;
            waits |= !o->count && piece->n_ends;
            any |= o->count;
        }
        if (!any && !waits) return 0;
        if (waits) {
            if (pi_next_pieces(&p->quantities, s, p->real_bytes, NULL) < 0) return -1;
            EACH_BUSY(i, p)
                if (!p->occurring[i].count && p->quantities.piece[i].points) find_events(p, s, i);
        }
        EACH_BUSY(i, p) {
            Occurring *o = &p->occurring[i];
            o->ready = o->count && is_exact(p, i);
            any |= o->count;
            values |= o->count && !o->ready;
            ready |= o->ready;
        }
        again = ready;
        if (!any) continue;
        find_states(p, s);
        if (values && show_state(p, &p->quantities.rows, s)) return -1;
        EACH_BUSY(i, p) {
            Occurring *o = &p->occurring[i];
            if (!o->count || o->ready) continue;
            const Occurrence *e = next_of(o);
            const int seen = p->of->exact || !ends_step(&p->of->event[e->event]);
            const int made = seen || o->asks || e->part == 0 || e->part == 1;
            const int corrected = made ? is_corrected(p, i) : 0;
            o->ready = made && !corrected;
            if (o->ready && gives_way(p, i)) o->ready = o->asks = o->corrections = o->passed = 0;
            else o->asks = !seen && !o->ready && e->part < 1;
            if (corrected < 0) { /* the motion is not that of the polynomial */
                add_to_count(p, i, PI_UNRESOLVED, e->event);
                o->corrections = o->passed = 0;
                o->count--;
            }
            asks |= o->asks;
            again |= !o->asks;
            ready |= o->ready;
        }
        if (ready && p->react.of && show_state(p, &p->react, s)) return -1;
        EACH_BUSY(i, p)
            if (p->occurring[i].count && p->occurring[i].ready) happens(p, s, i);
        if (asks) return 1;
        if (!again && !waits) return 0;
    }
}
int pi_ask_ends(EventLanes *p, const PiSteps *s) {
    ProgramRows *r = &p->quantities.rows;
    EACH_BELOW(i, p->lanes) r->t[i] = get(p, s->t, i) + get(p, s->t_low, i);
    widen(p, s->after, p->dim * p->lanes, r->y);
    return pi_load_parameters(r, s->id) || pi_answer_lanes(r) ? -1 : 0;
}
static int keep_ends(EventLanes *p, const PiSteps *s) {
    if (pi_ask_ends(p, s)) return -1;
    memcpy(p->ended, p->quantities.rows.answer, p->of->count * p->lanes * sizeof *p->ended);
    return 0;
}
/* The polynomials of linear quantities, from their values at both ends of the steps. */
static int make_linear(EventLanes *p, const PiSteps *s) {
    if (keep_ends(p, s)) return -1;
    EACH_EVENT(j, p->of)
        EACH_LANE(i, p)
            p->begun[j * p->lanes + i] = s->id[i] < 0 ? 0 : *event_row(p, PI_QUANTITY, s->id[i], j);
    pi_linear_pieces(&p->quantities, s, p->begun, p->ended);
    return 0;
}
/* Finds the events of conditions that compare only linear numbers: their first pieces are known. */
static int find_compared(EventLanes *p, const PiSteps *s) {
    Pieces *q = &p->quantities;
    if (pi_ask_steps(q, s, p->real_bytes, p->after, p->begun, p->ended) ||
        pi_known_pieces(q, s, p->begun, p->ended) < 0)
        return -1;
    EACH_LANE(i, p) {
        Piece *piece = &q->piece[i];
        int may = piece->n_switches;
        if (!piece->points) continue;
        EACH_EVENT(j, p->of) may |= *event_row(p, PI_BEGINS, s->id[i], j) != BEGINS_ANYHOW;
        if (may) find_events(p, s, i);
        else end_pieces(piece);
    }
    return 0;
}
/* Begins the segment of a lane in which an event may occur. */
static void begin_lane(EventLanes *p, const PiSteps *s, int64_t i) {
    Occurring *o = &p->occurring[i];
    o->near = at_once(p, s, i);
    o->corrections = o->passed = 0;
    o->stopped_by = -1;
    if (!p->of->exact) o->events = 0;
    EACH_EVENT(j, p->of) {
        Passing *passing = &o->passing[j];
        const double how = *event_row(p, PI_BEGINS, o->id, j);
        const double most = *event_row(p, PI_MOST, o->id, j);
        passing->zero = how == BEGINS_AT_ZERO ? fabs(most) : 0;
        passing->side = how != BEGINS_AT_ZERO ? 0 : most > 0 ? 1 : -1;
        passing->until = how == BEGINS_WITH_PAUSE ? most : 0;
        passing->tied = passing->crossings = passing->left = 0;
        passing->at = -INFINITY;
    }
    p->busy[p->n_busy++] = i;
    if (p->quantities.linear) {
        EACH_EVENT(j, p->of) find_on_step(p, i, o->id, j);
        p->quantities.piece[i].points = 0;
        return;
    }
    /* Of less than 64 rounding units of the time, or of the step, only the ends are known. */
    const double least = fmax(fabs(o->whole) * (p->single ? 0x1p-14 : 0x1p-40),
                              64 * DBL_EPSILON * fabs(get(p, s->t, i)));
    pi_begin_pieces(&p->quantities.piece[i], o->h, fabs(o->h) <= least ? INFINITY : o->resolution,
                    1);
}
/* Begins the segments of all lanes. 0, or -1. */
static int begin_segments(EventLanes *p, const PiSteps *s, const int8_t *looked) {
    const int linear = p->quantities.linear != NULL;
    if (!p->of->exact) widen(p, s->after, p->dim * p->lanes, p->after);
    if (linear && make_linear(p, s)) return -1;
    p->n_busy = 0;
    EACH_LANE(i, p) {
        Occurring *o = &p->occurring[i];
        int may = !linear;
        o->id = s->id[i];
        o->h = get(p, s->part, i);
        o->part = 1;
        o->count = o->asks = 0;
        if (!p->of->count) continue;
        if (!linear) end_pieces(&p->quantities.piece[i]);
        if (s->end[i] != PI_STEP_MADE || (looked && !looked[i])) continue;
        EACH_WHILE(j, p->of->count, !may)
            may = p->quantities.zero[j * p->lanes + i] != INFINITY ||
                  *event_row(p, PI_BEGINS, o->id, j) != BEGINS_ANYHOW;
        if (may) begin_lane(p, s, i);
    }
    return 0;
}
int pi_locate_events(EventLanes *p, const PiSteps *s, const int8_t *looked) {
    if (!p->locating && begin_segments(p, s, looked)) return -1;
    if (!p->of->count) return 0;
    if (!p->locating && knows_ends(p) && keep_ends(p, s)) return -1;
    if (!p->locating && p->of->detect.borders && find_compared(p, s)) return -1;
    p->locating = 1;
    const int asks = go_through(p, s);
    if (asks == 1)
        EACH_LANE(i, p) {
            const Occurring *o = &p->occurring[i];
            set(p, s->part, i, o->asks ? next_of(o)->part * o->h : 0);
        }
    return asks;
}

/* ---- between the steps ----------------------------------------------------------------------- */
int pi_begin_events(EventLanes *p, const PiSteps *s, const int8_t *first) {
    if (pi_ask_ends(p, s)) return -1;
    EACH_LANE(i, p) {
        if (!first[i]) continue;
        EACH_EVENT(j, p->of) {
            const PiEvent *e = &p->of->event[j];
            const double g = p->quantities.rows.answer[j * p->lanes + i];
            const int holds = !e->located && e->direction > 0 && g > 0;
            *event_row(p, PI_QUANTITY, s->id[i], j) = g;
            *event_row(p, PI_BEGINS, s->id[i], j) = holds ? BEGINS_WITH_EVENT : BEGINS_ANYHOW;
        }
        *event_row(p, PI_TIMES, s->id[i], PI_START) = get(p, s->t, i);
        *event_row(p, PI_TIMES, s->id[i], PI_LOST_JUMPS) = 0;
    }
    return 0;
}
/* How event j begins the step after a jump. */
static PiBeginning begins(const EventLanes *p, int64_t i, int64_t id, int j, double now) {
    const PiEvent *e = &p->of->event[j];
    const Occurring *o = &p->occurring[i];
    const Passing *passing = &o->passing[j];
    const double start = *event_row(p, PI_QUANTITY, id, j), side = e->direction;
    const int holds = side * now > 0, held_not = side * passing->g < 0, tied = passing->tied;
    if (passing->pauses > 0 && (e->located || !(holds && held_not && j != o->stopped_by)))
        return BEGINS_WITH_PAUSE;
    if (passing->stays > 0 && fabs(now) <= passing->stays) return BEGINS_AT_ZERO;
    const int occurs = e->located
                           ? tied && now * passing->before <= 0
                           : holds && (held_not || (p->of->exact && side * start < 0) || tied);
    return occurs ? BEGINS_WITH_EVENT : BEGINS_ANYHOW;
}
/* How event j of a lane begins the next segment; now: its quantity at the end of this. */
static void begin_next(EventLanes *p, int64_t i, int64_t id, int j, int lands, double now) {
    const Occurring *o = &p->occurring[i];
    const Passing *passing = &o->passing[j];
    double *how = event_row(p, PI_BEGINS, id, j), *most = event_row(p, PI_MOST, id, j);
    const PiBeginning next = lands ? begins(p, i, id, j, now) : BEGINS_ANYHOW;
    if (*how == BEGINS_WITH_PAUSE) *most -= fabs(o->h);
    const int goes_on = *how == BEGINS_WITH_PAUSE ? *most > 0
                        : *how == BEGINS_AT_ZERO  ? !passing->left && fabs(now) <= fabs(*most)
                                                  : 0;
    if (next == BEGINS_ANYHOW && (goes_on || *how == next)) return;
    /* So slow, it may have come back before, and fallen through: rounding hides it. */
    const int slow = *how == BEGINS_AT_ZERO && o->h == o->whole && now / *most < 64;
    if (slow && now / *most > 0) *event_row(p, PI_UNRESOLVED, id, j) += 1;
    *how = next;
    *most = next == BEGINS_WITH_PAUSE ? passing->pauses : copysign(passing->stays, passing->side);
}
int pi_settle_events(EventLanes *p, const PiSteps *s, const int8_t *wanted) {
    int any = !wanted, whole = p->quantities.linear != NULL; /* have no steps ended early? */
    EACH_BUSY(i, p) whole &= s->end[i] <= PI_STEP_MADE;
    for (int64_t i = 0; !any && i < p->lanes; i++) any = wanted[i];
    if (any && !whole && pi_ask_ends(p, s)) return -1;
    const double *values = whole ? p->ended : p->quantities.rows.answer;
    EACH_WHILE(j, p->of->count, p->quantities.linear) /* also of lanes without an event */
        EACH_LANE(i, p)
            if (s->end[i] == PI_STEP_MADE)
                *event_row(p, PI_QUANTITY, s->id[i], j) = values[j * p->lanes + i];
    const int all = p->of->exact; /* pauses of others end, too */
    EACH_BELOW(k, all ? p->lanes : p->n_busy) {
        const int64_t i = all ? k : p->busy[k], id = s->id[i];
        const Occurring *o = &p->occurring[i];
        const int end = s->end[i], lands = end == PI_STEP_JUMPED;
        if (end == PI_STEP_LOST && o->stopped_by < 0)
            pi_forget_events(p, i, 0); /* none has led there */
        EACH_EVENT(j, p->of)
            o->passing[j].added[0] = o->passing[j].added[1] = o->passing[j].first = 0;
        if (end == PI_STEP_NONE || end == PI_STEP_LOST) continue;
        const double t = get(p, s->t, i);
        if (!wanted || wanted[i])
            EACH_EVENT(j, p->of) {
                const double now = values[j * p->lanes + i];
                begin_next(p, i, id, j, lands, now);
                *event_row(p, PI_QUANTITY, id, j) = now;
            }
        if (lands) {
            double *lost = event_row(p, PI_TIMES, id, PI_LOST_JUMPS);
            *lost = is_zeno(p, t, id) ? *lost + 1 : 0;
            *event_row(p, PI_TIMES, id, PI_LAST_JUMP) = t;
        }
        if (end != PI_STEP_STOPPED) continue;
        p->of->stopped_at[id] = pi_time_within(p, s, i, o->part);
        p->of->stopped_by[id] = o->stopped_by;
    }
    p->locating = 0;
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */
void pi_place_events(PiMemory *m, EventLanes *p) {
    const PiEvents *of = p->of;
    const int64_t lanes = p->lanes, state = pi_product(p->dim, lanes);
    const int64_t n = of->count, all = pi_product(n, lanes);
    Occurrence *pending;
    Passing *passing;
    PLACE(m, p->after, state);
    PLACE(m, p->landing, state);
    PLACE(m, p->occurring, lanes);
    PLACE(m, p->busy, lanes);
    PLACE(m, passing, all);
    PLACE(m, pending, pi_product(n ? lanes : 0, most_pending(p)));
    if (m->at) memset(passing, 0, all * sizeof *passing);
    for (int64_t i = 0; m->at && i < lanes; i++)
        p->occurring[i] =
            (Occurring){.passing = passing + i * n, .pending = pending + i * most_pending(p)};
    if (!n) return;
    p->ends = 0;
    EACH_EVENT(j, of) p->ends |= ends_step(&of->event[j]);
    const int quantities = of->detect.program.system->n_invariants;
    PLACE(m, p->need, quantities);
    if (m->at)
        EACH_BELOW(j, quantities)
            p->need[j] = j >= n ? of->exact ? PI_NEED_BRANCH : PI_NEED_APART /* of comparisons */
                         : of->event[j].onto >= 0 ? PI_NEED_NOTHING
                         : of->event[j].located   ? PI_NEED_VALUE
                         : of->exact              ? PI_NEED_NOTHING
                                                  : PI_NEED_TRUTH;
    pi_place_pieces(m, &of->detect, p->need, lanes, &p->quantities);
    p->quantities.first_degree = of->exact ? CHEB_MOST / 4 : CHEB_MOST / 2;
    p->state = p->quantities.rows.y;
    if (of->react.program.system) pi_place_program(m, &of->react, &p->react, lanes);
    PLACE(m, p->begun, pi_product(quantities, lanes));
    PLACE(m, p->ended, pi_product(quantities, lanes));
}
