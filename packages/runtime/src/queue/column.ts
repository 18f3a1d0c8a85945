type Numbers = Float64Array | Int32Array | Uint8Array;

/** Slots that there is room for at first: V8 has arrays of up to 64 bytes in its own heap, which is quick. */
export const roomMin = 8;

/** One number of every slot. */
export class Column {
  readonly #create: (length: number) => Numbers;
  #values: Numbers;

  private constructor(create: (length: number) => Numbers) {
    this.#create = create;
    this.#values = create(roomMin);
  }

  static ofTimes(): Column {
    return new Column((length) => new Float64Array(length));
  }

  static ofIntegers(): Column {
    return new Column((length) => new Int32Array(length));
  }

  /** Up to 255. */
  static ofBytes(): Column {
    return new Column((length) => new Uint8Array(length));
  }

  get(slot: number): number {
    return this.#values[slot] ?? 0;
  }

  set(slot: number, value: number): void {
    this.#values[slot] = value;
  }

  resize(room: number): void {
    const values = this.#create(room);
    values.set(this.#values.subarray(0, room));
    this.#values = values;
  }
}
