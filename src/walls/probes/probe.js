// Tries the walls from inside, in Node.js. A line above sets DAS: which run, and its numbers.
// Each line that it prints is one JSON object; das judges.

const childProcess = require("node:child_process");
const dgram = require("node:dgram");
const dns = require("node:dns");
const fs = require("node:fs");
const net = require("node:net");

const say = (of, more = {}) =>
  fs.writeSync(1, JSON.stringify({ das: DAS.nonce, of, ...more }) + "\n");

const listing = (of, lines) => {
  say(of);
  for (const line of lines) say(of, { line: String(line) });
};

const read = (of, ...paths) => {
  for (const path of paths) {
    try {
      return listing(of, fs.readFileSync(path, "utf8").split("\n").filter(Boolean));
    } catch {
      continue;
    }
  }
};

const WORDS = {
  EROFS: "Read-only file system",
  EACCES: "Permission denied",
  EPERM: "Operation not permitted",
  ENOSPC: "No space left on device",
  ENETUNREACH: "Network is unreachable",
  EMFILE: "Too many open files",
  EAGAIN: "Resource temporarily unavailable",
  ECONNREFUSED: "Connection refused",
  ENOENT: "No such file or directory",
};

const words = (error) => WORDS[error.code] ?? String(error.code ?? error.message);

const attempt = async (of, tried, act) => {
  try {
    say(of, { tried, allowed: String((await act()) ?? "it worked") });
  } catch (error) {
    say(of, { tried, refused: words(error) });
  }
};

const create = (path) => {
  fs.closeSync(fs.openSync(path, "wx", 0o700));
  fs.unlinkSync(path);
};

const soon = (promise) =>
  Promise.race([
    promise,
    new Promise((_, reject) => setTimeout(() => reject(new Error("no answer")), 1500)),
  ]);

// A datagram socket is only given its route: not one packet is sent.
const route = (type, address, port) =>
  new Promise((resolve, reject) => {
    const socket = dgram.createSocket(type);
    socket.on("error", reject);
    socket.connect(port, address, (error) => {
      socket.close();
      if (error) reject(error);
      else resolve();
    });
  });

const resolve = (name) => soon(dns.promises.lookup(name).then((found) => found.address));

async function network() {
  read("interfaces", "/proc/net/dev");
  await attempt("outside", "reach 1.1.1.1", () => route("udp4", "1.1.1.1", 443));
  await attempt("outside6", "reach 2606:4700:4700::1111", () =>
    route("udp6", "2606:4700:4700::1111", 443));
  await attempt("metadata", "reach 169.254.169.254", () => route("udp4", "169.254.169.254", 80));
  await attempt("dns", "resolve example.com", () => resolve("example.com"));
}

async function filesystem() {
  read("mounts", "/proc/self/mountinfo");
  await attempt("root", "create /das-probe", () => create("/das-probe"));
}

async function scratch() {
  await attempt("tmp-create", "create a file in /tmp", () => create("/tmp/das-probe"));
  await attempt("tmp-exec", "execute a file in /tmp", executeFromTmp);
  if (DAS.fill_mb) {
    await attempt("tmp-fill", `write ${DAS.fill_mb} MiB to /tmp`, fillTmp);
  }
}

function executeFromTmp() {
  const path = "/tmp/das-exec";
  fs.writeFileSync(path, "#!/bin/true\n", { mode: 0o755 });
  try {
    const { error } = childProcess.spawnSync(path);
    if (error && error.code !== "ENOENT") throw error;
  } finally {
    fs.unlinkSync(path);
  }
}

function fillTmp() {
  const file = fs.openSync("/tmp/das-fill", "w");
  try {
    const block = Buffer.alloc(1 << 20);
    for (let written = 0; written < DAS.fill_mb; written++) {
      for (let at = 0; at < block.length; ) at += fs.writeSync(file, block, at);
    }
  } finally {
    fs.closeSync(file);
    fs.unlinkSync("/tmp/das-fill");
  }
}

const SOCKETS = [
  "/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock",
  "/run/containerd/containerd.sock", "/var/run/crio/crio.sock", "/run/buildkit/buildkitd.sock",
];
const SENSITIVE = [
  "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/sys",
  "/proc/sysrq-trigger", "/sys/firmware",
];

function host() {
  listing("sockets", SOCKETS.filter((path) => fs.existsSync(path)));
  listing("devices", fs.readdirSync("/dev").sort());
  listing("sensitive", SENSITIVE.filter((path) => fs.existsSync(path)));
}

