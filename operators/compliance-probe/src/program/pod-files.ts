/** The files of the pod. */
import { open, mkdir, readdir, readFile, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { PodFiles } from "../acts/probed-pod.ts";
import { reach } from "./reach.ts";

export const podFiles: PodFiles = {
  read: (path) => readFile(path, "utf8"),
  list: (path) => readdir(path),
  async blockDevices(path) {
    const paths = (await readdir(path)).map((name) => join(path, name));
    const found = await Promise.all(
      paths.map((each) =>
        stat(each).then(
          (facts) => facts.isBlockDevice(),
          () => false,
        ),
      ),
    );
    return paths.filter((_, at) => found[at]);
  },
  async open(path, mode) {
    // Neither flag truncates.
    const file = await open(path, mode === "read" ? "r" : "r+");
    await file.close();
  },
  async create(path, what) {
    if (what === "folder") {
      await mkdir(path);
      await rmdir(path);
    } else {
      const file = await open(path, "wx");
      await file.close();
      await rm(path);
    }
  },
  remove: (path) => rm(path, { force: true }),
  connectToSocket: (path) => reach({ path }),
};
