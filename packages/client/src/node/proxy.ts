/** Which proxy stands between here and an API server, and a tunnel through it. */
import type { Socket } from "node:net";
import { SetpointError } from "@setpoint/apimachinery";
import { lazyModules } from "./lazy-modules.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy of HTTPS_PROXY or HTTP_PROXY (or their lower-case names) for a server; undefined: none, because
 * NO_PROXY names the server, or because it is on this machine. As net/http of Go, and so kubectl.
 */
export function proxyOfEnvironment(server: string, env: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = env[name] ?? env[name.toLowerCase()] ?? "";
  const host = hostname.replace(/^\[|\]$/g, "");
  if (proxy === "" || host === "localhost" || host === "::1" || host.startsWith("127.")) return undefined;
  const exceptions = (env["NO_PROXY"] ?? env["no_proxy"] ?? "").split(",").map((each) => each.trim());
  if (exceptions.some((each) => isNamed(each, host, port === "" ? "443" : port))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/**
 * One entry of NO_PROXY: `*`, a domain with or without its subdomains, an address, a range of addresses, each
 * with a port.
 */
function isNamed(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry === "") return false;
  if (entry.includes("/")) return isInRange(entry, host);
  const [, name = entry, only] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (only !== undefined && only !== port) return false;
  if (name.startsWith(".") || name.startsWith("*.")) return host.endsWith(name.replace(/^\*/, ""));
  return host === name || host.endsWith(`.${name}`);
}

/** Ranges of IPv4, as `10.0.0.0/8`. */
function isInRange(range: string, host: string): boolean {
  const [base = "", bits = ""] = range.split("/");
  const [from, at] = [numberOf(base), numberOf(host)];
  if (from === undefined || at === undefined || !/^\d+$/.test(bits)) return false;
  const size = 2 ** (32 - Number(bits));
  return Math.floor(from / size) === Math.floor(at / size);
}

function numberOf(address: string): number | undefined {
  const parts = address.split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255))) return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

/** A connection to `host:port` through the proxy (CONNECT). Errors: `ERR_PROXY`. */
export function openTunnel(proxy: string, host: string, port: number): Promise<Socket> {
  const { protocol, hostname, port: proxyPort, username, password } = new URL(proxy);
  if (protocol !== "http:" && protocol !== "https:") {
    const message = `Cannot use proxy "${redacted(proxy)}": its protocol is ${protocol.slice(0, -1)}, expected http or https`;
    return Promise.reject(new SetpointError("ERR_PROXY", message));
  }
  const credential = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const { request } = protocol === "http:" ? lazyModules.http() : lazyModules.https();
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method: "CONNECT",
      host: hostname.replace(/^\[|\]$/g, ""),
      port: proxyPort === "" ? (protocol === "http:" ? 80 : 443) : Number(proxyPort),
      path: target,
      agent: false,
      headers: {
        host: target,
        ...(username === "" ? {} : { "proxy-authorization": `Basic ${Buffer.from(credential).toString("base64")}` }),
      },
    });
    const fail = (why: string, cause?: unknown): void =>
      reject(
        new SetpointError("ERR_PROXY", `Cannot reach ${target} through proxy "${redacted(proxy)}": ${why}`, { cause }),
      );
    outgoing.once("error", (error) => fail(error.message, error));
    outgoing.once("connect", (answer, socket) => {
      if (answer.statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      fail(`it answered ${answer.statusCode} ${answer.statusMessage ?? ""}`.trim());
    });
    outgoing.once("response", (answer) => {
      answer.resume();
      fail(`it answered ${answer.statusCode} ${answer.statusMessage ?? ""}`.trim());
    });
    outgoing.end();
  });
}

/** An address of a proxy may hold a password. */
function redacted(proxy: string): string {
  return proxy.replace(/\/\/[^@/]*@/, "//…@");
}
