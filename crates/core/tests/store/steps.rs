//! A process that dies, or whose disk is full, at any step that changes the disk: its system calls are counted, and at a given one
//! it is killed or told that there is no room. Linux lets a parent do this to its child; elsewhere the tests say that they skip it.

#![allow(clippy::print_stdout, reason = "a skipped test says why")]

use std::path::Path;
use std::process::Command;

/// What happens at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process is killed before it.
    Kill,
    /// There is no room from then on.
    Full,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Steps that were reached.
    pub steps: usize,
    /// The exit code; none of a process that was killed.
    pub code: Option<i32>,
}

/// Runs `command` with `fault` at its `at`th step, from 1. Writes count below `place`. `begun` gets the id of the process
/// before its first step. Nothing where this system cannot do it, which is printed.
pub fn run(command: &mut Command, place: &Path, fault: Fault, at: usize, begun: impl FnOnce(u32)) -> Option<Run> {
    let run = imp::run(command, place, fault, at, begun);
    if run.is_none() {
        println!("skipped: this system does not let a test stop a process at its system calls");
    }
    run
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod imp {
    use std::collections::HashSet;
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::Command;

    use super::{Fault, Run};

    /// Stops at system calls are told from others by this bit.
    const SYSTEM_CALL: i32 = libc::SIGTRAP | 0x80;

    #[allow(clippy::zombie_processes, reason = "it is waited for below, by its id")]
    pub fn run(command: &mut Command, place: &Path, fault: Fault, at: usize, begun: impl FnOnce(u32)) -> Option<Run> {
        // SAFETY: the call only marks the child as traced.
        unsafe {
            command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            });
        }
        let pid = command.spawn().ok()?.id() as libc::pid_t;
        let mut status = 0;
        // SAFETY: `status` outlives the call.
        unsafe { libc::waitpid(pid, &mut status, libc::__WALL | libc::__WNOTHREAD) };
        let options = libc::PTRACE_O_TRACESYSGOOD
            | libc::PTRACE_O_EXITKILL
            | libc::PTRACE_O_TRACECLONE
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK;
        request(libc::PTRACE_SETOPTIONS, pid, options as usize);
        let mut tracer = Tracer { pid, place, fault, at, steps: 0, refused: HashSet::new() };
        begun(pid as u32);
        request(libc::PTRACE_SYSCALL, pid, 0);
        let mut known = HashSet::from([pid]);
        loop {
            // SAFETY: `status` outlives the call. Only children of this thread are waited for, not those of other tests.
            let thread = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
            if thread < 0 {
                return None;
            }
            if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
                if thread == pid {
                    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
                    return Some(Run { steps: tracer.steps, code });
                }
                continue;
            }
            let signal = libc::WSTOPSIG(status);
            let passed_on = if signal == SYSTEM_CALL {
                if !tracer.system_call(thread)? {
                    continue;
                }
                0
            } else if status >> 16 != 0 || known.insert(thread) && signal == libc::SIGSTOP {
                0
            } else {
                signal
            };
            request(libc::PTRACE_SYSCALL, thread, passed_on as usize);
        }
    }

    struct Tracer<'a> {
        pid: libc::pid_t,
        place: &'a Path,
        fault: Fault,
        at: usize,
        steps: usize,
        /// Threads whose present call is not carried out.
        refused: HashSet<libc::pid_t>,
    }

    impl Tracer<'_> {
        /// Whether the thread goes on; none where the system does not say what it calls.
        fn system_call(&mut self, thread: libc::pid_t) -> Option<bool> {
            // SAFETY: plain numbers, for which zeros are a value.
            let mut call: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
            let size = size_of::<libc::ptrace_syscall_info>();
            // SAFETY: `call` has `size` bytes and outlives the call.
            let length = unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, thread, size, &mut call) };
            if length <= 0 {
                // It was killed meanwhile.
                return Some(true);
            }
            if call.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
                if self.refused.remove(&thread) {
                    registers::answer(thread, -i64::from(libc::ENOSPC));
                }
                return Some(true);
            }
            // SAFETY: at an entry the union holds one.
            let (number, arguments) = unsafe { (call.u.entry.nr as i64, call.u.entry.args) };
            if !self.is_step(thread, number, &arguments) {
                return Some(true);
            }
            self.steps += 1;
            match self.fault {
                Fault::Kill if self.steps == self.at => {
                    // SAFETY: the process is a child that was not waited for yet.
                    unsafe { libc::kill(self.pid, libc::SIGKILL) };
                    return Some(false);
                }
                Fault::Full if self.steps >= self.at && needs_room(number) => {
                    self.refused.insert(thread);
                    if !registers::skip(thread) {
                        // SAFETY: as above.
                        unsafe { libc::kill(self.pid, libc::SIGKILL) };
                        return None;
                    }
                }
                _ => {}
            }
            Some(true)
        }

        fn is_step(&self, thread: libc::pid_t, number: i64, arguments: &[u64; 6]) -> bool {
            match number {
                libc::SYS_write
                | libc::SYS_writev
                | libc::SYS_pwrite64
                | libc::SYS_ftruncate
                | libc::SYS_fsync
                | libc::SYS_fdatasync => self.is_below(thread, arguments[0]),
                libc::SYS_openat => arguments[2] as i32 & libc::O_CREAT != 0,
                libc::SYS_renameat
                | libc::SYS_renameat2
                | libc::SYS_linkat
                | libc::SYS_unlinkat
                | libc::SYS_mkdirat => true,
                #[cfg(target_arch = "x86_64")]
                libc::SYS_open => arguments[1] as i32 & libc::O_CREAT != 0,
                #[cfg(target_arch = "x86_64")]
                libc::SYS_rename | libc::SYS_link | libc::SYS_unlink | libc::SYS_mkdir | libc::SYS_rmdir => true,
                _ => false,
            }
        }

        /// Whether a file descriptor is of a file or folder below the place.
        fn is_below(&self, thread: libc::pid_t, descriptor: u64) -> bool {
            std::fs::read_link(format!("/proc/{thread}/fd/{descriptor}")).is_ok_and(|path| path.starts_with(self.place))
        }
    }

    /// Removing and making short need none.
    fn needs_room(number: i64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if matches!(number, libc::SYS_unlink | libc::SYS_rmdir) {
            return false;
        }
        !matches!(number, libc::SYS_unlinkat | libc::SYS_ftruncate)
    }

    fn request(what: libc::c_uint, thread: libc::pid_t, data: usize) -> bool {
        // SAFETY: these requests take a number and touch no memory of this process.
        unsafe { libc::ptrace(what, thread, 0usize, data) == 0 }
    }

    #[cfg(target_arch = "x86_64")]
    mod registers {
        use std::mem::offset_of;

        /// The call about to be made is none.
        pub fn skip(thread: libc::pid_t) -> bool {
            set(thread, offset_of!(libc::user, regs) + offset_of!(libc::user_regs_struct, orig_rax), -1)
        }

        /// The call just made has this answer.
        pub fn answer(thread: libc::pid_t, answer: i64) {
            set(thread, offset_of!(libc::user, regs) + offset_of!(libc::user_regs_struct, rax), answer);
        }

        fn set(thread: libc::pid_t, register: usize, value: i64) -> bool {
            // SAFETY: changes a register of the child.
            unsafe { libc::ptrace(libc::PTRACE_POKEUSER, thread, register, value) == 0 }
        }
    }

    #[cfg(target_arch = "aarch64")]
    mod registers {
        pub fn skip(_thread: libc::pid_t) -> bool {
            false
        }

        pub fn answer(_thread: libc::pid_t, _answer: i64) {}
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod imp {
    use std::path::Path;
    use std::process::Command;

    use super::{Fault, Run};

    pub fn run(
        _command: &mut Command,
        _place: &Path,
        _fault: Fault,
        _at: usize,
        _begun: impl FnOnce(u32),
    ) -> Option<Run> {
        None
    }
}
