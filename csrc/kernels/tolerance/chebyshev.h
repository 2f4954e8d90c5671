/* Polynomials by their values at Chebyshev points x_i = -cos(i pi / n), n a divisor of 16, and as
 * sums of Chebyshev polynomials. Plain C: Trefethen (2013), Approximation Theory and Approximation
 * Practice, chapters 3 and 4. */
#pragma once

enum { CHEB_MOST = 16 };
/* cos(k pi / 16) */
static const double cheb_cosine[32] = {1,
                                       0.98078528040323044913,
                                       0.92387953251128675613,
                                       0.83146961230254523708,
                                       0.70710678118654752440,
                                       0.55557023301960222474,
                                       0.38268343236508977173,
                                       0.19509032201612826785,
                                       0,
                                       -0.19509032201612826785,
                                       -0.38268343236508977173,
                                       -0.55557023301960222474,
                                       -0.70710678118654752440,
                                       -0.83146961230254523708,
                                       -0.92387953251128675613,
                                       -0.98078528040323044913,
                                       -1,
                                       -0.98078528040323044913,
                                       -0.92387953251128675613,
                                       -0.83146961230254523708,
                                       -0.70710678118654752440,
                                       -0.55557023301960222474,
                                       -0.38268343236508977173,
                                       -0.19509032201612826785,
                                       0,
                                       0.19509032201612826785,
                                       0.38268343236508977173,
                                       0.55557023301960222474,
                                       0.70710678118654752440,
                                       0.83146961230254523708,
                                       0.92387953251128675613,
                                       0.98078528040323044913};
static inline double cheb_cos(int k) { return cheb_cosine[k & 31]; }
/* Point i of n + 1, from -1 to 1. */
static inline double cheb_point(int n, int i) { return -cheb_cos(i * (CHEB_MOST / n)); }
/* The coefficients a[from..n] of sum_k a_k T_k(x) with values f_i at the points:
 * a_k = (2 / n) sum_i f_i cos(i k pi / n) (-1)^k, halved for i and for k at 0 and n. */
static inline void cheb_coefficients_from(int from, int n, const double *f, double *a) {
    const int part = CHEB_MOST / n, half = n / 2;
    double even[CHEB_MOST / 2 + 1] = {0}, odd[CHEB_MOST / 2 + 1] = {0}; /* f_i +- f_(n - i) */
    for (int i = 0; i < half; i++) even[i] = f[i] + f[n - i], odd[i] = f[i] - f[n - i];
    even[0] *= 0.5, odd[0] *= 0.5;
    even[half] = f[half], odd[half] = 0;
    for (int k = from; k <= n; k++) {
        const double *const g = k % 2 ? odd : even;
        double sum = 0;
        for (int i = 0; i <= half; i++) sum += g[i] * cheb_cos(i * k * part);
        a[k] = sum * (k == 0 || k == n ? 1.0 : 2.0) / n * (k % 2 ? -1 : 1);
    }
}
static inline void cheb_coefficients(int n, const double *f, double *a) {
    cheb_coefficients_from(0, n, f, a);
}
/* Can a polynomial with these values have no zero? It is within 2.7 times (Lebesgue's constant of
 * these points) half their range of the middle of that. */
static inline int cheb_is_clear(int n, const double *f, double error) {
    double least = f[0], most = f[0];
    for (int i = 1; i <= n; i++) {
        least = f[i] < least ? f[i] : least;
        most = f[i] > most ? f[i] : most;
    }
    const double middle = 0.5 * (least + most), half = 0.5 * (most - least);
    return (middle < 0 ? -middle : middle) > 2.7 * half + error;
}
/* sum_k a_k T_k(x), Clenshaw's recurrence. */
static inline double cheb_value(int n, const double *a, double x) {
    double b1 = 0, b2 = 0;
    for (int k = n; k > 0; k--) {
        const double b = a[k] + (2 * x * b1 - b2);
        b2 = b1;
        b1 = b;
    }
    return a[0] + (x * b1 - b2);
}
/* The coefficients d[0..n] of the derivative, d[n] = 0. */
static inline void cheb_derivative(int n, const double *a, double *d) {
    d[n] = 0;
    if (n > 0) d[n - 1] = 2 * n * a[n];
    for (int k = n - 2; k >= 0; k--) d[k] = d[k + 2] + 2 * (k + 1) * a[k + 1];
    d[0] *= 0.5;
}
/* The integral from -1 to 1: sum over even k of 2 a_k / (1 - k^2). */
static inline double cheb_integral(int n, const double *a) {
    double sum = 0;
    for (int k = 0; k <= n; k += 2) sum += a[k] * (2.0 / (1 - k * k));
    return sum;
}