async function user() {
  await attempt("setuid", "become uid 0", () => process.setuid(0));
  await attempt("setgid", "become gid 0", () => process.setgid(0));
}

const LIMITS = [
  "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max", "memory.swap.max",
  "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.max", "pids.max",
];

function limits() {
  read("status", "/proc/self/status");
  rlimits();
  read("meminfo", "/proc/meminfo");
  read("version", "/proc/version");
  read("core-pattern", "/proc/sys/kernel/core_pattern");
  for (const name of LIMITS) {
    read(name, `/sys/fs/cgroup/${name}`, `/sys/fs/cgroup/${name.split(".")[0]}/${name}`);
  }
}

// Not every kernel shows them as a file.
function rlimits() {
  if (fs.existsSync("/proc/self/limits")) return read("limits", "/proc/self/limits");
  const { open_files: files, core_file_size_blocks: core } = process.report.getReport().userLimits;
  listing("limits", [
    `Max open files ${files.soft} ${files.hard}`,
    `Max core file size ${core.soft} ${core.hard}`,
  ]);
}

// Node.js makes no system call of one's choice; another program may, where the image has it.
const tool = (name, ...args) => childProcess.spawnSync(name, args, { encoding: "utf8" });

async function syscalls() {
  const { error, status, stderr } = tool("unshare", "-U", "true");
  const refusal = /(Operation not permitted|Permission denied|Function not implemented)/.exec(stderr);
  if (!error && status === 0) await attempt("syscall-unshare", "unshare", () => undefined);
  else if (!error && refusal) {
    await attempt("syscall-unshare", "unshare", () => {
      throw new Error(refusal[1]);
    });
  }
}

function noNewPrivileges() {
  const told = /no_new_privs: (\d+)/.exec(tool("setpriv", "-d").stdout ?? "");
  if (told) say("no-new-privs", { line: told[1] });
}

async function descriptors() {
  const held = [];
  await attempt("nofile", `open ${DAS.nofile + 16} files`, () => {
    while (held.length < DAS.nofile + 16) held.push(fs.openSync("/dev/null", "r"));
  });
  held.forEach((file) => fs.closeSync(file));
  say("opened", { line: String(held.length) });
}

function environment() {
  const pairs = fs.readFileSync("/proc/self/environ", "utf8").split("\0").filter(Boolean);
  listing("env", pairs.map((pair) => pair.split("=")[0]).sort());
}

function others() {
  const found = [];
  for (const name of fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
    try {
      const command = fs.readFileSync(`/proc/${name}/comm`, "utf8").trim();
      if (name !== String(process.pid)) found.push(`${name} ${command}`);
    } catch {
      continue;
    }
  }
  return found;
}

const processes = () => listing("processes", others());

const namespaces = () =>
  listing("namespaces",
    ["pid", "net", "ipc", "mnt", "uts"].map((name) => fs.readlinkSync(`/proc/self/ns/${name}`)));

async function facts() {
  const steps = [limits, processes, network, filesystem, scratch, host, user, syscalls,
    noNewPrivileges, descriptors, environment, namespaces];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      // What one step cannot find out is missing from the facts, and das says so.
      say("trouble", { line: `${step.name}: ${words(error)}` });
    }
  }
  say("end");
}

const throttled = () => {
  for (const path of ["/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"]) {
    try {
      return Number(/^nr_throttled (\d+)$/m.exec(fs.readFileSync(path, "utf8"))[1]);
    } catch {
      continue;
    }
  }
  return undefined;
};

// For how many seconds it ran, of a span: in a longer gap it did not run.
const spin = () => {
  let [ran, now] = [0, performance.now()];
  for (const until = now + 600; now < until; ) {
    const before = now;
    now = performance.now();
    if (now - before < 0.5) ran += now - before;
  }
  return ran / 1000;
};

// Where no quota is to be seen, a machine that is busy itself would look like one: more chances.
async function cpu() {
  const before = throttled();
  for (let round = 0; round < (before === undefined ? 10 : 1); round++) await burn();
  const after = throttled();
  if (before !== undefined && after !== undefined) {
    say("throttled", { line: String(after - before) });
  }
  say("end");
}

