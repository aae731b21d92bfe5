//! The strict filter on a real engine: languages work under it, attacks do not.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Language, Real};

/// Runs a program under a filter, with room for a tour of a standard library.
#[track_caller]
fn run(language: Language, filter: &str, code: &str) -> String {
    let real = Real::new();
    let room = ["--memory", "512", "--pids", "128", "--cpus", "2", "--timeout", "60"];
    let run = real.run(language, code).arg("--quiet").args(["--seccomp", filter]).args(room);
    let finished = run.output();
    assert_eq!(finished.code(), Some(0), "{finished:?}");
    finished.stdout_text()
}

#[test]
#[ignore = "needs Docker: a tour of Python's standard library under the strict filter"]
fn python_works_under_the_strict_filter() {
    assert_eq!(run(Language::Python, "strict", PYTHON_TOUR), "toured\n");
}

#[test]
#[ignore = "needs Docker: a tour of Node.js's own modules under the strict filter"]
fn node_works_under_the_strict_filter() {
    assert_eq!(run(Language::Node, "strict", NODE_TOUR), "toured\n");
}

#[test]
#[ignore = "needs Docker: shells and their usual tools under the strict filter"]
fn shells_and_their_tools_work_under_the_strict_filter() {
    assert_eq!(run(Language::Shell, "strict", SHELL_TOUR), "toured\n");
}

#[test]
#[ignore = "needs Docker: every example under the strict filter"]
fn every_example_ends_as_it_does_under_the_engines_own_filter() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = fs::read_dir(examples).expect("a directory").map(|file| file.unwrap().path());
    let is_program = |path: &PathBuf| {
        path.extension().is_some_and(|it| ["py", "js", "sh"].iter().any(|known| it == *known))
    };
    let programs: Vec<PathBuf> = files.filter(is_program).collect();
    assert!(programs.len() >= 3, "{programs:?}");
    for program in programs {
        let name = program.file_stem().and_then(|name| name.to_str()).expect("a plain name");
        let endless = ["infinite_loop", "fork_bomb"].contains(&name);
        // Time enough on a busy machine for what ends by itself.
        let timeout = if endless { "3" } else { "40" };
        let verdict = |filter: &str| {
            let real = Real::new();
            let flags = ["run", "--json", "--timeout", timeout, "--seccomp", filter];
            let ran = real.das().args(flags).arg(program.to_str().expect("a plain path")).output();
            let outcome: Value = serde_json::from_slice(&ran.stdout).expect("an outcome");
            outcome["verdict"].clone()
        };
        assert_eq!(verdict("strict"), verdict("default"), "{}", program.display());
    }
}

#[test]
#[ignore = "needs Docker: system calls that the strict filter refuses"]
fn the_strict_filter_refuses_what_an_interpreter_never_needs() {
    let refused = run(Language::Python, "strict", ATTACKS);
    assert_eq!(refused, "allowed:\n");
    // The probe can fail: the engine's own filter allows some of it.
    let allowed = run(Language::Python, "default", ATTACKS);
    for name in ["ptrace", "memfd_create", "shmget", "splice", "AF_NETLINK"] {
        assert!(allowed.contains(&format!(" {name}")), "{allowed}");
    }
}

const PYTHON_TOUR: &str = r#"
import array, asyncio, bz2, concurrent.futures, contextlib, csv, ctypes, datetime, decimal
import email.message, fcntl, glob, hashlib, http.client, http.server, io, json, locale, logging
import lzma, mmap, multiprocessing, os, pathlib, pickle, platform, pty, queue, random, re
import resource, sched, secrets, select, selectors, shelve, shutil, signal, socket, socketserver
import sqlite3, ssl, statistics, struct, subprocess, sys, tarfile, tempfile, textwrap, threading
import time, unittest, urllib.parse, uuid, zipfile, zlib

