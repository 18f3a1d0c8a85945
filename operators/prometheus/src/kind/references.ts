/** Keys of Secrets and ConfigMaps that a field names. */
import { z } from "zod";
import { flag, open, type Read, text } from "./open-object.ts";

/** One key of a Secret or of a ConfigMap in the namespace of the object that names it. */
export const keySelector = open({ name: text, key: z.string(), optional: flag });
export const secretOrConfigMap = open({ secret: keySelector.optional(), configMap: keySelector.optional() });

export type KeySelector = Read<typeof keySelector>;
export type SecretOrConfigMap = Read<typeof secretOrConfigMap>;
