/** A program that stops in an orderly way at the first signal. */
const timer = setInterval(() => {}, 1_000);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    console.log("stopped");
    clearInterval(timer);
  });
console.log("ready");
