/* Which observers are shown which states of a run: see observe.h. */
#include "layout.h"

int pi_run_observe(PiRun *run, PiObserver observer) {
    if (run->n_observers == PI_MAX_OBSERVERS) return -1;
    run->observers[run->n_observers++] = observer;
    return 0;
}
int pi_is_shown(const PiRun *r) { return r->n_observers && !r->alone; }
void pi_prepare_observers(PiRun *run) {
    run->interval = run->n_observers ? 0 : run->save_every;
    run->writer = NULL;
    EACH_OBSERVER(o, run) {
        run->alone |= o->alone;
        run->interval = common_divisor(o->every, run->interval);
    }
    run->cut = run->interval;
    if (pi_has_seen_bound(run)) run->interval = 1;
    const int only = run->n_observers == 1 && run->observers[0].reduced && !run->force &&
                     run->real_bytes == 8 && isinf(run->bound) && !run->drive_strides;
    run->reducer = only ? run->observers : NULL;
    EACH_OBSERVER(o, run) {
        const int fits = o->place && o->every == run->interval && !run->writer;
        if (fits && o->place(o->self, run, 0, 0).rows) run->writer = o;
    }
}
int pi_let_intervene(PiRun *run, PiSeen seen, const PiTile *tile) {
    char *scratch = seen.scratch;
    EACH_OBSERVER(o, run) {
        seen.scratch = scratch + run->observer_offset[o - run->observers];
        if (o->intervene && o->intervene(o->self, run, &seen, tile)) return -1;
    }
    return 0;
}
int pi_show_to(const PiRun *run, const PiObserver *o, PiSeen seen, int64_t from, int64_t count,
               int64_t each) {
    seen.step = smaller(seen.step + from * run->interval, run->n_steps);
    seen.rows = row_at(run, seen.rows, seen.next, from, 0);
    seen.next *= each;
    seen.every = o->every;
    seen.count = count;
    seen.scratch = (char *)seen.scratch + run->observer_offset[o - run->observers];
    return o->observe ? o->observe(o->self, run, &seen) : 0;
}
/* Shows each observer its own steps: the multiples of `every`, and the last of the run. */
int pi_show(const PiRun *run, const PiSeen *seen) {
    const int64_t end = seen->step + (seen->count - 1) * run->interval;
    const int64_t last = smaller(end, run->n_steps),
                  whole = seen->count - (last % run->interval != 0);
    EACH_OBSERVER(o, run) {
        const int64_t each = o->every / run->interval;
        const int64_t skip =
            (ceil_div(seen->step, o->every) * o->every - seen->step) / run->interval;
        if (skip < whole && pi_show_to(run, o, *seen, skip, (whole - 1 - skip) / each + 1, each))
            return -1;
        if (last == run->n_steps && last % o->every != 0 &&
            pi_show_to(run, o, *seen, seen->count - 1, 1, each))
            return -1;
    }
    return 0;
}
