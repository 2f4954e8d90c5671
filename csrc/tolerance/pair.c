/* The numbers of an embedded pair in the form for its kernel. */
#include "solve.h"

/* Appends the non-zero weights of a row of `count`: w, or in Nystrom form w A, by rows of A. Of a
 * force with branches, or outside, the error has all: in another branch of a later stage a slope
 * that is no number would be forgotten. */
static void append_row(PiPair *pair, int row, const double *w, int count, const double *const *a) {
    int n = pair->start[row];
    EACH_BELOW(j, count) {
        double weight = a ? 0 : w[j];
        for (int i = j + 1; a && i < count; i++) weight += w[i] * a[i][j];
        if (weight == 0 && !(pair->forgets && row == pair->stages + PI_ERROR)) continue;
        pair->index[n] = j;
        pair->weight[n++] = weight;
    }
    pair->start[row + 1] = n;
}

/* The estimate h E is proportional to h^power; that of DOP853, h E5^2 / sqrt(E5^2 + E3^2 / 100)
 * with E5 ~ h^5 and E3 ~ h^3, to h^8. */
static int estimate_power(const PiMethod *m) {
    const int low = m->embedded_order < m->order ? m->embedded_order : m->order;
    return m->embedded2_order ? 1 + 2 * m->embedded_order - m->embedded2_order : low + 1;
}

/* The stages that count and whose states are of second order, sum_j a_j c_j = c^2 / 2, or all that
 * count if none is. */
static uint64_t exact_stages(const PiMethod *m, uint64_t counts) {
    uint64_t exact = 0;
    EACH_BELOW(s, m->stages) {
        double off = m->c[s] * m->c[s] / 2;
        EACH_BELOW(j, m->stages) off -= m->a[s][j] * m->c[j];
        exact |= (uint64_t)(m->family == PI_NYSTROM || fabs(off) < 0.005) << s;
    }
    return exact & counts & ~(uint64_t)1 ? exact & counts : counts;
}
/* Places where the borders are asked for, in the order of time and well apart: the last of stages
 * at the same time is the best. */
static void make_places(PiPair *pair, uint64_t stages) {
    const double apart = 0.08;
    double *at = pair->place;
    int stage[PI_MAX_PLACES] = {0}, n = 1;
    EACH_BELOW(s, pair->stages) {
        if (!(stages >> s & 1)) continue;
        const double c = pair->c[s];
        int i = n;
        while (i > 1 && at[i - 1] > c) i--;
        if (c < apart || c > 1 - apart || (i < n && at[i] - c < apart)) continue;
        if (c - at[i - 1] < apart) {
            if (c == at[i - 1]) stage[i - 1] = s;
            continue;
        }
        for (int j = n++; j > i; j--) at[j] = at[j - 1], stage[j] = stage[j - 1];
        at[i] = c;
        stage[i] = s;
    }
    EACH_FROM(i, 1, n) pair->place_of[stage[i]] = i;
    pair->chord = n == 1;
    if (pair->chord) at[1] = 0.2, at[2] = 0.45, at[3] = 0.75, n = 4;
    at[n] = 1;
    pair->places = n + 1;
    const int count = n < PI_NEAREST ? n + 1 : PI_NEAREST;
    EACH_BELOW(i, n) {
        const int before = i + 1 - count / 2, last = n + 1 - count;
        const int first = pair->nearest[i] = before < 0 ? 0 : before > last ? last : before;
        const double middle = (at[i] + at[i + 1]) / 2;
        EACH_BELOW(j, count) {
            double w = 1;
            EACH_BELOW(k, count)
                if (k != j) w *= (middle - at[first + k]) / (at[first + j] - at[first + k]);
            pair->middle[i][j] = w;
        }
    }
}

