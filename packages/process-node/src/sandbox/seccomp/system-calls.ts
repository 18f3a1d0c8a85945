/**
 * The system calls of a container with seccomp profile RuntimeDefault, as data: what programs need is
 * allowed, what only administrators or exploits of the kernel need is refused, and what the list does not
 * know is "not implemented", so that programs fall back. Some calls come with the capability that makes them
 * useful.
 */
import { lookupTable } from "@setpoint/apimachinery";

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

export const allowedCalls: readonly string[] = words(`
  accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chmod chown
  clock_adjtime clock_getres clock_gettime clock_nanosleep close close_range connect copy_file_range
  creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd
  eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fanotify_mark fchdir
  fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr
  fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake
  futimesat get_robust_list get_thread_area getcpu getcwd getdents getdents64 getegid geteuid getgid
  getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid
  getresuid getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr
  getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy
  io_getevents io_pgetevents io_setup io_submit ioctl ioprio_get ioprio_set kill landlock_add_rule
  landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat listen listmount listxattr
  listxattrat llistxattr lremovexattr lseek lsetxattr lsm_get_self_attr lstat madvise map_shadow_stack
  membarrier memfd_create memfd_secret mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap
  modify_ldt mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap
  mseal msgctl msgget msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep
  newfstatat open openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free
  pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64 process_mrelease process_vm_readv
  process_vm_writev pselect6 ptrace pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv
  recvfrom recvmmsg recvmsg remap_file_pages removexattr removexattrat rename renameat renameat2
  restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
  rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min
  sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
  sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl
  semget semop semtimedop sendfile sendmmsg sendmsg sendto set_robust_list set_thread_area
  set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid
  setresuid setreuid setrlimit setsid setsockopt setuid setxattr setxattrat shmat shmctl shmdt shmget
  shutdown sigaltstack signalfd signalfd4 socketpair splice stat statfs statmount statx symlink
  symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete
  timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times
  tkill truncate umask uname unlink unlinkat utime utimensat utimes vfork vmsplice wait4 waitid write
  writev
`);

/** Keys of the kernel: a process has those of the session that it was started in, which is the node's. */
export const keyCalls: readonly string[] = ["add_key", "keyctl", "request_key"];

/**
 * Keys of the kernel, new kernel code, other kernels, raw hardware, and interfaces with a history of escapes.
 */
export const deniedCalls: readonly string[] = words(`
  _sysctl add_key afs_syscall create_module delete_module epoll_ctl_old epoll_wait_old finit_module
  get_kernel_syms getpmsg init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl
  kexec_file_load kexec_load keyctl nfsservctl putpmsg query_module reboot request_key security swapoff
  swapon sysfs tuxcall uselib userfaultfd ustat vserver
`);

/** Denied unless the container holds the capability. */
export const callsByCapability: Readonly<Record<string, readonly string[]>> = lookupTable({
  CAP_SYS_PTRACE: words("kcmp pidfd_getfd process_madvise"),
  CAP_SYS_NICE: words(`
  get_mempolicy mbind set_mempolicy set_mempolicy_home_node move_pages migrate_pages
  `),
  CAP_SYS_CHROOT: words("chroot"),
  CAP_SYS_TIME: words("settimeofday clock_settime"),
  CAP_SYS_TTY_CONFIG: words("vhangup"),
  CAP_SYSLOG: words("syslog"),
  CAP_SYS_PACCT: words("acct"),
  CAP_DAC_READ_SEARCH: words("open_by_handle_at"),
  CAP_BPF: words("bpf"),
  CAP_PERFMON: words("perf_event_open"),
  CAP_SYS_ADMIN: words(`
  mount umount2 move_mount fsopen fsconfig fsmount fspick open_tree mount_setattr pivot_root unshare
  setns sethostname setdomainname quotactl quotactl_fd fanotify_init lookup_dcookie perf_event_open bpf
  `),
});
