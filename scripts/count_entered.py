#!/usr/bin/env python3
"""Counts which functions of this repository a command enters, and how often control comes back to a crate.

    cargo build --release
    scripts/count_entered.py [--program FILE] [--into lakeward_agent] [--list] -- ask "..." --table geo/countries --lake lake

Every function whose symbol belongs to this repository gets a breakpoint that is taken away when it is met first, in whatever thread.
What is printed: how many functions were entered, in how many source files of how many; crate by crate; and how often the crate `--into` is
entered: by how many functions of our other crates its functions were called first (`--list` prints the order of first entries and these
calls). What another crate calls back does not count: closures, and implementations of that crate's traits, which this crate has given to it. How often control comes back to it in the order of first entries is printed, too; that counts every small function that it calls
elsewhere. Functions that the compiler has inlined are not seen. Without the lines of functions (a stripped program) files are not known.

Linux on x86-64; needs `nm` and `addr2line` and no debugger. The index of the lake should be there before, or its building is counted, too.
"""

import argparse
import bisect
import ctypes
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The symbol of a function of a crate of ours, or of an implementation for a type of ours.
OURS = re.compile(r"^(?:<&?(?:mut )?)?(lakeward(?:_[a-z]+)?)::(.*)$")
BREAKPOINT = 0xCC
TRACEME, CONT, GETREGS, SETREGS, SETOPTIONS = 0, 7, 12, 13, 0x4200
TRACE_CLONE, EXIT_WITH_US = 0x8, 0x100000
ALL_THREADS = 0x40000000


class Registers(ctypes.Structure):
    """`struct user_regs_struct` of Linux on x86-64."""

    _fields_ = [
        (name, ctypes.c_ulonglong)
        for name in "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss "
        "fs_base gs_base ds es fs gs".split()
    ]


def functions(program):
    """Address in the file and name of every function: of this repository, and of all others."""
    found, others = {}, {}
    listed = subprocess.run(["nm", "-C", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        address, kind, name = line.split(" ", 2)
        if kind in "tTwW":
            (found if kind in "tT" and OURS.match(name) else others).setdefault(int(address, 16), name)
    if not found:
        sys.exit(f"{program} has no symbols of this repository")
    return found, others


def sources():
    """The source files of the program, without those of tests."""
    folders = [ROOT / "src", *ROOT.glob("crates/*/src")]
    every = (file.relative_to(ROOT) for folder in folders for file in folder.rglob("*.rs"))
    return {str(file) for file in every if "tests" not in file.parts and file.name != "tests.rs"}


def files(program, addresses):
    """Source file of each address, where the program has its lines and it is one of this repository."""
    asked = "\n".join(hex(address) for address in addresses)
    answered = subprocess.run(["addr2line", "-e", program], input=asked, capture_output=True, text=True, check=True).stdout
    every = sources()
    shown = (os.path.relpath(ROOT / line.rsplit(":", 1)[0], ROOT) for line in answered.splitlines())
    return {address: file for address, file in zip(addresses, shown) if file in every}


class Traced:
    """A child whose functions have breakpoints."""

    def __init__(self, command, addresses):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.child = os.fork()
        if self.child == 0:
            self.libc.ptrace(TRACEME, 0, None, None)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.execv(command[0], command)
        os.waitpid(self.child, 0)
        self.trace(SETOPTIONS, self.child, TRACE_CLONE | EXIT_WITH_US)
        self.memory = os.open(f"/proc/{self.child}/mem", os.O_RDWR)
        self.base = self.loaded_at(command[0])
        self.saved = {}
        for address in addresses:
            at = self.base + address
            self.saved[at] = os.pread(self.memory, 1, at)
            os.pwrite(self.memory, bytes([BREAKPOINT]), at)

    def trace(self, request, thread, data=None):
        if self.libc.ptrace(request, thread, None, data) == -1:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def loaded_at(self, program):
        """Where the program's first byte is in memory."""
        for line in Path(f"/proc/{self.child}/maps").read_text().splitlines():
            if line.endswith(os.path.realpath(program)):
                return int(line.split("-")[0], 16)
        raise RuntimeError(f"{program} is not in memory")

    def run(self):
        """Addresses in the file with those their callers go on at, in the order of first entry; the exit code."""
        entered, registers = [], Registers()
        self.trace(CONT, self.child)
        while True:
            thread, status = os.waitpid(-1, ALL_THREADS)
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                if thread == self.child:
                    return entered, os.waitstatus_to_exitcode(status)
                continue
            passed_on = os.WSTOPSIG(status)
            # A new thread begins stopped; an event stops the one that began it.
            if status >> 16 or passed_on == signal.SIGSTOP:
                passed_on = 0
            elif passed_on == signal.SIGTRAP:
                passed_on = 0
                self.trace(GETREGS, thread, ctypes.addressof(registers))
                at = registers.rip - 1
                if at in self.saved:
                    # Another thread may have met it at the same moment; then its byte is in place already.
                    if os.pread(self.memory, 1, at)[0] == BREAKPOINT:
                        os.pwrite(self.memory, self.saved[at], at)
                        back = int.from_bytes(os.pread(self.memory, 8, registers.rsp), "little")
                        entered.append((at - self.base, back - self.base))
                    registers.rip = at
                    self.trace(SETREGS, thread, ctypes.addressof(registers))
            self.trace(CONT, thread, passed_on)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/release/lakeward"))
    parser.add_argument("--into", default="lakeward_agent", help="the crate, or crate::module, to which returns are counted")
    parser.add_argument("--list", action="store_true", help="print every function in the order of first entries")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    arguments = options.arguments[1:] if options.arguments[:1] == ["--"] else options.arguments
    program = os.path.realpath(options.program)
    names, others = functions(program)
    starts = sorted([*names, *others])
    entered, code = Traced([program, *arguments], names).run()
    inside = options.into.split("::")

    def is_inside(address):
        crate, rest = OURS.match(names[address]).groups()
        return [crate, *re.split(r"::| as |[<>]", rest)][: len(inside)] == inside

    def caller(back):
        """The function of this repository that goes on at `back`, if it is one."""
        start = starts[max(bisect.bisect_right(starts, back) - 1, 0)]
        return start if start in names else None

    def is_called_back(address, by):
        """Whether a closure, or the implementation of a trait of the crate that calls it."""
        crate = OURS.match(names[by]).group(1)
        return "{{closure}}" in names[address] or f" as {crate}::" in names[address]

    places = files(program, [address for address, _ in entered])
    returns, within, calls = 0, True, {}
    for address, back in entered:
        now = is_inside(address)
        returns += now and not within
        within = now
        by = caller(back)
        if now and by is not None and not is_inside(by) and not is_called_back(address, by):
            calls.setdefault(by, []).append(address)
        if options.list:
            print(f"{'*' if now else ' '} {names[address]}  {places.get(address, '?')}")
    if options.list:
        for by, called in calls.items():
            print(f"> {names[by]} calls {', '.join(names[address] for address in called)}")
    lines = f"{len(set(places.values()))} of {len(sources())} files" if places else "files not known, as the program has no lines"
    print(f"exit code {code}; {len(entered)} of {len(names)} functions entered; {lines}")
    for crate, count in Counter(OURS.match(names[address]).group(1) for address, _ in entered).most_common():
        print(f"  {count:5} {crate}")
    print(f"{options.into} is entered from {len(calls)} functions of other crates; control comes back to it {returns} times")


if __name__ == "__main__":
    main()
