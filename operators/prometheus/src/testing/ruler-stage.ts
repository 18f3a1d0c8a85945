/** ThanosRulers on stage in the simulated world. Only tests import this. */
import { ThanosRuler, type ThanosRulerSpec } from "../kind/thanos-ruler.ts";

export function ruler(spec: Partial<ThanosRulerSpec> = {}): ThanosRuler {
  return ThanosRuler({ name: "main", spec: { ruleSelector: {}, queryEndpoints: ["query:9090"], ...spec } });
}
