#!/usr/bin/env python3
"""Tries to break out of the sandbox in 28 ways, and says of each whether it worked.

    das run examples/escape_attempts.py        every attempt is BLOCKED, exit code 0
    python3 examples/escape_attempts.py        some are OK, exit code 1

Each attempt is made by a process of its own, does what an attacker would do up to the point where
it has worked, and undoes it. It does no harm outside the sandbox either.
"""

import ctypes
import errno
import os
import platform
import resource
import socket
import stat
import subprocess
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
MACHINE = platform.machine()

# The numbers of system calls that the C library does not offer.
SYSCALLS = {
    "x86_64": {"keyctl": 250, "init_module": 175, "bpf": 321},
    "aarch64": {"keyctl": 219, "init_module": 105, "bpf": 280},
}


class Blocked(Exception):
    """There was nothing to get at."""


class Skipped(Exception):
    """It cannot be tried here."""


def libc(name, *args):
    """Calls the C library and raises what it reports."""
    result = getattr(LIBC, name)(*args)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def syscall(name, *args):
    if MACHINE not in SYSCALLS:
        raise Skipped(f"its number on {MACHINE} is not known")
    return libc("syscall", ctypes.c_long(SYSCALLS[MACHINE][name]), *args)


def first_that_works(attempts):
    """The first of several ways that works; if none does, the most telling error of them."""
    telling = Blocked("there is none here")
    for attempt, *args in attempts:
        try:
            return attempt(*args)
        except FileNotFoundError:
            pass
        except OSError as error:
            telling = error
    raise telling


# The network.


def reach_the_internet():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("1.1.1.1", 53))  # Asks for a route. Nothing is sent.


def resolve_a_name():
    socket.getaddrinfo("example.com", 443)


def reach_the_metadata_service():
    socket.create_connection(("169.254.169.254", 80), timeout=1).close()


def find_a_network_interface():
    names = [name for _, name in socket.if_nameindex()]
    for name in names:
        with open(f"/sys/class/net/{name}/flags") as file:
            flags = int(file.read(), 16)
        if flags & 1 and not flags & 8:  # It is up, and no loopback.
            return
    raise Blocked(f"only {', '.join(names)}")


def open_a_raw_socket():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()


def talk_to_the_container_engine():
    def connect(path):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(path)

    places = ["docker.sock", "podman/podman.sock", "containerd/containerd.sock", "crio/crio.sock"]
    first_that_works((connect, f"{run}/{place}") for run in ("/run", "/var/run") for place in places)


# Files.


def write_to_the_root_file_system():
    def write(directory):
        path = f"{directory}/escape-{os.getpid()}"
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.unlink(path)

    first_that_works((write, directory) for directory in ("/", "/etc", "/usr/local/bin", "/var"))


def read_the_password_hashes():
    with open("/etc/shadow") as file:
        file.read()


def execute_a_file_in_tmp():
    path = f"/tmp/escape-{os.getpid()}"
    with open(path, "w") as file:
        file.write(f"#!{sys.executable} -I\npass\n")
    try:
        os.chmod(path, 0o755)
        subprocess.run([path], check=False)
    finally:
        os.unlink(path)


def make_a_block_device():
    path = f"/tmp/escape-{os.getpid()}"
    os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(8, 0))
    os.unlink(path)


def open_a_device_of_the_host():
    names = ["mem", "kmsg", "sda", "vda", "nvme0n1", "kvm", "fuse", "net/tun"]
    first_that_works(
        (lambda path: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK)), f"/dev/{name}")
        for name in names
    )


def mount_a_file_system():
    path = f"/tmp/escape-{os.getpid()}"
    os.mkdir(path)
    try:
        libc("mount", b"none", path.encode(), b"tmpfs", 0, None)
        libc("umount", path.encode())
    finally:
        os.rmdir(path)


def change_the_root_directory():
    os.chroot("/")


# Processes and privileges.


def become_root():
    os.setuid(0)


def gain_privileges_by_a_setuid_program():
    if LIBC.prctl(39, 0, 0, 0, 0) == 1:  # PR_GET_NO_NEW_PRIVS
        raise Blocked("no new privileges for any program")


def hold_a_capability():
    with open("/proc/self/status") as file:
        sets = [line.split() for line in file if line.startswith("Cap")]
    if not any(int(value, 16) for _, value in sets):
        raise Blocked("all five sets are empty")


def make_namespaces_of_its_own():
    libc("unshare", 0x10000000 | 0x00020000)  # CLONE_NEWUSER | CLONE_NEWNS


def processes_of_the_host():
    mine = {1, os.getpid(), os.getppid()}
    others = {int(name) for name in os.listdir("/proc") if name.isdigit()} - mine
    if not others:
        raise Blocked("there is no other process")
    return sorted(others)


