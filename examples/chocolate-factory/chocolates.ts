/** Orders a bar for each Chocolate, disposes of bars that are not as sweet as desired, and orders again. */
import { controller, declareConditions, seconds } from "setpoint";
import { Chocolate, measuredMax } from "./chocolate.ts";
import type { Bar, FactoryApi } from "./factory.ts";

/** After so many bad bars the factory needs a person. */
const disposedMax = 20;

const health = declareConditions({
  Delivered: { polarity: "positive", reasons: { BarDelivered: "True", BarDisposed: "False", TooManyBadBars: "False" } },
});

/** How far a machine was from what was ordered. */
interface Measured {
  readonly bar: string;
  readonly machine: number;
  readonly error: number;
}

export const chocolates = (factory: FactoryApi) =>
  controller(Chocolate, {
    ledger: true,
    health,
    async reconcile({ spec, status: last }, { effect, status, condition, requeueAfter }) {
      const { disposed = 0, measured = [] } = last ?? {};
      // One effect a bar: neither a crash nor a lost answer orders a second one in its place.
      const bar = await effect(`bar ${disposed + 1}`, {
        find: (key) => factory.find(key),
        do: (key) => factory.order(key, spec.sweetness - meanError(measured)),
      });
      const facts = { bar: bar.id, machine: bar.machine, sweetness: bar.sweetness, measured: withBar(measured, bar) };
      if (Math.abs(bar.sweetness - spec.sweetness) <= spec.tolerance) {
        const message = `${bar.id} of machine ${bar.machine} is ${bar.sweetness} sweet`;
        condition(...health.of({ Delivered: ["BarDelivered", message] }));
        return void (await status({ ...facts, disposed }));
      }
      const message = `${bar.id} of machine ${bar.machine} is ${bar.sweetness} sweet, desired ${spec.sweetness}`;
      if (disposed === disposedMax) {
        condition(...health.of({ Delivered: ["TooManyBadBars", `${disposed} bars were bad; ${message}`] }));
        return void (await status({ ...facts, disposed }));
      }
      await factory.dispose(bar.id);
      condition(...health.of({ Delivered: ["BarDisposed", `${message}; ordering another`] }));
      await status({ disposed: disposed + 1, measured: facts.measured });
      return requeueAfter(seconds(1), "the factory makes another bar");
    },
  });

function withBar(measured: readonly Measured[], { id, machine, sugar, sweetness }: Bar): readonly Measured[] {
  if (measured.some(({ bar }) => bar === id)) return measured;
  const error = Math.round((sweetness - sugar) * 10) / 10;
  return [...measured, { bar: id, machine, error }].slice(-measuredMax);
}

function meanError(measured: readonly Measured[]): number {
  return measured.length === 0 ? 0 : measured.reduce((sum, { error }) => sum + error, 0) / measured.length;
}
