/**
 * cert-manager, with the chart of its release: the chart's own check of the API, and a certificate that a
 * self-signed issuer and an authority made of it sign.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildOperator, missingGo } from "./built-with-go.ts";
import { type Images, startPublicCluster } from "./cluster.ts";

if (missingGo !== "") console.warn(`skipped: cert-manager: ${missingGo}`);

/** The last release line whose programs lie in one Go module. */
const version = "v1.11.5";
const programs = ["controller", "webhook", "cainjector", "ctl"];
const operator = {
  name: "cert-manager",
  module: "github.com/cert-manager/cert-manager",
  version,
  programs: Object.fromEntries(programs.map((name) => [name, `cmd/${name}`])),
};

const imagesOf = (folder: string): Images =>
  Object.fromEntries(
    programs.map((name) => {
      const path = `/app/cmd/${name}/${name}`;
      const image = { files: [{ from: join(folder, name), to: path }], entrypoint: [path], user: "1000" };
      return [`quay.io/jetstack/cert-manager-${name}:${version}`, image];
    }),
  );

/** As the makefile of the module packs it: the templates, the definitions, and the version. */
function packChart(source: string, chart: string): void {
  const from = join(source, "deploy/charts/cert-manager");
  mkdirSync(join(chart, "templates"), { recursive: true });
  for (const file of readdirSync(join(from, "templates")))
    cpSync(join(from, "templates", file), join(chart, "templates", file));
  cpSync(join(from, "values.yaml"), join(chart, "values.yaml"));
  const description = readFileSync(join(from, "Chart.template.yaml"), "utf8")
    .replaceAll("v0.1.0", version)
    .replace("{{IS_PRERELEASE}}", "false");
  writeFileSync(join(chart, "Chart.yaml"), description);
  const folder = join(source, "deploy/crds");
  const crds = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  const definitions = crds.map((name) => readFileSync(join(folder, name), "utf8")).join("\n---\n");
  writeFileSync(join(chart, "templates/crds.yaml"), `{{- if .Values.installCRDs }}\n${definitions}\n{{- end }}\n`);
}

/** The example of the project's documentation: an authority that signs itself, and what it signs. */
const certificates = `
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: selfsigned}
spec: {selfSigned: {}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: authority, namespace: cert-manager}
spec:
  isCA: true
  commonName: authority
  secretName: authority
  privateKey: {algorithm: ECDSA, size: 256}
  issuerRef: {name: selfsigned, kind: ClusterIssuer}
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: authority}
spec: {ca: {secretName: authority}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: web}
spec:
  dnsNames: [web.example.com]
  secretName: web
  issuerRef: {name: authority, kind: ClusterIssuer}
`;

test.skipIf(missingGo !== "")("cert-manager issues a certificate of its own authority", async () => {
  const { folder, source } = buildOperator(operator);
  await using cluster = await startPublicCluster(() => imagesOf(folder));
  const { kubectl } = cluster;
  const chart = join(kubectl.folder, "chart");
  packChart(source, chart);

  await cluster.helm(
    `install cert-manager ${chart} --namespace cert-manager --create-namespace --set installCRDs=true --wait --timeout 240s`,
  );
  await kubectl.ok("apply -f -", [], { input: certificates });
  await cluster.wait("--for=condition=Ready certificate/web", 120);

  const field = async (name: string): Promise<string> =>
    Buffer.from(await kubectl.ok(`get secret web -o jsonpath={.data.${name}}`), "base64").toString("utf8");
  const issued = new X509Certificate(await field("tls\\.crt"));
  const authority = new X509Certificate(await field("ca\\.crt"));
  expect(issued.checkHost("web.example.com")).toBe("web.example.com");
  expect(issued.verify(authority.publicKey)).toBe(true);
  expect(await kubectl.ok("get certificate web")).toMatch(/web +True +web/);

  const refused = await kubectl.run("patch certificate web --type=merge -p", [
    '{"spec":{"dnsNames":null,"commonName":null}}',
  ]);
  expect(refused.stderr).toContain('admission webhook "webhook.cert-manager.io" denied the request');
});
