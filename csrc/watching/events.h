/* Events: where a quantity of a lane changes its sign within a segment of its motion, a step or
 * what a jump has left of one; what follows.
 *
 * The quantities of many lanes, each at its own time, are polynomials on pieces of their segments
 * (pieces.h), whose zeros are the events, in the order of time. Each is placed where the quantity
 * is zero, by secants, the first with the slope of the polynomial; then it is kept, and may stop
 * the lane or change its state by a rule (a jump). A zero at the start is no event.
 *
 * Steps to a tolerance have polynomials of their own, which give the state of an event that is only
 * seen; for one that ends the step the kernel makes a part of it. Of fixed steps (`exact`) every
 * state is made by a part of the step, and lies on the side before the zero; a condition occurs at
 * the first step, or jump, after which it holds. */
#pragma once
#include "pieces.h"

typedef struct {
    int direction;       /* -1, 0 or 1 */
    int located;         /* 0: where a condition begins to hold */
    int64_t stop;        /* the event at which a lane stops; 0: never */
    int64_t keep;        /* the number to keep */
    int then;            /* first row of the new state in the result of `react`; -1: no rule */
    int onto;            /* likewise of the state at an event with a bridge; -1: no bridge */
    int value, n_values; /* first row of the values to keep, and their number */
    /* Kept event k of lane l: t[k stride + l], y[(k dim + d) stride + l], likewise the values. */
    double *t, *y, *values;
} PiEvent;

/* Rows of `counts`, the first three for each event: how many there were, and in how many steps it
 * was unresolved; its quantity at the last state; how it begins the next segment, with a number.
 * Then the times of the start and of the last jump, and the number of consecutive jumps without
 * progress. */
typedef enum { PI_COUNT, PI_UNRESOLVED, PI_QUANTITY, PI_BEGINS, PI_MOST, PI_TIMES } PiEventRow;
enum { PI_START, PI_LAST_JUMP, PI_LOST_JUMPS };
static inline int64_t pi_event_rows(int64_t events) { return PI_TIMES * events + 3; }

typedef struct {
    PiLaneProgram detect, react; /* the quantities; the consequences (no program: none) */
    PiEvent *event;
    int count;
    int64_t most;   /* events in a step, and consecutive jumps without progress */
    int64_t stride; /* lanes in a row of the memory below */
    double *counts, *stopped_at;
    int8_t *stopped_by; /* of each lane */
    int exact;
} PiEvents;

