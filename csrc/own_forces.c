/* Forces of one's own, the Python side: byte code -> a verified program, and questions to it. */
#include "module.h"
#include "bytecode.h"

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
    "code: int32, six words an instruction; constants: float64; sections: int32, first and last\n"
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
        const Py_ssize_t bytes = views.view[0]->len, instruction = PI_WORDS * sizeof(int32_t);
        text.n_code = bytes / instruction;
        text.n_constants = views.view[1]->len / 8;
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

/* ---- systems of one's own -------------------------------------------------------------------- */
int find_own_system(PyObject *capsule, Moved *moved) {
    if (PyCapsule_IsValid(capsule, CALLBACK_CAPSULE)) return find_callback(capsule, moved);
    const PiProgram *program = PyCapsule_GetPointer(capsule, PROGRAM_CAPSULE);
    if (!program) return -1;
    moved->system = &program->system;
    moved->force = moved->set->program;
    moved->context = program;
    return 0;
}
int check_question(const Moved *moved, PiQuestion question) {
    if (moved->force != moved->set->program) return 0;
    if (pi_program_has((const PiProgram *)moved->context, question)) return 0;
    PyErr_Format(PyExc_ValueError, "the program has no answer to question %d", question);
    return -1;
}
