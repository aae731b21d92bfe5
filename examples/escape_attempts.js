#!/usr/bin/env node
// The same idea as escape_attempts.py, with what Node.js offers.
//
//     das run examples/escape_attempts.js        every attempt is BLOCKED, exit code 0
//     node examples/escape_attempts.js           some are OK, exit code 1
//
// Each attempt ends where it has worked and undoes it. It does no harm outside the sandbox either.
"use strict";

const dgram = require("node:dgram");
const dns = require("node:dns/promises");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const { spawnSync } = require("node:child_process");

class Blocked extends Error {}

const MINE = new Set([1, process.pid, process.ppid]);

function processesOfTheHost() {
  const others = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name) && !MINE.has(+name));
  if (others.length === 0) throw new Blocked("there is no other process");
  return others.map(Number);
}

// The first of several ways that works; if none does, the most telling error of them.
async function firstThatWorks(ways) {
  let telling = new Blocked("there is none here");
  for (const way of ways) {
    try {
      return await way();
    } catch (error) {
      if (error.code !== "ENOENT") telling = error;
    }
  }
  throw telling;
}

function connect(options) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ timeout: 1000, ...options });
    const end = (result) => () => (socket.destroy(), result());
    socket.on("connect", end(resolve));
    socket.on("timeout", end(() => reject(new Blocked("timed out"))));
    socket.on("error", reject);
  });
}

// Asks for a route. Nothing is sent.
function route(address) {
  return new Promise((resolve, reject) => {
    const socket = dgram.createSocket("udp4");
    socket.connect(53, address, (error) => (socket.close(), error ? reject(error) : resolve()));
  });
}

function statusLine(name) {
  const status = fs.readFileSync("/proc/self/status", "utf8");
  return status.split("\n").filter((line) => line.startsWith(name)).map((line) => line.split("\t")[1]);
}

const ATTEMPTS = {
  "reach the internet": () => route("1.1.1.1"),

  "resolve a name": () => dns.lookup("example.com"),

  "reach the metadata service": () => connect({ host: "169.254.169.254", port: 80 }),

  "find a network interface": () => {
    const found = Object.values(os.networkInterfaces()).flat().filter((it) => !it.internal);
    if (found.length === 0) throw new Blocked("none but the loopback");
  },

  "talk to the container engine": () =>
    firstThatWorks(
      ["docker.sock", "podman/podman.sock", "containerd/containerd.sock"].flatMap((name) =>
        ["/run", "/var/run"].map((run) => () => connect({ path: `${run}/${name}` })),
      ),
    ),

  "write to the root file system": () =>
    firstThatWorks(
      ["/", "/etc/", "/usr/local/bin/", "/var/"].map((directory) => () => {
        const path = `${directory}escape-${process.pid}`;
        fs.writeFileSync(path, "", { flag: "wx" });
        fs.unlinkSync(path);
      }),
    ),

  "read the password hashes": () => fs.readFileSync("/etc/shadow"),

  "execute a file in tmp": () => {
    const path = `/tmp/escape-${process.pid}`;
    fs.writeFileSync(path, `#!${process.execPath}\n`, { flag: "wx", mode: 0o755 });
    const { error } = spawnSync(path);
    fs.unlinkSync(path);
    if (error) throw error;
  },

  "open a device of the host": () =>
    firstThatWorks(
      ["mem", "kmsg", "sda", "vda", "nvme0n1", "kvm", "fuse", "net/tun"].map((name) => () => {
        const flags = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;
        fs.closeSync(fs.openSync(`/dev/${name}`, flags));
      }),
    ),

  "become root": () => {
    const before = process.geteuid();
    process.seteuid(0);
    process.seteuid(before);
  },

  "gain privileges by a setuid program": () => {
    if (statusLine("NoNewPrivs")[0] === "1") throw new Blocked("no new privileges for any program");
  },

  "hold a capability": () => {
    const held = statusLine("Cap").some((set) => BigInt(`0x${set}`) !== 0n);
    if (!held) throw new Blocked("all five sets are empty");
  },

  "see the processes of the host": () => void processesOfTheHost(),

  "signal a process of the host": () =>
    firstThatWorks(processesOfTheHost().map((pid) => () => process.kill(pid, 0))),

  "read the memory of a process of the host": () =>
    firstThatWorks(
      processesOfTheHost().map((pid) => () => fs.closeSync(fs.openSync(`/proc/${pid}/mem`, "r"))),
    ),

  "open 1000 files": () => {
    const files = [];
    try {
      while (files.length < 1000) files.push(fs.openSync("/dev/null", "r"));
    } finally {
      files.forEach((file) => fs.closeSync(file));
    }
  },

  // Nothing is written in these two.
  "change a kernel setting": () =>
    fs.closeSync(fs.openSync("/proc/sys/kernel/core_pattern", fs.constants.O_WRONLY)),

  "change a control group": () =>
    firstThatWorks(
      ["", "memory/", "pids/", "rdma/", "unified/"].map((place) => () => {
        const path = `/sys/fs/cgroup/${place}cgroup.procs`;
        fs.closeSync(fs.openSync(path, fs.constants.O_WRONLY));
      }),
    ),

  "find a secret in the environment": () => {
    const names = Object.keys(process.env);
    if (!names.some((name) => /KEY|TOKEN|SECRET|PASSW|PROXY|CREDENTIAL/i.test(name))) {
      throw new Blocked(`none among ${names.length} variables`);
    }
  },
};

async function outcome(attempt) {
  try {
    await attempt();
    return ["OK", ""];
  } catch (error) {
    // An error without a code is a mistake of this program's own.
    if (!(error instanceof Blocked) && !error.code) throw error;
    return ["BLOCKED", error instanceof Blocked ? error.message : error.code];
  }
}

async function main() {
  const counts = { BLOCKED: 0, OK: 0 };
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    const [word, reason] = await outcome(attempt);
    counts[word] += 1;
    console.log(`[${word.padEnd(8)}] ${name.padEnd(42)} ${reason}`.trimEnd());
  }
  const all = counts.BLOCKED + counts.OK;
  console.log(`\n${all} attempts, ${counts.BLOCKED} blocked, ${counts.OK} worked`);
  process.exitCode = counts.OK === 0 ? 0 : 1;
}

main();
