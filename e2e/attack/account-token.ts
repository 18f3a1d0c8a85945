import type { Target } from "./target.ts";

const accounts = "/api/v1/namespaces/default/serviceaccounts";
const headers = { "content-type": "application/json" };

/** The token of a new service account without any rights of its own. */
export async function accountToken(target: Target, name: string): Promise<string> {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } };
  await target.raw({ method: "POST", path: accounts, headers, body: JSON.stringify(account), as: "admin" });
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const path = `${accounts}/${name}/token`;
  const { body } = await target.raw({ method: "POST", path, headers, body: JSON.stringify(request), as: "admin" });
  return String((JSON.parse(body) as { readonly status: { readonly token: string } }).status.token);
}
