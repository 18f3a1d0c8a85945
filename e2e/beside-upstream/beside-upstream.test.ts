/** Inputs in the shape of public bug reports, and the answers of a genuine kube-apiserver 1.36.3 to them. */
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { expect, test } from "vitest";
import {
  allows,
  compare,
  describeDifference,
  nameOf,
  readAllowed,
  readOpen,
  type FoundDifference,
} from "./differences.ts";
import { readInputs } from "./inputs.ts";
import { readRecording } from "./recordings.ts";
import { Session } from "./replay.ts";
import { serverOf } from "./our-server.ts";

const files = readInputs();
const allowed = readAllowed();
const isOpen = readOpen();
const found: FoundDifference[] = [];

test("at least 300 inputs are compared", () => {
  expect(files.flatMap(({ inputs }) => inputs).length).toBeGreaterThanOrEqual(300);
});

test.each(files)("$subject: answers are upstream's, but for allowed differences", async (file) => {
  await using plane = await startControlPlane({
    host: { ...systemHost(), log: silentLogger },
    https: {},
    controllers: false,
    serviceCidr: "10.0.0.0/24",
  });
  using session = new Session(serverOf(plane));
  const differences = compare(file.subject, await session.replay(file), readRecording(file.subject));
  found.push(...differences);
  const refused = differences.filter((each) => !isOpen.has(nameOf(each)) && !allowed.some((one) => allows(one, each)));
  expect(refused.map(describeDifference).join("\n")).toBe("");
});

test("an input that has become equal is no longer listed as open", () => {
  const different = new Set(found.map(nameOf));
  expect([...isOpen].filter((name) => !different.has(name))).toEqual([]);
});

test("each allowed difference is still seen and has its reason", () => {
  expect(allowed.filter((one) => one.reason.length < 20 || !found.some((each) => allows(one, each)))).toEqual([]);
});
