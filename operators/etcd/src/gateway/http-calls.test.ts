import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type HttpCalls, httpCalls } from "./http-calls.ts";
import { Tokens } from "./tokens.ts";

const login = { name: "root", password: "secret" };
const path = "/v3/maintenance/status";
const { signal } = new AbortController();

interface FakeMember extends AsyncDisposable {
  readonly endpoint: string;
}

/** A member that wants a login before it reports its status, as since etcd 3.5.32; a learner takes none. */
async function startMember(tokens: Set<string>, { isLearner = false, loginMs = 0 } = {}): Promise<FakeMember> {
  const answer = ({ url, headers }: IncomingMessage): readonly [number, object] => {
    if (url === path)
      return tokens.has(headers.authorization ?? "")
        ? [200, { version: "3.6.16" }]
        : [400, { code: 3, message: "etcdserver: user name is empty" }];
    if (isLearner) return [503, { code: 14, message: "etcdserver: rpc not supported for learner" }];
    const token = `token-${tokens.size}`;
    tokens.add(token);
    return [200, { token }];
  };
  const server = createServer((request, response) => {
    request.resume();
    const [code, body] = answer(request);
    const send = (): unknown => response.writeHead(code).end(JSON.stringify(body));
    setTimeout(send, request.url === path ? 0 : loginMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A member that took the login and is gone. */
async function endedMember(call: HttpCalls["call"], known: Set<string>): Promise<{ readonly endpoint: string }> {
  await using member = await startMember(known);
  await call(member.endpoint, path, {}, signal);
  return { endpoint: member.endpoint };
}

test("a learner, which takes no login, gets a token of a member that does", async () => {
  const known = new Set<string>();
  await using voter = await startMember(known);
  await using learner = await startMember(known, { isLearner: true });
  const { call } = httpCalls({ login }, new Tokens());
  await expect(call(learner.endpoint, path, {}, signal)).rejects.toThrow("rpc not supported for learner");
  await call(voter.endpoint, path, {}, signal);
  expect(await call(learner.endpoint, path, {}, signal)).toEqual({ version: "3.6.16" });
});

test("a login may take longer than other calls, because etcd compares passwords slowly", async () => {
  await using member = await startMember(new Set(), { loginMs: 2_500 });
  const { call } = httpCalls({ login }, new Tokens());
  expect(await call(member.endpoint, path, {}, signal)).toEqual({ version: "3.6.16" });
});

test("a learner gets a token also when the member that gave the last one has ended", async () => {
  const known = new Set<string>();
  await using voter = await startMember(known);
  await using learner = await startMember(known, { isLearner: true });
  const { call } = httpCalls({ login }, new Tokens());
  await call(voter.endpoint, path, {}, signal);
  const { endpoint } = await endedMember(call, known);
  await expect(call(endpoint, path, {}, signal)).rejects.toThrow();
  expect(await call(learner.endpoint, path, {}, signal)).toEqual({ version: "3.6.16" });
});

test("a learner that has restarted gets a new token", async () => {
  const known = new Set<string>();
  await using voter = await startMember(known);
  await using learner = await startMember(known, { isLearner: true });
  const { call } = httpCalls({ login }, new Tokens());
  await call(voter.endpoint, path, {}, signal);
  await call(learner.endpoint, path, {}, signal);
  known.clear();
  known.add("another");
  expect(await call(learner.endpoint, path, {}, signal)).toEqual({ version: "3.6.16" });
});
