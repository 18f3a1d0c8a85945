/**
 * `npm run beside-upstream [-- --write]`: prints how many inputs there are, which differ from upstream, and
 * in what. With `--write` the inputs that differ without being allowed to become the list open.json.
 */
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { allows, compare, describeDifference, nameOf, readAllowed, writeOpen } from "./differences.ts";
import { readInputs } from "./inputs.ts";
import { serverOf } from "./our-server.ts";
import { readRecording } from "./recordings.ts";
import { Session } from "./replay.ts";

const allowed = readAllowed();
const host = { ...systemHost(), log: silentLogger };
let inputs = 0;
const different = { allowed: new Set<string>(), refused: new Set<string>() };
for (const file of readInputs()) {
  await using plane = await startControlPlane({ host, https: {}, controllers: false, serviceCidr: "10.0.0.0/24" });
  using session = new Session(serverOf(plane));
  inputs += file.inputs.length;
  for (const each of compare(file.subject, await session.replay(file), readRecording(file.subject))) {
    const isAllowed = allowed.some((one) => allows(one, each));
    different[isAllowed ? "allowed" : "refused"].add(nameOf(each));
    if (!isAllowed) console.log(describeDifference(each));
  }
}
const { size } = different.allowed.union(different.refused);
console.log(
  `${inputs} inputs: ${inputs - size} equal, ${different.allowed.size} with an allowed difference, ${different.refused.size} with another`,
);
if (process.argv.includes("--write")) writeOpen(different.refused);
process.exitCode = different.refused.size === 0 ? 0 : 1;
