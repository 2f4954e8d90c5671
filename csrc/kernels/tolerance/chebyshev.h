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
/* The coefficients of sum_k a_k T_k(x) with values f_i at the points:
 * a_k = (2 / n) sum_i f_i cos(i k pi / n) (-1)^k, halved for i and for k at 0 and n: of even k sums
 * over f_i + f_(n - i), of odd k over f_i - f_(n - i), two k at a time. */
typedef double ChebPair __attribute__((vector_size(16)));
static inline __attribute__((always_inline)) void cheb_sums(const int n, const double *f,
                                                            double *a) {
    const int part = CHEB_MOST / n, half = n / 2;
    ChebPair g[CHEB_MOST / 2 + 1];
    for (int i = 0; i <= half; i++)
        g[i] = (ChebPair){f[i] + f[n - i], f[i] - f[n - i]} * (i % half ? 1 : 0.5);
    for (int k = 0; k <= n; k += 2) {
        ChebPair sum = {0};
        for (int i = 0; i <= half; i++)
            sum += g[i] * (ChebPair){cheb_cos(k * i * part), cheb_cos((k + 1) * i * part)};
        a[k] = sum[0] * (k % n ? 2.0 : 1.0) / n;
        if (k < n) a[k + 1] = -(sum[1] * 2.0 / n);
    }
}
static inline void cheb_coefficients(int n, const double *f, double *a) {
    if (n == CHEB_MOST) cheb_sums(CHEB_MOST, f, a);
    else cheb_sums(n, f, a);
}
/* Can a polynomial with values from `least` to `most` at the points have no zero? It is within 2.7
 * times (Lebesgue's constant of these points) half their range of the middle of that. */
static inline int cheb_is_clear(double least, double most, double error) {
    const double middle = 0.5 * (least + most), half = 0.5 * (most - least);
    return (middle < 0 ? -middle : middle) > 2.7 * half + error;
}
/* sum_k a_k T_k(x), and its slope: Clenshaw's recurrence of even and of odd k side by side, which
 * is half as long, T_(k + 2) = 2 y T_k - T_(k - 2), y = T_2(x); c are the derivatives of b with
 * respect to y. */
static inline __attribute__((always_inline)) double cheb_value_and_slope(int n, const double *a,
                                                                         double x, double *slope) {
    const double y = 2 * x * x - 1;
    ChebPair b1 = {0}, b2 = {0}, c1 = {0}, c2 = {0};
    for (int k = n & ~1; k > 0; k -= 2) {
        const ChebPair c = (2 * b1 - c2) + 2 * y * c1;
        const ChebPair b = ((ChebPair){a[k], k < n ? a[k + 1] : 0} - b2) + 2 * y * b1;
        c2 = c1, c1 = c;
        b2 = b1, b1 = b;
    }
    const double odd = (n > 0 ? a[1] : 0) + (2 * y * b1[1] - b2[1]) - b1[1];
    const double of_y = b1[0] + (y * c1[0] - c2[0]);
    const double odd_of_y = 2 * b1[1] + (2 * y * c1[1] - c2[1]) - c1[1];
    *slope = 4 * x * (of_y + x * odd_of_y) + odd;
    return a[0] + (y * b1[0] - b2[0]) + x * odd;
}
static inline double cheb_value(int n, const double *a, double x) {
    double slope;
    return cheb_value_and_slope(n, a, x, &slope);
}
/* The coefficients d[0..n] of the derivative, d[n] = 0. */
static inline void cheb_derivative(int n, const double *a, double *d) {
    d[n] = 0;
    if (n > 0) d[n - 1] = 2 * n * a[n];
    for (int k = n - 2; k >= 0; k--) d[k] = d[k + 2] + 2 * (k + 1) * a[k + 1];
    d[0] *= 0.5;
}
/* Weights of the values at the points for the integral from -1 to 1, n = 8 or 16. Clenshaw, Curtis
 * (1960), Numer. Math. 2, 197-205. */
static inline const double *cheb_weights(int n) {
    static const double eight[] = {
        0.015873015873015873016, 0.14621864921601815501, 0.27936507936507936508,
        0.3617178587204897815,   0.39365079365079365079, 0.3617178587204897815,
        0.27936507936507936508,  0.14621864921601815501, 0.015873015873015873016};
    static const double sixteen[] = {
        0.0039215686274509803922, 0.037368702837205610321, 0.075482331543151834413,
        0.10890555258189093044,   0.13895646836823307412,  0.16317266428170330256,
        0.181473784236493357,     0.19251386461292564687,  0.19641012582189052777,
        0.19251386461292564687,   0.181473784236493357,    0.16317266428170330256,
        0.13895646836823307412,   0.10890555258189093044,  0.075482331543151834413,
        0.037368702837205610321,  0.0039215686274509803922};
    return n == 8 ? eight : sixteen;
}
