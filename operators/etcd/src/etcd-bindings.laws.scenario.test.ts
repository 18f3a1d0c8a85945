/** Every fault at every write, event and step of the users of etcd, as far as the time goes. */
import { testModuleLaws } from "setpoint/testing";
import { test } from "vitest";

testModuleLaws(
  test,
  "the login of a binding of etcd works under single faults",
  new URL("./testing/etcd-binding-worlds.ts", import.meta.url),
  { seconds: 8, report: console.log },
);
