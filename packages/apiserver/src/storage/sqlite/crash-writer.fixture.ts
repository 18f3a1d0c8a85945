/**
 * Writes objects one after the other until it is killed, and prints the number of each that was acknowledged.
 */
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { openSqliteStorage } from "./index.ts";

const directory = process.argv[2] ?? "";
const storage = openSqliteStorage({ clock: systemClock, log: silentLogger, directory });
for (let i = 1; ; i++) {
  const path = `n${i}`;
  await storage.write({ prefix: "/things", path }, () => ({
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: path },
  }));
  process.stdout.write(`${i}\n`);
}
