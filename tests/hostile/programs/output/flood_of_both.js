// flags: --timeout 3
// ends: timeout
const fs = require("node:fs");

function write(fd, text) {
  try {
    fs.writeSync(fd, text);
  } catch {}
}

for (;;) {
  write(1, "o".repeat(65536));
  write(2, "e".repeat(65536));
}
