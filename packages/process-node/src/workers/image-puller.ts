import type { Container } from "@setpoint/api";
import { messageOf } from "@setpoint/apimachinery";
import type { LocalImage } from "../images/image.ts";
import { goDuration } from "../status/go-duration.ts";
import { configRetryMs, type ContainerParts } from "./container-parts.ts";
import type { WaitingPhase } from "./container-phase.ts";

const delayMsFirst = 10_000;
const delayMsMax = 300_000;
/** Until a kubelet syncs the pod again. */
const errorShownMs = 2_000;

/** Pulls the image of one container, with a back-off that a successful pull resets. */
export class ImagePuller {
  readonly #parts: ContainerParts;
  #delayMs = 0;
  /** The last failure, until its back-off is over. */
  #failure: { readonly message: string; readonly retryAtMs: number } | undefined;

  constructor(parts: ContainerParts) {
    this.#parts = parts;
  }

  /**
   * Resolves to the reason to wait when there is no image, and to undefined when the signal is aborted.
   * `Always` asks the image's registry again; what the cache has under the same digest is not fetched again.
   */
  async pull(container: Container, signal: AbortSignal): Promise<LocalImage | WaitingPhase | undefined> {
    const { image = "", imagePullPolicy: policy = "IfNotPresent" } = container;
    try {
      const isPresent = policy !== "Always" && this.#parts.hasImage(image);
      if (!isPresent && policy === "Never") return this.#neverPull(container.name, image);
      if (!isPresent && this.#failure !== undefined && this.#afterMs(0) < this.#failure.retryAtMs)
        return this.#backOff(container.name, image, this.#failure);
      const startedMs = this.#afterMs(0);
      if (!isPresent) this.#parts.event("Normal", "Pulling", `Pulling image "${image}"`, container.name);
      const pulled = await this.#parts.pullImage(image, { isFresh: policy === "Always", signal });
      const message = isPresent
        ? `Container image "${image}" already present on machine and can be accessed by the pod`
        : pulledMessage(image, this.#afterMs(0) - startedMs, pulled.bytes);
      this.#parts.event("Normal", "Pulled", message, container.name);
      this.#delayMs = 0;
      this.#failure = undefined;
      return pulled;
    } catch (error) {
      return signal.aborted ? undefined : this.#failed(container.name, image, messageOf(error));
    }
  }

  #neverPull(container: string, image: string): WaitingPhase {
    const message = `Container image "${image}" is not present with pull policy of Never`;
    this.#parts.event("Warning", "ErrImageNeverPull", message, container);
    return { kind: "waiting", reason: "ErrImageNeverPull", message, notBeforeMs: this.#afterMs(configRetryMs) };
  }

  /** ErrImagePull until the next sync, and ImagePullBackOff until the next try. */
  #failed(container: string, image: string, message: string): WaitingPhase {
    this.#delayMs = Math.min(this.#delayMs === 0 ? delayMsFirst : this.#delayMs * 2, delayMsMax);
    this.#failure = { message, retryAtMs: this.#afterMs(this.#delayMs) };
    this.#parts.event("Warning", "Failed", `Failed to pull image "${image}": ${message}`, container);
    this.#parts.event("Warning", "Failed", "Error: ErrImagePull", container);
    return { kind: "waiting", reason: "ErrImagePull", message, notBeforeMs: this.#afterMs(errorShownMs) };
  }

  #backOff(container: string, image: string, failure: { message: string; retryAtMs: number }): WaitingPhase {
    const what = `Back-off pulling image "${image}"`;
    this.#parts.event("Normal", "BackOff", what, container);
    this.#parts.event("Warning", "Failed", "Error: ImagePullBackOff", container);
    const message = `${what}: ErrImagePull: ${failure.message}`;
    return { kind: "waiting", reason: "ImagePullBackOff", message, notBeforeMs: failure.retryAtMs };
  }

  #afterMs(delayMs: number): number {
    return this.#parts.clock.monotonic() + delayMs;
  }
}

function pulledMessage(image: string, tookMs: number, bytes: number | undefined): string {
  const took = goDuration(tookMs);
  const size = bytes === undefined ? "" : ` Image size: ${bytes} bytes.`;
  return `Successfully pulled image "${image}" in ${took} (${took} including waiting).${size}`;
}