void pi_make_pair(const PiMethod *m, const PiSystem *system, PiPair *pair) {
    const int last = m->stages - 1;
    double error[PI_MAX_STAGES] = {0}, error2[PI_MAX_STAGES] = {0};
    double velocity_error[PI_MAX_STAGES] = {0}, left = 1; /* what b_embedded leaves */
    const int own = m->family == PI_NYSTROM;              /* weights of positions of its own */
    const int is_explicit = own || m->family == PI_EXPLICIT_RK;
    const double *b = own ? m->velocity : m->b; /* of velocities, or of the whole state */
    const double *b_embedded = own ? m->velocity_embedded : m->b_embedded;
    const double *a[PI_MAX_STAGES];
    EACH_BELOW(s, m->stages) a[s] = m->a[s];
    /* Does it answer PI_INVARIANTS by numbers that change with the branch of its force? */
    const int branches = system->n_invariants && !system->invariants[0].name;
    int end = last;
    while (end && m->c[end] != 1) end--;
    *pair = (PiPair){.stages = m->stages,
                     .nystrom = is_explicit && pi_sees_positions_only(system),
                     .fsal = is_explicit && m->c[last] == 1,
                     .combined = m->embedded2_order > 0    ? 1
                                 : is_explicit && branches ? PI_OF_BRANCHES
                                                           : 0,
                     .branches = branches,
                     .forgets = branches || system->may_stop,
                     .power = estimate_power(m)};
    EACH_BELOW(j, m->stages) {
        pair->c[j] = m->c[j];
        error[j] = m->b[j] - m->b_embedded[j];
        if (pair->combined == 1) error2[j] = m->b[j] - m->b_embedded2[j];
        else if (pair->combined) error2[j] = b[j] - 0.5 * ((j == 0) + (j == end));
        pair->counts |= (uint64_t)(b[j] != 0) << j;
        velocity_error[j] = b[j] - b_embedded[j];
        left -= m->b_embedded[j];
        pair->fsal &= m->a[last][j] == m->b[j];
    }
    pair->radau = m->family == PI_IMPLICIT_RK && fabs(left) >= 1e-12; /* but for rounding */
    if (!is_explicit && !pair->radau) pair->counts = 0;
    make_places(pair, exact_stages(m, pair->counts));
    EACH_BELOW(s, m->stages) {
        pair->start[s + 1] = pair->start[s]; /* an implicit pair finds them by Newton's method */
        if (is_explicit) append_row(pair, s, a[s], s, pair->nystrom && !own ? a : NULL);
    }
    const double *rows[3] = {m->b, error, error2};
    const double *velocities[3] = {b, velocity_error, error2};
    EACH_BELOW(i, 3) append_row(pair, m->stages + i, velocities[i], m->stages, NULL);
    EACH_BELOW(i, 3) {
        const int row = m->stages + PI_STEP_X + i;
        if (pair->nystrom && (i < 2 || pair->combined == 1))
            append_row(pair, row, rows[i], m->stages, own ? NULL : a);
        else pair->start[row + 1] = pair->start[row];
    }
}

/* Of a pair without a table: from the cubic Hermite polynomial on, degree by degree, slopes at
 * places within the step are taken at its states, and make a polynomial of the next degree.
 * Enright, Jackson, Norsett, Thomsen (1986), ACM Trans. Math. Softw. 12, 193-218. Degree n has n -
 * 3 places, inner points of Lobatto's quadrature but for the middle one, which the state at the end
 * replaces. */
enum { BOOTSTRAPPED = 6 };
static const double bootstrap_place[] = {0.2763932022500210, 0.1726731646460114,
                                         0.8273268353539886, 0.1174723380352677,
                                         0.3573842417596774, 0.8825276619647323};
