/** Every fault at every write, event and step of fencing, as far as the time goes. */
import { testModuleLaws } from "setpoint/testing";
import { test } from "vitest";

testModuleLaws(
  test,
  "fencing keeps the laws under single faults",
  new URL("./testing/etcd-fencing-worlds.ts", import.meta.url),
  { seconds: 6, report: console.log },
);
