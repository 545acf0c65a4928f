/** Which calls change something that a second call would change again. */
import type { ClientCall } from './calls.js'

/** A call that only reads, as far as its name says. */
const reading =
  /^(get|list|search|find|read|fetch|query|look|describe|check|validate|count|preview|status|graphql|token)(?![a-z])/i

/** A call of a tool, or a POST to a path, whose name does not say that it only reads. */
export function isChanging({ kind, method, path, title }: ClientCall): boolean {
  if (kind === 'tool') return !reading.test(title.split('tools/call ')[1] ?? '')
  return kind === 'path' && method === 'POST' && !reading.test(path.split('/').at(-1) ?? '') && !path.includes('/rpc/')
}

/** Whether a call has changed something, whether its answer arrived or not. One with the key of an earlier call has not. */
export const isEffect = (call: ClientCall): boolean =>
  isChanging(call) && call.status !== null && call.status < 400 && !call.isReplayed

/** How often a call took effect. */
export const countEffects = (calls: readonly ClientCall[] | undefined, { key }: ClientCall): number =>
  calls?.filter(call => call.key === key && isEffect(call)).length ?? 0
