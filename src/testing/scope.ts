/** Isolated parts of a platform, for tests that run side by side. */
import * as v from 'valibot'
import { SCOPE_HEADER } from '../core/scope.js'
import { type Abilities, createAbilities, type SharedAbilities } from './abilities.js'
import { inputCheck } from './input-check.js'

/** A scope of a platform in this process or in another one. Its replies, faults and journal only concern its own requests. */
export interface SharedScope extends SharedAbilities {
  readonly name: string
  /** Headers that an app's client must send for its requests to belong to the scope. */
  readonly headers: { readonly [SCOPE_HEADER]: string }
  /** An API key whose requests belong to the scope, for apps that cannot send extra headers. */
  readonly apiKey: string
  /** Removes the replies, faults, sequences, misses and journal of this scope, and restores the rows of its resources. */
  reset(): Promise<void>
}

/** The same for a platform in this process. */
export interface Scope extends Omit<SharedScope, keyof Abilities>, Abilities {}

const aName = 'a name of printable ASCII characters'

/** Names can be sent in a header, so they only have characters that a header can contain unencoded. */
export const scopeName = inputCheck('scope', v.pipe(v.string(aName), v.regex(/^[!-~]([ -~]*[!-~])?$/, aName)))

export function createScope(name: string, parts: Parameters<typeof createAbilities>[0]): Scope {
  const { platform, keys } = parts
  return {
    ...createAbilities(parts, name),
    name,
    headers: { [SCOPE_HEADER]: name },
    apiKey: keys.keyOfScope(name),
    reset: () => platform.reset({ scope: name }),
  }
}
