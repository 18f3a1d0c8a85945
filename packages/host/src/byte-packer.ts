/** Makes bytes that are kept for long and read seldom smaller. */
export interface BytePacker {
  pack(bytes: Uint8Array): Uint8Array;
  /** Fills `into`, which is as long as what was packed. */
  unpack(packed: Uint8Array, into: Uint8Array): void;
}
