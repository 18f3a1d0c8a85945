/** The operator's process, or by its first argument another program of its image. */
import { runOperatorProcess } from "setpoint/process";

async function run([command = "", ...args]: readonly string[]): Promise<number> {
  switch (command) {
    case "agent": {
      const [{ runAgent }, { appendLogAgent }] = await Promise.all([
        import("@setpoint/data-service/agent"),
        import("./append-log-agent.ts"),
      ]);
      // A call of the store that was abandoned must not keep the process alive.
      return process.exit(await runAgent({ "append-log": appendLogAgent }));
    }
    case "serve":
      return (await import("./server/http-server.ts")).serve(args[0] ?? "", Number(args[1]));
    case "restore":
      return (await import("./server/restore.ts")).restore(args);
    default:
      return runOperatorProcess((await import("./operator.ts")).default);
  }
}

process.exitCode = await run(process.argv.slice(2));
