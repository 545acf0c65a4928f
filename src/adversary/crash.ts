/** Judges what a command made of a crash: it was killed at a call, and the same command was started again. */
import type { ClientCall } from './calls.js'
import { countEffects, isChanging, isEffect } from './effects.js'
import type { ClientVerdict, VerdictCode } from './verdict.js'

/** When the command is killed: before the call takes effect, after that but before its answer, or in the middle of a stream. */
export type CrashMoment = 'before' | 'after' | 'stream'

export interface CrashedRun {
  /** Those of both lives, in order. */
  readonly calls: readonly ClientCall[]
  /** The call at which it was killed. */
  readonly hit: ClientCall
  /** The calls of the same command without a crash. */
  readonly before: readonly ClientCall[]
  /** How the command ended that was started again. */
  readonly end: 'passed' | 'failed' | 'killed'
}

/** Whether the run went on like the first one until the crash: otherwise the command has found what an earlier run has left. */
export function isComparable({ calls, hit, before }: Omit<CrashedRun, 'end'>): boolean {
  const until = (all: readonly ClientCall[]) => {
    const end = all.findIndex(({ key }) => key === hit.key)
    return new Set(all.slice(0, end).flatMap(call => (isChanging(call) ? [call.key] : [])))
  }
  const done = until(calls)
  return [...until(before)].every(key => done.has(key))
}

export function judgeCrash(run: CrashedRun): readonly ClientVerdict[] {
  const found = [...doneTwice(run), ...lost(run), ...paidAgain(run)]
  const { end, hit, calls } = run
  if (end === 'passed') return found
  const sentence =
    end === 'failed'
      ? 'The command was killed at this call. When it was started again, it failed.'
      : 'The command was killed at this call. When it was started again, it did not end.'
  return [...found, verdict('stuck', sentence, [hit, ...calls.slice(calls.indexOf(hit) + 1)])]
}

const verdict = (code: VerdictCode, sentence: string, calls: readonly ClientCall[], isBug = true): ClientVerdict => ({
  code,
  isBug,
  sentence,
  calls,
})

const distinct = (calls: readonly ClientCall[]) => [...new Map(calls.map(call => [call.key, call])).values()]

const doneTwice = ({ calls, before }: CrashedRun) =>
  distinct(calls.filter(isEffect))
    .filter(call => countEffects(calls, call) > Math.max(1, countEffects(before, call)))
    .map(call =>
      verdict(
        'done-twice',
        `After the crash, ${call.title} took effect again. A record of it before the call, and its Idempotency-Key, would prevent that.`,
        calls.filter(one => one.key === call.key),
      ),
    )

function lost({ calls, before, hit, end }: CrashedRun): readonly ClientVerdict[] {
  const known = new Set(before.map(({ key }) => key))
  // The same work may look different in the second life, for example because of a date.
  const isReplaced = (call: ClientCall) => calls.some(({ key, path }) => path === call.path && !known.has(key))
  if (end !== 'passed') return []
  return distinct(before.filter(isEffect))
    .filter(call => countEffects(calls, call) === 0 && !isReplaced(call))
    .map(call => verdict('lost', `After the crash, the command passes, but ${call.title} never took effect.`, [hit]))
}

function paidAgain({ calls, before, hit }: CrashedRun): readonly ClientVerdict[] {
  const crash = calls.indexOf(hit)
  const isPaid = ({ kind, status, complete }: ClientCall) => kind === 'chat' && status === 200 && complete
  const count = (all: readonly ClientCall[], key: string) => all.filter(call => call.key === key).length
  const again = distinct(calls.slice(0, crash).filter(isPaid)).filter(
    ({ key }) => calls.slice(crash + 1).some(call => call.key === key) && count(calls, key) > count(before, key),
  )
  const [first] = again
  if (!first) return []
  const sentence = `Answers of the model that had arrived before the crash were asked for again: ${again.length}.`
  return [
    verdict(
      'paid-again',
      sentence,
      calls.filter(({ key }) => key === first.key),
      false,
    ),
  ]
}
