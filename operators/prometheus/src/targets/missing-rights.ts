/** Asks the API server what the ServiceAccount of a Prometheus may not do, though it must to find targets. */
import { SubjectAccessReview } from "setpoint/kinds";
import type { Discovered } from "./target-facts.ts";
import type { ReadingClient } from "./client-reader.ts";

/** What Prometheus lists and watches to discover each kind. */
const resources = {
  Service: [
    ["", "services"],
    ["", "pods"],
  ],
  pod: [["", "pods"]],
  Ingress: [["networking.k8s.io", "ingresses"]],
} as const;
const endpoints = { Endpoints: ["", "endpoints"], EndpointSlice: ["discovery.k8s.io", "endpointslices"] } as const;
/** Each costs two requests. */
const namespacesMax = 3;

export interface RightsQuestion {
  readonly discovered: Discovered;
  readonly role: keyof typeof endpoints;
  /** The namespace and name of the ServiceAccount. */
  readonly account: { readonly namespace: string; readonly name: string };
}

/** Such as `list services in namespace "shop"`. */
export async function findMissingRights(
  { discovered, role, account }: RightsQuestion,
  client: ReadingClient,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`, "system:authenticated"];
  const kinds = [...resources[discovered.noun], ...(discovered.noun === "Service" ? [endpoints[role]] : [])];
  const places = discovered.namespaces?.slice(0, namespacesMax) ?? [undefined];
  const missing: string[] = [];
  for (const namespace of places) {
    const denied = new Map<string, string[]>();
    for (const [group, resource] of kinds) {
      const verbs = await deniedVerbs({ group, resource, ...(namespace === undefined ? {} : { namespace }) });
      const name = group === "" ? resource : `${resource}.${group}`;
      if (verbs !== "") denied.set(verbs, [...(denied.get(verbs) ?? []), name]);
    }
    const where = namespace === undefined ? "in all namespaces" : `in namespace "${namespace}"`;
    missing.push(...[...denied].map(([verbs, names]) => `${verbs} ${names.join(", ")} ${where}`));
  }
  return missing;

  async function deniedVerbs(attributes: Readonly<Record<string, string>>): Promise<string> {
    const denied: string[] = [];
    for (const verb of ["list", "watch"]) {
      const review = SubjectAccessReview({ spec: { user, groups, resourceAttributes: { verb, ...attributes } } });
      const { status } = await client.create(SubjectAccessReview, review, { signal });
      if (status !== undefined && !status.allowed) denied.push(verb);
    }
    return denied.join(" and ");
  }
}