#define EACH_EVENT(j, of) EACH_BELOW(j, (of)->count)
/* The lanes in whose segments an event may occur. */
#define EACH_BUSY(i, p)                                                                            \
    for (int64_t i##_ = 0, i; i##_ < (p)->n_busy && (i = (p)->busy[i##_], 1); i##_++)

/* An event that occurs at a part of the segment; the slope of its quantity there; its part before
 * it was placed. */
typedef struct {
    double part, slope, sought;
    int event, placed; /* placed: its part is known to rounding */
} Occurrence;
enum { MOST_CORRECTIONS = 8 };
/* An event in a lane's segment. */
typedef struct {
    double g;             /* its quantity at the event that ended the segment */
    double before;        /* a number of the sign that it had before, where it is tied */
    double zero;          /* how large that is while it is still at a zero that has jumped; or 0 */
    double until;         /* for so long it is where it has had its event; or 0 */
    double at, slope;     /* where it has last occurred in the segment */
    double stays, pauses; /* `zero` and `until` of the segment after its jump */
    int8_t clock;         /* did it jump through zero where the segment before ended? */
    int8_t left;          /* has it left the zero at which it began? */
    int8_t side;      /* the sign of its slope at its last event, there or in the segment; or 0 */
    int8_t tied;      /* -1: it occurred on this piece; 1: it occurs where another ends it */
    int8_t crossings; /* how often its quantity is zero in the segment, up to 3 */
    int added[2];     /* to its counts in this segment, */
    int first;        /* and how many of these events at its beginning */
} Passing;
/* A lane in its segment; the first half is used most. */
typedef struct {
    int64_t id;     /* in the batch; -1: none */
    double h, part; /* the segment as first shown, and how much of it was made */
    double near;    /* parts that are closer are at the same moment, of several events */
    /* The events of its piece that have not occurred, the next last; whether the place of that is
     * found, or a state there is requested; the event that has ended the segment. */
    int count, ready, asks, corrections, passed, stopped_by;
    Occurrence *pending;      /* room for most_pending() */
    Passing *passing;         /* of each event */
    double whole;             /* the step to which it belongs; 0: this */
    double resolution;        /* how far the coefficients of a quantity must decay */
    int64_t step, jumps;      /* of paths with noise: its number, and how many it had before */
    double last_part, last_g; /* the correction before */
    double low, high;         /* before and behind a jump through zero */
    int64_t events;           /* how many there were */
} Occurring;

/* Lanes side by side, the memory of a thread. Rows of `lanes`. */
typedef struct {
    const PiEvents *of;
    int dim, real_bytes, single, locating; /* real_bytes: of PiSteps; single: of the states */
    int chords;                            /* are the segments, of paths with noise? */
    int ends;                              /* may an event end a step? */
    int64_t lanes;
    double *counts; /* those of `of`, or of a block of time */
    Pieces quantities;
    ProgramRows react;
    Occurring *occurring;
    int64_t *busy, n_busy; /* the lanes in whose segments one may occur */
    int8_t *need;          /* of the quantities */
    double *after;         /* the state at its end, in double precision */
    double *state;         /* of the lanes' events; before their jumps: */
    double *landing;
    double *begun, *ended; /* linear quantities at the beginning and the end of the segments */
} EventLanes;
static inline double get(const EventLanes *p, const void *row, int64_t i) {
    return pi_real(row, i, p->real_bytes);
}
static inline void set(const EventLanes *p, void *row, int64_t i, double value) {
    pi_set_real(row, i, p->real_bytes, value);
}
/* n numbers of a row, in double precision. */
static inline void widen(const EventLanes *p, const void *row, int64_t n, double *to) {
    pi_copy_row(to, row, n, p->real_bytes);
}
/* The step to which the segment belongs, in segments. */
static inline double parts_of_step(const Occurring *o) {
    return o->whole != 0 ? fabs(o->whole / o->h) : 1;
}
/* Is a part of the segment very short, as one of the step? A piece that holds the jump of a clock,
 * a quantity that jumps through zero, is so, or known but for rounding. */
#define VERY_SHORT 0x1p-9
static inline int is_very_short(const Occurring *o, double part) {
    return fabs(part) < VERY_SHORT * parts_of_step(o);
}
/* Are the quantities at the ends of the segments, too, to tell such a jump from rounding? */
static inline int knows_ends(const EventLanes *p) { return p->of->exact || p->single; }
static inline double *event_row(const EventLanes *p, PiEventRow row, int64_t id, int j) {
    return p->counts + (row * p->of->count + j) * p->of->stride + id;
}
/* How a quantity begins a segment. Unseen: no value before it tells whether it may come back to
 * zero. At zero, with a pause: it has just had its event, and is still there while it is at most
 * |PI_MOST| in size, which has the sign of its slope, or, as a condition and a clock, for so long.
 */
typedef enum {
    BEGINS_ANYHOW,
    BEGINS_WITH_EVENT,
    BEGINS_UNSEEN,
    BEGINS_AT_ZERO,
    BEGINS_WITH_PAUSE
} PiBeginning;
static inline int crosses(const PiEvent *e, double before, double after) {
    return (e->direction >= 0 && before < 0 && after >= 0) ||
           (e->direction <= 0 && before > 0 && after <= 0);
}
/* The k-th event to be kept of a trajectory: its time, and a state, a number in each row. */
static inline void keep_event(const EventLanes *p, const PiEvent *e, int64_t k, int64_t id,
                              double t, const double *state) {
    const int64_t next = p->of->stride;
    e->t[k * next + id] = t;
    for (int64_t d = 0; e->y && d < p->dim; d++)
        e->y[(k * p->dim + d) * next + id] = state[d * p->lanes];
}
/* Places the arrays of `lanes` in a memory, for lanes->lanes lanes. */
void pi_place_events(PiMemory *memory, EventLanes *lanes);
/* The time at a part of a lane's segment. */
static inline double pi_time_within(const EventLanes *p, const PiSteps *s, int64_t i, double part) {
    const double way = part * p->occurring[i].h; /* parts of fixed steps are made as long as: */
    const double made = p->single && p->of->exact ? (float)way : way;
    return part == 1 ? get(p, s->t, i) + get(p, s->t_low, i)
                     : get(p, s->t0, i) + (get(p, s->t0_low, i) + made);
}
/* The quantities at the ends of the segments, in quantities.rows.answer; 0, or -1. */
int pi_ask_ends(EventLanes *lanes, const PiSteps *steps);
/* Begins the lanes marked in `first`, at the states after `steps`. 0, or -1. */
int pi_begin_events(EventLanes *lanes, const PiSteps *steps, const int8_t *first);
/* Lets the events of segments occur, of the lanes in `looked` (NULL: of all). 1: it requests parts
 * of steps, and is called again with them; 0: done; or -1. Then pi_settle_events() sees the final
 * segments; wanted: the lanes whose quantities are kept (NULL: all). 0, or -1. */
int pi_locate_events(EventLanes *lanes, const PiSteps *steps, const int8_t *looked);
int pi_settle_events(EventLanes *lanes, const PiSteps *steps, const int8_t *wanted);
/* Takes back what was counted in a segment that is not completed; first: at its beginning, too. */
void pi_forget_events(EventLanes *lanes, int64_t lane, int first);
