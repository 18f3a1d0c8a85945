import { checkOperatorFile, startOperatorChild } from "./operator-child.ts";

export interface DevSessionOptions {
  readonly file: string;
  readonly kubeconfig: string;
  /** Told what happens, a line each. */
  readonly say: (line: string) => void;
  /** Takes what the operator prints. */
  readonly err: (text: string) => void;
}

/**
 * Keeps one operator running, always in the state of its last good save. A save that does not load is
 * reported and changes nothing: the operator from before goes on, so that the cluster is never without it
 * because of a typing error.
 */
export class DevSession implements AsyncDisposable {
  readonly #options: DevSessionOptions;
  #child: AsyncDisposable | undefined;
  #isReloading = false;
  #isDirty = false;
  #isEnded = false;

  constructor(options: DevSessionOptions) {
    this.#options = options;
  }

  /** Starts or restarts the operator; calls run one after another. */
  async reload(): Promise<void> {
    this.#isDirty = true;
    if (this.#isReloading) return;
    this.#isReloading = true;
    while (this.#isDirty && !this.#isEnded) {
      this.#isDirty = false;
      await this.#reloadOnce();
    }
    this.#isReloading = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    await this.#child?.[Symbol.asyncDispose]();
  }

  async #reloadOnce(): Promise<void> {
    const { file, kubeconfig, say, err } = this.#options;
    const wrong = await checkOperatorFile(file);
    if (this.#isEnded) return;
    if (wrong !== undefined) {
      const before = this.#child === undefined ? "waiting for the next save" : "the operator from before goes on";
      return say(`${wrong}\n${file} does not load: ${before}`);
    }
    const isFirst = this.#child === undefined;
    await this.#child?.[Symbol.asyncDispose]();
    this.#child = undefined;
    if (this.#isEnded) return;
    const onEnd = (code: number | null): void => {
      this.#child = undefined;
      say(`The operator ended with code ${code}: waiting for the next save`);
    };
    this.#child = startOperatorChild({ file, kubeconfig, err, onEnd });
    say(isFirst ? `Started ${file}` : `Reloaded ${file}`);
  }
}
