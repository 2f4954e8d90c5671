/* Recording: the observer that keeps states in the caller's array. */
#pragma once
#include "observe.h"

/* Component saved[i] of lane l after save s goes to
 * data[s save_stride + i component_stride + l lane_stride]. */
typedef struct {
    void *data;
    int64_t every;        /* steps from one save to the next */
    const int64_t *steps; /* the saved steps instead, increasing, multiples of `every`; or NULL */
    int64_t listed;       /* their number */
    int64_t save_stride, component_stride, lane_stride; /* reals from one to the next */
    int64_t room;        /* lanes that may be written: from `stride` on with the padding */
    int n_saved, *saved; /* indices of the components */
    int stream;          /* past the caches? */
} PiRecord;
PiObserver pi_record_observer(PiRecord *record);
