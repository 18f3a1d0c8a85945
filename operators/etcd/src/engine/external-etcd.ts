/** How a transfer pod reaches an etcd that no operator runs. */
import type { ExternalInstance, ExternalSources } from "@setpoint/data-service";

/** The half of the operator: it checks what the spec says, and asks nobody. */
export const externalEtcd: ExternalSources = {
  refusal,
  source: ({ endpoints, tlsSecret, loginSecret }) => ({
    request: { endpoints },
    secretNames: [tlsSecret, loginSecret].filter((each) => each !== undefined),
  }),
};

/** Endpoints are named by their place, because one that is refused may have a password in it. */
function refusal({ endpoints, tlsSecret }: ExternalInstance): string | undefined {
  for (const [index, endpoint] of endpoints.entries()) {
    const problem = problemOf(endpoint, tlsSecret !== undefined);
    if (problem !== undefined) return `endpoints[${index}] ${problem}`;
  }
  return undefined;
}

function problemOf(endpoint: string, hasCertificates: boolean): string | undefined {
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol)) return "must be a URL such as https://10.0.0.7:2379";
  if (url.username !== "" || url.password !== "")
    return "has a login in it: put username and password into a Secret, and name it in loginSecret";
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    return "has more than scheme, host and port, such as https://10.0.0.7:2379";
  return hasCertificates && url.protocol === "http:" ? "begins with http, and tlsSecret is for https" : undefined;
}
