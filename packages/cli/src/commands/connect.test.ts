import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll, expect, test } from "vitest";
import { ownFolder } from "../own-folder.fixture.ts";
import { setpoint } from "../setpoint.fixture.ts";

const plane = await startControlPlane({ host: { ...systemHost(), log: silentLogger }, https: {} });
afterAll(() => plane[Symbol.asyncDispose]());
const kubeconfig = join(ownFolder("connect"), "kubeconfig");
writeFileSync(kubeconfig, plane.kubeconfig(), { mode: 0o600 });

test("a Service that is not there is named, with the namespace and where others are", async () => {
  expect(await setpoint("connect", "shop", "-n", "default", "--kubeconfig", kubeconfig)).toEqual({
    code: 1,
    out: "",
    err: 'Cannot connect to Service "shop": namespace "default" has none of this name; "kubectl get services -A" shows all, -n NAMESPACE names another\n',
  });
});
