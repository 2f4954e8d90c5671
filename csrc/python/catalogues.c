/* The catalogues of systems and methods as dictionaries; questions, requirements and limits. */
#include "../bytecode/bytecode.h"
#include "../watching/reductions.h"
#include "module.h"

void pi_append(PyObject **list, PyObject *item) {
    if (!item || PyList_Append(*list, item)) Py_CLEAR(*list);
    Py_XDECREF(item);
}
void pi_put(PyObject **dictionary, const char *name, PyObject *item) {
    if (*dictionary && (!item || PyDict_SetItemString(*dictionary, name, item)))
        Py_CLEAR(*dictionary);
    Py_XDECREF(item);
}

/* Those with a name, from an array. */
static PyObject *quantities(const PiQuantity *q, int n) {
    return LISTED_WHILE(i < n && q[i].name,
                        Py_BuildValue("(ssds)", q[i].name, q[i].unit, q[i].value, q[i].meaning));
}

static PyObject *truth(int value) { return value ? Py_True : Py_False; }
static PyObject *describe_system(const PiSystem *s) {
    return Py_BuildValue("{ss ss ss ss ss si si sO sO sN sN sN}", "name", s->name, "title",
                         s->title, "equation", s->equation, "reference", s->reference, "structure",
                         pi_structure_names[s->structure], "dim", s->dim, "dof", s->dof,
                         "velocity_dependent", truth(s->velocity_dependent), "time_dependent",
                         truth(s->time_dependent), "state", quantities(s->state, PI_MAX_STATE),
                         "params", quantities(s->params, PI_MAX_PARAMS), "invariants",
                         quantities(s->invariants, PI_MAX_INVARIANTS));
}

static PyObject *numbers(const double *a, int n) { return LISTED(n, PyFloat_FromDouble(a[i])); }
/* By the names that the family gives them; empty if optional ones are missing. */
static PyObject *coefficients(const PiMethod *m) {
    PyObject *all = PyDict_New();
    for (const PiNumbers *n = pi_families[m->family].numbers; all && n->name; n++) {
        const double *first = pi_list((PiMethod *)m, n);
        int length = m->stages + n->more, left_out = n->optional;
        EACH_BELOW(i, length) left_out &= first[i] == 0;
        PyObject *list = !n->row && !left_out ? numbers(first, length) : PyList_New(0);
        for (int s = 0; list && n->row && s < m->stages; s++)
            pi_append(&list, numbers(first + s * n->row, m->stages));
        pi_put(&all, n->name, list);
    }
    return all;
}

/* Weights of the error estimate, by name; None without them. */
static PyObject *embedded(const PiMethod *m) {
    if (!m->embedded_order) return Py_NewRef(Py_None);
    PyObject *all = Py_BuildValue("{si sN}", "order", m->embedded_order, "b",
                                  numbers(m->b_embedded, m->stages));
    if (all && m->family == PI_NYSTROM)
        pi_put(&all, "velocity", numbers(m->velocity_embedded, m->stages));
    if (all && m->embedded2_order) pi_put(&all, "order2", PyLong_FromLong(m->embedded2_order));
    if (all && m->embedded2_order) pi_put(&all, "b2", numbers(m->b_embedded2, m->stages));
    return all;
}

static PyObject *describe_method(const PiMethod *m, PyObject *handle) {
    const PiMethod *starter = pi_starter(m);
    return Py_BuildValue("{ss ss ss ss ss ss ss sz si si si si sO sO sO sN sN sN}", "name", m->name,
                         "title", m->title, "formula", m->formula, "reference", m->reference,
                         "aliases", m->aliases, "family", pi_families[m->family].name, "requires",
                         pi_requirement(m)->name, "starter", starter ? starter->name : NULL,
                         "order", m->order, "stages", m->stages, "evaluations", m->evaluations,
                         "derivative", m->derivative, "backward", truth(m->backward), "symplectic",
                         truth(m->symplectic), "symmetric", truth(m->symmetric), "coefficients",
                         coefficients(m), "embedded", embedded(m), "handle", handle);
}
PyObject *pi_core_method(PyObject *module, PyObject *which) {
    if (PyCapsule_CheckExact(which)) {
        const PiMethod *own = PyCapsule_GetPointer(which, METHOD_CAPSULE);
        return own ? describe_method(own, Py_NewRef(which)) : NULL;
    }
    const char *name = PyUnicode_AsUTF8AndSize(which, NULL);
    if (!name) return NULL;
    const PiMethod *m = pi_method_named(name);
    return m ? describe_method(m, PyCapsule_New((void *)m, METHOD_CAPSULE, NULL))
             : PyErr_Format(PyExc_ValueError, "no method %s in the core", name);
}