def files():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        (top / "a" / "b").mkdir(parents=True)
        (top / "a" / "file").write_text("text")
        os.link(top / "a" / "file", top / "hard")
        os.symlink("hard", top / "soft")
        os.mkfifo(top / "fifo")
        os.chmod(top / "hard", 0o600)
        os.utime(top / "hard", (1, 2))
        os.truncate(top / "hard", 2)
        shutil.copy2(top / "hard", top / "copy")
        shutil.copytree(top / "a", top / "c")
        shutil.move(top / "c", top / "d")
        assert sorted(os.listdir(top)) == ["a", "copy", "d", "fifo", "hard", "soft"]
        with open(top / "lock", "w+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.truncate(8192)
            os.posix_fallocate(file.fileno(), 0, 8192)
            os.fsync(file.fileno())
            with mmap.mmap(file.fileno(), 8192) as memory:
                memory[:4] = b"mmap"
                memory.flush()
            assert os.pread(file.fileno(), 4, 0) == b"mmap"
        with tarfile.open(top / "t.tar.gz", "w:gz") as tar:
            tar.add(top / "a", "a")
        with tarfile.open(top / "t.tar.gz") as tar:
            tar.extractall(top / "t", filter="data")
        with zipfile.ZipFile(top / "z.zip", "w") as archive:
            archive.write(top / "hard", "hard")
        with shelve.open(str(top / "shelf")) as shelf:
            shelf["key"] = [1]
        base = sqlite3.connect(top / "base.db")
        base.execute("pragma journal_mode=wal")
        base.execute("create table t (x)")
        base.commit()
        assert shutil.disk_usage(top).total > 0 and os.statvfs(top)

def processes():
    assert subprocess.run("echo $((6 * 7)) | cat", shell=True, capture_output=True).stdout == b"42\n"
    assert subprocess.run([sys.executable, "-c", "pass"], start_new_session=True).returncode == 0
    # The others start from a file, and this program has none.
    fork = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, fork) as pool:
        assert list(pool.map(abs, [-1, -2])) == [1, 2]
    with fork.Pool(1) as pool:
        assert pool.map(abs, [-3]) == [3]
    child = os.fork()
    if child == 0:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    child = subprocess.Popen(["sleep", "60"])
    os.close(os.pidfd_open(child.pid))
    child.terminate()
    assert child.wait() == -signal.SIGTERM
    os.setpriority(os.PRIO_PROCESS, 0, 5)
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

def threads():
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(len, ["a"] * 100)) == 100
    lock, done = threading.Lock(), threading.Event()
    threading.Timer(0.01, done.set).start()
    assert done.wait(10)

def signals():
    got = []
    signal.signal(signal.SIGALRM, lambda *_: got.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.sigtimedwait([signal.SIGUSR2], 0.1)
    signal.pthread_kill(threading.get_ident(), signal.SIGALRM)
    assert got

def sockets():
    class Echo(socketserver.StreamRequestHandler):
        def handle(self):
            self.wfile.write(self.rfile.readline())
    for address, server, family in [
        (("127.0.0.1", 0), socketserver.ThreadingTCPServer, socket.AF_INET),
        ("/tmp/socket", socketserver.ThreadingUnixStreamServer, socket.AF_UNIX),
    ]:
        with server(address, Echo) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            with socket.socket(family) as client:
                client.connect(server.server_address)
                client.sendall(b"echo\n")
                assert client.recv(10) == b"echo\n"
            server.shutdown()
    one, two = socket.socketpair()
    socket.send_fds(one, [b"x"], [0])
    os.close(socket.recv_fds(two, 1, 1)[1][0])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as server:
        server.RequestHandlerClass.log_message = lambda *_: None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = http.client.HTTPConnection(*server.server_address)
        client.request("GET", "/")
        assert client.getresponse().status == 200
        server.shutdown()
    assert socket.getaddrinfo("localhost", 80)
    socket.socket(socket.AF_INET6).close()
    ssl.create_default_context()

async def loops():
    shell = await asyncio.create_subprocess_shell("cat", stdin=-1, stdout=-1)
    assert (await shell.communicate(b"in"))[0] == b"in"
    assert await asyncio.to_thread(lambda: 42) == 42
    async def answer(reader, writer):
        writer.write(await reader.readline())
        writer.close()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"line\n")
    assert await reader.readline() == b"line\n"
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(asyncio.sleep(60), 0.01)

