/** Checks what a manager receives: a client of another release may send other fields. */
import type { DesiredInstance, LeaseRequest, OtherServer, WantedImport } from "../instance/instance-protocol.ts";
import type { WantedUpgrade } from "../instance/upgrade-protocol.ts";
import type { DatabaseAccess, DroppedUser, Login, WantedUser } from "../instance/user-protocol.ts";

type Fields = Readonly<Record<string, unknown>>;

export function parseLeaseRequest(value: unknown): LeaseRequest {
  const fields = objectOf(value, "the request for a lease");
  return { holder: textOf(fields, "holder"), term: wholeNumberOf(fields, "term") };
}

/** When the server to be restarted started. */
export function parseRestart(value: unknown): string {
  return textOf(objectOf(value, "the request for a restart"), "startedAt");
}

export function parseDesired(value: unknown): DesiredInstance {
  const fields = objectOf(value, "the document");
  const settings = objectOf(fields["settings"], "settings");
  const database = objectOf(settings["database"], "settings.database");
  const primary = fields["primary"];
  return {
    term: wholeNumberOf(fields, "term"),
    ...(primary === undefined ? {} : { primary: textOf(fields, "primary") }),
    mayPromote: fields["mayPromote"] === true,
    isFirstStart: fields["isFirstStart"] === true,
    ...(fields["import"] === undefined ? {} : { import: parseImport(fields["import"]) }),
    ...(fields["baseBackup"] === undefined
      ? {}
      : { baseBackup: parseOtherServer(objectOf(fields["baseBackup"], "baseBackup")) }),
    peers: listOf(fields, "peers").map((each) => {
      const peer = objectOf(each, "peers");
      return { name: textOf(peer, "name"), host: textOf(peer, "host") };
    }),
    settings: {
      parameters: textsOf(settings, "parameters"),
      accessRules: listOf(settings, "accessRules").map(String),
      isArchived: settings["isArchived"] === true,
      synchronousStandbyNames: textOf(settings, "synchronousStandbyNames"),
      database: { name: textOf(database, "name"), owner: textOf(database, "owner") },
      ...(settings["memoryMegabytes"] === undefined
        ? {}
        : { memoryMegabytes: wholeNumberOf(settings, "memoryMegabytes") }),
    },
    ...(fields["fenced"] === undefined ? {} : { fenced: listOf(fields, "fenced").map(String) }),
    ...(fields["dataVersion"] === undefined ? {} : { dataVersion: textOf(fields, "dataVersion") }),
    ...(fields["upgrade"] === undefined ? {} : { upgrade: parseUpgrade(fields["upgrade"]) }),
    ...(fields["dropsSafetyCopy"] === true ? { dropsSafetyCopy: true } : {}),
  };
}

const upgradeSteps: readonly string[] = ["check", "stop", "run", "return"] satisfies readonly WantedUpgrade["step"][];

function parseUpgrade(value: unknown): WantedUpgrade {
  const fields = objectOf(value, "upgrade");
  const step = textOf(fields, "step");
  if (!upgradeSteps.includes(step))
    throw new Error(`Cannot read step: expected one of ${upgradeSteps.join(", ")}, got ${JSON.stringify(step)}`);
  return {
    id: textOf(fields, "id"),
    instance: textOf(fields, "instance"),
    from: textOf(fields, "from"),
    to: textOf(fields, "to"),
    step: step as WantedUpgrade["step"],
    timeline: wholeNumberOf(fields, "timeline"),
  };
}

function parseImport(value: unknown): WantedImport {
  const fields = objectOf(value, "import");
  return {
    from: parseOtherServer(objectOf(fields["from"], "import.from")),
    isMicroservice: fields["isMicroservice"] === true,
    databases: listOf(fields, "databases").map(String),
    roles: listOf(fields, "roles").map(String),
    hasRolePasswords: fields["hasRolePasswords"] === true,
  };
}

function parseOtherServer(fields: Fields): OtherServer {
  const texts = ["host", "user", "database", "sslMode"] as const;
  const [host, user, database, sslMode] = texts.map((name) => textOf(fields, name)) as [string, string, string, string];
  return { host, port: wholeNumberOf(fields, "port"), user, database, sslMode };
}

const accesses: readonly string[] = ["owner", "readwrite", "readonly"] satisfies readonly DatabaseAccess[];

export function parseWantedUser(value: unknown): WantedUser {
  const fields = objectOf(value, "the user");
  return {
    user: textOf(fields, "user"),
    password: textOf(fields, "password"),
    rights: listOf(fields, "rights").map((each) => {
      const right = objectOf(each, "rights");
      return { database: textOf(right, "database"), access: accessOf(textOf(right, "access")) };
    }),
  };
}

function accessOf(text: string): DatabaseAccess {
  if (accesses.includes(text)) return text as DatabaseAccess;
  throw new Error(`Cannot read access: expected one of ${accesses.join(", ")}, got ${JSON.stringify(text)}`);
}

export function parseLogin(value: unknown): Login {
  const fields = objectOf(value, "the login");
  return { user: textOf(fields, "user"), password: textOf(fields, "password"), database: textOf(fields, "database") };
}

export function parseDroppedUser(value: unknown): DroppedUser {
  const fields = objectOf(value, "the user");
  return { user: textOf(fields, "user"), ...(fields["heir"] === undefined ? {} : { heir: textOf(fields, "heir") }) };
}

function objectOf(value: unknown, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Error(`Cannot read ${what}: expected an object, got ${JSON.stringify(value)}`);
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === "string") return value;
  throw new Error(`Cannot read ${name}: expected a text, got ${JSON.stringify(value)}`);
}

function wholeNumberOf(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`Cannot read ${name}: expected a whole number, got ${JSON.stringify(value)}`);
}

function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (Array.isArray(value)) return value;
  throw new Error(`Cannot read ${name}: expected a list, got ${JSON.stringify(value)}`);
}

function textsOf(fields: Fields, name: string): Readonly<Record<string, string>> {
  const entries = Object.entries(objectOf(fields[name], name));
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
}
