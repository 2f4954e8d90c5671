/* Systems of any number of parts: made for a number, found by their handle. */
#include "module.h"

typedef struct {
    SystemHandle handle;
    PiSized sized;
} SizedSystem;

static int resolve_sized(const void *self, ResolvedSystem *to) {
    const PiSized *sized = &((const SizedSystem *)self)->sized;
    to->system = &sized->system;
    to->force = to->set->sized[sized->number];
    to->context = sized;
    return 0;
}

PyObject *pi_core_make_system(PyObject *module, PyObject *args) {
    const char *name;
    long long parts;
    if (!PyArg_ParseTuple(args, "sL:make_system", &name, &parts)) return NULL;
    int number = 0;
    while (number < pi_n_sized_systems && strcmp(pi_sized_systems[number]->one.name, name))
        number++;
    if (number == pi_n_sized_systems || parts < 0 || parts > 1 << 20)
        return PyErr_Format(PyExc_ValueError, "no system %s of %lld parts", name, parts);
    const SizedSystem made = {{resolve_sized, NULL, {NULL, NULL}}, pi_sized(number, parts)};
    return pi_system_capsule(&made, sizeof made);
}
