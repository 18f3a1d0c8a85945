import type { Container } from "@setpoint/api";
import { messageOf } from "@setpoint/apimachinery";
import type { LocalImage } from "../images/image.ts";
import { configRetryMs, type ContainerParts } from "./container-parts.ts";
import type { WaitingPhase } from "./container-phase.ts";

const delayMsFirst = 10_000;
const delayMsMax = 300_000;

/** Pulls the image of one container, with a back-off that a successful pull resets. */
export class ImagePuller {
  readonly #parts: ContainerParts;
  #delayMs = 0;

  constructor(parts: ContainerParts) {
    this.#parts = parts;
  }

  /**
   * Resolves to the reason to wait when there is no image, and to undefined when the signal is aborted.
   * `Always` asks for the image by its name again; what the cache has under the same content is not unpacked
   * again.
   */
  async pull(container: Container, signal: AbortSignal): Promise<LocalImage | WaitingPhase | undefined> {
    const { image = "", imagePullPolicy: policy = "IfNotPresent" } = container;
    try {
      const isPresent = policy !== "Always" && this.#parts.hasImage(image);
      if (!isPresent && policy === "Never") return this.#neverPull(container.name, image);
      if (!isPresent) this.#parts.event("Normal", "Pulling", `Pulling image "${image}"`, container.name);
      const pulled = await this.#parts.pullImage(image, signal);
      const message = isPresent
        ? `Container image "${image}" already present on machine`
        : `Successfully pulled image "${image}"`;
      this.#parts.event("Normal", "Pulled", message, container.name);
      this.#delayMs = 0;
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

  /** The first failure shows as ErrImagePull, later ones as ImagePullBackOff. */
  #failed(container: string, image: string, message: string): WaitingPhase {
    const isFirst = this.#delayMs === 0;
    this.#delayMs = Math.min(isFirst ? delayMsFirst : this.#delayMs * 2, delayMsMax);
    this.#parts.event("Warning", "Failed", `Failed to pull image "${image}": ${message}`, container);
    const notBeforeMs = this.#afterMs(this.#delayMs);
    if (isFirst) return { kind: "waiting", reason: "ErrImagePull", message, notBeforeMs };
    const backOff = `Back-off pulling image "${image}": ErrImagePull: ${message}`;
    return { kind: "waiting", reason: "ImagePullBackOff", message: backOff, notBeforeMs };
  }

  #afterMs(delayMs: number): number {
    return this.#parts.clock.monotonic() + delayMs;
  }
}
