/* Cash-Karp 5(4), order 5.
 * Cash, Karp (1990), ACM Trans. Math. Softw. 16, 201-222. */
EXPLICIT_RK(cash_karp45, .order = 5, .stages = 6, .evaluations = 6,
            .title = "Cash-Karp 5(4)", .formula = "six stages of order 5",
            .aliases = "ck45 rkck",
            .reference = "Cash, Karp (1990), ACM Trans. Math. Softw. 16, 201-222",
            .c = {0, 1/5., 3/10., 3/5., 1, 7/8.},
            .a = {{0},
                  {1/5.},
                  {3/40., 9/40.},
                  {3/10., -9/10., 6/5.},
                  {-11/54., 5/2., -70/27., 35/27.},
                  {1631/55296., 175/512., 575/13824., 44275/110592., 253/4096.}},
            .b = {37/378., 0, 250/621., 125/594., 0, 512/1771.},
            .embedded_order = 4,
            .b_embedded = {2825/27648., 0, 18575/48384., 13525/55296., 277/14336., 1/4.})
