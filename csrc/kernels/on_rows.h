/* A system's mathematics, written for registers, as a force on rows. */
#pragma once
#include "model.h"

/* Room for parameters and derived ones; for y and the numbers of a step with noise. */
enum { PARAMETERS = 4 * PI_MAX_PARAMS, VALUES = 3 * PI_MAX_DIM };
/* Answers to a question but for the Jacobian: a system that is compiled may have more borders. */
#ifndef PI_ANSWERS
#define PI_ANSWERS PI_MAX_DIM
#endif

/* Of a model that the compiler knows: its descriptor need not be in the library. */
ALWAYS_INLINE int answer_rows(const Model *model, PiQuestion question, const PiRows *rows) {
    const PiSystem *s = model->system;
    const int dim = s->dim, dof = s->dof, next = question == PI_NEXT;
    const int halves = question == PI_ACCELERATION || question == PI_VELOCITY;
    const int from_y = halves && dof ? dof : dim; /* the others are from v */
    const int values = next ? dim + s->noises * (s->second ? 2 : 1) : dim;
    const int n_p = pi_parameter_rows(s);
    const int64_t R = rows->registers;
    const vreal *y_rows = rows->y, *v_rows = rows->v;
    vreal *p_rows = rows->p, *out = rows->out;
    EACH_BELOW(u, R) {
        vreal y[VALUES], p[PARAMETERS], answer[PI_ANSWERS];
        EACH(i, n_p) p[i] = p_rows[i * R + u];
        const vreal t = ((const vreal *)rows->t)[u];
        EACH(d, values) y[d] = d < from_y ? y_rows[d * R + u] : v_rows[(d - from_y) * R + u];
        int n = 0;
        switch (question) {
        case PI_RHS: /* of a second-order system it is made of its halves (rhs_rows) */
            if (!dof) rhs(model, t, y, p, answer), n = dim;
            break;
        case PI_ACCELERATION:
            if (model->acceleration) model->acceleration(t, y, y + dof, p, answer), n = dof;
            break;
        case PI_NEXT:
            if (model->next) model->next(t, y, p, answer), n = dim;
            break;
        case PI_VELOCITY:
            if (model->velocity) model->velocity(y + dof, p, answer), n = dof;
            break;
        case PI_ENERGY:
            if (model->energy) answer[0] = model->energy(t, y, p), n = 1;
            break;
        case PI_INVARIANTS:
            if (model->invariants) model->invariants(t, y, p, answer), n = s->n_invariants;
            break;
        case PI_PREPARE:
            EACH_BETWEEN(i, s->n_params, n_p) p[i] = vzero;
            if (model->prepare) model->prepare(p);
            EACH_BETWEEN(i, s->n_params, n_p) p_rows[i * R + u] = p[i];
            break;
        case PI_JACOBIAN: {
            vreal J[PI_MAX_DIM][PI_MAX_DIM] = {{{0}}};
            model->jacobian(t, y, p, J);
            EACH(i, dim)
                EACH(k, dim)
                    out[(i * dim + k) * R + u] = s->structure != PI_SECOND_ORDER ? J[i][k]
                                                 : i >= dof ? J[i - dof][k]
                                                            : vset(k == i + dof);
        }
        }
        EACH(i, n) out[i * R + u] = answer[i];
    }
    return 0;
}

/* Energies of several states, one register of lanes after the other. */
ALWAYS_INLINE void energy_rows(const Model *model, const PiEnergyRows *rows) {
    const PiSystem *s = model->system;
    const int64_t R = rows->registers;
    const vreal *origin = rows->origin, *factor = rows->factor;
    if (model->energy)
        EACH_BELOW(u, R) {
            const vreal *from = (const vreal *)rows->y + u;
            vreal *out = (vreal *)rows->out + u, p[PARAMETERS], y[PI_MAX_DIM];
            const vreal first = origin ? origin[u] : vzero, scale = origin ? factor[u] : vone;
            EACH(i, pi_parameter_rows(s)) p[i] = ((const vreal *)rows->p)[i * R + u];
            for (int64_t k = 0; k < rows->count; k++, from += rows->next, out += R) {
                EACH(d, s->dim) y[d] = from[d * rows->apart];
                *out = (model->energy(vzero, y, p) - first) * scale;
            }
        }
}
