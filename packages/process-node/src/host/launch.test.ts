import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { launch, launchScript, shellWord } from "./launch.ts";

describe("launch", () => {
  it("gives the program its words and its input as they are", async () => {
    const word = `a 'b' "c" $(id) \`id\` \\ *\nnext`;
    expect(await launch(["printf", "%s", word])).toBe(word);
    const input = `END\nEND_\n$(id) \`id\` 'x' \\\n`;
    expect(await launch(["cat"], { input })).toBe(input.trimEnd());
    const long = `${"x".repeat(99)}\n`.repeat(5_000);
    expect(await launch(["wc", "-c"], { input: long })).toContain("500000");
    expect(await launch(["cat"])).toBe("");
  });

  it("rejects with what a program that fails said", async () => {
    await expect(launch(["sh", "-c", "echo no such thing >&2; exit 3"])).rejects.toThrow(/^no such thing$/);
    await expect(launch(["sh", "-c", "exit 3"])).rejects.toThrow("exit code 3");
    await expect(launch(["no-such-program"])).rejects.toThrow("not found");
    expect(() => shellWord("a\0b")).toThrow("zero byte");
  });

  it("runs many programs at once and keeps their answers apart", async () => {
    const numbers = Array.from({ length: 40 }, (_, index) => String(index).repeat(2_500));
    expect(await Promise.all(numbers.map((text) => launch(["printf", "%s", text])))).toEqual(
      numbers.map((text) => text.slice(0, 4_000)),
    );
  });

  it("ends a program that takes too long, with what it started", async () => {
    const before = sleepers();
    await expect(launch(["sh", "-c", "sleep 4711 & wait"], { msMax: 300 })).rejects.toThrow("no end after 300 ms");
    await expect.poll(sleepers, { timeout: 5_000 }).toBe(before);
  });

  it("gives programs nothing of this process's environment", async () => {
    const names = (await launch(["env"])).split("\n").map((line) => line.split("=")[0] ?? "");
    expect(names.sort()).toEqual(["LC_ALL", "PATH", "PWD"]);
  });

  it("does not wait for what a program leaves in the background with other outputs", async () => {
    const pid = Number(await launchScript("sleep 4712 >/dev/null 2>&1 & echo $!"));
    expect(readFileSync(`/proc/${pid}/comm`, "utf8").trim()).toMatch(/sh|sleep/);
    process.kill(pid, "SIGKILL");
  });
});

function sleepers(): number {
  const text = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
  return text.split("\n").filter((line) => line.trim() === "sleep 4711").length;
}
