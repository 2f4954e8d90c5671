/* Events in single steps of some lanes, found for all of them together before each lane is
 * processed by itself: the quantities at both ends, and where an event's crosses zero. */
#pragma once
#include "passage.h"
#include "search.h"

enum { NO_EVENT = -1 };
/* An event in the step to the k-th shown state, from 0, of lane `at` of the tile; or
 * NO_EVENT: a step to be examined. */
struct Ahead {
    int64_t at, k;
    int event, searched;
    Moment before, after, best, trial; /* best: the result of locate(), if searched for */
    PiSearch search;
};
typedef struct {
    PiEvents *e;
    PiRun *run;
    const PiTile *tile;
    const PiSeen *seen;
    int64_t room, count;
    Ahead *item;
    char *moments;
    PiParts parts;
    PiWatchLanes look;
    PiPart *part;
    PiWatchMoment *moment;
    int64_t *lane;
    Ahead **now; /* the items in question, in the order of the lists before */
} Aheads;
int64_t aheads_bytes(const PiEvents *e, const PiRun *run);
Aheads make_aheads(PiEvents *e, PiRun *run, const PiTile *tile, const PiSeen *seen, void *memory);
/* Adds one; 0 if there is no room. */
int add_ahead(Aheads *aheads, int64_t at, int64_t k, int event);
/* Finds all of them. 0, or -1. */
int find_ahead(Aheads *aheads);
