/** Every fault at every write, event and step of EtcdMirrors, as far as the time goes. */
import { testModuleLaws } from "setpoint/testing";
import { test } from "vitest";

testModuleLaws(
  test,
  "mirrors keep the laws under single faults",
  new URL("./testing/etcd-mirror-worlds.ts", import.meta.url),
  { seconds: 6, report: console.log },
);
