import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LocalUsers } from "./local-users.ts";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:B39F 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 589360 1 0 100 0 0 10 0
   1: 0200007F:9C40 0100007F:B39F 01 00000000:00000000 00:00000000 00000000  1000        0 589361 1 0 20 4 30 10 -1
`;

test("the user at the other end is the one of the socket with these ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "table-"));
  try {
    writeFileSync(join(folder, "tcp"), table);
    const users = new LocalUsers(join(folder, "tcp"));
    const ends = { localAddress: "127.0.0.1", localPort: 0xb39f, remotePort: 40_000 };
    expect(await users.userOf({ ...ends, remoteAddress: "127.0.0.2" })).toBe("1000");
    expect(await users.userOf({ ...ends, remoteAddress: "127.0.0.3" })).toBeUndefined();
    expect(await new LocalUsers(join(folder, "none")).userOf({ ...ends, remoteAddress: "127.0.0.2" })).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.skipIf(process.platform !== "linux")("Linux says whose a connection from this host is", async () => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [accepted] = (await once(server, "connection")) as [Socket];
  expect(await new LocalUsers().userOf(accepted)).toBe(String(process.getuid?.()));
  client.destroy();
  accepted.destroy();
  server.close();
});
