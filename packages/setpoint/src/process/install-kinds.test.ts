import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { systemHost } from "@setpoint/host/system";
import { controller, defineKind, defineOperator } from "setpoint";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { installKinds } from "./install-kinds.ts";

const plane = await startControlPlane({ host: { ...systemHost(), log: silentLogger }, controllers: false });
afterAll(() => plane[Symbol.asyncDispose]());

const Toy = defineKind({ group: "install.setpoint.dev", version: "v1", kind: "Toy", spec: z.object({}) });
const operator = defineOperator({ name: "toys", controllers: [controller(Toy, { async reconcile() {} })] });
const nobody = plane.transportAs({ username: "nobody", groups: ["system:authenticated"] });
const { clock } = systemHost();

test("an account that may not install kinds goes on with what others have installed, and says so", async () => {
  const host = { ...simulatedHost(1), clock };
  await installKinds(operator, nobody, host);
  const [told, ...more] = host.lines;
  expect(told).toMatchObject({ level: "warn", message: "Kind is not installed by this account" });
  expect(told?.fields["why"]).toMatch(/^customresourcedefinitions.* is forbidden: User "nobody" cannot patch /);
  expect(more).toEqual([]);
});

test("an installation of kinds that is not allowed is reported", async () => {
  const host = { ...simulatedHost(1), clock };
  await expect(installKinds(operator, nobody, host, { required: true })).rejects.toThrow(
    / is forbidden: User "nobody"/,
  );
  await installKinds(operator, plane.transport, host, { required: true });
  expect(host.lines.map(({ message }) => message)).toEqual(["Installed the kind"]);
});
