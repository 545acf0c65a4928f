/** The settings that can be changed at run time, through the control API. */
import { useMemo } from 'preact/hooks'
import type { InputOf, OutputOf } from '../../api/client.js'
import type { ControlOperations } from '../../http/operations.js'
import { type Control, useControl } from '../api.js'

type Steered = ControlOperations
type Body<Name extends keyof Steered> =
  InputOf<Steered[Name]> extends { readonly body?: infer B } ? NonNullable<B> : never

export type ModesJson = OutputOf<Steered['getMode']>
export type ChosenMode = ModesJson['mode']
export type WaitingFaultJson = OutputOf<Steered['listFaults']>['data'][number]
/** What a credential has used in the current minute. */
export type UsageJson = OutputOf<Steered['getLimits']>['used'][number]
export type ClockTurn = { advanceMs: number } | { frozen: boolean } | { reset: true }

/** Everything that this view shows, loaded together. */
export type Controls = Awaited<ReturnType<typeof loadAll>>

async function loadAll(control: Control, signal: AbortSignal) {
  const [mode, { data: choices, configured }, { data: waiting }, random, pace, limits, clock] = await Promise.all([
    control('GET /mode', { signal }),
    control('GET /mode/choices', { signal }),
    control('GET /faults', { signal }),
    control('GET /faults/random', { signal }),
    control('GET /pace', { signal }),
    control('GET /limits', { signal }),
    control('GET /clock', { signal }),
  ])
  return { mode, choices, configuredMode: configured, waiting, random, pace, limits, clock }
}

export type ControlsClient = ReturnType<typeof clientOf>

function clientOf(control: Control) {
  const done = async (call: Promise<unknown>): Promise<void> => void (await call)
  return {
    load: (signal: AbortSignal) => loadAll(control, signal),
    setMode: (body: Body<'setMode'>) => done(control('PUT /mode', { body })),
    restoreMode: () => done(control('DELETE /mode')),
    addFault: (body: Body<'addFault'>) => done(control('POST /faults', { body })),
    removeFault: (id: string) => done(control('DELETE /faults/{id}', { id })),
    clearFaults: () => done(control('DELETE /faults')),
    setRandom: (random: Body<'setRandomFaults'>['random']) => done(control('PUT /faults/random', { body: { random } })),
    setPace: (body: Body<'setPace'>) => done(control('PUT /pace', { body })),
    setLimits: (body: Body<'setLimits'>) => done(control('PUT /limits', { body })),
    restorePace: () => done(control('DELETE /pace')),
    restoreLimits: () => done(control('DELETE /limits')),
    restoreRandom: () => done(control('DELETE /faults/random')),
    turnClock: (body: ClockTurn) => done(control('PUT /clock', { body })),
    reset: () => done(control('POST /reset')),
  }
}

export function useControlsClient(): ControlsClient {
  const control = useControl()
  return useMemo(() => clientOf(control), [control])
}
