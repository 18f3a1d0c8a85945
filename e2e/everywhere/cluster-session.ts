/**
 * The first process of a namespace of its own: brings a cluster up and tells the story in its network.
 * `cluster-session.ts SCRIPT BIN DIR`; leaves the claims in DIR/claims.json.
 */
import { join } from "node:path";
import { MachineState, makeFoldersPrivate } from "../cluster/isolation.ts";
import { RealCluster } from "../cluster/real-cluster.ts";

const teller = new URL("tell.ts", import.meta.url).pathname;
const [script = "", bin = "", directory = ""] = process.argv.slice(2);
const stopping = new AbortController();

process.stdin.once("end", () => stopping.abort()).resume();
using _machine = new MachineState();
makeFoldersPrivate(join(directory, "private"));
const cluster = new RealCluster({ script, bin }, directory);
try {
  await cluster.up(stopping.signal);
  const command = [process.execPath, "--conditions=@setpoint/source", teller, directory];
  process.exitCode = await cluster.exec(command, stopping.signal);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await cluster[Symbol.asyncDispose]();
  process.stdin.destroy();
}
