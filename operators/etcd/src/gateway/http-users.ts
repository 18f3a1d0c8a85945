/** Users, roles and authentication over the JSON gateway. Each call may be repeated. */
import { type EtcdCredentials, EtcdError, type EtcdGateway, type EtcdLogin, type KeyRight } from "./etcd-gateway.ts";
import { changePassword } from "./grpc-password.ts";
import { asksForLogin, type HttpCalls, type Json } from "./http-calls.ts";

type UserCalls = Pick<
  EtcdGateway,
  "authentication" | "enableAuthentication" | "resetRoot" | "proveLogin" | "ensureUser" | "dropUser"
>;

/** etcd's own name of the user and of the role that may do everything. */
const root = "root";
const zero = base64("\0");

export function httpUsers({ tls, login }: EtcdCredentials, { call, callAnonymously, logIn }: HttpCalls): UserCalls {
  const send = (endpoint: string, signal: AbortSignal) => (path: string, body: Json) =>
    call(endpoint, `/v3/auth/${path}`, body, signal);
  return {
    async authentication(endpoint, signal) {
      // A read of the member's own data: it needs neither a quorum nor a right.
      const range = { key: zero, range_end: zero, limit: "1", count_only: true, serializable: true };
      const isOpen = await passes(callAnonymously(endpoint, "/v3/kv/range", range, signal), asksForLogin);
      if (isOpen) return "Off";
      const isAccepted =
        login !== undefined && (await passes(call(endpoint, "/v3/kv/range", range, signal), refusesLogin));
      return isAccepted ? "On" : "Refused";
    },
    async enableAuthentication(endpoint, signal) {
      const user = loginOr(login);
      const auth = send(endpoint, signal);
      await ensureRole(auth, root);
      await ensurePassword(auth, user, () => logIn(endpoint, user, signal));
      await auth("user/grant", { user: root, role: root });
      await auth("enable", {});
    },
    async resetRoot(endpoint, signal) {
      if (tls === undefined) throw new Error("Cannot reset the password of root: there is no certificate of root");
      await changePassword(endpoint, loginOr(login), tls, signal);
    },
    async proveLogin(endpoint, user, signal) {
      await logIn(endpoint, user, signal);
    },
    async ensureUser(endpoint, user, rights, signal) {
      const auth = send(endpoint, signal);
      await ensureRole(auth, user.name);
      await ensureRights(auth, user.name, rights);
      await ensurePassword(auth, user, () => logIn(endpoint, user, signal));
      await auth("user/grant", { user: user.name, role: user.name });
    },
    async dropUser(endpoint, user, signal) {
      const auth = send(endpoint, signal);
      await passes(auth("user/delete", { name: user }), isError("user name not found"));
      await passes(auth("role/delete", { role: user }), isError("role name not found"));
    },
  };
}

type AuthCall = (path: string, body: Json) => Promise<Json>;

async function ensureRole(auth: AuthCall, name: string): Promise<void> {
  await passes(auth("role/add", { name }), isError("role name already exists"));
}

/** A password that is right stays: changing it would end the sessions of all clients that use it. */
async function ensurePassword(auth: AuthCall, user: EtcdLogin, logIn: () => Promise<unknown>): Promise<void> {
  const isNew = await passes(auth("user/add", { ...user }), isError("user name already exists"));
  if (isNew || (await passes(logIn(), isRefusal))) return;
  await auth("user/changepw", { ...user });
}

/** etcd's own words for a right, which it compares byte by byte. */
interface Permission {
  readonly permType: string;
  readonly key: string;
  readonly range_end: string;
}

/** New rights come first, so that a client that has both old and new ones is never refused. */
async function ensureRights(auth: AuthCall, role: string, rights: readonly KeyRight[]): Promise<void> {
  const { perm = [] } = (await auth("role/get", { role })) as { perm?: readonly Partial<Permission>[] };
  const present = perm.map(({ permType = "READ", key = "", range_end = "" }) => ({ permType, key, range_end }));
  const wanted = rights.map(permissionOf);
  for (const each of wanted) if (!present.some((other) => isEqual(each, other))) await grant(auth, role, each);
  for (const { key, range_end } of present)
    if (!wanted.some((each) => each.key === key && each.range_end === range_end))
      await auth("role/revoke", { role, key, range_end });
}

async function grant(auth: AuthCall, name: string, perm: Permission): Promise<void> {
  await auth("role/grant", { name, perm });
}

function isEqual(a: Permission, b: Permission): boolean {
  return a.permType === b.permType && a.key === b.key && a.range_end === b.range_end;
}

function permissionOf({ prefix, access }: KeyRight): Permission {
  if (prefix === "") return { permType: access, key: zero, range_end: zero };
  return { permType: access, key: base64(prefix), range_end: prefixEnd(prefix) };
}

/** The first key after all that begin with the prefix. */
function prefixEnd(prefix: string): string {
  const bytes = [...Buffer.from(prefix)];
  // UTF-8 has no byte 255, so the last one can always be raised.
  return Buffer.from([...bytes.slice(0, -1), (bytes.at(-1) ?? 0) + 1]).toString("base64");
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** False when the call is refused in the expected way. */
async function passes(called: Promise<unknown>, isExpected: (error: unknown) => boolean): Promise<boolean> {
  try {
    await called;
    return true;
  } catch (error) {
    if (!isExpected(error)) throw error;
    return false;
  }
}

function isError(words: string): (error: unknown) => boolean {
  return (error) => error instanceof EtcdError && error.message.includes(words);
}

function refusesLogin(error: unknown): boolean {
  return isError("authentication failed")(error) || asksForLogin(error);
}

/** Before authentication is on, no login can be proven. */
function isRefusal(error: unknown): boolean {
  return refusesLogin(error) || isError("authentication is not enabled")(error);
}

function loginOr(login: EtcdLogin | undefined): EtcdLogin {
  if (login === undefined) throw new Error("Cannot change root: this gateway has no login");
  return login;
}
