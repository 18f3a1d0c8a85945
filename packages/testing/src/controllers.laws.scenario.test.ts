/** Kubernetes' own controllers keep the laws that we hold operators to. */
import { testModuleLaws } from "@setpoint/testing";
import { test } from "vitest";

testModuleLaws(
  test,
  "the built-in controllers keep the laws under every single fault",
  new URL("./controllers-worlds.fixture.ts", import.meta.url),
  { seconds: 15, report: console.log },
);
