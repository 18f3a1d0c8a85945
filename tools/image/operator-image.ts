/** The image of the etcd operator: Debian's C++ libraries, the pinned Node and the built packages. */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";
import type { ImageSource } from "@setpoint/process-node";
import { collectApplication } from "./application.ts";

const root = new URL("../..", import.meta.url).pathname;

export const operatorImage = "setpoint.dev/etcd-operator:0.1.0";

/** Builds the operator's packages: a fraction of a second when nothing changed. */
export function buildOperator(): void {
  const built = spawnSync(join(root, "node_modules/.bin/tsc"), ["-b", "operators/etcd"], {
    cwd: root,
    encoding: "utf8",
  });
  if (built.status !== 0)
    throw new SetpointError("ERR_IMAGE_BUILD", `Cannot build the etcd operator: ${built.stdout.trim()}`);
}

/** Builds the packages and describes the image to a process node. */
export function buildOperatorImage(folder: string): ImageSource {
  buildOperator();
  const application = join(folder, "etcd-operator");
  collectApplication("@setpoint/etcd-operator", application);
  return {
    closure: { suite: "bookworm", packages: ["libstdc++6", "libatomic1"] },
    files: [
      { from: realpathSync(process.execPath), to: "/usr/local/bin/node" },
      { from: application, to: "/app" },
    ],
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", NODE_ENV: "production" },
    entrypoint: ["node", "/app/node_modules/@setpoint/etcd-operator/dist/main.js"],
    workingDirectory: "/app",
  };
}
