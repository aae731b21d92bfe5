# Tries the walls from inside, in Python. A line above sets DAS: which run, and its numbers.
# Each line that it prints is one JSON object; das judges.

import errno
import json
import os
import signal
import socket
import stat
import sys
import threading
import time


def say(of, **more):
    os.write(1, (json.dumps({"das": DAS["nonce"], "of": of, **more}) + "\n").encode())


def listing(of, lines):
    say(of)
    for line in lines:
        say(of, line=str(line))


def read(of, *paths):
    for path in paths:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return listing(of, file.read().splitlines())
        except OSError:
            continue


def attempt(of, tried, act):
    try:
        answer = act()
        say(of, tried=tried, allowed="it worked" if answer is None else str(answer))
    except OSError as error:
        say(of, tried=tried, refused=error.strerror or str(error))


def create(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o700))
    os.unlink(path)


# A datagram socket is only given its route: not one packet is sent.
def route(family, address, port):
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((address, port))


def resolve(name):
    found = []

    def ask():
        try:
            found.append(socket.getaddrinfo(name, 80)[0][4][0])
        except OSError as error:
            found.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(1.5)
    if not found:
        raise OSError(0, "no answer")
    if isinstance(found[0], OSError):
        raise found[0]
    return found[0]


def network():
    read("interfaces", "/proc/net/dev")
    attempt("outside", "reach 1.1.1.1", lambda: route(socket.AF_INET, "1.1.1.1", 443))
    attempt("outside6", "reach 2606:4700:4700::1111",
            lambda: route(socket.AF_INET6, "2606:4700:4700::1111", 443))
    attempt("metadata", "reach 169.254.169.254",
            lambda: route(socket.AF_INET, "169.254.169.254", 80))
    attempt("dns", "resolve example.com", lambda: resolve("example.com"))


def filesystem():
    read("mounts", "/proc/self/mountinfo")
    attempt("root", "create /das-probe", lambda: create("/das-probe"))


def scratch():
    attempt("tmp-create", "create a file in /tmp", lambda: create("/tmp/das-probe"))
    attempt("tmp-exec", "execute a file in /tmp", execute_from_tmp)
    if DAS["fill_mb"]:
        attempt("tmp-fill", f"write {DAS['fill_mb']} MiB to /tmp", fill_tmp)


def execute_from_tmp():
    path = "/tmp/das-exec"
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/true\n")
        os.chmod(path, 0o755)
        os.waitpid(os.posix_spawn(path, [path], {}), 0)
    except FileNotFoundError:
        return "its interpreter was looked for"
    finally:
        os.unlink(path)


def fill_tmp():
    path = "/tmp/das-fill"
    try:
        with open(path, "wb", buffering=0) as file:
            for _ in range(DAS["fill_mb"]):
                left = bytes(1 << 20)
                while left:
                    left = left[file.write(left):]
    finally:
        os.unlink(path)


SOCKETS = ["/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock",
           "/run/containerd/containerd.sock", "/var/run/crio/crio.sock", "/run/buildkit/buildkitd.sock"]
MASKED = ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/sys",
          "/proc/sysrq-trigger", "/sys/firmware"]


def host():
    listing("sockets", filter(os.path.exists, SOCKETS))
    listing("devices", sorted(os.listdir("/dev")))
    listing("sensitive", filter(os.path.exists, MASKED))


def user():
    attempt("setuid", "become uid 0", lambda: os.setuid(0))
    attempt("setgid", "become gid 0", lambda: os.setgid(0))
    setuid_program()


# A setuid program of root, if the image has one, and whose power it runs with.
def setuid_program():
    for directory in ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]:
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
            path = os.path.join(directory, name)
            try:
                mode = os.stat(path)
                if mode.st_mode & stat.S_ISUID and mode.st_uid == 0 and stat.S_ISREG(mode.st_mode):
                    return attempt("setuid-program", f"run {path}, setuid root",
                                   lambda: run_setuid(path))
            except OSError:
                continue


def run_setuid(path):
    null = os.open("/dev/null", os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, number) for number in range(3)]
    child = os.posix_spawn(path, [path], {}, file_actions=actions)
    # Running or ended, until it is waited for the kernel tells whose it is.
    with open(f"/proc/{child}/status", encoding="utf-8") as file:
        ids = next(line.split()[1:] for line in file if line.startswith("Uid:"))
    try:
        os.kill(child, signal.SIGKILL)
    except OSError:
        pass
    os.waitpid(child, 0)
    if ids[1] != "0":
        raise OSError(f"it stays uid {ids[1]}")
    return "it has uid 0"


