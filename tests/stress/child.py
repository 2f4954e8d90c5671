"""The work of an attack in a child process; its parent sees how it ends, and at which case.

A process that attacks by the thousand a second cannot keep each case on disk, and when it dies it
says nothing. So it writes the case at hand in memory that it shares with a parent, which does
nothing but wait.
"""

import ctypes
import mmap
import os
import signal
import struct
import sys
import time

PATIENCE = 300.0  # seconds that one case may take


class Note:
    """Where the child says which case is at hand."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 16)

    def __call__(self, seed, case):
        self.memory[:] = struct.pack("qq", seed, case)

    def read(self):
        return struct.unpack("qq", self.memory)


def guarded(name, patience=PATIENCE):
    """Go on in a child; the parent waits for it, reports its death, and ends with it.

    Returns
    -------
    Note
        To be called with the seed and the number of each case, in the child.
    """
    note = Note()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        return note
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: os.kill(child, number))
    sys.exit(_wait(child, note, name, patience))


def _wait(child, note, name, patience):
    """What the parent ends with: 0 if all is well."""
    seen, since = note.read(), time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
        if note.read() != seen:
            seen, since = note.read(), time.monotonic()
        elif time.monotonic() - since > patience:
            print(f"{name}: case {_case(note)} has not ended in {patience:.0f} s", flush=True)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return 1
    if os.WIFSIGNALED(status):
        how = signal.Signals(os.WTERMSIG(status)).name
        print(f"{name}: {how} ended it in case {_case(note)}", flush=True)
        return 1
    if os.WEXITSTATUS(status):
        print(f"{name}: case {_case(note)} failed", flush=True)
    return os.WEXITSTATUS(status)


def _case(note):
    return ":".join(map(str, note.read()))


def threads():
    """Threads of this process (Linux)."""
    return len(os.listdir("/proc/self/task"))


def resident():
    """Bytes of memory in use (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class _Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                     "uordblks", "fordblks", "keepcost")
    ]  # fmt: skip


def held():
    """Bytes that malloc has given out, and blocks of Python's small objects (Linux, glibc 2.33).

    Resident memory also grows by what free() keeps for later, and by fragments.
    """
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _Mallinfo2
    info = mallinfo2()
    return info.uordblks + info.hblkhd, sys.getallocatedblocks()
