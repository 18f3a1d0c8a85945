/**
 * An API server and nothing else, durable in a folder: `api-server.ts DIR PORT`. Prints how to reach it when
 * it serves; ends with its standard input, so that it never outlives who started it.
 */
import { startControlPlane } from "@setpoint/controlplane";

const [directory = "", port = "0"] = process.argv.slice(2);
process.stdin.once("end", () => process.exit(0)).resume();
const server = await startControlPlane({ directory, controllers: false, https: { port: Number(port) } });
process.stdout.write(`${JSON.stringify({ url: server.url, kubeconfig: server.kubeconfig() })}\n`);
