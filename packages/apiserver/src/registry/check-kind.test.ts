import { expect, test } from "vitest";
import { builtinResources } from "./builtin/builtin-resources.ts";
import { checkKind } from "./check-kind.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

const maps = builtinResources().find(({ kind }) => kind === "ConfigMap") as ResourceDefinition;
const custom: ResourceDefinition = { ...maps, group: "ex.test", kind: "Widget", custom: true };

const scheme = 'in scheme "pkg/runtime/scheme.go:111"';

test.each([
  [
    "v1",
    "configmap",
    `configmap in version "v1" cannot be handled as a ConfigMap: no kind "configmap" is registered for version "v1" ${scheme}`,
  ],
  [
    "v1",
    "Secret",
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ],
  ["apps/v1", "Deployment", "the API version in the data (apps/v1) does not match the expected API version (v1)"],
  [
    "apps/v2",
    "ConfigMap",
    `ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v2" ${scheme}`,
  ],
])("a ConfigMap of the type %s %s is refused as upstream does", (apiVersion, kind, message) => {
  expect(() => checkKind(maps, { apiVersion, kind }, false)).toThrow(message);
});

test.each([
  [false, "ex.test/v2", "Widget", "the API version in the data (ex.test/v2) does not match"],
  [
    true,
    "ex.test/v2",
    "Widget",
    'Widget.ex.test "a" is invalid: apiVersion: Invalid value: "ex.test/v2": must be ex.test/v1',
  ],
  [true, "ex.test/v1", "Gadget", 'Gadget.ex.test "a" is invalid: kind: Invalid value: "Gadget": must be Widget'],
  [false, "ex.test/v1", "", "Object 'Kind' is missing"],
  [true, "ex.test/v1", "", "the server rejected our request due to an error in our request"],
])("a custom object, patched: %s, of the type %s %s is refused", (isPatched, apiVersion, kind, message) => {
  expect(() => checkKind(custom, { apiVersion, kind, metadata: { name: "a" } }, isPatched)).toThrow(message);
});
