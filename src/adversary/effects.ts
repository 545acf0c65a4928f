/** Which calls change something that a second call would change again. */
import { onlyReads } from '../faults/index.js'
import type { ClientCall } from './calls.js'

/** A call of a tool, or a POST to a path, whose name does not say that it only reads. */
export function isChanging({ kind, method, path, title }: ClientCall): boolean {
  if (kind === 'tool') return !onlyReads(title.split('tools/call ')[1] ?? '')
  return kind === 'path' && method === 'POST' && !onlyReads(path.split('/').at(-1) ?? '') && !path.includes('/rpc/')
}

/** Whether a call has changed something, whether its answer arrived or not. One with the key of an earlier call has not. */
export const isEffect = (call: ClientCall): boolean =>
  isChanging(call) && call.status !== null && call.status < 400 && !call.isReplayed

/** How often a call took effect. */
export const countEffects = (calls: readonly ClientCall[] | undefined, { key }: ClientCall): number =>
  calls?.filter(call => call.key === key && isEffect(call)).length ?? 0
