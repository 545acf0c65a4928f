/** API keys that were refused recently, and why. */
import { useCallback } from 'preact/hooks'
import type { RefusedKey } from '../../keys/operations.js'
import { useDeveloperApi } from '../api.js'
import { useListing } from '../listing.js'
import { Moment } from '../widgets/moment.jsx'
import { Empty } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { DeveloperOnly } from './developer-only.jsx'

const EVERY_MS = 2000

const reasons: Record<RefusedKey['reason'], readonly [word: string, explanation: string]> = {
  unknown: ['Unknown', 'no such key was made here.'],
  mistyped: ['Mistyped', 'part of it was lost or changed. Copy it again as a whole.'],
  revoked: ['Revoked', 'its owner took it back.'],
  expired: ['Expired', 'its time is over. Roll it, or make a new one.'],
  ownerless: ['Ownerless', 'its user was banned or deleted.'],
}

export function RefusalsView() {
  const api = useDeveloperApi()
  const load = useCallback(async (signal: AbortSignal) => (await api('GET /refusals', { signal })).data, [api])
  const loaded = useListing(load, EVERY_MS)
  return (
    <View title="Refused keys" lead="What apps sent as an API key and were told 401 for.">
      <DeveloperOnly of={loaded}>
        {refusals =>
          refusals.length === 0 ? (
            <Empty title="No key was refused">
              <p>When an app gets a 401 for its key, the reason stands here.</p>
            </Empty>
          ) : (
            <table class="table table-stacking refusals-table">
              <caption class="unseen">Refused keys</caption>
              <thead>
                <tr>
                  <th scope="col">Key</th>
                  <th scope="col">Reason</th>
                  <th scope="col">Times</th>
                  <th scope="col">Last</th>
                </tr>
              </thead>
              <tbody>
                {refusals.map(({ start, reason, count, last_at }) => (
                  <tr key={`${start} ${reason}`}>
                    <th scope="row">
                      <code>{start}…</code>
                    </th>
                    <td>
                      <strong>{reasons[reason][0]}:</strong> {reasons[reason][1]}
                    </td>
                    <td data-label="Times">{count}</td>
                    <td data-label="Last">
                      <Moment at={last_at} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </DeveloperOnly>
    </View>
  )
}
