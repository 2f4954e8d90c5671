/* Elementary functions on the wide register: the same bits on every instruction set and compiler.
 * Only + - * / vsqrt vfma, comparisons and integer operations, but for a first guess of division.h
 * that does not reach its result; a lane never sees its neighbours. */
#pragma once
#include "division.h"
#include "sin_cos.h"
#include "exp_log.h"
#include "expm1_log1p.h"
#include "hyperbolic.h"
#include "inverse_hyperbolic.h"
#include "inverse_trigonometric.h"
#include "pow.h"
#include "roots.h"
#include "rounding.h"
#include "tan.h"
