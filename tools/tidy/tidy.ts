/** Checks of our own house that no linter has. Each file of this folder is one check. */
import { commentWidthProblems } from "./comment-width.ts";
import { documentedExportProblems } from "./documented-exports.ts";
import { engineSizeProblems } from "./engine-size.ts";
import { folderOrderProblems } from "./folder-order.ts";
import { importCycleProblems } from "./import-cycles.ts";
import { fileNameProblems, openWorkProblems } from "./file-names.ts";
import { inheritingTableProblems } from "./inheriting-tables.ts";
import { mutualFolderProblems } from "./mutual-folders.ts";
import { operatorRoomProblems } from "./operator-rooms.ts";
import { packageLevelProblems } from "./package-levels.ts";
import { longSentences, longSubjects, newestSubjects } from "./plain-sentences.ts";
import { plainWordProblems } from "./plain-words.ts";
import { functionLengthProblems } from "./readable-functions.ts";
import { readSourceFiles, readTextFiles, trackedFiles } from "./source-files.ts";

const paths = trackedFiles();
const sources = readSourceFiles(paths);
const texts = readTextFiles(paths);

const problems = [
  ...fileNameProblems(paths),
  ...openWorkProblems(texts),
  ...plainWordProblems(texts),
  ...commentWidthProblems(texts),
  ...packageLevelProblems(sources),
  ...folderOrderProblems(sources),
  ...operatorRoomProblems(sources),
  ...mutualFolderProblems(sources),
  ...importCycleProblems(sources),
  ...inheritingTableProblems(sources),
  ...functionLengthProblems(sources),
  ...documentedExportProblems(sources),
  ...engineSizeProblems(sources),
];

const reports = [...texts.flatMap(longSentences), ...longSubjects(newestSubjects(20))];

// `--reports` prints what is reported and not refused.
if (process.argv.includes("--reports")) for (const report of reports) console.log(report);
for (const problem of problems) console.error(problem);
console.log(`tidy: ${paths.length} files, ${problems.length} problems, ${reports.length} long sentences and subjects`);
process.exitCode = problems.length === 0 ? 0 : 1;
