/** API keys for tests: made when they are asked for, and those of scopes for as long as the platform runs. */
import { newSecret } from '../auth/api-key-form.js'
import type { Platform } from '../platform.js'

export interface KeyOptions {
  /** The address of whose key it is; who is not there yet signs up. It is nobody's without one. */
  readonly user?: string
  readonly name?: string
  /** From now on, by the platform's clock; negative for a key that has expired. It never expires without. */
  readonly expiresInMs?: number
}

export interface Keys {
  create(options?: KeyOptions & { readonly scope?: string }): Promise<string>
  /** The key of a scope, at once; requests wait until it is in the state. */
  ofScope(name: string): string
  /** Makes the keys of scopes anew, where the state does not have them any more. */
  plantAgain(): Promise<void>
}

export function createKeys({ forTests }: Pick<Platform, 'forTests'>): Keys {
  const ofScopes = new Map<string, string>()
  const plant = (scope: string, key: string) => forTests.createKey({ name: `scope ${scope}`, scope, key })
  return {
    create: async ({ name = 'made by a test', ...options } = {}) =>
      (await forTests.traffic.hold(() => forTests.createKey({ name, ...options }))).key,
    ofScope(name) {
      const known = ofScopes.get(name)
      if (known !== undefined) return known
      const key = newSecret()
      ofScopes.set(name, key)
      void forTests.traffic.hold(() => plant(name, key))
      return key
    },
    plantAgain: async () => void (await Promise.all([...ofScopes].map(([name, key]) => plant(name, key)))),
  }
}
