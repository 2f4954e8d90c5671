/* What Python.h must know of the platform that is built for, as the compiler tells it: of 64-bit
 * platforms, for an extension that uses the stable ABI alone. It stands in for the pyconfig.h of
 * the machine that builds. */
#pragma once

#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define SIZEOF_TIME_T 8
#define ALIGNOF_LONG __SIZEOF_LONG__
#define HAVE_STDINT_H 1
#define HAVE_WCHAR_H 1
#define WITH_THREAD 1

#ifdef _WIN32
#define MS_WINDOWS 1
#define MS_WIN64 1
#define NT_THREADS 1
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1 /* names come from python3.dll */
#define HAVE_PY_SSIZE_T 1
typedef __PTRDIFF_TYPE__ Py_ssize_t;
#define PY_SSIZE_T_MAX __PTRDIFF_MAX__
#else
#define HAVE_PTHREAD_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SSIZE_T 1
#endif