// Worker threads are counted with their process: by the kernel, and by what they saw of the clock.
async function burn() {
  const { Worker } = require("node:worker_threads");
  const source = `require("node:worker_threads").parentPort.postMessage((${spin})())`;
  const began = [process.cpuUsage(), process.hrtime.bigint()];
  const workers = Array.from({ length: DAS.burners - 1 }, () => new Worker(source, { eval: true }));
  let ran = 0;
  const ends = workers.map((worker) => {
    worker.on("message", (share) => (ran += share));
    return new Promise((end) => worker.on("exit", end));
  });
  ran += spin();
  await Promise.all(ends);
  const used = process.cpuUsage(began[0]);
  const wall = (Number(process.hrtime.bigint() - began[1]) / 1e9).toFixed(3);
  say("cpu", { line: `${((used.user + used.system) / 1e6).toFixed(3)} ${wall}` });
  say("ran", { line: `${ran.toFixed(3)} ${wall}` });
}

function memory() {
  const kept = [];
  let took = 0;
  try {
    const file = fs.openSync("/dev/shm/das-memory", "w");
    for (const block = Buffer.alloc(1 << 20, 1); took < DAS.memory_mb / 4; took++) {
      fs.writeSync(file, block);
    }
  } catch {
    // It is full, or not there: then all of it is the heap's.
  }
  while (took < DAS.hog_mb) {
    kept.push(Buffer.alloc(1 << 22, 1));
    took += 4;
    say("took", { line: String(Math.floor(took)) });
  }
  say("end");
}

// Node.js has threads of its own from the beginning: they count as well.
async function pids() {
  const children = [];
  let failure;
  while (children.length < DAS.bomb && !failure) {
    const child = childProcess.spawn(process.execPath, ["--version"], {
      stdio: ["pipe", "ignore", "ignore"],
    });
    // A child that could not be started has no id.
    const end = new Promise((over) => {
      child.on("error", (error) => over(error));
      child.on("exit", () => over(undefined));
    });
    if (child.pid === undefined) failure = await end;
    else {
      try {
        process.kill(child.pid, "SIGSTOP");
      } catch {
        // It has ended already, and so does not count.
      }
      children.push(child);
      // At once: some kernels end with the next one.
      say("forked", { line: String(children.length) });
    }
  }
  await attempt("fork", `start ${DAS.bomb} processes`, () => {
    if (failure) throw failure;
  });
  children.forEach((child) => child.kill("SIGKILL"));
  say("end");
}

function deadline() {
  for (const name of ["SIGHUP", "SIGINT", "SIGTERM", "SIGUSR2", "SIGQUIT", "SIGALRM"]) {
    process.on(name, () => {});
  }
  say("ready");
  setInterval(() => {}, 1000);
}

function output() {
  const line = Buffer.from("x".repeat(1023) + "\n");
  for (let left = DAS.print_bytes; left > 0; ) {
    try {
      left -= fs.writeSync(1, line);
    } catch (error) {
      // The pipe is full for the moment.
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

async function leave() {
  for (const place of DAS.places) {
    await attempt("left", `leave a file in ${place}`, () =>
      fs.writeFileSync(`${place}/das-left`, ""));
  }
  const source = `require("fs").writeFileSync("/proc/self/comm", "das-left");
    process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)`;
  childProcess
    .spawn(process.execPath, ["-e", source], { detached: true, stdio: "ignore" })
    .unref();
  say("end");
}

function look() {
  const found = [];
  for (const place of DAS.places.filter((place) => fs.existsSync(place))) {
    found.push(...fs.readdirSync(place).map((name) => `${place}/${name}`));
  }
  listing("found", found);
  listing("daemon", others().filter((process) => process.endsWith(" das-left")));
  say("end");
}

function hold() {
  fs.writeFileSync("/dev/shm/das-peer", "");
  net.createServer().listen(DAS.port, "127.0.0.1", () => say("ready"));
}

async function peer() {
  const connect = () =>
    new Promise((connected, reject) => {
      const socket = net.connect(DAS.port, "127.0.0.1", () => {
        socket.destroy();
        connected();
      });
      socket.on("error", reject);
    });
  await attempt("peer-port", "its loopback", () => soon(connect()));
  await attempt("peer-shm", "its /dev/shm", () => void fs.statSync("/dev/shm/das-peer"));
  processes();
  say("end");
}

const RUNS = { facts, cpu, memory, pids, time: deadline, output, leave, look, hold, peer };
Promise.resolve(RUNS[DAS.run]()).then(() => {
  if (DAS.run !== "time" && DAS.run !== "hold") process.exit(0);
});
