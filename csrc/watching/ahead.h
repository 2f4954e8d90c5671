/* What happens in single steps of some lanes, found for all of them together before each is gone
 * through by itself: the quantities at both ends, and where an event's passes zero. */
#pragma once
#include "passage.h"
#include "search.h"

enum { NO_EVENT = -1 };
/* An event in the step to the k-th state that is shown, from 0 on, of lane `at` of the tile; or
 * NO_EVENT: a step to be looked at. */
struct Ahead {
    int64_t at, k;
    int event, searched;
    Moment before, after, best, trial; /* best: as of locate(), where it was searched for */
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
} Aheads;
int64_t aheads_bytes(const PiEvents *e, const PiRun *run);
Aheads make_aheads(PiEvents *e, PiRun *run, const PiTile *tile, const PiSeen *seen, void *memory);
/* One more; 0 where there is no room. */
int add_ahead(Aheads *aheads, int64_t at, int64_t k, int event);
/* Finds all of them. 0, or -1. */
int find_ahead(Aheads *aheads);
