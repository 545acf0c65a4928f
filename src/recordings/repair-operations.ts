/** Operations that repair a miss, from the next request on. */
import { arrayOf, closed, optional, orNull, text, word } from '../check/forms.js'
import { dataOf, operation } from '../control/operation.js'
import { noSuchExchange, refusal } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { IgnoreOption } from './ignore.js'
import { ignoreEntry } from './options.js'

/** The recording that answers a request from now on, by the key of the request; or a part that is ignored from now on. */
type Repaired = { readonly key: string; readonly file: string } | { readonly ignore: IgnoreOption }

export interface RepairsInUse {
  all(): readonly (Repaired & { readonly id: string })[]
  add(repaired: Repaired): { readonly id: string }
  /** Removes one repair, or all. Returns how many there were. */
  remove(id?: string): number
  /** Lets the request with this mark be recorded, whatever the mode, until the returned function is called. */
  record(mark: string): () => void
}

interface RepairParts {
  readonly repairs: RepairsInUse
  readonly journal: { find(id: string): { readonly exchange: Exchange } | undefined }
  readonly reader: { sendAgain(id: string, began: RepairsInUse['record']): Promise<string> }
  /** Why the live platform cannot be asked; `undefined` if it can. */
  readonly whyNotRecord: () => readonly string[] | undefined
  /** The key under which recordings of a request are found. */
  readonly keyOf: (exchange: Exchange) => Promise<string>
}

/** What was repaired, for a list. */
const repair = closed({ id: text, says: text })

const repairWish = closed({
  exchange: text,
  by: word(['record', 'nearest', 'ignore']),
  ignore: optional(arrayOf(ignoreEntry), 'What to ignore, as in recordings.ignore.'),
})

export function repairOperations({ repairs, journal, reader, whyNotRecord, keyOf }: RepairParts) {
  /** Asks the live platform and records its answer. Returns the id of the new exchange. */
  async function recordNow(id: string): Promise<string> {
    const reasons = whyNotRecord()
    if (reasons) throw refusal(409, 'mode_not_possible', reasons.join(' '))
    return reader.sendAgain(id, repairs.record)
  }

  async function useNearest(exchange: Exchange): Promise<string> {
    const { nearest } = exchange
    if (!nearest) throw refusal(409, 'no_nearest_recording', 'Nothing is recorded for this path. Record it.')
    return repairs.add({ key: await keyOf(exchange), file: nearest.file }).id
  }

  return {
    listRepairs: operation({
      at: 'GET /repairs',
      does: 'Lists the repairs of misses that are in use until a reset.',
      returns: dataOf(repair),
      run: () => ({
        data: repairs.all().map(one => ({
          id: one.id,
          says: 'ignore' in one ? `ignores ${ignoreInWords(one.ignore)}` : `answers with ${one.file}`,
        })),
      }),
    }),
    repairMiss: operation({
      at: 'POST /repairs',
      does: 'Repairs the miss of an exchange: asks the live platform once and records the answer, lets the nearest recording answer from now on, or ignores parts of requests.',
      body: repairWish,
      returns: closed({
        /** For removing it; null after recording. */
        ids: arrayOf(text),
        /** The exchange with the recorded answer. */
        exchange: orNull(text),
      }),
      status: 201,
      async run({ body: { exchange: id, by, ignore = [] } }) {
        const found = journal.find(id)
        if (!found) throw noSuchExchange(id)
        if (by === 'record') return { ids: [], exchange: await recordNow(id) }
        if (by === 'nearest') return { ids: [await useNearest(found.exchange)], exchange: null }
        return { ids: ignore.map(one => repairs.add({ ignore: one }).id), exchange: null }
      },
    }),
    removeRepairs: operation({
      at: 'DELETE /repairs',
      does: 'Removes all repairs.',
      run: () => void repairs.remove(),
    }),
    removeRepair: operation({
      at: 'DELETE /repairs/{id}',
      does: 'Removes one repair.',
      run: ({ id }) => void repairs.remove(id),
    }),
  }
}

const ignoreInWords = (ignore: unknown) => (typeof ignore === 'string' ? ignore : JSON.stringify(ignore))