def rest():
    assert ctypes.CDLL(None).getpid() == os.getpid()
    assert hashlib.scrypt(b"x", salt=b"y", n=2, r=1, p=1) and secrets.token_hex() and uuid.uuid1()
    assert lzma.decompress(lzma.compress(b"x")) == bz2.decompress(bz2.compress(b"x")) == b"x"
    assert platform.platform() and time.perf_counter() and os.getloadavg() and os.times()
    parent, child = pty.openpty()
    os.write(child, b"tty\n")
    assert os.read(parent, 10).startswith(b"tty")
    selector = selectors.DefaultSelector()
    pipe = os.pipe2(os.O_CLOEXEC)
    selector.register(pipe[0], selectors.EVENT_READ)
    os.eventfd(1)
    assert not selector.select(0) and not select.poll().poll(0) and not select.select([], [], [], 0)[0]

if __name__ == "__main__":
    for step in [files, processes, threads, signals, sockets, rest]:
        step()
    asyncio.run(loops())
    print("toured")
"#;

const NODE_TOUR: &str = r#"
const assert = require('node:assert');
const { execFile, fork, spawn } = require('node:child_process');
const crypto = require('node:crypto');
const dns = require('node:dns').promises;
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const os = require('node:os');
const { pipeline } = require('node:stream').promises;
const { setTimeout: sleep } = require('node:timers').promises;
const { promisify } = require('node:util');
const vm = require('node:vm');
const { Worker } = require('node:worker_threads');
const zlib = require('node:zlib');

async function files() {
  const top = fs.mkdtempSync('/tmp/tour-');
  await fs.promises.writeFile(`${top}/a`, 'text');
  await fs.promises.copyFile(`${top}/a`, `${top}/b`);
  fs.cpSync(top, `${top}-copy`, { recursive: true });
  fs.symlinkSync('a', `${top}/soft`);
  fs.linkSync(`${top}/a`, `${top}/hard`);
  fs.utimesSync(`${top}/a`, 1, 2);
  fs.chmodSync(`${top}/a`, 0o600);
  fs.truncateSync(`${top}/a`, 2);
  assert.equal(fs.readdirSync(top).length, 4);
  const watcher = fs.watch(top);
  const changed = once(watcher, 'change');
  fs.writeFileSync(`${top}/new`, '');
  await changed;
  watcher.close();
  await pipeline(fs.createReadStream(`${top}/b`), zlib.createGzip(), fs.createWriteStream(`${top}/z`));
  assert.equal(zlib.gunzipSync(fs.readFileSync(`${top}/z`)).toString(), 'text');
  fs.statfsSync(top);
  fs.rmSync(top, { recursive: true });
}

async function processes() {
  const { stdout } = await promisify(execFile)('sh', ['-c', 'echo $((6 * 7))']);
  assert.equal(stdout, '42\n');
  const child = spawn('sleep', ['60']);
  child.kill();
  assert.equal((await once(child, 'exit'))[1], 'SIGTERM');
  fs.writeFileSync('/tmp/child.js', 'process.on("message", (m) => { process.send(m + 1); process.disconnect(); })');
  const forked = fork('/tmp/child.js');
  forked.send(1);
  assert.equal((await once(forked, 'message'))[0], 2);
  const worker = new Worker('require("node:worker_threads").parentPort.postMessage(3)', { eval: true });
  assert.equal((await once(worker, 'message'))[0], 3);
}

