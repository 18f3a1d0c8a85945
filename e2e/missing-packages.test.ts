/**
 * What this host lacks is one sentence with one command. Programs are hidden by mounts that only the started
 * process sees.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const install = new URL("../tools/bootstrap/install.mjs", import.meta.url).pathname;
const missing = process.getuid?.() === 0 ? "" : " (skipped: needs root)";
const folders: Readonly<Record<string, string>> = { nft: "/usr/sbin" };

/** Runs a command on a host without these programs; `until` ends it as ^C does. */
function runWithout(programs: readonly string[], command: readonly string[], until?: string): Promise<string> {
  const hide = programs.map((each) => `mount --bind /dev/null ${folders[each] ?? "/usr/bin"}/${each}`).join(" && ");
  const child = spawn("unshare", ["--mount", "sh", "-c", `${hide} && exec "$@"`, "sh", ...command]);
  let text = "";
  const hear = (chunk: Buffer): void => {
    text += chunk.toString();
    if (until !== undefined && text.includes(until)) child.kill("SIGINT");
  };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", hear);
  return new Promise((resolve) => child.once("close", () => resolve(text)));
}

function up(): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-missing-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return [process.execPath, bin, "up", "--data-dir", join(folder, "data"), "--kubeconfig", join(folder, "kubeconfig")];
}

const commandsIn = (text: string): readonly string[] => text.match(/apt-get install[^\n]*/g) ?? [];

test.skipIf(missing !== "")(
  `up without a container runtime names all that is missing, and does not start${missing}`,
  async () => {
    expect(await runWithout(["crun", "conmon", "nft", "mmdebstrap"], up())).toBe(
      "Cannot run pods: crun, conmon, nftables and mmdebstrap are not installed; type as root: apt-get install --yes crun conmon nftables mmdebstrap\n",
    );
  },
);

test.skipIf(missing !== "")(
  `up starts without what it can do without, and names it in one command${missing}`,
  async () => {
    const both = await runWithout(["nft", "mmdebstrap"], up(), "The nodes can run");
    expect(both).toContain(
      "Pods share this host's network, because it cannot separate them: nftables and mmdebstrap are",
    );
    expect(commandsIn(both)).toEqual(["apt-get install --yes nftables mmdebstrap"]);
    const one = await runWithout(["mmdebstrap"], up(), "The nodes can run");
    expect(one).toContain("Images cannot be made of Debian packages: mmdebstrap is not installed");
    expect(commandsIn(one)).toEqual(["apt-get install --yes mmdebstrap"]);
  },
);

test.skipIf(missing !== "")(
  `npm start names the same packages, to a user who cannot install them${missing}`,
  async () => {
    const ordinary = `process.getuid = () => 1000; (await import(${JSON.stringify(install)})).installDebianPackages();`;
    const program = [process.execPath, "--input-type=module", "-e", ordinary];
    expect(await runWithout(["crun", "conmon", "nft", "mmdebstrap"], program)).toBe(
      "Cannot run pods as processes: crun, conmon, nftables, mmdebstrap are not installed; type as root: apt-get install --yes crun conmon nftables mmdebstrap\n",
    );
  },
);
