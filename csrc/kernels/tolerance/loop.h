/* To a tolerance: every lane advances by its own trial steps; one that has arrived makes room for
 * the next trajectory. No lane depends on its neighbours. */
#pragma once
#include "event_location.h"
#include "stiffness.h"

static Lanes make_lanes(PiSolver *solver, const PiTile *tile, vreal **free) {
    const PiSolve *s = solver->solve;
    Lanes l = {.solver = solver, .solve = s, .pair = &s->pair, .n = slope_rows(s)};
    Chunk *c = &l.c;
    *c = (Chunk){.tile = tile,
                 .R = s->registers,
                 .dim = s->system->dim,
                 .dof = s->system->dof,
                 .free = *free};
    own_rows(s, l.at);
    l.own = take_rows(c, l.at[OWN_PARTS]);
    place_own(&l);
    c->y = l.state;
    c->p = l.params;
    c->t0 = l.t;
    c->h = take_rows(c, 1);
    c->t = take_rows(c, 1);
    c->scratch = take_rows(c, s->system->scratch);
    EACH_WHILE(i, s->system->n_params, i < 64)
        if (!s->params[i].stride) c->uniform |= (uint64_t)1 << i;
    const int numbers = PI_REAL_BITS == 64 ? 1 : 2; /* rows for 64 bits per lane */
    l.id = (int64_t *)take_rows(c, numbers);
    l.due = (int64_t *)take_rows(c, numbers);
    l.active = (vint *)take_rows(c, 1);
    l.tn = take_rows(c, 1);
    l.end = (int8_t *)take_rows(c, 1);
    *free = c->free;
    return l;
}

/* Marks in l->passed the lanes whose step has passed their next time, which c->h then measures from
 * the start of the step; returns those for which it is not the end. */
static vint find_passed(Lanes *l) {
    Chunk *c = &l->c;
    const vreal *due = l->next_due;
    vint within = {0};
    EACH_REGISTER(u, c) {
        const vreal ahead = vcopysign(vone, l->next[u]);
        const vint passed = l->accepted[u] & ((due[u] - l->tn[u]) * ahead <= 0);
        l->passed[u] = passed;
        within |= passed & (due[u] != l->tn[u]);
        c->h[u] = vselect(passed, (due[u] - c->t0[u]) - l->t_low[u], vzero);
    }
    return within;
}
static void record_passed(Lanes *l) {
    EACH_LANE(i, &l->c) {
        if (!LANE(l->passed, i)) continue;
        const int ends = LANE(l->next_due, i) == LANE(l->tn, i);
        record_lane(l, ends ? l->yn : l->between, i, l->due[i]++);
        set_due(l, i);
    }
}
/* States at times that the accepted steps have passed: on the polynomials of explicit pairs; with
 * implicit ones by steps of the method that end there, from the same state. */
static void record_due(Lanes *l) {
    if (!l->solve->implicit && l->solve->record)
        EACH_LANE(i, &l->c)
            if (LANE(l->accepted, i)) record_on_polynomial(l, i);
    while (l->solve->implicit && !l->c.stopped) {
        const vint within = find_passed(l);
        if (!any_row(&l->c, l->passed)) return;
        if (vany(within)) make_parts(l);
        if (!l->c.stopped) record_passed(l);
    }
}
/* Radau's method reuses its Jacobian and the shape of the step; a jump discards them. */
static void remember_radau(Lanes *l) {
    radau_accept(&l->c, &l->radau, l->accepted);
    if (l->solver->observer)
        EACH_LANE(i, &l->c)
            if (l->end[i] == PI_STEP_JUMPED) {
                LANE(l->radau.jacobian, i) = NO_JACOBIAN;
                LANE(l->radau.h_before, i) = 0;
            }
}
/* Lanes that accept their step advance. */
static void commit(Lanes *l) {
    const Chunk *c = &l->c;
    if (l->pair->radau) remember_radau(l);
    EACH_REGISTER(u, c) {
        const vint yes = l->accepted[u];
        vreal *t_low = l->t_low + u, *low = l->rounding;
        TAKE(c->t0[u], yes, l->tn[u]);
        TAKE(*t_low, yes, l->tn_low[u]);
        EACH_IN_COLUMN(i, u, c->dim, c) {
            TAKE(c->y[i], yes, l->yn[i]);
            TAKE(low[i], yes, l->low[i]);
        }
        if (l->pair->fsal)
            EACH_IN_COLUMN(i, u, l->n, c) TAKE(l->k[i], yes, l->after[i]);
    }
}
/* The step that each lane tries: the one it planned, or the rest of its span. */
static void choose_steps(Lanes *l) {
    const Chunk *c = &l->c;
    EACH_REGISTER(u, c) {
        const vreal rest = (l->t_end[u] - c->t0[u]) - l->t_low[u];
        const vreal next = l->next[u];
        l->last[u] = vabs(rest) <= vabs(next) * ALMOST;
        mark_lanes(l, u, l->last[u] & l->active[u]);
        l->tried[u] = c->h[u] = vselect(l->active[u], vselect(l->last[u], rest, next), vzero);
    }
    l->shortened = 0;
}
/* The time that each step took, after the rounding of its ends. */
static void measure_steps(Lanes *l) {
    EACH_REGISTER(u, &l->c) l->whole[u] = (l->tn[u] - l->c.t0[u]) + (l->tn_low[u] - l->t_low[u]);
}
/* A trial step of all lanes, judged. -1 if it was stopped, or without memory for kept steps. */
static int go_on(Lanes *l) {
    Chunk *c = &l->c;
    choose_steps(l);
    try_steps(l);
    if (c->stopped) return -1;
    step_rows(l);
    note_branches(l, l->pair->places - 1, 1, l->yn);
    const PiPair *m = l->pair;
    for (int p = 1; m->branches && m->chord && p < m->places - 1; p++) {
        EACH_ENTRY(i, c->dim, c) l->ys[i] = vfma(vset(m->place[p]), l->yn[i] - c->y[i], c->y[i]);
        note_branches(l, p, m->place[p], l->ys);
    }
    if (m->branches) find_visits(l);
    judge(l);
    if (l->pair->branches) sliding_lanes_leave(l);
    measure_steps(l);
    if ((l->solve->record || l->solve->asked) && find_dense(l)) make_polynomials(l);
    if (c->stopped) return -1;
    PiSteps steps;
    if (l->solver->observer && locate_in_steps(l, &steps)) return -1;
    if (l->solve->record) record_due(l);
    if (c->stopped) return -1;
    if (l->solver->keep)
        EACH_LANE(i, c)
            if (LANE(l->accepted, i) && keep_lane(l, i, 1)) return -1;
    if (l->solver->observer && l->solver->accept(l->solver, &steps)) return -1;
    commit(l);
    if (any_row(c, l->leaves))
        EACH_LANE(i, c)
            if (LANE(l->leaves, i)) leave(l, i, LANE(l->code, i));
    if (l->solve->decay > 0 && l->pair->radau) calm_lanes_leave(l);
    else if (l->solve->decay > 0) stiff_lanes_leave(l);
    return c->stopped ? -1 : 0;
}

