/** What the machine could do at best: bare HTTP/2 over TLS, and SQLite's durable commits. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createSecureServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { repeat, report, timed } from "./report.ts";
import { configMaps, host } from "./workload.ts";

const runs = 7;
const body = JSON.stringify(configMaps.body("object"));

async function bareHttps(): Promise<void> {
  const authority = createCertificateAuthority(host);
  const own = authority.issueServer({ commonName: "localhost", hosts: ["localhost"] });
  const server = createSecureServer({ cert: own.certificate, key: own.key });
  server.on("stream", (stream: ServerHttp2Stream) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      stream.respond({ ":status": 201, "content-type": "application/json" });
      stream.end(Buffer.concat(chunks));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", () => resolve()));
  const client = connect(`https://localhost:${(server.address() as AddressInfo).port}`, { ca: authority.certificate });
  const request = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const stream = client.request({
        ":method": "POST",
        ":path": configMaps.path,
        "content-type": "application/json",
      });
      stream.on("error", reject).on("end", resolve).resume();
      stream.end(body);
    });
  const count = 10_000;
  const all = (): Promise<unknown> => {
    let left = count;
    const worker = async (): Promise<void> => {
      while (left-- > 0) await request();
    };
    return Promise.all(Array.from({ length: 100 }, worker));
  };
  await all();
  const samples = await repeat(runs, async () => (count * 1_000) / (await timed(all)));
  report({ what: "limit: bare HTTP/2 over TLS, client and server here", unit: "requests/s", samples });
  client.close();
  server.close();
}

async function bareSqlite(group: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-bench-"));
  const database = new DatabaseSync(join(directory, "limit.db"));
  database.exec(
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT)",
  );
  const put = database.prepare("INSERT OR REPLACE INTO t VALUES (?, ?)");
  let made = 0;
  const count = 200 * group;
  const all = (): void => {
    for (let done = 0; done < count; done += group) {
      database.exec("BEGIN IMMEDIATE");
      for (let each = 0; each < group; each++) put.run(`object-${made++}`, body);
      database.exec("COMMIT");
    }
  };
  all();
  const samples = await repeat(runs, async () => (count * 1_000) / (await timed(all)));
  report({ what: `limit: SQLite, full sync, ${group} in a commit`, unit: "writes/s", samples });
  database.close();
  rmSync(directory, { recursive: true });
}

await bareHttps();
for (const group of [1, 10, 100]) await bareSqlite(group);
