/** What an instance of the model has on its volume. */
import type { SimulatedVolume } from "setpoint/testing";
import type { DesiredInstance } from "../instance/instance-protocol.ts";
import type { InstanceData } from "./instance-data.ts";

const dataFile = "pgdata";
const documentFile = "desired.json";

export class SimulatedDisk {
  readonly #volume: SimulatedVolume;

  constructor(volume: SimulatedVolume) {
    this.#volume = volume;
  }

  get data(): InstanceData | undefined {
    // Only this class writes to the volume.
    return this.#volume.files.get(dataFile) as InstanceData | undefined;
  }

  set data(data: InstanceData) {
    this.#volume.files.set(dataFile, data);
  }

  get document(): DesiredInstance | undefined {
    return this.#volume.files.get(documentFile) as DesiredInstance | undefined;
  }

  set document(document: DesiredInstance) {
    this.#volume.files.set(documentFile, document);
  }
}
