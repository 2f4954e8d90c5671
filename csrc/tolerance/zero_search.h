/* The search for a zero of a quantity within the step of a lane: the next part of the step to
 * request (zero_search.c). */
#pragma once
#include "../watching/search.h"

typedef enum { RESTS, SEEKS_DIP, SEEKS_ROOT, SEEKS_MORE, RECROSSES, HAPPENS } Doing;
typedef struct {
    Doing doing;
    const PiRun *run;  /* only its precision is used */
    int j, slot;       /* the event; its crossing: 2 j, or 2 j + 1 after a dip */
    double h, part;    /* the step; the requested part, NaN at the end of a search */
    PiDip least;       /* by successive parabolas */
    double dip, g_dip; /* where it is beyond zero; NaN: nowhere */
    PiSearch root;
    double best;     /* the last part known to lie before the root */
    double more;     /* a part between two further zeros; NaN: none found */
    double moved[2]; /* in parts, of a length `span` after a jump */
    double span;
    int n_moved, stopped_by;
    int64_t events; /* so far in this step */
} Search;
/* A root between `lo` and `hi`, where the quantity has these values. */
void begin_root(Search *search, int slot, double lo, double g_lo, double hi, double g_hi);
/* The quantity is g at the requested part. */
void next_root(Search *search, double g);
/* A place beyond zero between two values on the same side of it. */
void begin_dip(Search *search, double old, double new);
/* The quantity is g there; its magnitude counts as negative beyond zero. */
void next_dip(Search *search, double size, double g);
/* After a root: two further zeros. 1, or 0 if nothing indicates them. */
int begin_more(Search *search);
void next_more(Search *search, double g);
/* After a jump at a zero that is crossed again, or may be: does it keep its sign? Then n_moved is
 * 2, else 0. The zero was located to a part of the step that jumped, `last`: a shorter step does
 * not tell. */
void begin_recrossing(Search *search, double last);
void next_recrossing(Search *search, double moved);
