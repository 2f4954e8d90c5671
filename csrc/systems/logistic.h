#ifndef LOGISTIC_H
#define LOGISTIC_H
/* Logistic growth.   n' = r n (1 - n / capacity)
 * state n (a number)    parameters r [1/s], capacity (a number; inf: exponential growth)
 * No energy; n = 0 and n = capacity stay. */
enum { LOGISTIC_R, LOGISTIC_CAPACITY, LOGISTIC_R_CAPACITY };

PREPARE(logistic) { p[LOGISTIC_R_CAPACITY] = p[LOGISTIC_R] / p[LOGISTIC_CAPACITY]; }
RHS(logistic) { dydt[0] = y[0] * vfma(-p[LOGISTIC_R_CAPACITY], y[0], p[LOGISTIC_R]); }
JACOBIAN(logistic) { J[0][0] = vfma(-2 * p[LOGISTIC_R_CAPACITY], y[0], p[LOGISTIC_R]); }
#endif
COMPACT_SYSTEM(logistic,
               MATHEMATICS(.rhs = logistic_rhs, .prepare = logistic_prepare,
                           .jacobian = logistic_jacobian),
               .title = "logistic growth", .equation = "n' = r n (1 - n / capacity)",
               .reference = "Verhulst (1838), Corr. Math. Phys. 10, 113-121",
               FIRST_ORDER({"n", "1", 1, "population"}),
               PARAMS({"r", "1/s", 1, "growth of a small population"},
                      {"capacity", "1", 100, "population that is sustained"}))
