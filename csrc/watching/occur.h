/* The consequences of the events of a step: they are kept and counted, stop the lane, or make it
 * jump, and the step continues from there. */
#pragma once
#include "passage.h"

enum { PENDING = SECOND + 1 };
enum { GOES_ON, JUMPS, STOPS, BREAKS = -1 };
/* The number of events j of the lane so far. */
double *count_of(const Lane *lane, int j);
/* Freezes the lane from this step on, in spite of any later failure; 0, or -1 without memory for
 * its failure. */
int freeze(const Lane *lane, PiStatus status);
/* The requested times in a piece of the step. 0, or -1. */
int show_piece(const Lane *lane, const Moment *from, const Moment *to);
/* The step from lane->before to lane->after with all its events, one after the other in time. The
 * state at its end is in lane->after; STOPS: where it stopped. done: an item for each event,
 * PENDING if it occurs at the beginning of the step, else NOWHERE. */
int go_through(Lane *lane, int dips, char *done);
