/* What follows from the events of a step: they are kept and counted, stop the lane, or let it jump,
 * and the step goes on from there. */
#pragma once
#include "passage.h"

enum { GOES_ON, JUMPS, STOPS, BREAKS = -1 };
/* How many events j of the lane there were so far. */
double *count_of(const Lane *lane, int j);
/* The lane is frozen from this step on, whatever befell it later; 0, or -1 without memory for its
 * failure. */
int freeze(const Lane *lane, PiStatus status);
/* Times that were asked for in a piece of the step. 0, or -1. */
int show_piece(const Lane *lane, const Moment *from, const Moment *to);
/* The step from lane->before to lane->after with all its events, one after the other in time. The
 * state where it ends is in lane->after; STOPS: where it stopped. done: an item for each event. */
int go_through(Lane *lane, int dips, char *done);
