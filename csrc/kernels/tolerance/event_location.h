/* Events are located in accepted steps (PiSteps): the parts of a step that an observer requests are
 * shortened steps of the method, of all lanes at once. */
#pragma once
#include "combination.h"

/* The first slope of lanes that continue from another state, since that of the last step is
 * invalid. */
static void slopes_after_jumps(Lanes *l) {
    Chunk *c = &l->c;
    copy_rows(c, 1, l->tn, c->t);
    rhs_rows(c, c->t, l->yn, l->between);
    const vreal *slope = l->between + (l->pair->nystrom ? c->dof * c->R : 0);
    EACH_LANE(i, c)
        if (l->end[i] == PI_STEP_JUMPED)
            EACH_BELOW(d, l->n) LANE(l->after + d * c->R, i) = LANE(slope + d * c->R, i);
}
/* A step of lane i that ended early; or beyond the bound, where it is lost. */
static void end_step(Lanes *l, int64_t i) {
    static const PiStatus status[] = {[PI_STEP_MADE] = PI_OUT_OF_BOUNDS,
                                      [PI_STEP_STOPPED] = PI_STOPPED,
                                      [PI_STEP_ZENO] = PI_ZENO,
                                      [PI_STEP_LOST] = PI_NOT_FINITE,
                                      [PI_STEP_JUMPED] = PI_OUT_OF_BOUNDS}; /* if beyond it */
    PiStepEnd end = l->end[i];
    const PiStatus code = status[end];
    const real bound = l->solve->bound;
    EACH_BELOW(d, l->c.dim) {
        const real y = LANE(l->yn + d * l->c.R, i);
        if ((end == PI_STEP_MADE || end == PI_STEP_JUMPED) && (y > bound || -y > bound))
            end = PI_STEP_LOST;
        LANE(l->low + d * l->c.R, i) = 0;
    }
    l->end[i] = end;
    if (end != PI_STEP_JUMPED) {
        LANE(l->leaves, i) = -1;
        LANE(l->code, i) = code;
    } else {
        if (LANE(l->code, i) == PI_OUT_OF_BOUNDS) LANE(l->code, i) = PI_OK; /* but for the jump */
        if (LANE(l->tn, i) != LANE(l->t_end, i) || LANE(l->tn_low, i) != 0) {
            /* It was to be the last, but is not. */
            const integer made = LANE(l->taken, i) + LANE(l->rejected, i);
            if (LANE(l->code, i) == PI_OK && made >= l->solve->max_steps)
                LANE(l->code, i) = PI_TOO_MANY_STEPS;
            LANE(l->leaves, i) &= -(LANE(l->code, i) != PI_OK);
        }
    }
    /* A step that stops where it begins does not count either. */
    const int stands = end != PI_STEP_JUMPED && LANE(l->tn, i) == LANE(l->c.t0, i) &&
                       LANE(l->tn_low, i) == LANE(l->t_low, i);
    if (end != PI_STEP_LOST && !stands) return;
    LANE(l->accepted, i) = 0;
    LANE(l->taken, i) -= 1;
    LANE(l->rejected, i) += 1;
}
/* Shows the accepted steps to the observer until nothing more is requested; -1 if that stops the
 * run. */
static int locate_in_steps(Lanes *l, PiSteps *steps) {
    Chunk *c = &l->c;
    const int64_t lanes = c->R * VLEN;
    int jumped = 0, asks;
    int8_t *end = l->end;
    const vint *accepted = l->accepted;
    EACH_BELOW(i, lanes) end[i] = -LANE(accepted, i);
    *steps = (PiSteps){.lanes = lanes,
                       .id = l->id,
                       .end = end,
                       .t0 = c->t0,
                       .t0_low = l->t_low,
                       .before = c->y,
                       .t = l->tn,
                       .t_low = l->tn_low,
                       .after = l->yn,
                       .part = c->h,
                       .within = l->between,
                       .at = states_at,
                       .of_lane = states_of_lane,
                       .combine = combine_components,
                       .degree = l->degree,
                       .of = l};
    while ((asks = l->solver->locate(l->solver, steps)) > 0) {
        make_parts(l);
        if (c->stopped) return -1;
    }
    if (asks < 0) return -1;
    EACH_BELOW(i, lanes) {
        const int beyond = LANE(l->leaves, i) && LANE(l->code, i) == PI_OUT_OF_BOUNDS;
        if (beyond ? end[i] == PI_STEP_NONE : end[i] <= PI_STEP_MADE) continue;
        end_step(l, i);
        jumped |= end[i] == PI_STEP_JUMPED;
    }
    if (jumped && l->pair->fsal) slopes_after_jumps(l);
    return c->stopped ? -1 : 0;
}
