import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { httpsWebhookCaller } from "./webhook-caller.ts";

const keys = { clock: systemClock, random: systemRandom };
const authority = createCertificateAuthority(keys);
const pair = authority.issueServer({ commonName: "hook", hosts: ["hook.ops.svc", "127.0.0.1"] });
const bundle = (pem: string): string => Buffer.from(pem).toString("base64");
const noService = (): never => {
  throw new Error('service "hook" not found');
};

interface Listening extends AsyncDisposable {
  readonly port: number;
  readonly paths: readonly (string | undefined)[];
}

async function listen(): Promise<Listening> {
  const paths: (string | undefined)[] = [];
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    paths.push(request.url);
    request.resume();
    if (request.url?.startsWith("/cut") === true) request.socket.destroy();
    else if (request.url?.startsWith("/never") !== true) response.end("{}");
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  return {
    // Listening on TCP, so it is not the path of a pipe.
    port: (server.address() as AddressInfo).port,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const forever = new AbortController().signal;

test("a Service is called at its endpoint, by a certificate for its name", async () => {
  await using hook = await listen();
  using caller = httpsWebhookCaller({ resolveService: () => ({ address: "127.0.0.1", port: hook.port }) });
  const service = { namespace: "ops", name: "hook" };
  const config = { service, caBundle: bundle(authority.certificate) };
  const url = "https://hook.ops.svc:443/validate?timeout=10s";
  expect(await caller.call({ url, config, body: {} }, forever)).toEqual({ status: 200, text: "{}" });
  expect(hook.paths).toEqual(["/validate?timeout=10s"]);
});

test("a caBundle may hold the webhook's own certificate without its authority", async () => {
  await using hook = await listen();
  using caller = httpsWebhookCaller({ resolveService: noService });
  const url = `https://127.0.0.1:${hook.port}/own`;
  const config = { url, caBundle: bundle(pair.certificate) };
  expect(await caller.call({ url, config, body: {} }, forever)).toEqual({ status: 200, text: "{}" });
});

test("failed webhook calls report the messages of kube-apiserver", async () => {
  await using hook = await listen();
  using caller = httpsWebhookCaller({ resolveService: noService });
  const trusted = { caBundle: bundle(authority.certificate) };
  const other = { caBundle: bundle(createCertificateAuthority(keys).certificate) };
  const failing = async (url: string, config: object): Promise<string> => {
    const call = caller.call({ url, config: { url, ...config }, body: {} }, forever);
    return call.then(
      () => "answered",
      (error: unknown) => (error instanceof Error ? error.message : ""),
    );
  };
  const base = `https://127.0.0.1:${hook.port}`;
  expect(await failing("https://127.0.0.1:1/x", trusted)).toBe("dial tcp 127.0.0.1:1: connect: connection refused");
  expect(await failing(`${base}/x`, other)).toBe(
    "tls: failed to verify certificate: x509: certificate signed by unknown authority",
  );
  expect(await failing(`https://localhost:${hook.port}/x`, trusted)).toContain("but wanted to match localhost");
  expect(await failing(`${base}/cut`, trusted)).toBe("EOF");
  const service = { service: { namespace: "ops", name: "hook" } };
  expect(await failing("https://hook.ops.svc:443/", { ...trusted, ...service })).toBe('service "hook" not found');
});

test("a call ends when its signal does", async () => {
  await using hook = await listen();
  using caller = httpsWebhookCaller({ resolveService: noService });
  const stop = new AbortController();
  const url = `https://127.0.0.1:${hook.port}/never`;
  const call = caller.call({ url, config: { url, caBundle: bundle(authority.certificate) }, body: {} }, stop.signal);
  setImmediate(() => stop.abort());
  await expect(call).rejects.toThrow();
});
