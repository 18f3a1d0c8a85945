/**
 * What `setpoint up` does, with an image of tools: its arguments are the data directory and the file for the
 * kubeconfig.
 */
import { writeFileSync } from "node:fs";
import { startCluster } from "@setpoint/cli";
import { toolsImage, toolsImageSource } from "../node/tools-image.ts";

const [directory = "", kubeconfig = ""] = process.argv.slice(2);
const localImages = { [toolsImage]: toolsImageSource };
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const stopped = new Promise((resolve) => process.once("SIGINT", resolve));
const cluster = await startCluster({ directory, port: 0, nodes: 1, localImages, say });
writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
say("Serving");
await stopped;
await cluster[Symbol.asyncDispose]();