/* Waiting trajectories take the free lanes. Returns the number of active lanes; -1 if it was
 * stopped. next: the first in the waiting room that has not been considered. */
static int64_t fill_places(Lanes *l, Lanes *waiting, vreal *slope, int64_t *next) {
    const int64_t lanes = l->c.R * VLEN;
    const vreal *k = slope + (l->pair->nystrom ? l->c.dof * l->c.R : 0);
    int64_t on_their_way = 0;
    int more = 1;
    EACH_REGISTER(u, &l->c) l->accepted[u] = l->leaves[u] = vset_int(0);
    EACH_BELOW(i, lanes) {
        while (l->id[i] < 0 && more) {
            while (*next < lanes && waiting->id[*next] < 0) ++*next;
            if (*next < lanes) {
                board(l, i, waiting, k, *next);
                waiting->id[(*next)++] = -1;
                break;
            }
            int64_t first, count;
            more = l->solver->take(l->solver, lanes, &first, &count);
            if (!more) break;
            if (load_waiting(waiting, first, count, slope)) return -1;
            *next = 0;
        }
        on_their_way += l->id[i] >= 0;
    }
    return on_their_way;
}

static void make_radau(Lanes *l) {
    int64_t rows[RADAU_PARTS];
    if (!l->pair->radau) return;
    l->radau.c = l->solve->implicit->c;
    l->radau.jacobian = l->jacobian;
    l->radau.h_before = l->before;
    radau_parts(l->c.dim, l->c.tile->system->tangents, rows);
    EACH_BELOW(i, RADAU_PARTS) l->radau.part[i] = take_rows(&l->c, rows[i]);
}
/* States within steps that were kept, at the times that are to be saved: each lane makes one step
 * again, with the same bits. */