NUMBERS = {
    "x86_64": {"mount": 165, "unshare": 272, "keyctl": 250, "bpf": 321, "userfaultfd": 323,
               "perf_event_open": 298, "io_uring_setup": 425},
    "aarch64": {"mount": 40, "unshare": 97, "keyctl": 219, "bpf": 280, "userfaultfd": 282,
                "perf_event_open": 241, "io_uring_setup": 425},
}
# Of arguments that do nothing, or fail with EFAULT, where the call is let through.
ARGUMENTS = {"mount": (0, 0, 0, 0, 0), "unshare": (0x10000000,), "keyctl": (0, -3, 0),
             "bpf": (0, 0, 0), "userfaultfd": (0,), "perf_event_open": (0, 0, -1, -1, 0),
             "io_uring_setup": (1, 0)}


def syscalls():
    numbers = NUMBERS.get(os.uname().machine)
    if numbers is None:
        return
    # Not every image has it.
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    for name, number in numbers.items():
        attempt(f"syscall-{name}", name, lambda: in_child(lambda: call(ctypes, libc, name, number)))


def call(ctypes, libc, name, number):
    arguments = [ctypes.c_long(argument) for argument in ARGUMENTS[name]]
    return ctypes.get_errno() if libc.syscall(ctypes.c_long(number), *arguments) == -1 else 0


# What works must not change the probe itself.
def in_child(act):
    child = os.fork()
    if child == 0:
        os._exit(act())
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code in (errno.EPERM, errno.ENOSYS, errno.EACCES):
        raise OSError(code, os.strerror(code))
    return "it worked" if code == 0 else f"let through, {os.strerror(code)}" if code > 0 else code


CGROUP = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max", "memory.swap.max",
          "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.max", "pids.max"]


def limits():
    read("status", "/proc/self/status")
    rlimits()
    read("meminfo", "/proc/meminfo")
    read("version", "/proc/version")
    read("core-pattern", "/proc/sys/kernel/core_pattern")
    for name in CGROUP:
        read(name, f"/sys/fs/cgroup/{name}", f"/sys/fs/cgroup/{name.split('.')[0]}/{name}")


# Not every kernel shows them as a file.
def rlimits():
    if os.path.exists("/proc/self/limits"):
        return read("limits", "/proc/self/limits")
    import resource
    names = {"Max open files": resource.RLIMIT_NOFILE, "Max core file size": resource.RLIMIT_CORE}
    pairs = [(name, *resource.getrlimit(number)) for name, number in names.items()]
    listing("limits", [f"{name} {soft} {hard}" for name, soft, hard in pairs])


# Nor this one in a file.
def no_new_privileges():
    import ctypes
    say("no-new-privs", line=str(ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)))


def descriptors():
    held = []
    limit = DAS["nofile"] + 16
    try:
        attempt("nofile", f"open {limit} files", lambda: hold(held, limit))
    finally:
        opened = len(held)
        for descriptor in held:
            os.close(descriptor)
    say("opened", line=str(opened))


def hold(held, limit):
    while len(held) < limit:
        held.append(os.open("/dev/null", os.O_RDONLY))


def core_dump():
    child = os.fork()
    if child == 0:
        os.chdir("/tmp")
        os.kill(os.getpid(), signal.SIGSEGV)
        os.abort()
    status = os.waitpid(child, 0)[1]
    # The first process of a container survives its own signals; a child does not.
    dumped = os.WIFSIGNALED(status) and os.WCOREDUMP(status)
    say("core", tried="crash", **({"allowed": "a core dump"} if dumped else {"refused": "no core dump"}))


def environment():
    with open("/proc/self/environ", "rb") as file:
        names = [pair.split(b"=")[0].decode("utf-8", "replace") for pair in file.read().split(b"\0")]
    listing("env", sorted(name for name in names if name))


def others():
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/comm", encoding="utf-8", errors="replace") as file:
                command = file.read().strip()
        except OSError:
            continue
        if name != str(os.getpid()):
            found.append(f"{name} {command}")
    return found


def processes():
    listing("processes", others())


def namespaces():
    names = ["pid", "net", "ipc", "mnt", "uts"]
    listing("namespaces", [os.readlink(f"/proc/self/ns/{name}") for name in names])


def facts():
    steps = [limits, processes, network, filesystem, scratch, host, user, syscalls,
             no_new_privileges, descriptors, core_dump, environment, namespaces]
    for step in steps:
        try:
            step()
        # What one step cannot find out is missing from the facts, and das says so.
        except Exception as error:
            say("trouble", line=f"{step.__name__}: {error}")
    say("end")


