/** Objects of which the operator knows some fields, while users may set all that upstream has. */
import type { DeepReadonly } from "setpoint/kinds";
import { z } from "zod";

/**
 * An object whose other fields the server keeps and does not check. Its type has the known fields alone, so
 * that a misspelt field is an error of the compiler.
 */
export function open<const Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> {
  // Zod gives a loose object an index signature, which would allow to read any name.
  return z.looseObject(shape) as unknown as z.ZodObject<Shape>;
}

/** A field that may be absent. */
export const text = z.string().optional();
export const flag = z.boolean().optional();
export const count = z.int().optional();
export const texts = z.array(z.string()).optional();
export const textMap = z.record(z.string(), z.string()).optional();

/** A time as Prometheus writes it; upstream's pattern. */
export const duration = z
  .string()
  .regex(/^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$/)
  .optional();

/** What a field holds when it is read. */
export type Read<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;