static double bernstein(int n, int m, double t) {
    double b = 1;
    EACH_FROM(i, 1, m + 1) b *= t * (n - m + i) / i;
    EACH_BELOW(i, n - m) b *= 1 - t;
    return b;
}
typedef double Row[PI_MAX_SLOPES];
typedef struct {
    double c[PI_MAX_EXTRA];
    Row a[PI_MAX_EXTRA], b[PI_MAX_DEGREE - 3];
} Bootstrap;
static PiDense bootstrap(const PiMethod *m, int end, Bootstrap *to) {
    int extra = 0;
    Row beta[BOOTSTRAPPED + 1] = {{0}}; /* of the polynomial so far */
    const int degree = m->order < 3 ? 3 : m->order > BOOTSTRAPPED ? BOOTSTRAPPED : m->order;
    memset(to, 0, sizeof *to);
    EACH_FROM(n, 3, degree + 1) {
        const int places = n - 3, first = extra;
        Row right[3];
        double left[3][3];
        EACH_BELOW(k, places) {
            const double t = to->c[first + k] = bootstrap_place[first + k];
            EACH_FROM(i, 1, n)
                EACH_BELOW(s, PI_MAX_SLOPES)
                    to->a[first + k][s] += bernstein(n - 1, i, t) * beta[i][s];
            extra++;
        }
        memset(beta, 0, sizeof beta);
        EACH_BELOW(s, m->stages) beta[n][s] = beta[n - 1][s] = m->b[s];
        beta[1][0] += 1.0 / n;
        beta[n - 1][end - 1] -= 1.0 / n;
        /* n sum_i (beta_i+1 - beta_i) B_i(t) is the slope at t. */
        EACH_BELOW(k, places) {
            const double t = to->c[first + k];
            memset(right[k], 0, sizeof right[k]);
            right[k][end + first + k] = 1;
            EACH_FROM(i, 1, n + 1) {
                const double by =
                    n * (bernstein(n - 1, i - 1, t) - (i < n ? bernstein(n - 1, i, t) : 0));
                if (i >= 2 && i <= n - 2) left[k][i - 2] = by;
                else
                    EACH_BELOW(s, PI_MAX_SLOPES) right[k][s] -= by * beta[i][s];
            }
        }
        for (int k = 0; k < places;
             k++) /* eliminates without pivots: there is none that is small */
            EACH_BELOW(j, places) {
                if (j == k) continue;
                const double factor = left[j][k] / left[k][k];
                EACH_BELOW(i, places) left[j][i] -= factor * left[k][i];
                EACH_BELOW(s, PI_MAX_SLOPES) right[j][s] -= factor * right[k][s];
            }
        EACH_BELOW(k, places)
            EACH_BELOW(s, PI_MAX_SLOPES) beta[k + 2][s] = right[k][s] / left[k][k];
    }
    EACH_FROM(i, 2, degree - 2 + 1) memcpy(to->b[i - 2], beta[i], sizeof beta[i]);
    return (PiDense){.degree = degree, .extra = extra, .c = to->c, .a = to->a, .b = to->b};
}

void pi_make_dense(const PiMethod *m, PiPair *pair) {
    const PiDense *of = pi_dense_of(m);
    const int own = m->family == PI_NYSTROM, end = m->stages + !pair->fsal;
    Bootstrap rows;
    PiDense made;
    if (!of) {
        made = bootstrap(m, end, &rows);
        of = &made;
    }
    pair->degree = of->degree;
    pair->extra = of->extra;
    const double *a[PI_MAX_SLOPES];
    EACH_BELOW(s, m->stages) a[s] = m->a[s];
    a[end - 1] = m->b; /* of the slope at the end */
    EACH_BELOW(e, pair->extra) {
        pair->c_extra[e] = of->c[e];
        a[end + e] = of->a[e];
        append_row(pair, pi_dense_row(pair, e), of->a[e], end + e,
                   pair->nystrom && !own ? a : NULL);
    }
    const int inner = pair->degree - 3, slopes = end + pair->extra;
    EACH_BELOW(i, 2 * inner) {
        const int positions = i >= inner, row = pi_dense_row(pair, pair->extra + i);
        const double *w = own && !positions ? of->velocity[i] : of->b[i % inner];
        if (!positions || pair->nystrom)
            append_row(pair, row, w, slopes, positions && !own ? a : NULL);
    }
}