static int make_again(Lanes *l) {
    const PiSolve *s = l->solve;
    Chunk *c = &l->c;
    const int64_t R = c->R, lanes = R * VLEN;
    const int radau = s->pair.radau;
    vreal *rest = radau ? l->radau.z : l->k;
    int64_t first, count;
    while (!c->stopped && l->solver->take(l->solver, lanes, &first, &count)) {
        load_rows(l, first, count);
        load_own(l, s->within[0], first, count, c->h);
        load_own(l, s->within[1], first, count, l->whole);
        load_own(l, s->within[2], first, count, l->t_low);
        load_own_rows(l, s->within + 3, c->dim, first, count, l->rounding);
        load_own_rows(l, s->within + 3 + c->dim, within_rows(s) - 3 - c->dim, first, count, rest);
        EACH_REGISTER(u, c) {
            l->next[u] = l->whole[u];
            l->tn[u] = l->t_end[u];
            l->active[u] = l->accepted[u] = l->dense[u] = vset_int(-1);
        }
        EACH_BELOW(i, lanes) {
            const int lane = i < count;
            l->id[i] = lane ? first + i : -1;
            LANE(l->active, i) = LANE(l->accepted, i) = -lane;
            l->due[i] = lane ? 0 : s->n_times;
            set_due(l, i);
        }
        l->shortened = 0;
        if (radau) {
            radau_tolerances(l);
            copy_rows(c, 1, c->h, l->radau.tried);
        } else if (!s->implicit) {
            try_steps(l);
            step_rows(l);
            make_polynomials(l);
        }
        record_due(l);
        EACH_BELOW(i, count) leave(l, i, PI_OK);
    }
    return c->stopped ? -1 : 0;
}
/* The rows that only lanes on their way need, and the weights of the pair. */
static void make_active(Lanes *l) {
    const PiSolve *s = l->solve;
    Chunk *c = &l->c;
    l->k = take_rows(c, (s->pair.stages + dense_slopes(s)) * l->n);
    const int rows =
        s->pair.degree ? s->pair.extra + (1 + s->pair.nystrom) * (s->pair.degree - 3) : 0;
    EACH_BELOW(i, s->pair.start[pi_dense_row(&s->pair, rows)]) {
        l->w[i] = s->pair.weight[i];
        l->slope[i] = l->k + s->pair.index[i] * l->n * c->R;
    }
    l->after = take_rows(c, l->n);
    l->ys = take_rows(c, c->dim);
    l->yn = take_rows(c, c->dim);
    l->low = take_rows(c, c->dim);
    l->between = take_rows(c, c->dim);
    l->unused = take_rows(c, l->n);
    l->sums = take_rows(c, 3 * c->dim);
    l->tn_low = take_rows(c, 1);
    l->border = take_rows(c, 1);
    l->sides = take_rows(c, sides_rows(s));
    l->whole = take_rows(c, 1);
    l->tried = take_rows(c, 1);
    vint **const masks[] = {&l->last, &l->accepted, &l->passed, &l->leaves, &l->code,
                            &l->idle, &l->crossed,  &l->visits, &l->dense,  &c->code};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) *masks[i] = (vint *)take_rows(c, 1);
    make_radau(l);
    make_dense(l);
}
/* The register of lanes whose stiffness is tested: a copy of these, with rows of its own. */
static void make_apart(Lanes *l, Lanes *apart) {
    *apart = *l;
    apart->passed = l->idle;
    l->apart = apart;
    if (!stiffness_rows(l->solve)) return;
    apart->own = take_rows(&l->c, l->at[OWN_PARTS]);
    apart->c.R = 1;
    place_own(apart);
    apart->c.y = apart->state, apart->c.p = apart->params, apart->c.t0 = apart->t;
    l->wait = (vint *)take_rows(&l->c, 1);
    EACH_REGISTER(u, &l->c) l->wait[u] = vset_int(0);
}
/* All trajectories that the solver hands out. 0; -1 if it was stopped. slope: first slopes of the
 * waiting ones. */
static int solve_all(Lanes *l, Lanes *waiting, vreal *slope) {
    const PiSolve *s = l->solve;
    const Chunk *c = &l->c;
    const int64_t lanes = c->R * VLEN;
    int64_t first, count, next = 0;
    if (!l->solver->take(l->solver, lanes, &first, &count)) return 0;
    int stopped = load_waiting(waiting, first, count, slope);
    /* Lanes that stay empty hold the numbers of some trajectory. */
    memcpy(l->own, waiting->own, l->at[OWN_PARTS] * c->R * sizeof *l->own);
    EACH_BELOW(i, lanes) l->id[i] = -1, LANE(l->active, i) = 0;
    EACH_ENTRY(i, l->n, c) l->k[i] = vzero;
    EACH_REGISTER(u, c) c->t[u] = c->t0[u];
    while (!stopped) {
        const int64_t on_their_way = fill_places(l, waiting, slope, &next);
        if (on_their_way <= 0) return on_their_way;
        if (s->earlier && s->decay > 0 && !s->pair.radau) { /* a test that was prevented */
            EACH_REGISTER(u, c) c->h[u] = vzero;
            stiff_lanes_leave(l);
            stopped = c->stopped ? -1 : 0;
        }
        while (!stopped && !any_row(c, l->leaves))
            stopped = go_on(l); /* until a trajectory leaves */
    }
    return stopped;
}
static int solve_on_rows(PiSolver *solver) {
    const PiSolve *s = solver->solve;
    const PiTile tile = {
        .system = s->system, .force = s->force, .context = s->context, .pause = solver->pause};
    vreal *free = solver->workspace;
    Lanes waiting = make_lanes(solver, &tile, &free), l = make_lanes(solver, &tile, &free), apart;
    vreal *slope = take_rows(&l.c, l.c.dim);
    make_active(&l);
    waiting.ys = l.ys, waiting.yn = l.yn;
    if (s->within) return make_again(&l);
    make_apart(&l, &apart);
    const int stopped = solve_all(&l, &waiting, slope);
    l.n_wait = 0;
    if (stopped)
        EACH_LANE(i, &l.c)
            if (l.id[i] >= 0) leave(&l, i, PI_CANCELLED);
    return stopped;
}
