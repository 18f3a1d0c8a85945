/**
 * CloudNativePG, with the manifests and the sample of its release: three instances of PostgreSQL, and the
 * promotion of a replica when the primary is killed.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildOperator, missingGo } from "./built-with-go.ts";
import { type Images, startPublicCluster } from "./cluster.ts";

if (missingGo !== "") console.warn(`skipped: CloudNativePG: ${missingGo}`);

const operator = {
  name: "cloudnative-pg",
  module: "github.com/cloudnative-pg/cloudnative-pg",
  version: "v1.27.0",
  programs: { manager: "cmd/manager" },
};

/** The user of PostgreSQL in upstream's image; the operator starts instances as it. */
const postgresUser = "26";

/** The operator notices the lost pod at once; PostgreSQL's promotion takes some seconds. */
const promotionMsMax = 120_000;

function imagesOf(manager: string, folder: string): Images {
  writeFileSync(join(folder, "passwd"), `postgres:x:${postgresUser}:${postgresUser}::/var/lib/postgresql:/bin/sh\n`);
  writeFileSync(join(folder, "group"), `postgres:x:${postgresUser}:\n`);
  return {
    "ghcr.io/cloudnative-pg/cloudnative-pg:1.27.0": {
      files: [{ from: manager, to: "/operator/manager_amd64" }],
      links: { "/manager": "operator/manager_amd64" },
      entrypoint: ["/manager"],
      workingDirectory: "/",
      user: "65532:65532",
    },
    "ghcr.io/cloudnative-pg/postgresql:17.5": {
      closure: { suite: "trixie", packages: ["postgresql-17", "dash", "coreutils"] },
      files: ["passwd", "group"].map((name) => ({ from: join(folder, name), to: `/etc/${name}` })),
      env: { PATH: "/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/bin:/bin" },
      user: postgresUser,
    },
  };
}

test.skipIf(missingGo !== "")(
  "CloudNativePG runs three instances, and promotes a replica of a killed primary",
  async () => {
    const { folder, source } = buildOperator(operator);
    await using cluster = await startPublicCluster((files) => imagesOf(join(folder, "manager"), files), 3);
    const { kubectl } = cluster;
    const sql = (pod: string, text: string): Promise<string> =>
      kubectl.ok(`exec ${pod} -c postgres -- psql -d app -qtAc`, [text]);
    const primary = (): Promise<string> =>
      kubectl.ok("get cluster cluster-example -o jsonpath={.status.currentPrimary}");

    await kubectl.ok(`apply --server-side -f ${join(source, "releases/cnpg-1.27.0.yaml")}`);
    await cluster.wait("--for=condition=Available deployment/cnpg-controller-manager", 120, "cnpg-system");
    await kubectl.ok(`apply -f ${join(source, "docs/src/samples/cluster-example.yaml")}`);
    await cluster.wait("--for=jsonpath={.status.readyInstances}=3 cluster/cluster-example", 300);
    await cluster.wait("--for=condition=Ready cluster/cluster-example", 60);

    const first = await primary();
    await sql(first, "create table orders as select 'kept' as state");
    await kubectl.ok(`delete pod ${first} --grace-period=0 --force`);
    await expect.poll(primary, { timeout: promotionMsMax, interval: 500 }).not.toBe(first);
    await cluster.wait("--for=condition=Ready cluster/cluster-example", 180);

    const second = await primary();
    expect(second).not.toBe(first);
    expect(await sql(second, "select state from orders")).toBe("kept\n");
    expect(await sql(second, "insert into orders values ('new') returning state")).toBe("new\n");
    await cluster.wait("--for=jsonpath={.status.readyInstances}=3 cluster/cluster-example", 60);
    expect(
      await kubectl.ok("get endpoints cluster-example-rw -o jsonpath={.subsets[*].addresses[*].targetRef.name}"),
    ).toBe(second);
  },
);
