/** Every fault at every write, event and step of backups and restores of etcd, as far as the time goes. */
import { testModuleLaws } from "setpoint/testing";
import { test } from "vitest";

testModuleLaws(
  test,
  "restores keep the laws under single faults",
  new URL("./testing/etcd-restore-worlds.ts", import.meta.url),
  { seconds: 8, report: console.log },
);