def cpu():
    before = throttled()
    # Where no quota is to be seen, a machine that is busy itself would look like one: more chances.
    for _ in range(10 if before is None else 1):
        burn()
    after = throttled()
    if before is not None and after is not None:
        say("throttled", line=str(after - before))
    say("end")


# By the kernel's count, and by what the burners saw of the clock.
def burn():
    receiver, sender = os.pipe()
    began, had = time.monotonic(), children_had()
    children = [burner(sender) for _ in range(DAS["burners"])]
    os.close(sender)
    for child in children:
        os.waitpid(child, 0)
    wall = time.monotonic() - began
    with open(receiver, encoding="ascii") as file:
        ran = sum(map(float, file))
    say("cpu", line=f"{children_had() - had:.3f} {wall:.3f}")
    say("ran", line=f"{ran:.3f} {wall:.3f}")


def children_had():
    used = os.times()
    return used.children_user + used.children_system


def burner(sender):
    child = os.fork()
    if child == 0:
        ran, now = 0.0, time.monotonic()
        until = now + 0.6
        while now < until:
            before, now = now, time.monotonic()
            # In a longer gap it did not run.
            if now - before < 0.0005:
                ran += now - before
        os.write(sender, b"%.6f\n" % ran)
        os._exit(0)
    return child


def throttled():
    for path in ["/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"]:
        try:
            with open(path, encoding="utf-8") as file:
                return int(next(line.split()[1] for line in file if line.startswith("nr_throttled")))
        except (OSError, StopIteration):
            continue
    return None


def memory():
    kept = []
    took = 0
    try:
        with open("/dev/shm/das-memory", "wb", buffering=0) as file:
            while took < DAS["memory_mb"] // 4:
                file.write(b"x" * (1 << 20))
                took += 1
    except OSError:
        pass
    while took < DAS["hog_mb"]:
        kept.append(b"x" * (1 << 22))
        took += 4
        say("took", line=str(took))
    say("end")


def pids():
    receiver, sender = os.pipe()
    children = []
    try:
        attempt("fork", f"start {DAS['bomb']} processes", lambda: bomb(children, receiver, sender))
    finally:
        os.close(sender)
        for child in children:
            os.waitpid(child, 0)
    say("end")


def bomb(children, receiver, sender):
    while len(children) < DAS["bomb"]:
        child = os.fork()
        if child == 0:
            os.close(sender)
            os.read(receiver, 1)
            os._exit(0)
        children.append(child)
        # At once: some kernels end with the next one.
        say("forked", line=str(len(children)))


def deadline():
    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    say("ready")
    while True:
        time.sleep(1)


def output():
    line = b"x" * 1023 + b"\n"
    left = DAS["print_bytes"]
    while left > 0:
        left -= os.write(1, line)


def leave():
    for directory in DAS["places"]:
        attempt("left", f"leave a file in {directory}",
                lambda: os.close(os.open(f"{directory}/das-left", os.O_CREAT | os.O_WRONLY)))
    if os.fork() == 0:
        os.setsid()
        with open("/proc/self/comm", "w", encoding="ascii") as file:
            file.write("das-left")
        for number in [signal.SIGTERM, signal.SIGHUP]:
            signal.signal(number, signal.SIG_IGN)
        for descriptor in range(3):
            os.close(descriptor)
        time.sleep(600)
    say("end")


def look():
    found = []
    for directory in DAS["places"]:
        if os.path.isdir(directory):
            found += [os.path.join(directory, name) for name in os.listdir(directory)]
    listing("found", found)
    listing("daemon", [process for process in others() if process.endswith(" das-left")])
    say("end")


def abstract():
    return "\0das-" + DAS["nonce"]


def wait_for_peer():
    with open("/dev/shm/das-peer", "w", encoding="utf-8"):
        pass
    local = socket.socket(socket.AF_UNIX)
    local.bind(abstract())
    local.listen()
    loopback = socket.socket()
    loopback.bind(("127.0.0.1", DAS["port"]))
    loopback.listen()
    say("ready")
    while True:
        time.sleep(1)


def peer():
    attempt("peer-socket", "its abstract socket", lambda: socket.socket(socket.AF_UNIX).connect(abstract()))
    attempt("peer-port", "its loopback",
            lambda: socket.create_connection(("127.0.0.1", DAS["port"]), 1))
    attempt("peer-shm", "its /dev/shm", lambda: os.stat("/dev/shm/das-peer") and None)
    processes()
    say("end")


{"facts": facts, "cpu": cpu, "memory": memory, "pids": pids, "time": deadline, "output": output,
 "leave": leave, "look": look, "hold": wait_for_peer, "peer": peer}[DAS["run"]]()