def see_the_processes_of_the_host():
    processes_of_the_host()


def trace_a_process_of_the_host():
    seize = 0x4206  # PTRACE_SEIZE, which stops nothing. The end of the tracer undoes it.
    first_that_works(
        (libc, "ptrace", ctypes.c_long(seize), ctypes.c_long(process), None, None)
        for process in processes_of_the_host()
    )


def start_300_processes():
    reader, writer = os.pipe()
    children = []
    try:
        for _ in range(300):
            child = os.fork()
            if child == 0:
                os.close(writer)
                os.read(reader, 1)  # Until the parent closes its end.
                os._exit(0)
            children.append(child)
    finally:
        os.close(writer)
        os.close(reader)
        for child in children:
            os.waitpid(child, 0)


def open_1000_files():
    files = []
    try:
        for _ in range(1000):
            files.append(os.open("/dev/null", os.O_RDONLY))
    finally:
        for file in files:
            os.close(file)


def allow_core_dumps():
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))


# The kernel.


def refused_only_by(denials, name, *args):
    """A system call that a privileged caller gets wrong: any other error says it was allowed."""
    try:
        syscall(name, *args)
    except OSError as error:
        if error.errno in denials:
            raise


def load_a_kernel_module():
    refused_only_by({errno.EPERM, errno.ENOSYS}, "init_module", None, 0, b"")


def load_a_bpf_program():
    refused_only_by({errno.EPERM, errno.ENOSYS}, "bpf", 5, None, 0)


def use_the_session_keyring():
    syscall("keyctl", 0, -3, 1)  # KEYCTL_GET_KEYRING_ID of the session's, made if it must be.


def open_for_writing(path):
    os.close(os.open(path, os.O_WRONLY))  # Nothing is written.


def change_a_kernel_setting():
    open_for_writing("/proc/sys/kernel/core_pattern")


def change_a_control_group():
    places = ["", "memory/", "pids/", "rdma/", "unified/"]
    names = ["release_agent", "cgroup.procs"]
    first_that_works(
        (open_for_writing, f"/sys/fs/cgroup/{place}{name}") for name in names for place in places
    )


# Secrets.


def find_a_secret_in_the_environment():
    marks = ("KEY", "TOKEN", "SECRET", "PASSW", "PROXY", "CREDENTIAL")
    if not any(mark in name.upper() for name in os.environ for mark in marks):
        raise Blocked(f"none among {len(os.environ)} variables")


ATTEMPTS = [
    reach_the_internet,
    resolve_a_name,
    reach_the_metadata_service,
    find_a_network_interface,
    open_a_raw_socket,
    talk_to_the_container_engine,
    write_to_the_root_file_system,
    read_the_password_hashes,
    execute_a_file_in_tmp,
    make_a_block_device,
    open_a_device_of_the_host,
    mount_a_file_system,
    change_the_root_directory,
    become_root,
    gain_privileges_by_a_setuid_program,
    hold_a_capability,
    make_namespaces_of_its_own,
    see_the_processes_of_the_host,
    trace_a_process_of_the_host,
    start_300_processes,
    open_1000_files,
    allow_core_dumps,
    load_a_kernel_module,
    load_a_bpf_program,
    use_the_session_keyring,
    change_a_kernel_setting,
    change_a_control_group,
    find_a_secret_in_the_environment,
]


def outcome(attempt):
    """What became of an attempt: a word and, where it did not work, the reason."""
    try:
        attempt()
    except Skipped as reason:
        return "SKIPPED", str(reason)
    except Blocked as reason:
        return "BLOCKED", str(reason)
    except (OSError, ValueError) as error:
        return "BLOCKED", getattr(error, "strerror", None) or str(error)
    return "OK", ""


def outcome_of_a_child(attempt):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.write(writer, "\t".join(outcome(attempt)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        report = pipe.read()
    os.waitpid(child, 0)
    word, _, reason = report.partition("\t")
    return (word, reason) if word else ("SKIPPED", "the attempt crashed")


def main():
    counts = {"BLOCKED": 0, "OK": 0, "SKIPPED": 0}
    for attempt in ATTEMPTS:
        word, reason = outcome_of_a_child(attempt)
        counts[word] += 1
        name = attempt.__name__.replace("_", " ")
        print(f"[{word:8}] {name:38} {reason}".rstrip())
    print(f"\n{len(ATTEMPTS)} attempts, {counts['BLOCKED']} blocked, {counts['OK']} worked")
    return 0 if counts["BLOCKED"] == len(ATTEMPTS) else 1


sys.exit(main())
