/** What the operator's pod tells whom of itself, over the cluster's network. */
import { get } from "node:http";
import { get as getWithTls } from "node:https";
import { ClusterRole, ClusterRoleBinding, Pod, ServiceAccount } from "@setpoint/api";
import { type Client, requestToken } from "@setpoint/client";

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

const reader = { name: "metrics-reader", namespace: "default" };

/**
 * Throws when the operator serves its metrics without TLS or to an unauthenticated client, or when it refuses
 * an account that may read them.
 */
export async function checkOperatorMetrics(client: Client, namespace: string): Promise<string> {
  const address = await addressIn(client, namespace);
  const token = await readerToken(client);
  const inTheClear = await ask(`http://${address}:8080/metrics`, token);
  const nobody = await ask(`https://${address}:8443/metrics`);
  const known = await ask(`https://${address}:8443/metrics`, token);
  const said = `8080 with a token ${inTheClear.status}, 8443 without ${nobody.status}, with one ${known.status}`;
  const isTold = known.status === 200 && known.text.includes("controller_runtime_reconcile_total");
  if (inTheClear.status !== 403 || nobody.status !== 401 || !isTold)
    throw new Error(`The operator's metrics are not told as they should be: ${said}`);
  return said;
}

/** What the operator says of an object, to the same account. */
export async function askWhy(
  client: Client,
  namespace: string,
  query: Readonly<Record<"kind" | "name" | "namespace", string>>,
): Promise<string> {
  const { token } = await requestToken(client, reader);
  const address = await addressIn(client, namespace);
  const { status, text } = await ask(
    `https://${address}:8443/debug/why?${new URLSearchParams(query).toString()}`,
    token,
  );
  if (status !== 200) throw new Error(`The operator does not answer why: ${status} ${text}`);
  return text.replaceAll('\\"', '"');
}

async function addressIn(client: Client, namespace: string): Promise<string> {
  const { items } = await client.list(Pod, { namespace });
  const [address] = items.flatMap(({ status }) => status?.podIP ?? []);
  if (address === undefined) throw new Error(`There is no pod with an address in namespace "${namespace}"`);
  return address;
}

/** The token of an account that may get the metrics, as Prometheus' one may, and ask why. */
export async function readerToken(client: Client): Promise<string> {
  const { name } = reader;
  await client.create(ServiceAccount, ServiceAccount(reader));
  const rules = [{ nonResourceURLs: ["/metrics", "/debug/why"], verbs: ["get"] }];
  await client.create(ClusterRole, ClusterRole({ name, rules }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const subjects = [{ kind: "ServiceAccount", ...reader }];
  await client.create(ClusterRoleBinding, ClusterRoleBinding({ name, roleRef, subjects }));
  const { token } = await requestToken(client, reader);
  return token;
}

export function ask(url: string, token?: string): Promise<Answer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const request = url.startsWith("https:") ? getWithTls : get;
    request(url, { headers, agent: false, rejectUnauthorized: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode, text }));
    }).on("error", reject);
  });
}
