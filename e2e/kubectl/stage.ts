/** A control plane for the tests of one file, kubectl for it, and a namespace of its own for each test. */
import { startControlPlane } from "@setpoint/controlplane";
import { systemHost } from "@setpoint/host/system";
import { test as base } from "vitest";
import { Kubectl } from "./kubectl.ts";
import { gadget, gadgetCrd } from "./manifests.ts";

interface Stage {
  readonly kubectl: Kubectl;
  /** Makes a namespace, and gives it as the flag. */
  readonly ownNamespace: () => Promise<string>;
  /** The same with a gadget in it. */
  readonly withGadget: () => Promise<string>;
}

let namespaces = 0;

export const test = base.extend<Stage>({
  kubectl: [
    // oxlint-disable-next-line no-empty-pattern -- Vitest reads from the pattern what a fixture needs.
    async ({}, use) => {
      await using plane = await startControlPlane({ host: systemHost({ write: () => {} }), https: { port: 0 } });
      using kubectl = new Kubectl(plane.kubeconfig());
      await kubectl.ok("apply -f -", [], { input: gadgetCrd });
      await kubectl.ok("wait --for=condition=Established crd/gadgets.example.dev --timeout=10s");
      await use(kubectl);
    },
    { scope: "file" },
  ],
  ownNamespace: async ({ kubectl }, use) => {
    await use(async () => {
      const name = `t${++namespaces}`;
      await kubectl.ok(`create namespace ${name}`);
      return `-n ${name}`;
    });
  },
  withGadget: async ({ kubectl, ownNamespace }, use) => {
    await use(async () => {
      const n = await ownNamespace();
      await kubectl.ok(`apply ${n} -f -`, [], { input: gadget(2) });
      return n;
    });
  },
});

/** The cells of a table that kubectl prints. */
export const words = (text: string): readonly (readonly string[])[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.trim().split(/\s{2,}/));
