/* Systems of any number of parts: made for a number, found by their handle. */
#include <string.h>
#include "module.h"

static void free_system(PyObject *capsule) {
    PyMem_Free(PyCapsule_GetPointer(capsule, SIZED_CAPSULE));
}

const char make_system_doc[] = "make_system(name, parts) -> handle, which stands for its name";
PyObject *core_make_system(PyObject *module, PyObject *args) {
    (void)module;
    const char *name;
    long long parts;
    if (!PyArg_ParseTuple(args, "sL:make_system", &name, &parts)) return NULL;
    int number = 0;
    while (number < pi_n_sized_systems && strcmp(pi_sized_systems[number]->one.name, name))
        number++;
    if (number == pi_n_sized_systems || parts < 0 || parts > 1 << 20)
        return PyErr_Format(PyExc_ValueError, "no system %s of %lld parts", name, parts);
    const PiSizedSystem *s = pi_sized_systems[number];
    const int n = (int)parts;
    PiSized *made = PyMem_Malloc(sizeof *made);
    if (!made) return PyErr_NoMemory();
    *made = (PiSized){.system = s->one, .number = number, .parts = n};
    made->system.dim += n * s->dim;
    made->system.dof += n * s->dof;
    made->system.n_params += n * s->n_params;
    made->system.n_derived += n * s->n_derived;
    made->system.scratch += n * s->scratch;
    PyObject *capsule = PyCapsule_New(made, SIZED_CAPSULE, free_system);
    if (!capsule) PyMem_Free(made);
    return capsule;
}

int find_sized_system(PyObject *capsule, Moved *moved) {
    const PiSized *sized = PyCapsule_GetPointer(capsule, SIZED_CAPSULE);
    if (!sized) return -1;
    moved->system = &sized->system;
    moved->force = moved->set->sized[sized->number];
    moved->context = sized;
    return 0;
}
