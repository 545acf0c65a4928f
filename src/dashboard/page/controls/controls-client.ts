/** What can be steered, as the control API has it. */
import { useMemo } from 'preact/hooks'
import type { LimitsInForce, PaceSettings, Setting } from '../../../config/limit-options.js'
import type { ClockState } from '../../../core/clock.js'
import type { Fault, FaultCallInput, RandomFault } from '../../../core/fault.js'
import type { ListJson } from '../../wire.js'
import { useAskControl } from '../ask-control.js'

export type Mode = 'emulate' | 'proxy' | 'record' | 'replay'

export interface ModesJson {
  readonly mode: Mode
  readonly modes: Readonly<Record<string, Mode>>
}

/** A mode, with the reason where it cannot work here. */
export interface ChoiceJson {
  readonly mode: Mode
  readonly reason?: string
}

export interface WaitingFaultJson extends Omit<FaultCallInput, 'times'> {
  readonly id: string
  readonly fault: Fault
  /** So many requests it has still to befall. */
  readonly times: number
}

/** What a credential has used in its minute. */
export interface UsageJson {
  readonly kind: string
  readonly id?: string
  readonly name?: string
  readonly start?: string
  readonly requests: number
  readonly tokens: number
  readonly streams: number
  readonly refused: number
  readonly resetMs: number
}

export interface LimitsJson extends Setting<LimitsInForce> {
  readonly used: readonly UsageJson[]
}

/** Everything that this view shows, read at one time. */
export interface Controls {
  readonly mode: ModesJson
  readonly choices: readonly ChoiceJson[]
  readonly configuredMode: ModesJson
  readonly waiting: readonly WaitingFaultJson[]
  readonly random: Setting<readonly RandomFault[]>
  readonly pace: Setting<PaceSettings>
  readonly limits: LimitsJson
  readonly clock: ClockState
}

export type ClockTurn = { advanceMs: number } | { frozen: boolean } | { reset: true }

export interface ControlsClient {
  load(signal: AbortSignal): Promise<Controls>
  setMode(modes: ModesJson): Promise<void>
  restoreMode(): Promise<void>
  addFault(call: FaultCallInput): Promise<void>
  removeFault(id: string): Promise<void>
  clearFaults(): Promise<void>
  setRandom(random: readonly object[]): Promise<void>
  setPace(pace: PaceSettings): Promise<void>
  setLimits(limits: LimitsInForce): Promise<void>
  /** Goes back to the configuration. */
  restore(what: 'pace' | 'limits' | 'faults/random'): Promise<void>
  turnClock(turn: ClockTurn): Promise<void>
  reset(): Promise<void>
}

export function useControlsClient(): ControlsClient {
  const ask = useAskControl()
  return useMemo(() => {
    const put = async (path: string, body: object) => void (await ask(path, { method: 'PUT', body }))
    const remove = async (path: string) => void (await ask(path, { method: 'DELETE' }))
    return {
      async load(signal) {
        const [mode, { data: choices, configured }, { data: waiting }, random, pace, limits, clock] = await Promise.all(
          [
            ask<ModesJson>('/mode', { signal }),
            ask<ListJson<ChoiceJson> & { readonly configured: ModesJson }>('/mode/choices', { signal }),
            ask<ListJson<WaitingFaultJson>>('/faults', { signal }),
            ask<Setting<readonly RandomFault[]>>('/faults/random', { signal }),
            ask<Setting<PaceSettings>>('/pace', { signal }),
            ask<LimitsJson>('/limits', { signal }),
            ask<ClockState>('/clock', { signal }),
          ],
        )
        return { mode, choices, configuredMode: configured, waiting, random, pace, limits, clock }
      },
      setMode: modes => put('/mode', modes),
      restoreMode: () => remove('/mode'),
      addFault: async call => void (await ask('/faults', { method: 'POST', body: call })),
      removeFault: id => remove(`/faults/${id}`),
      clearFaults: () => remove('/faults'),
      setRandom: random => put('/faults/random', { random }),
      setPace: pace => put('/pace', pace),
      setLimits: limits => put('/limits', limits),
      restore: what => remove(`/${what}`),
      turnClock: turn => put('/clock', turn),
      async reset() {
        await put('/clock', { reset: true })
        await remove('/mode')
        await ask('/reset', { method: 'POST', body: {} })
      },
    }
  }, [ask])
}
