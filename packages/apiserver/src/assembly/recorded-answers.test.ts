/** Requests for built-in kinds, each on an empty server, and what a kube-apiserver answered and warned of. */
import type { ApiRequest } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { serviceIpAllocator } from "../admission/service-ip-allocator.ts";
import recorded from "./fixtures/answers.json" with { type: "json" };
import { startServer } from "./server.fixture.ts";

interface Recorded {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly code: number;
  readonly warning?: string;
  readonly message?: string;
}

const admin = { username: "admin", groups: ["system:masters"] };

/** The parameters of a path, the last one of a name. */
function requestOf({ method, path, body }: Recorded): ApiRequest {
  const url = new URL(path, "https://host");
  const query = Object.fromEntries(url.searchParams);
  return { method: method as ApiRequest["method"], path: url.pathname, query, ...(body === undefined ? {} : { body }) };
}

test.each((recorded as readonly Recorded[]).map((each, index) => [index, each.title, each] as const))(
  "%i: %s",
  async (_index, _title, each) => {
    const { server } = startServer({ admission: [serviceIpAllocator("10.0.0.0/24")] });
    const answer = await server.transport(admin).send(requestOf(each));
    if (answer.kind !== "object") throw new Error(`Cannot read a ${answer.kind} answer`);
    const { message } = answer.object as { readonly message?: string };
    const isStatus = answer.status >= 400;
    expect([answer.status, isStatus ? message : undefined, answer.headers["warning"]]).toEqual([
      each.code,
      each.message,
      each.warning,
    ]);
  },
);
