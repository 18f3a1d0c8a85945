/** Inside the cluster's network namespace: tells the story against DIR/kubeconfig. `tell.ts DIR` */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tellAgainst } from "./places.ts";

const [directory = ""] = process.argv.slice(2);
try {
  const claims = await tellAgainst(join(directory, "kubeconfig"));
  writeFileSync(join(directory, "claims.json"), JSON.stringify(claims));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
