/**
 * An example of Kopf in a pod, with the manifests of Kopf's documentation: it makes a pod for each of its
 * objects.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Images, startPublicCluster } from "./cluster.ts";
import { downloadKopf, type Kopf, missingPip } from "./kopf-from-pypi.ts";

if (missingPip !== "") console.warn(`skipped: Kopf: ${missingPip}`);

const logMsMax = 60_000;

/** As the Dockerfile of the documentation. */
const imagesOf = ({ modules, source }: Kopf): Images => ({
  "docker.io/nolar/kopf-operator:latest": {
    closure: { suite: "bookworm", packages: ["python3"] },
    files: [
      { from: modules, to: "/usr/lib/python3/dist-packages" },
      { from: join(source, "examples/02-children/example.py"), to: "/src/handlers.py" },
    ],
    env: { PATH: "/usr/bin:/bin", PYTHONUNBUFFERED: "1" },
    command: ["python3", "-m", "kopf", "run", "/src/handlers.py", "--verbose"],
  },
});

/** Of what the documentation's rights lack where a kind has the subresource, as that of the examples has. */
const statusRights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: kopfexample-status}
rules: [{apiGroups: [kopf.dev], resources: [kopfexamples/status], verbs: [patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: kopfexample-status}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: kopfexample-status}
subjects: [{kind: ServiceAccount, name: kopfexample-account}]
`;

test.skipIf(missingPip !== "")("an operator of Kopf makes a pod for its object, and the pod goes with it", async () => {
  const kopf = downloadKopf();
  await using cluster = await startPublicCluster(() => imagesOf(kopf));
  const { kubectl } = cluster;
  const file = (name: string): string => readFileSync(join(kopf.source, name), "utf8");
  const apply = (text: string): Promise<string> => kubectl.ok("apply -f -", [], { input: text });

  await apply(file("examples/crd.yaml"));
  // Its objects are of kinds that the same file defines: kubectl knows them at the second time.
  const peering = join(kopf.source, "peering.yaml");
  await kubectl.run(`apply -f ${peering}`);
  await cluster.wait("--for=condition=Established crd --all", 30);
  await kubectl.ok(`apply -f ${peering}`);
  await apply(file("docs/deployment-rbac.yaml").replaceAll("{{NAMESPACE}}", "default"));
  await apply(statusRights);
  await apply(file("docs/deployment-depl.yaml"));
  await cluster.wait("--for=condition=Available deployment/kopfexample-operator", 120);
  await apply(file("examples/obj.yaml"));

  await cluster.wait("--for=jsonpath={.status.create_fn.children} kopfexample/kopf-example-1", 60);
  await cluster.wait("--for=condition=Ready pod -l somelabel=somevalue", 60);
  const pod = (await kubectl.ok("get pod -l somelabel=somevalue -o name")).trim();
  expect(await kubectl.ok(`logs ${pod}`)).toContain("FIELD=value");
  const children = JSON.parse(
    await kubectl.ok("get kopfexample kopf-example-1 -o jsonpath={.status.create_fn.children}"),
  ) as string[];
  expect(await kubectl.ok(`get ${pod} -o jsonpath={.metadata.uid}`)).toBe(children[0]);
  const log = (): Promise<string> => kubectl.ok("logs deployment/kopfexample-operator");
  await expect.poll(log, { timeout: logMsMax, interval: 500 }).toContain("Creation is processed: 1 succeeded");

  await kubectl.ok("delete kopfexample kopf-example-1 --timeout=25s");
  await cluster.wait(`--for=delete ${pod}`, 60);
});
