/** Paths within a volume that users choose: they must not lead out of it. */
import type { FieldError } from "@setpoint/apimachinery";
import { invalidValue } from "../field-errors.ts";
import { type JsonObject, objectAt, objectsAt, stringAt } from "../json-fields.ts";

/** `subPath` and `subPathExpr` of a volumeMount. */
export function subPathErrors(mount: JsonObject, at: string): readonly FieldError[] {
  const subPath = stringAt(mount, "subPath");
  const expression = stringAt(mount, "subPathExpr");
  if (subPath !== "" && expression !== "")
    return [invalidValue(`${at}.subPathExpr`, expression, "subPathExpr and subPath are mutually exclusive")];
  return [...localPathErrors(subPath, `${at}.subPath`), ...localPathErrors(expression, `${at}.subPathExpr`)];
}

/** The files that a volume makes of keys, fields and tokens. */
export function volumeFileErrors(volume: JsonObject, at: string): readonly FieldError[] {
  const projected = objectsAt(objectAt(volume, "projected"), "sources");
  return [
    ...sourceErrors(volume, at),
    ...projected.flatMap((source, index) => {
      const where = `${at}.projected.sources[${index}]`;
      const token = stringAt(objectAt(source, "serviceAccountToken"), "path");
      return [...sourceErrors(source, where), ...fileErrors(token, `${where}.serviceAccountToken.path`)];
    }),
  ];
}

function sourceErrors(source: JsonObject, at: string): readonly FieldError[] {
  return ["configMap", "secret", "downwardAPI"].flatMap((kind) =>
    objectsAt(objectAt(source, kind), "items").flatMap((item, index) =>
      fileErrors(stringAt(item, "path"), `${at}.${kind}.items[${index}].path`),
    ),
  );
}

/** Names that begin with ".." belong to the node, which keeps versions of the files there. */
function fileErrors(path: string, at: string): readonly FieldError[] {
  const errors = localPathErrors(path, at);
  return errors.length > 0 || !path.startsWith("..") ? errors : [invalidValue(at, path, "must not start with '..'")];
}

function localPathErrors(path: string, at: string): readonly FieldError[] {
  if (path.startsWith("/")) return [invalidValue(at, path, "must be a relative path")];
  return path.split("/").includes("..") ? [invalidValue(at, path, "must not contain '..'")] : [];
}
