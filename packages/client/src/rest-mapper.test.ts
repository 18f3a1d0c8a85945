import { expect, test } from "vitest";
import { type DiscoveredResource, RestMapper } from "./rest-mapper.ts";

function resource(group: string, version: string, kind: string): DiscoveredResource {
  const names = { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), shortNames: [] };
  return { group, version, ...names, namespaced: true, categories: [], verbs: [], subresources: [], preferred: true };
}

test("kinds of one name are distinguished by group and version", () => {
  const resources = [resource("", "v1", "Event"), resource("events.k8s.io", "v1", "Event"), resource("", "v1", "Pod")];
  const mapper = new RestMapper(resources);
  expect(mapper.ofObject({ apiVersion: "events.k8s.io/v1", kind: "Event" })).toBe(resources[1]);
  expect(mapper.ofKind({ group: "", version: "v1", kind: "Event" })).toBe(resources[0]);
  expect(mapper.ofKind({ group: "", version: "v2", kind: "Event" })).toBeUndefined();
  expect(mapper.ofKind({ group: "", version: "v1", kind: "Node" })).toBeUndefined();
});
