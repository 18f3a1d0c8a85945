/** The client side of `https.ts` in a process of its own: prints the creates a second of each run. */
import { httpTransport } from "@setpoint/client/node";
import { configMaps, host, measureWrites } from "./workload.ts";

// The parent is `https.ts`, which made this text.
const { count, writers, runs, ...connection } = JSON.parse(process.argv[2] ?? "") as {
  readonly count: number;
  readonly writers: number;
  readonly runs: number;
  readonly server: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
};
await using transport = httpTransport({ ...connection, clock: host.clock });
await measureWrites([transport], configMaps, count, writers);
console.log("warm");
for (let run = 0; run < runs; run++)
  console.log((await measureWrites([transport], configMaps, count, writers)).perSecond);
