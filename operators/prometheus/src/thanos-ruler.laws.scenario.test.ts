/** Every fault at every write, event and step of the stories, as far as the time goes. */
import { testModuleLaws } from "setpoint/testing";
import { test } from "vitest";

testModuleLaws(
  test,
  "the controller of ThanosRulers keeps the laws under every single fault",
  new URL("./testing/ruler-worlds.ts", import.meta.url),
  { seconds: 10, report: console.log },
);
