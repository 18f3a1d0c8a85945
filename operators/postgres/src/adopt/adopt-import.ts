/** `spec.bootstrap.import`, of the import of a Cluster and the server that it names. */
import type { Report } from "./difference.ts";
import { type FieldTable, dropped } from "./field-table.ts";
import type { Fields } from "./fields.ts";
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
