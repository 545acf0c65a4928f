/** What faults have done to sessions: tokens that are refused, keys that were replaced, clocks that are ahead. */
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { unverifiedFields } from '../core/json.js'
import { developmentSecret, digestOf } from '../core/secrets.js'
import type { State } from '../state/rows.js'
import { type Claims, createTokens, type TokenFault, TokenRefusal, type Tokens } from './tokens.js'

type Verifier = Pick<Tokens, 'verify'>

/** In place of the key with which a session's tokens were signed. */
interface NewKey {
  readonly kid: string
  readonly tokens: Tokens
}

const HOUR_MS = 3_600_000

function createMarks() {
  const refused = new Map<string, TokenFault>()
  const ahead = new Set<string>()
  const newKeys = new Map<string, NewKey>()
  return {
    /** Verifies a token with the keys of its platform, unless a fault has refused it or replaced the key of its session. */
    async verify(token: string, tokens: Verifier): Promise<Claims> {
      if (refused.size === 0 && newKeys.size === 0) return tokens.verify(token)
      const header = unverifiedFields(token.split('.', 1)[0])
      const own = [...newKeys.values()].find(({ kid }) => kid === header.kid)
      const claims = await (own?.tokens ?? tokens).verify(token)
      const fault = refused.get(digestOf(token))
      if (fault) throw new TokenRefusal(fault, header, claims)
      return claims
    },
    refuse(token: string, fault: TokenFault): void {
      refused.set(digestOf(token), fault)
    },
    /** The clock that the tokens of this session get their times from. */
    aheadMs: (session = '') => (ahead.has(session) ? HOUR_MS : 0),
    putAhead(session: string): void {
      ahead.add(session)
    },
    /** What signs the tokens of this session, if its key was replaced. */
    signerOf: (session = ''): NewKey | undefined => newKeys.get(session),
    async replaceKey(session: string, now: () => number): Promise<void> {
      const kid = randomUUID()
      const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
      const jwk = { ...key, kty: 'EC', kid, alg: 'ES256', key_ops: ['sign'] }
      newKeys.set(session, {
        kid,
        tokens: await createTokens({ jwtSecret: developmentSecret, signingKeys: [jwk], now }),
      })
    },
    /** The public halves of the new keys. */
    keys: (): readonly object[] => [...newKeys.values()].flatMap(({ tokens }) => tokens.jwks.keys),
  }
}

type Marks = ReturnType<typeof createMarks>

const marks = new WeakMap<State, Marks>()

/** Those of the sessions in this state. */
export function marksOf(state: State): Marks {
  const known = marks.get(state)
  if (known) return known
  const created = createMarks()
  marks.set(state, created)
  return created
}
