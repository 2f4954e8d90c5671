/* Lobatto IIIA, order 6.
 * Ehle (1969), On Pade approximations to the exponential function and A-stable methods, Univ. of
 * Waterloo CSRR 2010.
 * Numbers in Q(sqrt 5), to 50 digits. The first stage is explicit. */
IMPLICIT_RK(lobatto_iiia6, .order = 6, .stages = 4, .evaluations = 3, .symplectic = 0, .symmetric = 1,
            .title = "Lobatto IIIA, order 6", .formula = "collocation at the four Lobatto nodes",
            .aliases = "",
            .reference = "Ehle (1969), On Pade approximations to the exponential function and A-stable methods, Univ. of Waterloo CSRR 2010",
            .c = {0, 0.27639320225002103035908263312687237645593816403885, 0.72360679774997896964091736687312762354406183596115, 1},
            .a = {{0},
                  {0.11030056647916491413674311390609396862867181966343, 0.18969943352083508586325688609390603137132818033657, -0.03390736422914388377766048077922159217273365562458, 0.01030056647916491413674311390609396862867181966343},
                  {0.0730327668541684191965902194272393647046615136699, 0.45057403089581055044432714744588825883940032229125, 0.2269672331458315808034097805727606352953384863301, -0.0269672331458315808034097805727606352953384863301},
                  {1/12., 5/12., 5/12., 1/12.}},
            .b = {1/12., 5/12., 5/12., 1/12.})