async function sockets() {
  const server = http.createServer((request, answer) => request.pipe(answer)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answer = await fetch(`http://127.0.0.1:${server.address().port}`, { method: 'POST', body: 'x' });
  assert.equal(await answer.text(), 'x');
  server.close();
  server.closeAllConnections();
  const local = net.createServer((socket) => socket.end('hello')).listen('/tmp/local');
  await once(local, 'listening');
  const socket = net.connect('/tmp/local');
  assert.equal((await once(socket, 'data'))[0].toString(), 'hello');
  local.close();
  assert.ok((await dns.lookup('localhost')).address);
}

async function rest() {
  assert.equal((await promisify(crypto.scrypt)('x', 'y', 16)).length, 16);
  await promisify(crypto.generateKeyPair)('ec', { namedCurve: 'P-256' });
  crypto.randomBytes(8);
  assert.equal(vm.runInNewContext('6 * 7'), 42);
  await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
  assert.ok(os.cpus().length && os.totalmem() && os.uptime() && os.loadavg() && os.hostname());
  os.setPriority(5);
  process.resourceUsage();
  process.memoryUsage();
  let sum = 0;
  for (let i = 0; i < 3e6; i++) sum += i % 7;
  assert.ok(sum);
  await sleep(1);
}

(async () => {
  for (const step of [files, processes, sockets, rest]) await step();
  console.log('toured');
})();
"#;

const SHELL_TOUR: &str = r#"
set -e
cd "$(mktemp -d)"
printf 'b 2\na 1\nc 3\n' >list
test "$(sort list | head -n 1)" = 'a 1'
test "$(grep -c . list)" = 3
test "$(sed -n 's/^b //p' list)" = 2
test "$(cut -d' ' -f2 list | tr '\n' ' ')" = '2 1 3 '
mkdir -p d/e
cp list d/e/
cp -r d f
mv f/e/list f/moved
ln -s list soft
ln list hard
chmod 600 hard
touch -t 202001010000 hard
ls -la . >listing
test "$(find . -name 'list' | wc -l)" -ge 2
find . -type f | xargs cat >/dev/null
tar cf t.tar d
rm -r d f
tar xf t.tar
test -f d/e/list
du . >/dev/null
df . >/dev/null
stat list >/dev/null
date >/dev/null
uname -a >/dev/null
id -u >/dev/null
mkfifo fifo
cat list >fifo &
test "$(wc -l <fifo)" = 3
wait
sleep 60 & kill $!
(trap 'echo got >sign' USR1; sh -c "kill -USR1 \$PPID"; :)
code=0
timeout 1 sleep 60 || code=$?
test "$code" -ne 0
seq 1 1000 | tail -n 1 >/dev/null
dd if=/dev/zero of=zeros bs=1024 count=4 2>/dev/null
(ulimit -n 32; :)
cat <<END | while read -r word; do test "$word" = here; done
here
END
echo toured
"#;

/// Prints what was allowed: each call whose error is not the filter's.
const ATTACKS: &str = r#"
import ctypes, errno, os, platform, socket

ARM = platform.machine() == "aarch64"
CALLS = {
    "mount": (165, 40), "umount2": (166, 39), "unshare": (272, 97), "setns": (308, 268),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "bpf": (321, 280), "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "userfaultfd": (323, 282), "kexec_load": (246, 104),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "pivot_root": (155, 41),
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "init_module": (175, 105),
    "delete_module": (176, 106), "finit_module": (313, 273), "memfd_create": (319, 279),
    "splice": (275, 76), "vmsplice": (278, 75), "tee": (276, 77), "personality": (135, 92),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "seccomp": (317, 277), "fanotify_init": (300, 262), "kcmp": (312, 272), "chroot": (161, 51),
    "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116), "setuid": (105, 146),
    "sethostname": (170, 161), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "io_setup": (206, 0), "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430),
    "pidfd_getfd": (438, 438), "memfd_secret": (447, 447), "clone3": (435, 435),
    "mbind": (237, 235), "migrate_pages": (256, 238), "lookup_dcookie": (212, 18),
}
REFUSED = (errno.EPERM, errno.ENOSYS)
libc = ctypes.CDLL(None, use_errno=True)

def attempt(*arguments):
    child = os.fork()
    if child == 0:
        ctypes.set_errno(0)
        failed = libc.syscall(*(ctypes.c_long(it) for it in arguments)) == -1
        os._exit(0 if failed and ctypes.get_errno() in REFUSED else 1)
    return os.waitpid(child, 0)[1] != 0

allowed = [name for name, numbers in CALLS.items() if attempt(numbers[ARM], 0, 0, 0, 0, 0, 0)]
# A new namespace of each kind, and SIGCHLD.
for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
    if attempt(220 if ARM else 56, flag | 17, 0, 0, 0, 0):
        allowed.append(f"clone({flag:#x})")
for name, family in [
    ("AF_NETLINK", 16), ("AF_PACKET", 17), ("AF_ALG", 38), ("AF_VSOCK", 40), ("AF_BLUETOOTH", 31),
    ("AF_CAN", 29), ("AF_TIPC", 30), ("AF_XDP", 44), ("AF_RDS", 21), ("AF_KEY", 15),
]:
    try:
        socket.socket(family, socket.SOCK_RAW).close()
        allowed.append(name)
    except PermissionError:
        pass
    except OSError:
        allowed.append(f"{name}?")
print("allowed:", *allowed, sep=" ") if allowed else print("allowed:")
"#;
