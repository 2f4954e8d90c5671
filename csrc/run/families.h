/* The properties of a family of methods besides its kernels: a descriptor each, in families.c. */
#pragma once
#include "../pyintegrate.h"

/* Numbers of a method: where they are in a PiMethod, and how many. */
typedef struct {
    const char *name; /* in Python: that of the field, in capitals for a matrix */
    size_t offset;
    int row;  /* numbers of a matrix from one row to the next; 0: a list */
    int away; /* are they where the field points to? */
    int more; /* numbers of a list past one for each stage */
    int optional;
} PiNumbers;

/* The structures that a method can integrate: bit 1 << PiStructure for each. */
typedef struct {
    const char *name, *needs; /* in Python; in words, "" for nothing */
    unsigned structures;
    int planets;         /* only PiSystem.planets */
    const char *refusal; /* what an error says */
} PiRequirement;
extern const PiRequirement *const pi_requirements[]; /* up to NULL */

enum { PI_MAX_LISTS = 6 };
typedef struct {
    const char *name;
    const PiRequirement *requirement;
    PiNumbers numbers[PI_MAX_LISTS]; /* up to one without a name */
    int most_stages;                 /* of user-defined methods; 0: there are none */
    int most_derivative;             /* 0: methods have no derivative */
    int jacobian;                    /* does a step need the Jacobian of a force? */
    int compensates;                 /* can a step carry its rounding errors? */
    int free_evaluations; /* evaluations are the cost of a step, not the number of stages */
    /* NULL if there is nothing to do: */
    void (*make_table)(const PiMethod *method, const PiSystem *system, PiTable *table);
    int64_t (*workspace_rows)(const PiMethod *method, const PiSystem *system);
    /* past states and forces; the number of steps by the starter, and the starter */
    void (*remembered)(const PiMethod *method, int *states, int *forces);
    int64_t (*first_steps)(const PiMethod *method);
    const PiMethod *(*starter)(const PiMethod *method);
} PiFamilyDescriptor;
extern const PiFamilyDescriptor pi_families[PI_FAMILIES];

const PiRequirement *pi_requirement(const PiMethod *method);
/* Where numbers begin. */
double *pi_list(PiMethod *method, const PiNumbers *numbers);

/* A user-defined method has a family, stages, evaluations and a derivative; its numbers come as
 * rows, in the order of the family. The number of rows, or -1 if no method can have them; and the
 * destination of row i, `n` numbers, which may be omitted if it is optional. */
int pi_method_rows(const PiMethod *method);
double *pi_method_row(PiMethod *method, int i, int *n, int *optional);

/* tables.c, history.c: functions that the descriptors refer to. */
void pi_sparse_rows(const PiMethod *method, const PiSystem *system, PiTable *table);
void pi_stage_groups(const PiMethod *method, const PiSystem *system, PiTable *table);
void pi_multistep_remembered(const PiMethod *method, int *states, int *forces);
int64_t pi_multistep_first_steps(const PiMethod *method);
const PiMethod *pi_multistep_starter(const PiMethod *method);
