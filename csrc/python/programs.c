/* Traced systems: byte code -> a verified program, and its kernels if it was compiled. */
#include "module.h"
#include "../bytecode/bytecode.h"

typedef struct {
    SystemHandle handle;
    PiProgram *program;
} ProgramHandle;

static int resolve_program(const void *self, ResolvedSystem *to) {
    const PiProgram *program = ((const ProgramHandle *)self)->program;
    to->system = &program->system;
    to->force = to->set->program;
    to->context = program;
    EACH_BELOW(question, PI_QUESTIONS)
        if (!pi_program_has(program, question)) to->unanswered |= 1u << question;
    return 0;
}

static void free_program(const void *self) {
    pi_program_free(((const ProgramHandle *)self)->program);
}

static PyObject *core_make_program(PyObject *module, PyObject *args) {
    PyObject *code, *constants, *sections;
    PiProgramText text = {0};
    if (!PyArg_ParseTuple(args, "OOOLLLLLL|LLL:make_program", &code, &constants, &sections,
                          &text.dim, &text.dof, &text.n_params, &text.n_derived, &text.n_invariants,
                          &text.n_registers, &text.noises, &text.second, &text.tangents))
        return NULL;
    Views views = {0};
    const uint32_t mode = pi_enter_float_mode(); /* constants are rounded to both precisions */
    PyObject *result = NULL;
    const int32_t *section;
    const int64_t instruction = PI_WORDS * sizeof *section;
    int64_t bytes = 0;
    if ((text.words = pi_views_array(&views, code, "code", 0, 4, 0))) {
        bytes = pi_views_items(&views, 1);
        text.n_code = bytes / instruction;
        text.constants = pi_views_array(&views, constants, "constants", 0, 8, 0);
    }
    if (text.constants) text.n_constants = pi_views_items(&views, 8);
    if (text.constants && (section = pi_views_array(&views, sections, "sections",
                                                    pi_product(2, PI_QUESTIONS), 4, 0))) {
        EACH_BELOW(i, PI_QUESTIONS) {
            text.first[i] = section[2 * i];
            text.last[i] = section[2 * i + 1];
        }
        char message[PI_MESSAGE] = "code ends within an instruction";
        PiProgram *program = bytes % instruction ? NULL : pi_program_make(&text, message);
        const ProgramHandle made = {{resolve_program, free_program, {NULL, NULL}}, program};
        if (program) result = pi_system_capsule(&made, sizeof made);
        else if (message[0]) PyErr_Format(PyExc_ValueError, "byte code refused: %s", message);
        else PyErr_NoMemory();
    }
    pi_leave_float_mode(mode);
    pi_views_release(&views);
    return result;
}

/* ---- compiled systems ------------------------------------------------------------------------ */
/* The kernels of a program in a loaded library. */
typedef struct {
    SystemHandle handle; /* keeps the program and the library */
    const PiKernels *kernels[2];
} CompiledProgram;

/* The program's system with the library's kernels and force. */
static int resolve_compiled(const void *self, ResolvedSystem *to) {
    const CompiledProgram *compiled = self;
    const ProgramHandle *made = PyCapsule_GetPointer(compiled->handle.kept[0], SYSTEM_CAPSULE);
    if (!made) return -1;
    to->system = &made->program->system;
    to->kernels = compiled->kernels[to->set->real_bits == 32];
    to->force = to->kernels->force;
    return 0;
}

static PyObject *core_make_compiled(PyObject *module, PyObject *args) {
    PyObject *program, *owner, *address[2];
    if (!PyArg_ParseTuple(args, "OOOO:make_compiled", &program, &address[0], &address[1], &owner))
        return NULL;
    const SystemHandle *handle = PyCapsule_GetPointer(program, SYSTEM_CAPSULE);
    if (!handle) return NULL;
    if (handle->resolve != resolve_program)
        return PyErr_Format(PyExc_ValueError, "the system to compile must be a program");
    const PiKernels *kernels[2];
    EACH_BELOW(i, 2) {
        void *pointer = PyLong_AsVoidPtr(address[i]);
        if (!pointer) return PyErr_Format(PyExc_ValueError, "the library has no kernels");
        kernels[i] = ((PiOneSystem *)pointer)(PI_LAYOUT);
        if (!kernels[i])
            return PyErr_Format(PyExc_ValueError, "the library belongs to another pyintegrate");
    }
    const CompiledProgram made = {{resolve_compiled, NULL, {Py_NewRef(program), Py_NewRef(owner)}},
                                  {kernels[0], kernels[1]}};
    return pi_system_capsule(&made, sizeof made);
}

PyMethodDef pi_program_functions[] = {
    {"make_program", core_make_program, METH_VARARGS,
     "make_program(code, constants, sections, dim, dof, n_params, n_derived, n_invariants,\n"
     "             n_registers, noises=0, second=0, tangents=0) -> handle\n\n"
     "code: int32, six words an instruction; constants: float64; sections: int32, first and last\n"
     "instruction for each question, -1 for one without an answer; noises, second: of a step with\n"
     "noise; tangents: PiSystem. ValueError: refused by the verifier."},
    {"make_compiled", core_make_compiled, METH_VARARGS,
     "make_compiled(program, f64, f32, owner) -> handle\n\n"
     "f64, f32: addresses of the functions of type PiOneSystem in a library; owner: keeps it."},
    {NULL, NULL, 0, NULL},
};
