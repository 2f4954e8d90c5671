/* From the system that Python names to the kernels and forces of a run. */
#include "module.h"

/* Warns once that the machine's best instruction set was not built: above the baseline all is 20 to
 * 40 times as fast. 0, or -1 where warnings are errors. */
static int warn_once(State *state) {
    const char *missing = state->missing;
    state->missing = NULL;
    return PyErr_WarnFormat(
        PyExc_RuntimeWarning, 1,
        "this machine has %s, for which pyintegrate was not built: it runs on %s, "
        "slower, with the same bits. Build it on this machine, or with "
        "PYINTEGRATE_ISA_BUILD=all",
        missing, pi_isa(state->isa)->name);
}

static void drop(const SystemHandle *handle) {
    if (handle->free) handle->free(handle);
    Py_XDECREF(handle->kept[0]);
    Py_XDECREF(handle->kept[1]);
}
static void drop_capsule(PyObject *capsule) {
    SystemHandle *made = PyCapsule_GetPointer(capsule, SYSTEM_CAPSULE);
    drop(made);
    PyMem_Free(made);
}
PyObject *pi_system_capsule(const void *handle, size_t bytes) {
    void *made = PyMem_Malloc(bytes);
    PyObject *capsule =
        made ? PyCapsule_New(memcpy(made, handle, bytes), SYSTEM_CAPSULE, drop_capsule)
             : PyErr_NoMemory();
    if (capsule) return capsule;
    drop(handle);
    PyMem_Free(made);
    return NULL;
}

int pi_find_system(PyObject *module, PyObject *object, int64_t bits, ResolvedSystem *to) {
    const PiIsa *isa = pi_isa(state_of(module)->isa);
    if (state_of(module)->missing && warn_once(state_of(module))) return -1;
    if (bits != 64 && bits != 32)
        return pi_refused("bits is %lld, expected 32 or 64", (long long)bits);
    *to = (ResolvedSystem){.set = bits == 64 ? isa->f64 : isa->f32, .draw = isa->f64->draw};
    if (PyCapsule_CheckExact(object)) {
        const SystemHandle *handle = PyCapsule_GetPointer(object, SYSTEM_CAPSULE);
        return handle ? handle->resolve(handle, to) : -1;
    }
    const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
    if (!name) return -1;
    EACH_BELOW(i, pi_n_systems)
        if (!strcmp(pi_systems[i]->name, name)) {
            to->system = pi_systems[i];
            to->kernels = pi_kernels(to->set, i);
            to->force = to->kernels->force;
            return 0;
        }
    return pi_refused("no system %s in the core", name);
}

int pi_choose_method(PiRun *run, const ResolvedSystem *resolved, PyObject *method,
                     PyObject *starter) {
    const PiMethod *m = PyCapsule_GetPointer(method, METHOD_CAPSULE);
    const PiMethod *first = m && starter ? PyCapsule_GetPointer(starter, METHOD_CAPSULE) : NULL;
    if (!m || (starter && !first)) return -1;
    const char *refusal = pi_run_choose(run, resolved, m, first);
    return refusal ? pi_refused("%s", refusal) : 0;
}

PyObject *pi_core_scales(PyObject *module, PyObject *system) {
    ResolvedSystem resolved;
    if (pi_find_system(module, system, 64, &resolved)) return NULL;
    const int dim = resolved.system->dim, n = dim < PI_MAX_STATE ? dim : PI_MAX_STATE;
    return LISTED(n, PyLong_FromLong(resolved.system->scale[i]));
}
