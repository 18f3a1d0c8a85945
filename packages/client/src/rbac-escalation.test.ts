import { failure, isApiError, isForbidden, type ApiError, type ApiRequest } from "@setpoint/apimachinery";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { RetryingSender } from "./retry.ts";

const account = "system:serviceaccount:candy-system:candy";
const rbac = "/apis/rbac.authorization.k8s.io/v1";

/** As kube-apiserver refuses it, with so many permissions that are missing. */
function refused(resource: string, rules: number) {
  const lines = Array.from(
    { length: rules },
    (_, index) => `{APIGroups:["g${index}"], Resources:["pods"], Verbs:["get"]}`,
  );
  const message = `${resource}.rbac.authorization.k8s.io "shop" is forbidden: user "${account}" (groups=["system:serviceaccounts" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}`;
  return failure(403, "Forbidden", message, { name: "shop", kind: resource });
}

async function answerTo(request: ApiRequest, status: ReturnType<typeof refused>): Promise<ApiError> {
  const transport = { send: async () => ({ kind: "object", status: 403, headers: {}, object: status }) as const };
  const error: unknown = await new RetryingSender(transport, simulatedHost(1))
    .send(request)
    .catch((each: unknown) => each);
  if (!isApiError(error)) throw new Error("no ApiError");
  return error;
}

test("a binding that grants too much is refused in one line, with the verb that helps", async () => {
  const body = { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" } };
  const request: ApiRequest = { method: "PATCH", path: `${rbac}/namespaces/default/rolebindings/shop`, body };
  const error = await answerTo(request, refused("rolebindings", 70));
  expect(error.message).toBe(
    `Cannot write rolebindings.rbac.authorization.k8s.io "shop": it grants permissions that "${account}" does not have ({APIGroups:["g0"], Resources:["pods"], Verbs:["get"]} and 69 more); give "${account}" these permissions, or the verb "bind" on clusterroles "edit" of rbac.authorization.k8s.io`,
  );
  expect(isForbidden(error)).toBe(true);
  expect((error.cause as ApiError).message.split("\n")).toHaveLength(71);
});

test("a role that grants too much needs another verb", async () => {
  const request: ApiRequest = { method: "POST", path: `${rbac}/clusterroles`, body: { rules: [] } };
  const { message } = await answerTo(request, refused("clusterroles", 1));
  expect(message).toContain('({APIGroups:["g0"], Resources:["pods"], Verbs:["get"]});');
  expect(message).toContain('or the verb "escalate" on clusterroles of rbac.authorization.k8s.io');
});

test("any other refusal keeps the server's words", async () => {
  const status = failure(403, "Forbidden", 'pods is forbidden: User "a" cannot list resource "pods"');
  expect((await answerTo({ method: "GET", path: "/api/v1/pods" }, status)).message).toBe(status.message);
});
