/** Every fault at every write, event and step of the operator's stories. */
import { testModuleLaws } from "setpoint/testing";
import { test } from "vitest";

testModuleLaws(
  test,
  "the operator keeps the laws under every single fault",
  new URL("./testing/etcd-worlds.ts", import.meta.url),
  { seconds: 20, report: console.log },
);
