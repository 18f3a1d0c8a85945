/** An embedded control plane for the tests of one file, which ends with them. */
import { createClient, type Client } from "@setpoint/client";
import { startControlPlane, type ControlPlane } from "@setpoint/controlplane";
import { silentLogger, type Host } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll } from "vitest";

export interface OwnPlane {
  readonly host: Host;
  readonly plane: ControlPlane;
  /** As an administrator. */
  readonly client: Client;
}

/** `controllers` of the built-in kinds. */
export async function ownPlane({ controllers }: { readonly controllers: boolean }): Promise<OwnPlane> {
  const host: Host = { ...systemHost(), log: silentLogger };
  const plane = await startControlPlane({ host, controllers });
  afterAll(() => plane[Symbol.asyncDispose]());
  return { host, plane, client: createClient(plane.transport, host) };
}