static PyObject *requirements(void) {
    PyObject *all = PyDict_New();
    for (const PiRequirement *const *one = pi_requirements; all && *one; one++) {
        PyObject *names = PyList_New(0);
        for (int s = 0; names && (*one)->structures >> s; s++)
            if ((*one)->structures >> s & 1)
                pi_append(&names, PyUnicode_FromString(pi_structure_names[s]));
        pi_put(&all, (*one)->name, Py_BuildValue("(sN)", (*one)->needs, names));
    }
    return all;
}

static PyObject *limits(void) {
    PyObject *jacobian = PyList_New(0);
    for (int i = 0; jacobian && i < PI_FAMILIES; i++)
        if (pi_families[i].jacobian)
            pi_append(&jacobian, PyUnicode_FromString(pi_families[i].name));
    return Py_BuildValue(
        "{si si si si si si si si si sN sN}", "of_run", PI_OF_RUN, "kernel_components", PI_MAX_DIM,
        "kernel_parameters", PI_MAX_PARAMS, "components", PI_MAX_NUMBER, "parameters",
        PI_MAX_NUMBER, "stages", PI_MAX_STAGES, "substeps", PI_MAX_SUBSTEPS, "words", PI_WORDS,
        "bank_shift", PI_BANK_SHIFT, "banks",
        LISTED(PI_BANKS, PyUnicode_FromString(pi_bank_names[i])), "jacobian", jacobian);
}

static PyObject *reductions(const PiDeclared *declared, int count) {
    PyObject *out = PyDict_New();
    for (int i = 0; out && i < count; i++) {
        PyObject *initial = PyTuple_New(declared[i].rows);
        for (int k = 0; initial && k < declared[i].rows; k++)
            PyTuple_SetItem(initial, k, PyFloat_FromDouble(declared[i].initial[k]));
        pi_put(&out, declared[i].name, Py_BuildValue("(iNd)", i, initial, declared[i].again));
    }
    return out;
}

/* Constants of the module. */
int pi_add_catalogues(PyObject *module) {
    PyObject *all = Py_NewRef(PyModule_GetDict(module));
    const PiOperation *one;
    /* Dictionaries, one for each system; those of systems of any size have the properties without
     * parts, and name state and parameters once. */
    pi_put(&all, "systems", LISTED(pi_n_systems, describe_system(pi_systems[i])));
    pi_put(&all, "sized_systems",
           LISTED(pi_n_sized_systems, describe_system(&pi_sized_systems[i]->one)));
    pi_put(&all, "method_names", /* as in contents.h */
           LISTED(pi_n_methods, PyUnicode_InternFromString(pi_methods[i]->name)));
    /* By number: questions to a system; operations of byte code (name, arguments, what each
     * computes). */
    pi_put(&all, "questions", LISTED(PI_QUESTIONS, PyUnicode_FromString(pi_question_names[i])));
    pi_put(&all, "operations",
           LISTED_WHILE((one = pi_operation(i)),
                        Py_BuildValue("(sis)", one->name, one->arguments, one->text)));
    /* By name: what a method needs, in words, and the structures that have it. */
    pi_put(&all, "requirements", requirements());
    /* The most components and parameters of a kernel in registers and of a user's system, the most
     * stages; words of an instruction, names of the banks by number, where the number of the bank
     * begins in a word; the families of methods with a Jacobian; of_run: the last parameters of a
     * system with noise, which belong to the run. */
    pi_put(&all, "limits", limits());
    /* Over the steps, and over time, by name: the number of each, the initial values of its rows,
     * and the first value of a trajectory that restarts. */
    pi_put(&all, "reductions", reductions(pi_reductions, PI_REDUCTIONS));
    pi_put(&all, "reductions_over_time", reductions(pi_piece_reductions, PI_PIECE_KINDS));
    Py_XDECREF(all);
    return all ? 0 : -1;
}
