import { readFileSync } from "node:fs";

/** In /proc/net/tcp: the state of a socket that listens. */
const listening = "0A";

/** Addresses of the block's Services on which a process listens; see `claimServiceBlock`. */
export function socketsOf(block: number): readonly string[] {
  const lines = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  const sockets = lines.map((line) => line.trim().split(/\s+/));
  const addresses = sockets.filter(([, , , state]) => state === listening).map(([, local = ""]) => addressOf(local));
  const prefixes = Array.from({ length: 16 }, (_, i) => `127.${96 + Math.floor(block / 16)}.${(block % 16) * 16 + i}.`);
  return addresses.filter((address) => prefixes.some((prefix) => address.startsWith(prefix)));
}

/** `0100007F:1F90`, the bytes of the address in reverse, is 127.0.0.1:8080. */
function addressOf(local: string): string {
  const [address = "", port = ""] = local.split(":");
  const bytes = address.match(/../g) ?? [];
  return `${bytes
    .toReversed()
    .map((byte) => Number.parseInt(byte, 16))
    .join(".")}:${Number.parseInt(port, 16)}`;
}
