/** `spec.bootstrap.import`, of the import of a Cluster and the server that it names. */
import type { Report } from "./difference.ts";
import { type FieldTable, dropped } from "./field-table.ts";
import type { Fields } from "./fields.ts";
import { type InputObject, sourceFlag, targetFlag } from "./input-object.ts";
import { unlessEmpty, withoutUndefined } from "./output-object.ts";

const tools = "pg_dump and pg_restore get no options of the manifest";

/** By path below `bootstrap.initdb.import`. */
export const importTable: FieldTable = {
  type: "carried",
  databases: "carried",
  roles: "carried",
  "source.externalCluster": "carried",
  schemaOnly: dropped("an import brings the data along", "empty the tables after it", [false]),
  pgDumpExtraOptions: dropped(tools, undefined, [[]]),
  pgRestoreExtraOptions: dropped(tools, undefined, [[]]),
  postImportApplicationSQL: dropped("no SQL runs after an import", "run it with psql in the primary's pod", [[]]),
};

/** Of a server in `externalClusters`, as far as an import reads it. */
export function adoptImport(spec: Fields, report: Report): object | undefined {
  const initdb = spec.fields("bootstrap").fields("initdb");
  if (!initdb.has("import")) return undefined;
  const given = initdb.fields("import");
  const server = serverOf(spec, given, report);
  if (server === undefined) return undefined;
  const isMicroservice = given.text("type") !== "monolith";
  return {
    import: withoutUndefined({
      from: server,
      type: isMicroservice ? "microservice" : "monolith",
      databases: unlessEmpty(given.texts("databases")),
      // Without a list CloudNativePG imports none.
      roles: isMicroservice ? undefined : given.texts("roles"),
    }),
  };
}

/** The name of the server that an import of the Cluster reads. */
export function importedServer(spec: Fields): string | undefined {
  return spec.fields("bootstrap").fields("initdb").fields("import").fields("source").text("externalCluster");
}

function serverOf(spec: Fields, given: Fields, report: Report): object | undefined {
  const name = importedServer(spec);
  const server = spec.list("externalClusters").find((each) => each.text("name") === name);
  const problem = server === undefined ? `no server "${name ?? ""}" is in spec.externalClusters` : problemOf(server);
  if (problem !== undefined || server === undefined) {
    report.add(given.path, "byHand", `${problem ?? ""}; what is written starts empty`, "write spec.bootstrap.import");
    return undefined;
  }
  return connectionOf(server, report);
}

function problemOf(server: Fields): string | undefined {
  if (server.fields("connectionParameters").text("host") === undefined) return `${server.path} has no host`;
  return server.fields("password").has("name") ? undefined : `${server.path} has no password`;
}

const sslModes: Readonly<Record<string, string>> = { allow: "prefer" };
const readParameters = ["host", "port", "user", "dbname", "sslmode"];

function connectionOf(server: Fields, report: Report): object {
  const parameters = server.fields("connectionParameters");
  for (const parameter of Object.keys(parameters.value).filter((each) => !readParameters.includes(each)))
    report.add(parameters.at(parameter), "dropped", "an import takes host, port, user, dbname and sslmode alone");
  for (const field of ["sslCert", "sslKey"].filter((each) => server.has(each)))
    report.add(server.at(field), "dropped", "an import logs in with a password", "allow that on the other server");
  const mode = parameters.text("sslmode") ?? "prefer";
  const port = Number(parameters.text("port") ?? Number.NaN);
  return withoutUndefined({
    host: parameters.requiredText("host"),
    port: Number.isInteger(port) ? port : undefined,
    user: parameters.text("user") ?? "postgres",
    database: parameters.text("dbname"),
    sslMode: sslModes[mode] ?? mode,
    password: secretKey(server.fields("password")),
    ca: server.has("sslRootCert") ? secretKey(server.fields("sslRootCert")) : undefined,
  });
}

function secretKey(reference: Fields): object {
  return withoutUndefined({ name: reference.requiredText("name"), key: reference.text("key") });
}

interface Login {
  readonly user: string;
  readonly secret: string;
}

/** From the Service of the Cluster: all of it as superuser, else the database of the owner. */
export function importOfCluster(
  input: InputObject,
  { name = "app", owner = "app" }: { readonly name?: string; readonly owner?: string },
  report: Report,
): object {
  const { spec } = input;
  const isSuperuser = spec.boolean("enableSuperuserAccess") === true;
  const login = isSuperuser ? superuser(input) : { user: owner, secret: ownerSecret(input) };
  reportLogin(input, login, report);
  if (!isSuperuser)
    report.add(
      "spec.enableSuperuserAccess",
      "byHand",
      `without a superuser the import takes the database "${name}" alone, and all of it belongs to "${owner}"`,
      "set it to true in the Cluster and adopt again for all databases and roles",
    );
  if (input.namespace === undefined)
    report.add(
      "metadata.namespace",
      "byHand",
      "the Cluster is expected in the namespace default",
      "set from.host else",
    );
  const from = {
    host: `${input.name}-rw.${input.namespace ?? "default"}.svc`,
    user: login.user,
    ...(isSuperuser ? {} : { database: name }),
    password: { name: importSecret(input) },
  };
  return { import: isSuperuser ? { from, type: "monolith" } : { from, type: "microservice", databases: [name] } };
}

function importSecret({ name }: InputObject): string {
  return `${name}-import`;
}

function superuser({ name, spec }: InputObject): Login {
  return { user: "postgres", secret: spec.fields("superuserSecret").text("name") ?? `${name}-superuser` };
}

function ownerSecret({ name, spec }: InputObject): string {
  const ways = ["initdb", "recovery", "pg_basebackup"].map((way) => spec.fields("bootstrap").fields(way));
  return ways.map((way) => way.fields("secret").text("name")).find((each) => each !== undefined) ?? `${name}-app`;
}

function reportLogin(input: InputObject, { user, secret }: Login, report: Report): void {
  const password = `$(kubectl${sourceFlag(input)} get secret ${secret} -o go-template='{{.data.password | base64decode}}')`;
  const create = `kubectl${targetFlag(input)} create secret generic ${importSecret(input)} --from-literal=password="${password}"`;
  const why = `the import logs in as "${user}", and reads the password in the Secret "${importSecret(input)}"`;
  report.add("", "byHand", why, `stop the applications, and run: ${create}`);
}
