import { ConfigMap } from "@setpoint/api";
import type { Transport } from "@setpoint/apimachinery";
import { createClient, RecordedUse, useRecordingTransport } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { systemHost } from "@setpoint/host/system";
import { controller, defineKind, defineOperator } from "setpoint";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { reportMissingRights, reportUnusedRights } from "./report-rights.ts";

const plane = await startControlPlane({ host: { ...systemHost(), log: silentLogger }, controllers: false });
afterAll(() => plane[Symbol.asyncDispose]());

const Toy = defineKind({ group: "rights.setpoint.dev", version: "v1", kind: "Toy", spec: z.object({ a: z.string() }) });
const toys = controller(Toy, { owns: [ConfigMap], async reconcile() {} });
const operator = defineOperator({ name: "toys", controllers: [toys] });
const nobody = plane.transportAs({ username: "nobody", groups: ["system:authenticated"] });
const { clock } = systemHost();

test("an operator whose account lacks rights says each of them in a sentence, and starts", async () => {
  const host = { ...simulatedHost(1), clock };
  await reportMissingRights(operator, { transport: nobody, host, ownNamespace: "toys-system", isRequired: false });
  const sentences = host.lines.map(({ message, fields }) => `${message}: ${String(fields["right"])}`);
  expect(sentences).toContainEqual(
    'Right is missing: Cannot watch toys.rights.setpoint.dev in every namespace: the account has no such right, expected a ClusterRole with verb "watch" of resource "toys" in apiGroup "rights.setpoint.dev"',
  );
  expect(sentences).toContainEqual(
    expect.stringContaining('Cannot update leases.coordination.k8s.io "toys" in namespace "toys-system"'),
  );
});

test("an operator that requires its rights does not start without them", async () => {
  const host = { ...simulatedHost(1), clock };
  await expect(reportMissingRights(operator, { transport: nobody, host, isRequired: true })).rejects.toMatchObject({
    code: "ERR_RIGHTS_MISSING",
    message: expect.stringMatching(
      /^Cannot start operator "toys": \d+ of its rights are missing\nCannot get toys/,
    ) as string,
  });
  await reportMissingRights(operator, { transport: plane.transport, host, isRequired: true });
});

test("a server that cannot be asked does not stop an operator that does not insist", async () => {
  const silent: Transport = { send: () => Promise.reject(new Error("no answer")) };
  const host = { ...simulatedHost(1), clock, random: { ...systemHost().random, next: () => 0 } };
  const asked = reportMissingRights(operator, { transport: silent, host, isRequired: false });
  await asked;
  expect(host.lines.map(({ message }) => message)).toEqual(["Rights could not be checked"]);
});

test("on a desk the author hears which declared rights were never used", async () => {
  const host = simulatedHost(1);
  const use = new RecordedUse();
  await createClient(useRecordingTransport(plane.transport, use), host).list(ConfigMap);
  reportUnusedRights(operator, use, host);
  const rights = host.lines[0]?.fields["rights"] as readonly string[];
  expect(rights).toContain("delete configmaps");
  expect(rights).toContain("watch toys.rights.setpoint.dev");
  expect(rights).not.toContain("list configmaps");
});
