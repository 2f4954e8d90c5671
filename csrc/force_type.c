/* Forces of one's own, the Python side: byte code -> a verified program, and questions to it. */
#include "module.h"
#include "bytecode.h"
#include <stdlib.h>

PyObject *core_operations(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && pi_operation(i); i++) {
        const PiOperation *o = pi_operation(i);
        PyObject *item = Py_BuildValue("(sis)", o->name, o->arguments, o->text);
        if (!item || PyList_Append(list, item)) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}
const char operations_doc[] =
    "operations() -> list of (name, arguments, what it computes), by number in byte code.";

static void free_program(PyObject *capsule) {
    pi_program_free(PyCapsule_GetPointer(capsule, PROGRAM_CAPSULE));
}

const char make_program_doc[] =
    "make_program(code, constants, sections, dim, dof, n_params, n_derived, n_invariants,\n"
    "             n_registers) -> handle\n\n"
    "code: int32, five words an instruction; constants: float64; sections: int32, first and last\n"
    "instruction for each question, -1 where there is none. ValueError: refused by the verifier.";
PyObject *core_make_program(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *code, *constants, *sections;
    long long size[6];
    if (!PyArg_ParseTuple(args, "OOOLLLLLL:make_program", &code, &constants, &sections, &size[0],
                          &size[1], &size[2], &size[3], &size[4], &size[5]))
        return NULL;
    Views views = {0};
    PiProgramText text = {.dim = size[0],
                          .dof = size[1],
                          .n_params = size[2],
                          .n_derived = size[3],
                          .n_invariants = size[4],
                          .n_registers = size[5]};
    PyObject *result = NULL;
    const int32_t *section;
    if ((text.words = views_array(&views, code, "code", 0, 4, 0)) &&
        (text.constants = views_array(&views, constants, "constants", 0, 8, 0)) &&
        (section = views_array(&views, sections, "sections", 2 * PI_QUESTIONS, 4, 0))) {
        const Py_ssize_t bytes = views.view[0].len, instruction = PI_WORDS * sizeof(int32_t);
        text.n_code = bytes / instruction;
        text.n_constants = views.view[1].len / 8;
        for (int i = 0; i < PI_QUESTIONS; i++) {
            text.first[i] = section[2 * i];
            text.last[i] = section[2 * i + 1];
        }
        char message[PI_MESSAGE] = "code ends within an instruction";
        PiProgram *program = bytes % instruction ? NULL : pi_program_make(&text, message);
        if (program) {
            result = PyCapsule_New(program, PROGRAM_CAPSULE, free_program);
            if (!result) pi_program_free(program);
        } else if (message[0]) PyErr_Format(PyExc_ValueError, "byte code refused: %s", message);
        else PyErr_NoMemory();
    }
    views_release(&views);
    return result;
}

/* Arrays of any number: their views and rows, held in memory of the call. */
typedef struct {
    Views *views;
    PiRow *rows;
    int64_t count;
} Arrays;

static void arrays_release(Arrays *a) {
    for (int64_t i = 0; a->views && i < a->count; i++) views_release(&a->views[i]);
    PyMem_Free(a->views);
    PyMem_Free(a->rows);
}
static int arrays_take(Arrays *a, PyObject *tuple, const char *name, int64_t count, int64_t lanes,
                       int bytes) {
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != count) {
        PyErr_Format(PyExc_ValueError, "%s: expected a tuple of %lld arrays", name,
                     (long long)count);
        return -1;
    }
    a->views = PyMem_Calloc(count + 1, sizeof *a->views);
    a->rows = PyMem_Calloc(count + 1, sizeof *a->rows);
    if (!a->views || !a->rows) {
        PyErr_NoMemory();
        return -1;
    }
    for (a->count = 0; a->count < count; a->count++)
        if (views_row(&a->views[a->count], PyTuple_GetItem(tuple, a->count), name, lanes, bytes,
                      &a->rows[a->count])) {
            views_release(&a->views[a->count]);
            return -1;
        }
    return 0;
}

const char evaluate_program_doc[] =
    "evaluate_program(program, bits, question, lanes, t, y, params, out)\n\n"
    "As evaluate(), of a program.";
PyObject *core_evaluate_program(PyObject *module, PyObject *args) {
    PyObject *capsule, *t, *y, *params, *out, *result = NULL;
    int bits, question;
    long long lanes;
    if (!PyArg_ParseTuple(args, "OiiLOOOO:evaluate_program", &capsule, &bits, &question, &lanes, &t,
                          &y, &params, &out))
        return NULL;
    const PiProgram *program = PyCapsule_GetPointer(capsule, PROGRAM_CAPSULE);
    if (!program) return NULL;
    if ((bits != 64 && bits != 32) || question < 0 || question >= PI_PREPARE || lanes < 0 ||
        lanes > (int64_t)1 << 40)
        return PyErr_Format(PyExc_ValueError, "bits %d, question %d, lanes %lld: out of range",
                            bits, question, lanes);
    if (!pi_program_has(program, (PiQuestion)question))
        return PyErr_Format(PyExc_ValueError, "the program has no answer to question %d", question);
    const PiIsa *isa = pi_isa(state_of(module)->isa);
    const PiKernelSet *set = bits == 64 ? isa->f64 : isa->f32;
    PiInquiry inquiry = {.force = set->program,
                         .context = program,
                         .real_bytes = bits / 8,
                         .vector_bytes = set->vector_bytes,
                         .dim = program->dim,
                         .dof = program->dof,
                         .n_params = program->n_params,
                         .n_derived = program->n_derived,
                         .scratch = program->n_registers,
                         .lanes = lanes,
                         .answers = pi_program_answers(program, (PiQuestion)question)};
    Views views = {0};
    Arrays states = {0}, parameters = {0};
    int error = views_row(&views, t, "t", lanes, bits / 8, &inquiry.t) ||
                !(inquiry.out =
                      views_array(&views, out, "out", inquiry.answers * lanes, bits / 8, 1)) ||
                arrays_take(&states, y, "y", program->dim, lanes, bits / 8) ||
                arrays_take(&parameters, params, "params", program->n_params, lanes, bits / 8);
    if (!error) {
        inquiry.y = states.rows;
        inquiry.params = parameters.rows;
        Py_BEGIN_ALLOW_THREADS
        const uint32_t mode = pi_enter_float_mode();
        error = pi_inquire(&inquiry, (PiQuestion)question);
        pi_leave_float_mode(mode);
        Py_END_ALLOW_THREADS
        result = error ? PyErr_NoMemory() : Py_NewRef(Py_None);
    }
    arrays_release(&parameters);
    arrays_release(&states);
    views_release(&views);
    return result;
}
