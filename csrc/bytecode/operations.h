/* The operations of a user's force: name, number of arguments, and the result from a, b, c, d.
 *
 * One text for three readers: the interpreter (interpreter.h), the verifier (verifier.c), and the C
 * code of compiled traced systems (pyintegrate/trace/c_source.py). A mask is a register of all
 * ones or all zeros in each lane.   CHEAP(...) costs less than the loads of its arguments;
 * PRODUCT(name, n, i, ...) is one of argument i, and those after it, with all the rest. */
CHEAP(copy, 1, a)
CHEAP(negative, 1, -a)
CHEAP(absolute, 1, vabs(a))
CHEAP(add, 2, a + b)
CHEAP(subtract, 2, a - b)
PRODUCT(multiply, 2, 0, (a)*b)
CHEAP(divide, 2, vdivide(a, b))
CHEAP(fma, 3, vfma(a, b, c))   /* a b + c */
CHEAP(fms, 3, vfma(a, b, -c))  /* a b - c */
CHEAP(fnma, 3, vfma(-a, b, c)) /* c - a b */
CHEAP(minimum, 2, vmin(a, b))
CHEAP(maximum, 2, vmax(a, b))
CHEAP(less, 2, (vreal)(a < b))
CHEAP(less_equal, 2, (vreal)(a <= b))
CHEAP(equal, 2, (vreal)(a == b))
CHEAP(not_equal, 2, (vreal)(a != b))
CHEAP(logical_and, 2, (vreal)((vint)a & (vint)b))
CHEAP(logical_or, 2, (vreal)((vint)a | (vint)b))
CHEAP(logical_xor, 2, (vreal)((vint)a ^ (vint)b))
CHEAP(logical_not, 1, (vreal)(~(vint)a))
CHEAP(where, 3, vselect((vint)a, b, c))
CHEAP(sqrt, 1, vsqrt(a))
/* Two operations in one, to save the loads and stores between them: the result of the
 * first, and the operation of the second on it. */
#define THEN(first, u, n, x)                                                                       \
    PRODUCT(first##_multiply, n, n - 1, (u) * x)                                                   \
    CHEAP(first##_add, n, (u) + x)                                                                 \
    CHEAP(first##_subtract, n, (u) - x)                                                            \
    CHEAP(first##_from, n, x - (u))
#define THEN_PRODUCT(first, u)                                                                     \
    CHEAP(first##_fma, 4, vfma((u), c, d))                                                         \
    CHEAP(first##_fms, 4, vfma((u), c, -d))                                                        \
    CHEAP(first##_fnma, 4, vfma(-(u), c, d))                                                       \
    CHEAP(first##_plus_product, 4, vfma(c, d, (u)))                                                \
    CHEAP(first##_minus_product, 4, vfma(-c, d, (u)))                                              \
    CHEAP(first##_from_product, 4, vfma(c, d, -(u)))
THEN(add, a + b, 3, c)
THEN(subtract, a - b, 3, c)
PRODUCT(multiply_multiply, 3, 0, (a * b) * c)
PRODUCT(multiply_negative, 2, 0, -(a *b))
THEN_PRODUCT(add, a + b)
THEN_PRODUCT(subtract, a - b)
THEN_PRODUCT(multiply, a *b)
THEN(fma, vfma(a, b, c), 4, d)
THEN(fms, vfma(a, b, -c), 4, d)
THEN(fnma, vfma(-a, b, c), 4, d)
#undef THEN
#undef THEN_PRODUCT
OPERATION(sign, 1, vsign(a))
OPERATION(floor, 1, vfloor(a))
OPERATION(rint, 1, vrint(a))
OPERATION(copysign, 2, vcopysign(a, b))
OPERATION(sin, 1, vsin(a))
OPERATION(cos, 1, vcos(a))
OPERATION(tan, 1, vtan(a))
OPERATION(arcsin, 1, vasin(a))
OPERATION(arccos, 1, vacos(a))
OPERATION(arctan, 1, vatan(a))
OPERATION(arctan2, 2, vatan2(a, b))
OPERATION(exp, 1, vexp(a))
OPERATION(expm1, 1, vexpm1(a))
OPERATION(log, 1, vlog(a))
OPERATION(log1p, 1, vlog1p(a))
OPERATION(sinh, 1, vsinh(a))
OPERATION(cosh, 1, vcosh(a))
OPERATION(tanh, 1, vtanh(a))
OPERATION(power, 2, vpow(a, b))
OPERATION(cbrt, 1, vcbrt(a))
OPERATION(hypot, 2, vhypot(a, b))
OPERATION(fmod, 2, vfmod(a, b))
OPERATION(log2, 1, vlog2(a))
OPERATION(log10, 1, vlog10(a))
OPERATION(arcsinh, 1, vasinh(a))
OPERATION(arccosh, 1, vacosh(a))
OPERATION(arctanh, 1, vatanh(a))
