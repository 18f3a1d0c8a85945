/** What an upgrade of the major version asks of this instance, and how far it is with that. */
import { existsSync } from "node:fs";
import type { DesiredInstance } from "../../instance/instance-protocol.ts";
import type { UpgradeReport, WantedUpgrade } from "../../instance/upgrade-protocol.ts";
import type { ManagerClock } from "../manager-clock.ts";
import { paths } from "../paths.ts";
import { dropSafetyCopy, majorVersionOf, safetyCopyVersion, safetyFolder, takeSafetyCopy } from "./data-folders.ts";
import type { MajorUpgrade } from "./major-upgrade.ts";

/** A user repairs what was refused, and nothing tells of that. */
const checkAgainMs = 30_000;
const analyzeAgainMs = 30_000;
const lookAgainMs = 500;

interface KeeperParts {
  readonly name: string;
  readonly programVersion: string;
  readonly clock: ManagerClock;
  readonly upgrade: MajorUpgrade;
  readonly complain: (line: string) => void;
}

export class UpgradeKeeper {
  readonly #parts: KeeperParts;
  #said: UpgradeReport | undefined;
  #isChecking = false;
  #checkedMs = Number.NEGATIVE_INFINITY;
  #isAnalyzing = false;
  #analyzedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  get report(): UpgradeReport | undefined {
    return this.#said;
  }

  get safetyCopy(): string | undefined {
    return safetyCopyVersion();
  }

  get isAnalyzing(): boolean {
    return existsSync(paths.analyze);
  }

  /** What the document asks of this instance now; undefined: nothing. */
  asked(desired: DesiredInstance | undefined): WantedUpgrade | undefined {
    return desired?.upgrade?.instance === this.#parts.name ? desired.upgrade : undefined;
  }

  /** Looks whether a running server's data can be upgraded, now and then, beside everything else. */
  check(desired: DesiredInstance, signal: AbortSignal): void {
    const wanted = this.asked(desired);
    if (wanted?.step !== "check" || this.#isChecking) return;
    const isDone = this.#said?.id === wanted.id;
    if (isDone && (this.#said?.state === "compatible" || this.#elapsed(this.#checkedMs) < checkAgainMs)) return;
    if (!isDone) this.#said = { id: wanted.id, state: "checking" };
    this.#isChecking = true;
    void this.#check(wanted, desired, signal).finally(() => (this.#isChecking = false));
  }

  /** Upgrades the data of the server, which has stopped; `isAsked` tells whether that is still to be done. */
  async run(wanted: WantedUpgrade, isAsked: () => DesiredInstance | undefined, signal: AbortSignal): Promise<void> {
    if (this.#said?.id === wanted.id && (this.#said.state === "upgraded" || this.#said.state === "failed")) return;
    this.#said = { id: wanted.id, state: "upgrading" };
    const taken = new AbortController();
    const watching = this.#watch(wanted, isAsked, taken);
    try {
      const { settings } = isAsked() ?? {};
      if (settings === undefined) return;
      const within = AbortSignal.any([signal, taken.signal]);
      const systemId = await this.#parts.upgrade.run({ wanted, settings, name: this.#parts.name }, within);
      this.#said = { id: wanted.id, state: "upgraded", systemId };
    } catch (error) {
      signal.throwIfAborted();
      this.#complain(error);
      this.#said = { id: wanted.id, state: "failed", problems: [textOf(error)] };
    } finally {
      taken.abort();
      await watching;
    }
  }

  /**
   * Sees that a server that starts finds data of the version that the cluster runs on. `foreign`: they are of
   * another one. `copy`: so are those of a replica, which starts from a copy of the primary's.
   */
  async settle(desired: DesiredInstance, signal: AbortSignal): Promise<"ready" | "foreign" | "copy"> {
    const { name, programVersion, upgrade } = this.#parts;
    const { dataVersion = programVersion, primary } = desired;
    const present = majorVersionOf(paths.data);
    const isMine = primary === name;
    if (present !== dataVersion && majorVersionOf(safetyFolder(dataVersion)) !== undefined) {
      if (isMine && desired.upgrade?.step === "return")
        await upgrade.takeBack(dataVersion, desired.upgrade.timeline, signal);
      else takeSafetyCopy(dataVersion);
    } else if (present !== undefined && present !== dataVersion) return isMine ? "foreign" : "copy";
    return dataVersion === programVersion ? "ready" : "foreign";
  }

  /** After the primary's server has started on upgraded data. */
  analyze(signal: AbortSignal): void {
    if (!this.isAnalyzing || this.#isAnalyzing || this.#elapsed(this.#analyzedMs) < analyzeAgainMs) return;
    this.#isAnalyzing = true;
    void this.#parts.upgrade
      .analyze(signal)
      .catch((error: unknown) => this.#complain(error))
      .finally(() => {
        this.#isAnalyzing = false;
        this.#analyzedMs = this.#parts.clock.monotonic();
      });
  }

  /** Deletes the data from before an upgrade, unless they are what the cluster runs on. */
  tidy({ dropsSafetyCopy, dataVersion }: DesiredInstance): void {
    const version = this.safetyCopy;
    if (dropsSafetyCopy === true && version !== undefined && version !== dataVersion) dropSafetyCopy(version);
  }

  async #check(wanted: WantedUpgrade, { settings }: DesiredInstance, signal: AbortSignal): Promise<void> {
    const { upgrade, name, clock } = this.#parts;
    const problems = await upgrade
      .check({ wanted, settings, name }, signal)
      .catch((error: unknown) => [`Cannot check the data: ${textOf(error)}`]);
    this.#checkedMs = clock.monotonic();
    this.#said =
      problems.length === 0 ? { id: wanted.id, state: "compatible" } : { id: wanted.id, state: "refused", problems };
  }

  /** Ends the upgrade when nobody asks for it any more. */
  async #watch(
    wanted: WantedUpgrade,
    isAsked: () => DesiredInstance | undefined,
    taken: AbortController,
  ): Promise<void> {
    while (!taken.signal.aborted) {
      const now = this.asked(isAsked());
      if (now?.id !== wanted.id || now.step !== "run") taken.abort();
      else await this.#parts.clock.sleep(lookAgainMs, taken.signal);
    }
  }

  #elapsed(sinceMs: number): number {
    return this.#parts.clock.monotonic() - sinceMs;
  }

  #complain(error: unknown): void {
    this.#parts.complain(`The instance manager: ${textOf(error)}`);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
