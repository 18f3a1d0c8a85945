/** STYLE 38: what a package exports has a doc comment where it is declared. */
import { parseSync } from "oxc-parser";
import { posix } from "node:path";
import type { SourceFile } from "./source-files.ts";

const documentedShareMin = 0.95;

/** Where a name comes from: a declaration of the file itself, or another file's export. */
interface Export {
  readonly from?: { readonly path: string; readonly name: string };
  readonly isDocumented: boolean;
}

/** One line for each undocumented name, if too many names of the packages' entries have no doc comment. */
export function documentedExportProblems(files: readonly SourceFile[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const known = new Map<string, ReadonlyMap<string, Export>>();
  const names = files
    .filter(isEntry)
    .flatMap(({ path }) => [...exportsAt(path).keys()].map((name) => ({ path, name })));
  const undocumented = names.filter(({ path, name }) => !isDocumented(path, name));
  const share = names.length === 0 ? 1 : 1 - undocumented.length / names.length;
  if (share >= documentedShareMin) return [];
  const percent = (100 * share).toFixed(1);
  return [
    ...undocumented.map(({ path, name }) => `${path}: "${name}" has no doc comment where it is declared`),
    `doc comments: ${percent} % of ${names.length} exported names have one, expected at least ${100 * documentedShareMin} %`,
  ];

  function exportsAt(path: string): ReadonlyMap<string, Export> {
    const file = byPath.get(path);
    const exports = known.get(path) ?? (file === undefined ? new Map<string, Export>() : readExports(file));
    known.set(path, exports);
    return exports;
  }

  function isDocumented(path: string, name: string): boolean {
    const found = exportsAt(path).get(name);
    if (found === undefined) return true;
    return found.isDocumented || (found.from !== undefined && isDocumented(found.from.path, found.from.name));
  }
}

function isEntry({ path }: SourceFile): boolean {
  return /^(packages|operators)\/[^/]+\/src\/([\w-]+\/)*index\.ts$/.test(path) && !path.startsWith("packages/api/");
}

function readExports({ path, text }: SourceFile): ReadonlyMap<string, Export> {
  const { program, comments } = parseSync(path, text);
  const docEnds = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*")).map(({ end }) => end);
  const exports = new Map<string, Export>();
  for (const statement of program.body) {
    if (statement.type !== "ExportNamedDeclaration") continue;
    const isDocumented = docEnds.some(
      (end) => end <= statement.start && text.slice(end, statement.start).trim() === "",
    );
    const source = statement.source?.value;
    for (const { local, exported } of statement.specifiers) {
      const from =
        source?.startsWith(".") === true
          ? { path: posix.join(posix.dirname(path), source), name: nameOf(local) }
          : undefined;
      // A name that another package declares is documented there, and counted there.
      const isOthers = source !== undefined && from === undefined;
      exports.set(nameOf(exported), { isDocumented: isOthers, ...(from === undefined ? {} : { from }) });
    }
    for (const name of declaredNames(statement.declaration)) {
      const before = exports.get(name)?.isDocumented === true;
      exports.set(name, { isDocumented: before || isDocumented });
    }
  }
  return exports;
}

function declaredNames(declaration: unknown): readonly string[] {
  if (typeof declaration !== "object" || declaration === null) return [];
  const { id, declarations = [] } = declaration as { id?: unknown; declarations?: readonly { id: unknown }[] };
  return [id, ...declarations.map((each) => each.id)].map(nameOf).filter((name) => name !== "");
}

/** The text of an identifier; "" for anything else. */
function nameOf(node: unknown): string {
  if (typeof node !== "object" || node === null) return "";
  const { name, value } = node as { name?: unknown; value?: unknown };
  return typeof name === "string" ? name : typeof value === "string" ? value : "";
}
