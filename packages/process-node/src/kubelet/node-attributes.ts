/** What a request to the kubelet server asks to do with the Node object: the mapping of a kubelet, pure. */
import { lookupTable } from "@setpoint/apimachinery";

export interface NodeAttributes {
  readonly verb: string;
  /** Any one of them suffices. */
  readonly subresources: readonly string[];
}

const verbs: Readonly<Record<string, string>> = lookupTable({
  POST: "create",
  GET: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
});

const subresources: Readonly<Record<string, readonly string[]>> = lookupTable({
  stats: ["stats"],
  metrics: ["metrics"],
  logs: ["log"],
  checkpoint: ["checkpoint"],
  statusz: ["statusz"],
  flagz: ["flagz"],
  healthz: ["healthz", "proxy"],
  configz: ["configz", "proxy"],
  pods: ["pods", "proxy"],
  runningpods: ["pods", "proxy"],
});

/** A WebSocket is a GET, so `exec` over one needs `get` of `nodes/proxy`, as with a kubelet. */
export function nodeAttributes(method: string, root: string): NodeAttributes {
  const own = Object.hasOwn(subresources, root) ? subresources[root] : undefined;
  return { verb: verbs[method] ?? "", subresources: own ?? ["proxy"] };
}
