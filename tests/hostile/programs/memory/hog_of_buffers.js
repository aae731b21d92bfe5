// flags: --memory 96 --timeout 20
// ends: out_of_memory
const hoard = [];
for (;;) hoard.push(Buffer.alloc(10 << 20, 1));
