/** Writes a second over HTTPS with client and server in one process, and what one request costs. */
import { silentLogger, noMetrics } from "@setpoint/host";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { createCertificateAuthority, serve } from "@setpoint/apiserver/http";
import { httpTransport } from "@setpoint/client/node";

const host = { clock: systemClock, random: systemRandom, log: silentLogger, metrics: noMetrics };
const started = performance.now();
const authority = createCertificateAuthority(host);
const server = authority.issueServer({ commonName: "kube-apiserver", hosts: ["localhost", "127.0.0.1"] });
const user = authority.issueClient({ commonName: "admin", organizations: ["system:masters"] });
const listening = await serve(
  { handle: async (request) => ({ kind: "object", status: 201, headers: {}, object: request.body }) },
  {
    host,
    tls: { certificate: server.certificate, key: server.key, clientCa: authority.certificate },
    authenticate: () => ({ username: "admin", groups: ["system:masters"] }),
  },
);
console.log(`start with keys: ${(performance.now() - started).toFixed(1)} ms`);

await using transport = httpTransport({
  server: listening.url,
  clock: systemClock,
  ca: authority.certificate,
  cert: user.certificate,
  key: user.key,
});
const body = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "x", labels: { a: "b" } },
  data: { key: "v".repeat(500) },
};
const total = Number(process.argv[2] ?? 20_000);
for (const concurrency of [1, 16, 128]) {
  let left = total;
  const from = performance.now();
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      await transport.send({ method: "POST", path: "/api/v1/namespaces/default/configmaps", body });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - from) / 1000;
  console.log(`${concurrency} at a time: ${Math.round(total / seconds)} writes/s`);
}
await listening.close();
