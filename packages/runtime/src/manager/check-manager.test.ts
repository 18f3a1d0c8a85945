import { simulatedHost } from "@setpoint/host/simulated";
import { controller, startManager, type ControllerDefinition, type ManagerOptions } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { Candy, Wrapper } from "../run/controller-world.fixture.ts";

const reconcile = async (): Promise<void> => {};
const wrapping = controller(Candy, { owns: [Wrapper], reconcile });

function start(controllers: readonly ControllerDefinition[], caches?: ManagerOptions["caches"]): () => unknown {
  const transport = { send: () => Promise.reject(new Error("nobody may be asked")) };
  const options = { controllers, transport, host: simulatedHost(1) };
  return () => startManager(caches === undefined ? options : { ...options, caches });
}

test("two controllers of a kind that would delete each other's children are refused", () => {
  const two = ["one", "two"].map((name) => controller(Candy, { name, fieldManager: "sweets", reconcile }));
  expect(start(two)).toThrow(
    'Cannot start manager "setpoint": controllers "one" and "two" of Candy both have the fieldManager "sweets", so that each would delete the other\'s children; give one of them another `fieldManager`',
  );
});

test.each([
  ["labelSelector", { labelSelector: "app=candy" }],
  ["fieldSelector", { fieldSelector: "metadata.name=a" }],
  ["metadataOnly", { metadataOnly: true }],
  ["transform", { transform: <T>(object: T): T => object }],
] as const)("a cache of owned objects that keeps only a part of them is refused: %s", (setting, entry) => {
  expect(start([wrapping], { kinds: [{ kind: Wrapper, ...entry }] })).toThrow(
    `Cannot start manager "setpoint": \`caches\` keeps only a part of ConfigMap (${setting}), which controller "candy" owns; it must see its children whole, so leave the setting out`,
  );
});
