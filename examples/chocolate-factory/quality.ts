/** Reads all bars and reports which machines need calibration. */
import { age, conditions, controller, defineKind, keyOf, watching } from "setpoint";
import { z } from "zod";
import { Chocolate } from "./chocolate.ts";

export const QualityReport = defineKind({
  group: "factory.setpoint.dev",
  version: "v1",
  kind: "QualityReport",
  shortNames: ["qr"],
  spec: z.object({
    /** A machine whose bars are further off than this on average needs calibration. */
    errorMax: z.number().min(0).default(4),
    /** Fewer bars say nothing about a machine. */
    barsMin: z.int().min(1).default(3),
  }),
  status: z.object({
    machines: z.array(z.object({ machine: z.int(), bars: z.int(), meanError: z.number() })),
    conditions: conditions().optional(),
  }),
  printerColumns: { Age: age() },
});

interface MachineQuality {
  readonly machine: number;
  readonly bars: number;
  readonly meanError: number;
}

export const qualityReports = controller(QualityReport, {
  watches: [
    watching(Chocolate, ({ metadata: { namespace } }, cache) => cache.list(QualityReport, { namespace }).map(keyOf)),
  ],
  async reconcile({ spec }, { list, status, condition }) {
    const measured = list(Chocolate).flatMap((each) => each.status?.measured ?? []);
    const machines = [...Map.groupBy(measured, ({ machine }) => machine)]
      .map(([machine, bars]) => ({ machine, bars: bars.length, meanError: mean(bars.map(({ error }) => error)) }))
      .toSorted((a, b) => a.machine - b.machine);
    const worn = machines.filter(({ bars, meanError }) => bars >= spec.barsMin && Math.abs(meanError) > spec.errorMax);
    // No `health`: the report is complete also when a machine is not.
    condition({
      type: "Calibrated",
      status: worn.length === 0 ? "True" : "False",
      reason: worn.length === 0 ? "MachinesCalibrated" : "CalibrationNeeded",
      message: worn.map(calibrationOf).join("; ") || `${measured.length} bars of ${machines.length} machines measured`,
    });
    await status({ machines });
  },
});

function calibrationOf({ machine, bars, meanError }: MachineQuality): string {
  return `machine ${machine} needs calibration: ${bars} bars, off by ${meanError} on average`;
}

function mean(values: readonly number[]): number {
  return Math.round((10 * values.reduce((sum, value) => sum + value, 0)) / values.length) / 10;
}
