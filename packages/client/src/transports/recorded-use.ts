/** Least privilege from use: which verb, resource and namespace a program really needed. */
import type { ApiRequest, RawResponse, Transport } from "@setpoint/apimachinery";
import { parseResourceRequest, type ResourceRequest } from "./resource-request.ts";

/** One right that was used, and where. */
export interface UsedRight {
  readonly verb: ResourceRequest["verb"];
  readonly group: string;
  /** With its subresource: `pods/exec`. */
  readonly resource: string;
  /** Namespaces in which it was used; empty alone: in all at once, or the resource has none. */
  readonly namespaces: readonly string[];
  readonly count: number;
}

/** Different namespaces that are kept for one right; more are counted as used everywhere. */
export const usedNamespacesMax = 100;

interface Use {
  readonly verb: UsedRight["verb"];
  readonly group: string;
  readonly resource: string;
  readonly namespaces: Set<string>;
  count: number;
}

/** The rights that requests needed, added up. */
export class RecordedUse {
  readonly #uses = new Map<string, Use>();

  /** Sorted by group, resource and verb, so that equal use gives an equal list. */
  get rights(): readonly UsedRight[] {
    const keys = [...this.#uses.keys()].toSorted();
    return keys.flatMap((key) => {
      const use = this.#uses.get(key);
      return use === undefined ? [] : [{ ...use, namespaces: [...use.namespaces].toSorted() }];
    });
  }

  /**
   * Requests that the server did not allow are no use. An apply that creates needs the right to create as
   * well.
   */
  add(request: ApiRequest, status: number): void {
    const asked = parseResourceRequest(request);
    if (asked === undefined || status === 401 || status === 403) return;
    this.#count(asked, asked.verb);
    if (status === 201 && (asked.verb === "patch" || asked.verb === "update")) this.#count(asked, "create");
  }

  #count({ group, resource, subresource, namespace }: ResourceRequest, verb: UsedRight["verb"]): void {
    const whole = subresource === "" ? resource : `${resource}/${subresource}`;
    const key = `${group}|${whole}|${verb}`;
    const use = this.#uses.get(key) ?? { verb, group, resource: whole, namespaces: new Set(), count: 0 };
    use.count++;
    use.namespaces.add(use.namespaces.size < usedNamespacesMax ? namespace : "");
    this.#uses.set(key, use);
  }
}

/** A transport that notes the rights that its user needs. */
export function useRecordingTransport(inner: Transport, use: RecordedUse): Transport {
  const noting = async <R extends RawResponse>(request: ApiRequest, sent: Promise<R>): Promise<R> => {
    const response = await sent;
    use.add(request, response.status);
    return response;
  };
  const sendRaw = inner.sendRaw?.bind(inner);
  return {
    send: (request, signal) => noting(request, inner.send(request, signal)),
    ...(sendRaw === undefined ? {} : { sendRaw: (request, signal) => noting(request, sendRaw(request, signal)) }),
  };
}
