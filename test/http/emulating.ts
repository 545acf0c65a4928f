/** A line over an endpoint of a test's own, without a platform around it. */
import { expect } from 'vitest'
import { anonymous, type Endpoint } from '../../src/core/exchange.js'
import { createScopes } from '../../src/core/scope.js'
import type { Faults } from '../../src/faults/index.js'
import { localAuthSurface } from '../../src/http/auth-surface.js'
import { createCors } from '../../src/http/cors.js'
import { createLine } from '../../src/http/line.js'
import { createPacer } from '../../src/http/pacer.js'
import { platformSurface } from '../../src/http/platform-surface.js'
import { createJournal, type Journal } from '../../src/journal/index.js'
import { createRoutes } from '../../src/platform-api/index.js'

/** A loader of something that is missing. */
export const notHere = () => Promise.reject(new Error('not in this mode'))

const noFaults: Faults = {
  areRandom: false,
  mayApply: () => false,
  requested: () => undefined,
  ruledOrRandom: () => undefined,
}

interface Over {
  readonly endpoint: Endpoint
  readonly journal: Journal
  readonly identify?: Parameters<typeof platformSurface>[0]['identify']
  readonly faults?: Faults
}

export function lineOver({ endpoint, journal, identify = () => anonymous, faults = noFaults }: Over) {
  const cors = createCors('*')
  const parts = {
    platform: platformSurface({ routes: createRoutes([endpoint]), identify, cors, bodyLimitBytes: 1000 }),
    auth: localAuthSurface({ routes: notHere, gateway: { admit: async () => undefined }, cors }),
    scopes: createScopes(),
    heavyPrompt: () => undefined,
    faults,
    contractHeaders: () => [],
  }
  return createLine(() => parts, {
    add: journal.add,
    onEnd: () => {},
    pacer: createPacer(),
    report: error => expect.unreachable(String(error)),
  })
}

/** A journal that tests may follow, but not read: nothing is redacted. */
export const journalOfAll = () => createJournal({ maxEntries: 1000, maxBytes: 1_000_000, redact: notRead })

const notRead = () => {
  throw new Error('no test reads this')
}
